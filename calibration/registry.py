"""Judges and their recorded decisions: deciding, computing a decision again, and what is stale."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from calibration import __version__
from calibration.board import Board, board
from calibration.digest import canonical_json, digest
from calibration.gate import Assessment, Rule, Standing, assess
from calibration.judges.parse import PARSER_VERSION
from calibration.records import Decision, Judge, Prompt
from calibration.store import Store
from calibration.summary import Summary


def decide(store: Store, standing: Standing, *, annotators: Sequence[str] | None = None, who: str = "") -> Decision:
    """Record what the gate says now, with everything needed to compute it again."""
    standing = settled(standing)
    record = decision_record(store, standing, annotators) | {"who": who, "versions": _versions()}
    judge = standing.summary.judge
    return store.add_decision(judge.digest, standing.summary.criterion, standing.assessment.outcome, record)


def settled(standing: Standing) -> Standing:
    """The same with as many draws as a recorded decision needs; pages make do with fewer."""
    return replace(standing, assessment=assess(standing.assessment.rule, standing.assessment.evidence))


UNVERIFIED = ("who", "versions", "events", "baseline", "flags")
"""Keys of a decision's record that decide nothing: who and with what, notes and the baseline beside it."""


def verify(store: Store, decision: Decision) -> tuple[bool, list[str]]:
    """Compute a decision again from what is stored. True when identical; else the parts of it that changed."""
    held = _verified(decision.record)
    rule, annotators = rule_of(decision), held["data"]["annotators"]
    now = board(store, decision.criterion, rule, annotators=annotators)
    judge = next(judge for judge in store.judges(decision.criterion) if judge.digest == decision.judge)
    standing = now.standing(judge)
    paid = replace(standing.assessment.evidence, k=held["k"], r=held["r"], seed=held["statistic"]["seed"])
    again = _verified(decision_record(store, Standing(standing.summary, assess(rule, paid)), annotators))
    if canonical_json(again) == canonical_json(held):
        return True, []
    return False, sorted(name for name in held.keys() | again.keys() if again.get(name) != held.get(name))


def _verified(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in UNVERIFIED}


def decision_record(store: Store, standing: Standing, annotators: Sequence[str] | None = None) -> dict[str, Any]:
    """Everything a decision rests on, as canonical JSON can hold it."""
    summary, found = standing.summary, standing.assessment
    fresh = summary.pairs.only_fresh()
    labels = sorted([label.sample, label.annotator, label.value] for p in fresh.all for label in p.labels)
    return {
        "judge": _judge_part(summary),
        "parser": PARSER_VERSION,
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
        "events": sorted(label.event_id for p in fresh.all for label in p.labels),
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


def stale(decision: Decision, standing: Standing, store: Store) -> list[str]:
    """What differs from the decision's: labels, samples or verdicts. Empty when it still holds.

    The standing is one under the decision's choice of labels.
    """
    now = decision_record(store, standing)
    names = {"label_set": "labels", "sample_set": "samples"}
    changed = [said for key, said in names.items() if now["data"][key] != decision.record["data"][key]]
    return changed + (["verdicts"] if now["verdicts"] != decision.record["verdicts"] else [])


def rule_of(decision: Decision) -> Rule:
    """The rule a decision was made under."""
    held = decision.record["rule"]
    return Rule(held["min_kappa"], held["min_tpr"], held["min_tnr"], decision.record["data"]["labels_choice"])


@dataclass(frozen=True)
class Entry:
    """A judge in the registry with its derived status and what changed since the newest decision."""

    judge: Judge
    prompt: Prompt | None
    status: str
    stale: list[str]
    decisions: tuple[Decision, ...]
    standing: Standing


def undecided(store: Store, criteria: Sequence[str]) -> list[str]:
    """Judges without a decision, or whose newest one rests on other labels, samples or verdicts than now."""
    decided = {decision.criterion for decision in store.decisions()}
    names = [judge.name for name in criteria if name not in decided for judge in store.judges(name)]
    found = [entry for name in criteria if name in decided for entry in entries(store, name)]
    return names + [entry.judge.name for entry in found if not entry.decisions or entry.stale]


def entries(store: Store, criterion: str, *, viewer: str | None = None) -> list[Entry]:
    """Every judge of a criterion with its decisions, in order of arrival.

    Its standing is the one under the rule of its newest decision, so that the two never contradict each other.
    """
    prompts = {prompt.digest: prompt for prompt in store.prompts()}
    decisions = store.decisions(criterion=criterion)
    boards: dict[Rule, Board] = {}
    made = []
    for judge in store.judges(criterion):
        own = tuple(d for d in decisions if d.judge == judge.digest)
        rule = rule_of(own[-1]) if own else Rule()
        if rule not in boards:
            boards[rule] = board(store, criterion, rule, viewer=viewer)
        standing = boards[rule].standing(judge)
        changed = stale(own[-1], standing, store) if own else []
        status = own[-1].outcome if own else "draft"
        made.append(Entry(judge, prompts.get(judge.prompt or ""), status, changed, own, standing))
    return made
