"""Where a judge stands, in words. Pure.

Plain words first, numbers second. `people` is who labelled: "you", or "the author" of bundled samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from calibration.agreement import Confusion
from calibration.gate import Assessment, Standing
from calibration.phrases import (
    all_of,
    counted,
    counts,
    differences,
    leaning,
    number,
    percent,
    plural,
    signed,
    usable,
    was,
)
from calibration.records import JudgeKind, Outcome
from calibration.summary import Summary
from calibration.wording.words import Words

VERY_FEW = 10


def judge_words(standing: Standing) -> Words:
    """What the judge is good for now, and what to do next."""
    summary, assessment = standing.summary, standing.assessment
    strict = assessment.evidence.strict
    words = _say(summary, assessment, strict)
    notes = (*_unanswered(summary), *_seen(summary, strict), *_tried(assessment), *_baseline(summary, assessment))
    if assessment.outcome == Outcome.PASSED:
        notes = (*notes, "The decision lapses when prompt, model, parameters or labels change.")
    return Words(" ".join((words.sentence, *notes)), words.next)


def _say(summary: Summary, assessment: Assessment, strict: Confusion) -> Words:
    """The case that fits, the emptiest first."""
    if strict.n == 0:
        return _nothing(summary)
    if "errors_left" in assessment.reasons:
        return _errors(summary, assessment)
    if strict.n < VERY_FEW:
        return _very_few(summary, assessment)
    if assessment.kappa.value is None:
        return _both_constant(summary, strict)
    if 0 in (strict.human_yes, strict.human_no):
        return _one_human_value(summary, strict)
    if _says_one_thing(summary.fresh_confusion):
        return _constant_judge(summary)
    cases: Mapping[str, Callable[[Summary, Assessment, Confusion], Words]] = {
        Outcome.PASSED: _passed,
        Outcome.FAILED: _failed,
        Outcome.NOT_ENOUGH_EVIDENCE: _undecided,
    }
    return cases[assessment.outcome](summary, assessment, strict)


def _nothing(summary: Summary) -> Words:
    excluded = summary.pairs.excluded
    seen = len(summary.pairs.all)
    if seen:
        sentence = (
            f"{summary.short_name} {_came(summary)} after all {seen} of its labels had been compared with a judge; "
            "none counts for it."
        )
        return Words(sentence, "label fresh samples.")
    if excluded["no_verdict"]:
        return Words(
            f"{summary.short_name} has no verdict on a labelled sample yet.", "run it on the labelled samples."
        )
    if excluded["outdated"]:
        return Words(
            f"All labels or verdicts of {summary.short_name} are about an earlier version of the samples.",
            "run the judge again, or confirm the labels.",
        )
    if excluded["label_unsure"] or excluded["label_tie"]:
        return Words("No label here says yes or no: they are unsure or tied.", "settle them, or label other samples.")
    return Words(f"Nobody has labelled a sample that {summary.short_name} judged.", "label 30 to 50 samples.")


def _errors(summary: Summary, assessment: Assessment) -> Words:
    left = assessment.evidence.errors
    sentence = f"Not decided: {counted(left, 'call')} of {summary.short_name} {was(left)} never answered."
    if summary.judge.kind == JudgeKind.IMPORTED:
        return Words(sentence, "import its verdicts again when they are complete.")
    return Words(sentence, "run the same `judge` command again; it asks only what is missing.")


def _very_few(summary: Summary, assessment: Assessment) -> Words:
    table = summary.fresh_confusion
    wrong = table.b + table.c
    start = "You differ" if summary.people == "you" else f"The labels of {summary.people} differ"
    sentence = f"{start} from {summary.short_name} on {wrong} of {table.n}. Too few for a figure."
    if assessment.outcome == Outcome.FAILED:
        sentence += " Enough to see that it does not agree: do not use it as a score."
    return Words(sentence, f"read the {wrong}." if wrong else f"label at least {30 - table.n} more.")


def _both_constant(summary: Summary, strict: Confusion) -> Words:
    value, other = ("yes", "bad") if strict.a else ("no", "good")
    effect = "catch a bad answer" if value == "yes" else "let a good answer through"
    sentence = (
        f'No kappa: {summary.people} and the judge said "{value}" to all {strict.n}, so nothing shows whether it '
        f"would {effect}."
    )
    return Words(sentence, f"label at least 10 {other} answers.")


def _one_human_value(summary: Summary, strict: Confusion) -> Words:
    answered = summary.fresh_confusion
    eyes = "your eyes" if summary.people == "you" else f"{summary.people}'s eyes"
    if strict.human_no == 0:
        sentence = (
            f"All {strict.n} answers were good in {eyes}; the judge rejected {answered.b}. Whether it catches bad ones "
            "cannot be seen: there are 0 here."
        )
        return Words(sentence, "label at least 10 bad answers.")
    sentence = (
        f"All {strict.n} answers were bad in {eyes}; the judge let through {answered.c}. Whether it accepts good ones "
        "cannot be seen: there are 0 here."
    )
    return Words(sentence, "label at least 10 good answers.")


def _constant_judge(summary: Summary) -> Words:
    table = summary.fresh_confusion
    if table.judge_no == 0:
        said, fault = "yes", f"let through {all_of(table.c)} bad {plural(table.c, 'answer')}"
    else:
        said, fault = "no", f"rejected {all_of(table.b)} good {plural(table.b, 'answer')}"
    sentence = (
        f'The judge said "{said}" to everything and {fault}; its {table.a + table.d} of {table.n} agreements are '
        "no merit."
    )
    return Words(sentence, improve(summary))


def _passed(summary: Summary, assessment: Assessment, strict: Confusion) -> Words:
    asked = summary.prompt is not None and summary.judge.model and summary.judge.kind == JudgeKind.LLM
    model = f" on {summary.judge.model}" if asked else ""
    answered = summary.fresh_confusion
    caught = f"It caught {answered.d} of {answered.human_no} bad answers ({percent(answered.tpr().interval())})"
    sentence = (
        f"You can use {summary.short_name}{model} to score `{summary.criterion}` for answers like these. "
        f"{agrees(summary, strict)}: {at_least(assessment)} {caught} and rejected {answered.b} of {answered.human_yes} "
        "good ones."
    )
    if summary.judge.kind == JudgeKind.SCRIPTED:
        sentence += " Its replies are scripted: no model was asked."
    if summary.judge.kind == JudgeKind.IMPORTED:
        sentence += " Its prompt is not known, so it cannot be run again from here."
    return Words(sentence, "score your answers with it, and decide again on fresh labels when anything changes.")


def _failed(summary: Summary, assessment: Assessment, strict: Confusion) -> Words:
    high = assessment.fail_interval.high if assessment.fail_interval else None
    most = "" if high is None else f", at most {number(high)}"
    sentence = (
        f"Do not use {summary.short_name} as a score. {agrees(summary, strict)}: kappa "
        f"{number(assessment.kappa.value)}{most}; your threshold is {number(assessment.rule.min_kappa)}. "
        f"{leaning(summary.fresh_confusion)}"
    )
    if "labels_may_be_swapped" in summary.fresh_confusion.kappa().flags:
        return Words(
            f"{sentence} It says the opposite more often than not.", 'check that "yes" means good on both sides.'
        )
    return Words(sentence, read(summary, f"the {max(summary.fresh_confusion.b, summary.fresh_confusion.c)}"))


def _undecided(summary: Summary, assessment: Assessment, strict: Confusion) -> Words:
    answered, reasons = summary.fresh_confusion, assessment.reasons
    value, threshold = number(assessment.kappa.value), number(assessment.rule.min_kappa)
    low, high = (number(end) for end in _ends(assessment))
    around = "interval_contains_threshold" in reasons
    if assessment.needed.labels is not None:
        room = f"with room for {low} to {high} around" if around else f"at least {low}, above"
        sentence = (
            f"Not decided yet, and on course. {agrees(summary, strict)}: kappa {value}, {room} your {threshold}."
            f"{_few(strict, reasons)}{_floors(reasons)} {usable(answered)} To decide: about "
            f"{counted(assessment.needed.labels, 'more label')}, about {assessment.needed.fails} of them bad answers."
        )
        kind = "fresh" if summary.seen else "more"
        return Words(sentence, f"label about {counted(assessment.needed.labels, f'{kind} sample')}.")
    start = f"Not decided yet. {agrees(summary, strict)}: kappa {value}, room for {low} to {high}."
    start += f" {leaning(answered)}" if answered.b + answered.c else ""
    if assessment.needed.reason == "more_than_500":
        return Words(f"{start} More than 500 labels would be needed.", "improve the prompt first.")
    if assessment.needed.reason == "floor_not_reached":
        return Words(start + _floors(reasons), read(summary, differences(answered)))
    sentence = f"{start} More labels alone are unlikely to lift it over {threshold}: improve the prompt first."
    return Words(sentence, read(summary, differences(answered)))


def _ends(assessment: Assessment) -> tuple[float | None, float | None]:
    found = assessment.interval
    return (None, None) if found is None else (found.low, found.high)


def _few(strict: Confusion, reasons: Sequence[str]) -> str:
    """Which human value is too rare for a decision."""
    said = {"few_human_no": (strict.human_no, "bad"), "few_human_yes": (strict.human_yes, "good")}
    return "".join(
        f" Only {n} {value} {plural(n, 'answer')} among the labels; a decision needs 10."
        for reason, (n, value) in said.items()
        if reason in reasons
    )


def _floors(reasons: Sequence[str]) -> str:
    said = {"tpr_floor": "bad answers caught", "tnr_floor": "good answers let through"}
    return "".join(f" The floor on {said[name]} is not shown to hold." for name in said if name in reasons)


def _unanswered(summary: Summary) -> tuple[str, ...]:
    missing = len(summary.pairs.only_fresh().unanswered)
    if not missing:
        return ()
    return (f"{counted(missing, 'sample')} without a yes or no from it {counts(missing)} as wrong.",)


def _seen(summary: Summary, strict: Confusion) -> tuple[str, ...]:
    if not summary.seen or strict.n == 0:
        return ()
    return (
        f"{summary.short_name} {_came(summary)} after {summary.seen} of these {summary.n} labels had been compared "
        f"with a judge; only {summary.fresh} count for it.",
    )


def _came(summary: Summary) -> str:
    """A prompt is written; of an imported judge only the import is known."""
    return "was imported" if summary.judge.kind == JudgeKind.IMPORTED else "was written"


def _says_one_thing(answered: Confusion) -> bool:
    """One value for everything, and wrong about some of it."""
    return (answered.judge_no == 0 and answered.c > 0) or (answered.judge_yes == 0 and answered.b > 0)


def _tried(assessment: Assessment) -> tuple[str, ...]:
    k, r = assessment.evidence.k, assessment.evidence.r
    if assessment.evidence.strict.n < VERY_FEW or assessment.outcome == Outcome.FAILED:
        return ()
    if k > 5:
        raised = f"{100 * assessment.evidence.level:.1f} % instead of 95 %"
        return (
            f"These labels have now judged {k} prompts. The best of {k} looks better than it is, so the bar is raised "
            f"({raised}).",
        )
    notes = (f"The bar was raised because {k} prompts were tried.",) if k > 1 else ()
    return (
        (*notes, f"It was decided {r} times before on some of these labels, which raises the bar too.") if r else notes
    )


def _baseline(summary: Summary, assessment: Assessment) -> tuple[str, ...]:
    found = assessment.evidence.baseline
    if found is None or found.value is None or "does_not_beat_baseline" not in assessment.flags:
        return ()
    interval = found.interval()
    between = "" if interval is None else f", between {signed(interval.low)} and {signed(interval.high)}"
    return (
        f"{summary.short_name} is not shown to agree with {summary.people} more than counting shared words does "
        f"(difference {signed(found.value)}{between}). It may be trustworthy, but nothing here shows that it is worth "
        "its price.",
    )


def read(summary: Summary, what: str) -> str:
    """Read the disagreements; without one, the replies that were no verdict."""
    if summary.disagreements:
        return f"read {what}."
    return "see why its replies were no verdict, and change the prompt or the parameters."


def agrees(summary: Summary, strict: Confusion) -> str:
    """It agrees with you on 39 of 40."""
    return f"It agrees with {summary.people} on {strict.a + strict.d} of {strict.n}"


def at_least(assessment: Assessment) -> str:
    """Kappa with its lower end against the threshold."""
    low = assessment.interval.low if assessment.interval else None
    return (
        f"kappa {number(assessment.kappa.value)}, at least {number(low)}; your threshold is "
        f"{number(assessment.rule.min_kappa)}."
    )


def improve(summary: Summary) -> str:
    """The next step for a judge that does not look at the answer."""
    return (
        "read what it let through or rejected, then write the next prompt version."
        if summary.prompt
        else "use another judge."
    )
