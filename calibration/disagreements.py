"""Where a judge and people differ, and what looking at it reveals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calibration.agreement import Comparison
from calibration.board import comparison_of, criteria_in_use
from calibration.pairing import Pair, pair, reference_value, verdict_value
from calibration.records import Judge, JudgeKind, Label, Reveal
from calibration.store import Store
from calibration.store.reveals import PICKED_FROM
from calibration.summary import Summary

SHOWN = "disagreements"
FLIPS = "flips"


@dataclass(frozen=True)
class Compared:
    """Two judges on the samples both answered, and on all that both were asked about, no answer counting as wrong.

    `excluded` counts the other samples by reason; flips are samples that only one of the two got right.
    """

    answered: Comparison
    strict: Comparison
    excluded: dict[str, int]
    repaired: list[str]
    broken: list[str]

    @property
    def flips(self) -> list[str]:
        """What b repaired, then what it broke."""
        return [*self.repaired, *self.broken]


def compare(a: Summary, b: Summary) -> Compared:
    """Compare two judges of one criterion on the same labels."""
    of_b = {pair.sample: pair for pair in b.pairs.answered}
    both = [(pair, of_b[pair.sample]) for pair in a.pairs.answered if pair.sample in of_b]
    excluded = dict(a.pairs.excluded)
    missing = {pair.sample: pair.verdict for pair in b.pairs.unanswered}
    for one in a.pairs.answered:
        if one.sample not in of_b:
            verdict = missing.get(one.sample)
            excluded["no_verdict" if verdict is None else verdict_value(verdict)[1] or "no_verdict"] += 1
    return Compared(
        answered=comparison_of(a.pairs.answered, b.pairs.answered),
        strict=comparison_of(a.pairs.all, b.pairs.all),
        excluded=excluded,
        repaired=[p.sample for p, q in both if q.agrees and not p.agrees],
        broken=[p.sample for p, q in both if p.agrees and not q.agrees],
    )


NO_VERDICT = "no verdict"


def names(a: Summary, b: Summary) -> tuple[str, str]:
    """What to call two judges: the prompt version where that tells them apart, else the whole name or its digest."""
    if a.short_name != b.short_name:
        return a.short_name, b.short_name
    if a.judge.name != b.judge.name:
        return a.judge.name, b.judge.name
    return f"{a.judge.name} {a.judge.digest[:6]}", f"{b.judge.name} {b.judge.digest[:6]}"


def cell(summary: Summary, human: str | None, verdict: str | None) -> list[Pair]:
    """The pairs of one cell; `no verdict` are those without an answer. Without a choice disagreements and these."""
    if human is None and verdict is None:
        return [*summary.disagreements, *summary.pairs.unanswered]
    pairs = summary.pairs.unanswered if verdict == NO_VERDICT else summary.pairs.answered
    said = None if verdict == NO_VERDICT else verdict
    return [pair for pair in pairs if human in (None, pair.human) and said in (None, pair.judge)]


def not_labelled_by(store: Store, annotator: str, criterion: str, pairs: Iterable[Pair]) -> int:
    """How many of these this person has not labelled yet: after looking, a label on them counts as audited."""
    own = {label.sample for label in store.current_labels(criterion, annotator)}
    return sum(pair.sample not in own for pair in pairs)


def recorded(store: Store, annotator: str, summary: Summary, pairs: Iterable[Pair]) -> bool:
    """Whether these pairs of a judge are recorded as revealed to this person: then looking reveals nothing new."""
    wanted = (annotator, summary.criterion, summary.judge.digest)
    held = {r.sample for r in store.reveals() if (r.annotator, r.criterion, r.judge) == wanted}
    return {pair.sample for pair in pairs} <= held


def newly_revealed(summary: Summary, pairs: Iterable[Pair]) -> int:
    """Labels of the pairs a list is picked from that nobody has seen beside a verdict before it is shown."""
    return len({pair.sample for pair in pairs} - summary.pairs.revealed)


def fresh_left(store: Store, summary: Summary) -> int:
    """Labels that say yes or no and would still be fresh for a prompt written after looking at a list of this judge."""
    labels = store.labels(summary.criterion)
    gone = {pair.sample for pair in summary.pairs.all} | set(labels.revealed)
    left: dict[str, list[Label]] = {}
    for label in labels.labels:
        if label.sample in labels.inputs and label.sample not in gone:
            left.setdefault(label.sample, []).append(label)
    values = [reference_value(own, labels.inputs[sample], summary.pairs.choice)[0] for sample, own in left.items()]
    return sum(value is not None for value in values)


def reveal_cell(store: Store, summary: Summary, pairs: Sequence[Pair], annotator: str) -> None:
    """Record what a list reveals before it is shown: its samples, and every pair it was picked from."""
    _reveal(store, summary, {pair.sample for pair in pairs}, {p.sample for p in summary.pairs.all}, annotator, SHOWN)


def reveal_comparison(store: Store, a: Summary, b: Summary, found: Compared, annotator: str | None = None) -> None:
    """Record what a list of flips reveals: the flips themselves, and every pair it was picked from."""
    both = {pair.sample for pair in a.pairs.answered} & {pair.sample for pair in b.pairs.answered}
    for summary in (a, b):
        _reveal(store, summary, set(found.flips), both, annotator, FLIPS)


def _reveal(
    store: Store, summary: Summary, shown: set[str], picked_from: set[str], annotator: str | None, how: str
) -> None:
    store.reveal(
        Reveal(sample, summary.criterion, annotator, summary.judge.digest, how if sample in shown else PICKED_FROM)
        for sample in sorted(picked_from | shown)
    )


@dataclass(frozen=True)
class OwnDifferences:
    """How many samples a person labelled blind, and on how many of them each judge differs."""

    labelled: int
    judges: tuple[tuple[Judge, int, int], ...]


def own_differences(store: Store, annotator: str) -> OwnDifferences:
    """This person's own labels against every judge but the baseline. Totals reveal nothing."""
    found: list[tuple[Judge, int, int]] = []
    samples: set[str] = set()
    for criterion in criteria_in_use(store):
        labels = store.labels(criterion, annotators=[annotator])
        samples |= {label.sample for label in labels.labels}
        if not labels.labels:
            continue
        for judge in store.judges(criterion):
            pairs = pair(labels, store.verdicts(judge, criterion))
            if judge.kind != JudgeKind.LEXICAL and pairs.answered:
                found.append((judge, len(pairs.answered), sum(not p.agrees for p in pairs.answered)))
    return OwnDifferences(len(samples), tuple(found))
