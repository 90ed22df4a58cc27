"""Where every judge of a criterion stands: what joins the store with pairing and the gate. Records nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.agreement import TABLE_DRAWS, Comparison, Statistic
from calibration.criteria import BUILT_IN
from calibration.errors import InputError
from calibration.gate import Evidence, Rule, Standing, assess
from calibration.pairing import Pair, Pairs, pair, people
from calibration.records import Decision, Judge, JudgeKind, LabelSet
from calibration.store import Store
from calibration.summary import Summary

COUNTED_KINDS = (JudgeKind.LLM, JudgeKind.IMPORTED, JudgeKind.SCRIPTED)
AUTHOR = "author"
"""Role of the annotator who labelled bundled samples: sentences then say "the author" instead of "you"."""


@dataclass(frozen=True)
class Board:
    """Every judge of one criterion against the same labels."""

    criterion: str
    labels: LabelSet
    standings: tuple[Standing, ...]

    def standing(self, judge: Judge) -> Standing:
        """The standing of one judge."""
        found = [s for s in self.standings if s.summary.judge.digest == judge.digest]
        if not found:
            raise InputError(f"{judge.name} does not judge {self.criterion!r}")
        return found[0]


def board(
    store: Store,
    criterion: str,
    rule: Rule | None = None,
    *,
    annotators: Sequence[str] | None = None,
    viewer: str | None = None,
) -> Board:
    """Where every judge of a criterion stands now. Records nothing.

    `viewer` is who reads the sentences: labels of somebody else are not called "yours".
    """
    rule = rule or Rule()
    labels = store.labels(criterion, annotators=annotators)
    roles = store.annotators()
    prompts = {prompt.digest: prompt for prompt in store.prompts()}
    judges = store.judges(criterion)
    every = [pair(labels, store.verdicts(judge, criterion), choice=rule.labels) for judge in judges]
    decisions = store.decisions(criterion=criterion)
    standings = []
    for pairs in every:
        summary = Summary(pairs, prompts.get(pairs.judge_record.prompt or ""), _people(pairs, roles, viewer))
        evidence = _evidence(pairs, every, [d for d in decisions if d.judge == pairs.judge_record.digest])
        standings.append(Standing(summary, assess(rule, evidence, TABLE_DRAWS)))
    return Board(criterion, labels, tuple(standings))


def criteria_in_use(store: Store) -> list[str]:
    """Criteria with a label or a judge, in the product's order."""
    used = set(store.labelled_criteria()) | {judge.criterion for judge in store.judges()}
    return [name for name in BUILT_IN if name in used]


def _people(pairs: Pairs, roles: dict[str, str], viewer: str | None) -> str:
    names = people(pairs.all)
    if names and all(roles.get(name) == AUTHOR for name in names):
        return "the author"
    if len(names) > 1:
        return "the annotators"
    return names[0] if names and viewer not in (None, names[0]) else "you"


def _evidence(pairs: Pairs, every: Sequence[Pairs], decisions: Sequence[Decision]) -> Evidence:
    fresh = pairs.only_fresh()
    return Evidence(
        strict=fresh.strict_confusion(),
        k=_tried(fresh, every),
        r=_decided_before(fresh, decisions),
        errors=sum(p.verdict.status == "error" for p in fresh.unanswered),
        baseline=_baseline(fresh, every),
    )


def _tried(fresh: Pairs, every: Sequence[Pairs]) -> int:
    """K: judges with verdicts on at least half of the decision's labels, this one included.

    A judge without a known prompt counts once for each import that covers as much: it may be another one every time.
    """
    wanted = {p.sample for p in fresh.all}

    def tries(pairs: Pairs) -> int:
        sets = pairs.tried or (frozenset(p.sample for p in pairs.all),)
        return sum(2 * len(wanted & samples) >= len(wanted) > 0 for samples in sets)

    counted = {p.judge_record.digest: tries(p) for p in every if p.judge_record.kind in COUNTED_KINDS}
    own = fresh.judge_record.digest
    if own in counted:
        counted[own] = max(1, counted[own])
    return max(1, sum(counted.values()))


def _decided_before(fresh: Pairs, decisions: Sequence[Decision]) -> int:
    """r: earlier decisions of this judge on other labels of which some are in this set. A note changes no label."""
    now = {(label.sample, label.annotator, label.value) for p in fresh.all for label in p.labels}
    before = [{tuple(label) for label in decision.record["data"]["labels"]} for decision in decisions]
    return len({frozenset(held) for held in before if held & now and held != now})


def _baseline(fresh: Pairs, every: Sequence[Pairs]) -> Statistic | None:
    """Kappa of this judge minus kappa of the lexical baseline on the samples both answered."""
    if fresh.judge_record.kind == JudgeKind.LEXICAL:
        return None
    lexical = next((other for other in every if other.judge_record.kind == JudgeKind.LEXICAL), None)
    if lexical is None:
        return None
    comparison = comparison_of(fresh.answered, lexical.answered)
    return comparison.kappa_difference() if comparison.n else None


def comparison_of(a: Sequence[Pair], b: Sequence[Pair]) -> Comparison:
    """Two judges on the samples that stand in both; no answer counts as wrong where such pairs are given."""
    of_b = {pair.sample: pair for pair in b}
    both = [(pair, of_b[pair.sample]) for pair in a if pair.sample in of_b]
    return Comparison.from_values(
        human=[p.human for p, _ in both],
        a=[p.strict for p, _ in both],
        b=[q.strict for _, q in both],
        groups=[p.group for p, _ in both],
    )
