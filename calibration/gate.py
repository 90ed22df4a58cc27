"""Rule + evidence -> outcome. Pure: the same evidence always gives the same outcome.

The gate decides on the strict table of fresh labels by the ends of an interval, never by a value alone, and the
level pays for every prompt that was tried (statistics of multiple decisions: Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from calibration.agreement import Confusion, Interval, LabelsNeeded, Statistic, decision_draws, labels_needed
from calibration.agreement.plan import DECISION_ALPHA, OF_EACH_VALUE
from calibration.errors import InputError
from calibration.records import Outcome
from calibration.summary import Summary

FAIL_LEVEL = 0.99
SD_AT_20000 = 0.003  # Monte Carlo sd of a bound of kappa with 20,000 draws


@dataclass(frozen=True)
class Rule:
    """What a judge must reach. `min_kappa` is the threshold; the floors are optional."""

    min_kappa: float = 0.6
    min_tpr: float | None = None
    min_tnr: float | None = None
    labels: str = "blind"

    def __post_init__(self) -> None:
        """Refuse a threshold outside 0 to 1."""
        for name in ("min_kappa", "min_tpr", "min_tnr"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1:
                raise InputError(f"--{name.replace('_', '-')} {value}: give a number from 0 to below 1")

    def as_json(self) -> dict[str, Any]:
        """The rule as it is stored."""
        return {
            "min_kappa": self.min_kappa,
            "min_tpr": self.min_tpr,
            "min_tnr": self.min_tnr,
            "each_value": OF_EACH_VALUE,
        }


@dataclass(frozen=True)
class Evidence:
    """What the gate looks at: the strict table of fresh labels, and what the level has to pay for.

    `k` prompts have judged these labels; `r` earlier decisions of this judge used overlapping ones; `errors` calls
    were never answered; `baseline` is kappa(judge) - kappa(lexical) on the same samples where there is a baseline.
    """

    strict: Confusion
    k: int = 1
    r: int = 0
    errors: int = 0
    baseline: Statistic | None = None
    seed: int = 0

    @property
    def alpha(self) -> float:
        """One-sided error of this decision."""
        return DECISION_ALPHA / (self.k + self.r)

    @property
    def level(self) -> float:
        """Level of the two-sided interval whose lower end decides."""
        return 1 - 2 * self.alpha


@dataclass(frozen=True)
class Assessment:
    """The outcome with its reasons and everything it rests on."""

    rule: Rule
    evidence: Evidence
    outcome: str
    reasons: tuple[str, ...]
    kappa: Statistic
    interval: Interval | None
    fail_interval: Interval | None
    draws: int
    needed: LabelsNeeded
    flags: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Standing:
    """Where a judge stands: its agreement on all labels and what the gate says on the fresh ones."""

    summary: Summary
    assessment: Assessment


def assess(rule: Rule, evidence: Evidence, draws: int | None = None) -> Assessment:
    """Decide; `draws` None takes as many as a recorded decision needs.

    `failed` needs the 99 % interval below the threshold; `passed` the lower end at the paid level above it, 10 labels
    of each value and every floor; everything else is `not_enough_evidence`, with every rule missed.
    """
    kappa = evidence.strict.kappa()
    draws = draws or decision_draws(evidence.alpha)
    interval, used = _bound(kappa, evidence.level, rule.min_kappa, evidence.seed, draws, low=True)
    fail, _ = _bound(kappa, FAIL_LEVEL, rule.min_kappa, evidence.seed, draws, low=False)
    outcome, reasons = _outcome(rule, evidence, kappa, interval, fail)
    return Assessment(
        rule=rule,
        evidence=evidence,
        outcome=outcome,
        reasons=reasons,
        kappa=kappa,
        interval=interval,
        fail_interval=fail,
        draws=used,
        needed=_needed(rule, evidence, outcome, reasons),
        flags=(*kappa.flags, *_baseline_flag(evidence)),
    )


def _outcome(
    rule: Rule, evidence: Evidence, kappa: Statistic, interval: Interval | None, fail: Interval | None
) -> tuple[str, tuple[str, ...]]:
    strict = evidence.strict
    if evidence.errors:
        return Outcome.NOT_ENOUGH_EVIDENCE, ("errors_left",)
    if kappa.value is None or interval is None or fail is None:
        return Outcome.NOT_ENOUGH_EVIDENCE, (kappa.undefined or "no_interval",)
    if 0 in (strict.human_yes, strict.human_no):
        return Outcome.NOT_ENOUGH_EVIDENCE, ("human_constant", *_missed(rule, evidence, interval))
    if fail.high < rule.min_kappa:
        return Outcome.FAILED, ("kappa_below_threshold", *_floors(rule, evidence))
    missed = _missed(rule, evidence, interval)
    if 0 in (strict.judge_yes, strict.judge_no):
        missed = ("judge_constant", *missed)
    return (Outcome.NOT_ENOUGH_EVIDENCE, missed) if missed else (Outcome.PASSED, ())


def _missed(rule: Rule, evidence: Evidence, interval: Interval) -> tuple[str, ...]:
    strict = evidence.strict
    rules = {
        "interval_contains_threshold": interval.low < rule.min_kappa,
        "few_human_no": strict.human_no < OF_EACH_VALUE,
        "few_human_yes": strict.human_yes < OF_EACH_VALUE,
    }
    return (*(name for name, missed in rules.items() if missed), *_floors(rule, evidence))


def _floors(rule: Rule, evidence: Evidence) -> tuple[str, ...]:
    """The optional floors whose lower Wilson bound is not reached."""
    floors = (("tpr_floor", rule.min_tpr, evidence.strict.tpr()), ("tnr_floor", rule.min_tnr, evidence.strict.tnr()))
    missed = []
    for name, floor, statistic in floors:
        bound = statistic.interval(evidence.level)
        if floor is not None and (bound is None or bound.low < floor):
            missed.append(name)
    return tuple(missed)


def _bound(
    kappa: Statistic, level: float, threshold: float, seed: int, draws: int, *, low: bool
) -> tuple[Interval | None, int]:
    """The interval; an end within two Monte Carlo sd of the threshold is found again with 10 times the draws."""
    found = kappa.interval(level, seed, draws)
    if found is None:
        return None, draws
    end = found.low if low else found.high
    if abs(end - threshold) < 2 * SD_AT_20000 * sqrt(20_000 / draws):
        return kappa.interval(level, seed, 10 * draws), 10 * draws
    return found, draws


def _needed(rule: Rule, evidence: Evidence, outcome: str, reasons: tuple[str, ...]) -> LabelsNeeded:
    if outcome != Outcome.NOT_ENOUGH_EVIDENCE:
        return LabelsNeeded(None, None, "decided")
    if reasons and set(reasons) <= {"tpr_floor", "tnr_floor"}:
        return LabelsNeeded(None, None, "floor_not_reached")
    return labels_needed(evidence.strict, rule.min_kappa, evidence.alpha)


def _baseline_flag(evidence: Evidence) -> tuple[str, ...]:
    if evidence.baseline is None:
        return ()
    found = evidence.baseline.interval(0.95, evidence.seed)
    return () if found is not None and found.low > 0 else ("does_not_beat_baseline",)
