"""Where a judge and people differ, and what looking at it reveals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calibration.agreement import Comparison
from calibration.board import board, criteria_in_use
from calibration.pairing import Pair
from calibration.records import Judge, JudgeKind, Reveal
from calibration.store import Store
from calibration.store.reveals import PICKED_FROM
from calibration.summary import Summary

SHOWN = "disagreements"
FLIPS = "flips"


def compare(a: Summary, b: Summary) -> tuple[Comparison, dict[str, int], dict[str, list[str]]]:
    """Two judges on the samples both answered: the comparison, exclusions by reason, and the flips by kind.

    Flips: samples that only one of the two got right; `repaired` by b, `broken` by b.
    """
    of_a = {pair.sample: pair for pair in a.pairs.answered}
    of_b = {pair.sample: pair for pair in b.pairs.answered}
    both = [(of_a[sample], of_b[sample]) for sample in of_a if sample in of_b]
    comparison = Comparison.from_values(
        human=[p.human for p, _ in both],
        a=[str(p.judge) for p, _ in both],
        b=[str(q.judge) for _, q in both],
        groups=[p.group for p, _ in both],
    )
    excluded = dict(a.pairs.excluded)
    only_a = [sample for sample in of_a if sample not in of_b]
    missing = {pair.sample: pair for pair in b.pairs.unanswered}
    for sample in only_a:
        reason = "no_verdict"
        if sample in missing:
            verdict = missing[sample].verdict
            reason = f"verdict_{verdict.status}" if verdict.value is None else "verdict_unsure"
        excluded[reason] += 1
    flips = {
        "repaired": [p.sample for p, q in both if q.agrees and not p.agrees],
        "broken": [p.sample for p, q in both if p.agrees and not q.agrees],
    }
    return comparison, excluded, flips


def cell(summary: Summary, human: str | None, verdict: str | None) -> list[Pair]:
    """The pairs of one cell; without a choice every disagreement, too strict first."""
    if human is None and verdict is None:
        return summary.disagreements
    return [pair for pair in summary.pairs.answered if human in (None, pair.human) and verdict in (None, pair.judge)]


def not_labelled_by(store: Store, annotator: str, criterion: str, pairs: Iterable[Pair]) -> int:
    """How many of these this person has not labelled yet: after looking, a label on them counts as audited."""
    own = {label.sample for label in store.current_labels(criterion, annotator)}
    return sum(pair.sample not in own for pair in pairs)


def fresh_left(store: Store, summary: Summary) -> int:
    """Labels that would still be fresh for a prompt written after looking at a list of this judge."""
    picked = {pair.sample for pair in summary.pairs.all}
    labels = store.labels(summary.criterion)
    return len({label.sample for label in labels.labels} - picked - set(labels.revealed))


def reveal_cell(store: Store, summary: Summary, pairs: Sequence[Pair], annotator: str) -> None:
    """Record what a list reveals before it is shown: its samples, and every pair it was picked from."""
    _reveal(store, summary, {pair.sample for pair in pairs}, {p.sample for p in summary.pairs.all}, annotator, SHOWN)


def reveal_comparison(
    store: Store, a: Summary, b: Summary, flips: dict[str, list[str]], annotator: str | None = None
) -> None:
    """Record what a list of flips reveals: the flips themselves, and every pair it was picked from."""
    shown = {*flips["repaired"], *flips["broken"]}
    both = {pair.sample for pair in a.pairs.answered} & {pair.sample for pair in b.pairs.answered}
    for summary in (a, b):
        _reveal(store, summary, shown, both, annotator, FLIPS)


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
    """This person's own labels against every prompt version: (judge, pairs, differences). Totals reveal nothing."""
    found: list[tuple[Judge, int, int]] = []
    samples: set[str] = set()
    for criterion in criteria_in_use(store):
        if not store.current_labels(criterion, annotator):
            continue
        own = board(store, criterion, annotators=[annotator])
        samples |= {label.sample for label in own.labels.labels}
        for standing in own.standings:
            judge, n = standing.summary.judge, standing.summary.n
            if judge.kind != JudgeKind.LEXICAL and n:
                found.append((judge, n, len(standing.summary.disagreements)))
    return OwnDifferences(len(samples), tuple(found))
