"""Judges and their recorded decisions: deciding, computing a decision again, and what is stale."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibration import __version__
from calibration.board import board, criteria_in_use
from calibration.digest import canonical_json, digest
from calibration.gate import Assessment, Evidence, Rule, Standing, assess
from calibration.judges.parse import PARSER_VERSION
from calibration.records import Decision, Judge, Prompt
from calibration.store import Store
from calibration.summary import Summary


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
    """What differs from the decision's: labels, samples or verdicts. Empty when it still holds."""
    choice = decision.record["data"]["labels_choice"]
    if choice != standing.summary.pairs.choice:
        standing = board(store, decision.criterion, Rule(labels=choice)).standing(standing.summary.judge)
    now = decision_record(store, standing)
    names = {"label_set": "labels", "sample_set": "samples"}
    changed = [said for key, said in names.items() if now["data"][key] != decision.record["data"][key]]
    return changed + (["verdicts"] if now["verdicts"] != decision.record["verdicts"] else [])


def undecided(store: Store, standings: Sequence[Standing]) -> list[str]:
    """Judges without a decision, or whose newest one rests on other labels, samples or verdicts than now."""
    newest = {decision.judge: decision for decision in store.decisions()}
    return [
        standing.summary.judge.name
        for standing in standings
        if (decision := newest.get(standing.summary.judge.digest)) is None or stale(decision, standing, store)
    ]


@dataclass(frozen=True)
class Entry:
    """A judge in the registry with its derived status and what changed since the newest decision."""

    judge: Judge
    prompt: Prompt | None
    status: str
    stale: list[str]
    decisions: tuple[Decision, ...]
    standing: Standing


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
            status = own[-1].outcome if own else "draft"
            made.append(Entry(judge, prompts.get(judge.prompt or ""), status, changed, own, standing))
    return made
