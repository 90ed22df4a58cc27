"""Judges, where they stand, and their recorded decisions: what joins the store with pairing and the gate."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibration import __version__
from calibration.agreement import Comparison, Statistic
from calibration.criteria import BUILT_IN
from calibration.digest import canonical_json, digest
from calibration.errors import InputError
from calibration.gate import Assessment, Evidence, Rule, Standing, assess
from calibration.pairing import Pairs, pair, people
from calibration.records import Decision, Judge, JudgeKind, LabelSet, Prompt, Reveal
from calibration.store import Store
from calibration.store.reveals import PICKED_FROM
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
) -> Board:
    """Where every judge of a criterion stands now. Records nothing."""
    rule = rule or Rule()
    labels = store.labels(criterion, annotators=annotators)
    roles = store.annotators()
    prompts = {prompt.digest: prompt for prompt in store.prompts()}
    judges = store.judges(criterion)
    every = [pair(labels, store.verdicts(judge, criterion), choice=rule.labels) for judge in judges]
    decisions = store.decisions(criterion=criterion)
    standings = []
    for pairs in every:
        summary = Summary(pairs, prompts.get(pairs.judge_record.prompt or ""), _people(pairs, roles))
        evidence = _evidence(pairs, every, [d for d in decisions if d.judge == pairs.judge_record.digest])
        standings.append(Standing(summary, assess(rule, evidence)))
    return Board(criterion, labels, tuple(standings))


def criteria_in_use(store: Store) -> list[str]:
    """Criteria with a label or a judge, in the product's order."""
    used = set(store.labelled_criteria()) | {judge.criterion for judge in store.judges()}
    return [name for name in BUILT_IN if name in used]


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


def decide(store: Store, standing: Standing, *, annotators: Sequence[str] | None = None, who: str = "") -> Decision:
    """Record what the gate says now, with everything needed to compute it again."""
    record = decision_record(store, standing, annotators) | {"who": who, "versions": _versions()}
    judge = standing.summary.judge
    return store.add_decision(judge.digest, standing.summary.criterion, standing.assessment.outcome, record)


UNVERIFIED = ("who", "versions")
"""Keys of a decision's record that say who and with what, not what was decided."""


def verify(store: Store, decision: Decision) -> tuple[bool, list[str]]:
    """Compute a decision again from what is stored. True when identical; else the inputs that changed."""
    held = {key: value for key, value in decision.record.items() if key not in UNVERIFIED}
    stored = held["rule"]
    rule = Rule(stored["min_kappa"], stored["min_tpr"], stored["min_tnr"], held["data"]["labels_choice"])
    annotators = held["data"]["annotators"]
    now = board(store, decision.criterion, rule, annotators=annotators)
    judge = next(judge for judge in store.judges(decision.criterion) if judge.digest == decision.judge)
    standing = now.standing(judge)
    evidence = standing.assessment.evidence
    paid = Evidence(
        evidence.strict, held["k"], held["r"], evidence.errors, evidence.baseline, held["statistic"]["seed"]
    )
    again = decision_record(store, Standing(standing.summary, assess(rule, paid)), annotators)
    if canonical_json(again) == canonical_json(held):
        return True, []
    changed = [
        name for name in ("data", "verdicts", "judge", "rule", "counts", "statistic") if again[name] != held[name]
    ]
    return False, changed or ["outcome"]


def decision_record(store: Store, standing: Standing, annotators: Sequence[str] | None = None) -> dict[str, Any]:
    """Everything a decision rests on, as canonical JSON can hold it."""
    summary, found = standing.summary, standing.assessment
    fresh = summary.pairs.only_fresh()
    labels = sorted(
        [label.sample, label.annotator, label.value, label.event_id] for p in fresh.all for label in p.labels
    )
    return {
        "judge": _judge_part(summary),
        "data": {
            "sample_set": store.sample_set_digest(),
            "label_set": digest([summary.criterion, labels]),
            "labels": labels,
            "labels_choice": summary.pairs.choice,
            "annotators": None if annotators is None else list(annotators),
            "guidelines": sorted({label.guideline for p in fresh.all for label in p.labels if label.guideline}),
            "fresh": summary.fresh,
            "seen": summary.seen,
        },
        "k": found.evidence.k,
        "r": found.evidence.r,
        "counts": {**summary.pairs.excluded, "pairs": summary.n, "errors": found.evidence.errors},
        "confusion": list(found.evidence.strict.cells.counts),
        "statistic": _statistic_part(found),
        "baseline": None if found.evidence.baseline is None else found.evidence.baseline.as_json(),
        "rule": found.rule.as_json(),
        "outcome": str(found.outcome),
        "reasons": list(found.reasons),
        "flags": list(found.flags),
        "labels_needed": {"labels": found.needed.labels, "fails": found.needed.fails, "reason": found.needed.reason},
        "verdicts": sorted(
            [p.verdict.run, p.sample, p.verdict.part, p.verdict.repeat, p.verdict.attempt] for p in fresh.all
        ),
    }


