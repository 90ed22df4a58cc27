"""What pages say around the figures: what is left out, what a list reveals, what comes after labelling. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration.phrases import counted
from calibration.records import Judge
from calibration.summary import Summary
from calibration.wording.words import Words


def exclusions(summary: Summary) -> str:
    """What was left out beside n, in words; empty when nothing was."""
    names = {
        "no_label": "without a label",
        "label_unsure": "labelled unsure",
        "label_tie": "with tied labels",
        "no_verdict": "without a verdict",
        "verdict_unsure": "where the judge was unsure",
        "verdict_failed": "whose reply was no verdict",
        "verdict_error": "whose call was never answered",
        "not_applicable": "to which it does not apply",
        "outdated": "outdated",
    }
    parts = [f"{n} {names[reason]}" for reason, n in summary.pairs.excluded.items() if n]
    return f"Left out: {', '.join(parts)}." if parts else ""


def audit_words(unlabelled: int) -> str:
    """Said before somebody looks at samples that they have not labelled."""
    verb = "is" if unlabelled == 1 else "are"
    return f"{unlabelled} of these {verb} not labelled by you yet; after looking, your label counts as audited."


def first_labels_words(labelled: int, judges: Sequence[tuple[Judge, int, int]], wanted: int) -> Words:
    """The invitation to label a few, and after it on how many the newcomer and each judge differ."""
    if labelled < wanted:
        start = f"You labelled {labelled} of {wanted}. " if labelled else ""
        sentence = (
            f"{start}Label {wanted - labelled} yourself, without seeing the scores, then see where the judges differ."
        )
        return Words(sentence, f"label {wanted - labelled}.")
    if not judges:
        return Words(f"You labelled {labelled}.", "run a judge on these samples.")
    said = [f"you differ from {judge.name} on {wrong} of {n}" for judge, n, wrong in judges]
    wrong = max(differing for _, _, differing in judges)
    sentence = f"You labelled {labelled}: {'; '.join(said)}."
    return Words(sentence, f"read the {wrong}." if wrong else "label more: these show no difference yet.")


def board_next(*, labelled: bool, judged: bool, open_: Sequence[str]) -> str:
    """The next step of a project: label, run, decide, read."""
    if not labelled:
        return "label 30 to 50 samples on the Label page."
    if not judged:
        return "run a judge: judge-calibration judge PROMPT --model MODEL"
    if open_:
        return f"record a decision on {counted(len(open_), 'judge')}, on the Registry page."
    return "read the disagreements of the judge you want to improve."


def labelled_words(total: int, bad: Mapping[str, int], *, judged: bool) -> Words:
    """After the last sample."""
    parts = ", ".join(f"{n} bad by `{criterion}`" for criterion, n in bad.items())
    sentence = f"All {total} labelled{': ' + parts if parts else ''}."
    return Words(sentence, "see on the Board what the judges are worth." if judged else "run a judge on these samples.")


def reveal_words(list_size: int, fresh_left: int) -> str:
    """Said before a list is shown that helps to write the next prompt."""
    reveals = f"This list reveals {counted(list_size, 'label')}." if list_size else "This list reveals no new label."
    return f"{reveals} Fresh for your next prompt: {fresh_left}. Prompts registered until now keep what they had."