def _judge_part(summary: Summary) -> dict[str, Any]:
    judge = summary.judge
    return {
        "digest": judge.digest,
        "name": judge.name,
        "kind": str(judge.kind),
        "prompt": judge.prompt,
        "model": judge.model,
        "host": judge.host,
        "params": dict(judge.params),
    }


def _statistic_part(found: Assessment) -> dict[str, Any]:
    return {
        "name": "kappa_strict",
        "value": found.kappa.value,
        "undefined": found.kappa.undefined,
        "low": None if found.interval is None else found.interval.low,
        "high": None if found.interval is None else found.interval.high,
        "level": found.evidence.level,
        "fail_high": None if found.fail_interval is None else found.fail_interval.high,
        "method": "dirichlet",
        "design_effect": found.evidence.strict.design_effect,
        "seed": found.evidence.seed,
        "draws": found.draws,
    }


def _versions() -> dict[str, str]:
    return {"judge-calibration": __version__, "python": platform.python_version()}


def _people(pairs: Pairs, roles: dict[str, str]) -> str:
    names = people(pairs.all)
    if names and all(roles.get(name) == AUTHOR for name in names):
        return "the author"
    return "you" if len(names) <= 1 else "the annotators"


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
    """K: judges with verdicts on at least half of the decision's labels, this one included."""
    wanted = {p.sample for p in fresh.all}
    others = [
        other
        for other in every
        if other.judge_record.kind in COUNTED_KINDS and other.judge_record.digest != fresh.judge_record.digest
    ]
    own = fresh.judge_record.kind in COUNTED_KINDS
    return max(1, own + sum(2 * len(wanted & {p.sample for p in other.all}) >= len(wanted) > 0 for other in others))


def _decided_before(fresh: Pairs, decisions: Sequence[Decision]) -> int:
    """r: earlier decisions of this judge on other labels of which some are in this set."""
    now = {label.event_id for p in fresh.all for label in p.labels}
    before = [{entry[3] for entry in decision.record["data"]["labels"]} for decision in decisions]
    return len({frozenset(held) for held in before if held & now and held != now})


def _baseline(fresh: Pairs, every: Sequence[Pairs]) -> Statistic | None:
    """Kappa of this judge minus kappa of the lexical baseline on the samples both answered."""
    if fresh.judge_record.kind == JudgeKind.LEXICAL:
        return None
    lexical = next((other for other in every if other.judge_record.kind == JudgeKind.LEXICAL), None)
    if lexical is None:
        return None
    of_lexical = {p.sample: p for p in lexical.answered}
    both = [(p, of_lexical[p.sample]) for p in fresh.answered if p.sample in of_lexical]
    if not both:
        return None
    return Comparison.from_values(
        human=[p.human for p, _ in both],
        a=[str(p.judge) for p, _ in both],
        b=[str(q.judge) for _, q in both],
        groups=[p.group for p, _ in both],
    ).kappa_difference()


def stale(decision: Decision, standing: Standing, store: Store) -> list[str]:
    """What differs from the decision's: labels, samples or verdicts. Empty when it still holds."""
    now = decision_record(store, standing)
    names = {"label_set": "labels", "sample_set": "samples"}
    changed = [said for key, said in names.items() if now["data"][key] != decision.record["data"][key]]
    return changed + (["verdicts"] if now["verdicts"] != decision.record["verdicts"] else [])


@dataclass(frozen=True)
class Entry:
    """A judge in the registry with its derived status and what changed since the newest decision."""

    judge: Judge
    prompt: Prompt | None
    status: str
    stale: list[str]
    decisions: tuple[Decision, ...]


def entries(store: Store, criterion: str | None = None) -> list[Entry]:
    """Every judge with its decisions, in order of arrival."""
    prompts = {prompt.digest: prompt for prompt in store.prompts()}
    made = []
    for name in criteria_in_use(store):
        if criterion is not None and name != criterion:
            continue
        decisions = store.decisions(criterion=name)
        for standing in board(store, name).standings:
            judge = standing.summary.judge
            own = tuple(d for d in decisions if d.judge == judge.digest)
            changed = stale(own[-1], standing, store) if own else []
            made.append(
                Entry(judge, prompts.get(judge.prompt or ""), own[-1].outcome if own else "draft", changed, own)
            )
    return made


def reveal_comparison(
    store: Store, a: Summary, b: Summary, flips: dict[str, list[str]], annotator: str | None = None
) -> None:
    """Record what a list of flips reveals: the flips themselves, and every pair it was picked from."""
    shown = {*flips["repaired"], *flips["broken"]}
    both = {pair.sample for pair in a.pairs.answered} & {pair.sample for pair in b.pairs.answered}
    store.reveal(
        Reveal(sample, a.criterion, annotator, judge.digest, "flips" if sample in shown else PICKED_FROM)
        for judge in (a.judge, b.judge)
        for sample in sorted(both)
    )
