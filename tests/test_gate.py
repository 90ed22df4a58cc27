"""The gate: outcome and reasons from a table, by the ends of an interval."""

from __future__ import annotations

import pytest

from calibration.agreement import Confusion
from calibration.errors import InputError
from calibration.gate import Evidence, Rule, assess

NOT_ENOUGH = "not_enough_evidence"

# a, b, c, d, outcome, the first reason (K = 1, r = 0, every sample a question of its own)
EDGE_CASES = [
    ((45, 0, 0, 5), NOT_ENOUGH, "few_human_no"),
    ((30, 0, 0, 10), "passed", None),
    ((50, 0, 0, 0), NOT_ENOUGH, "both_constant"),
    ((48, 2, 0, 0), NOT_ENOUGH, "human_constant"),
    ((48, 0, 2, 0), NOT_ENOUGH, "judge_constant"),
    ((34, 0, 6, 0), "failed", "kappa_below_threshold"),
    ((90, 0, 10, 0), "failed", "kappa_below_threshold"),
    ((2, 0, 0, 1), NOT_ENOUGH, "interval_contains_threshold"),
    ((0, 10, 10, 0), "failed", "kappa_below_threshold"),
    ((38, 1, 1, 0), NOT_ENOUGH, "interval_contains_threshold"),
    ((90, 5, 4, 1), NOT_ENOUGH, "interval_contains_threshold"),
    ((25, 3, 4, 8), NOT_ENOUGH, "interval_contains_threshold"),
    ((40, 9, 6, 45), NOT_ENOUGH, "interval_contains_threshold"),
    ((80, 10, 5, 5), NOT_ENOUGH, "interval_contains_threshold"),
    ((26, 1, 0, 13), "passed", None),
    ((15, 12, 4, 9), "failed", "kappa_below_threshold"),
    ((27, 2, 1, 10), NOT_ENOUGH, "interval_contains_threshold"),
    ((0, 0, 0, 0), NOT_ENOUGH, "no_pairs"),
]


@pytest.mark.parametrize(("table", "outcome", "reason"), EDGE_CASES, ids=lambda value: str(value))
def test_edge_case_has_its_right_outcome(table: tuple[int, ...], outcome: str, reason: str | None) -> None:
    found = assess(Rule(), Evidence(Confusion.from_counts(*table)))
    assert found.outcome == outcome
    assert (found.reasons[0] if found.reasons else None) == reason


def test_two_prompts_raise_the_bar_and_a_clear_judge_still_passes() -> None:
    found = assess(Rule(), Evidence(Confusion.from_counts(26, 1, 0, 13), k=2))
    # alpha = .025 / 2, level = 1 - .025
    assert found.evidence.level == pytest.approx(0.975)
    assert found.outcome == "passed"
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.67, abs=0.01)


def test_earlier_decisions_on_overlapping_labels_raise_the_bar_like_prompts() -> None:
    evidence = Evidence(Confusion.from_counts(26, 1, 0, 13), k=2, r=3)
    assert evidence.level == pytest.approx(1 - 2 * 0.025 / 5)


def test_failed_is_not_corrected_for_the_number_of_prompts() -> None:
    # the upper end at 99 % decides, whatever K is
    one, many = (assess(Rule(), Evidence(Confusion.from_counts(15, 12, 4, 9), k=k)) for k in (1, 20))
    assert one.outcome == many.outcome == "failed"
    assert one.fail_interval is not None
    assert many.fail_interval is not None
    assert one.fail_interval.high == pytest.approx(many.fail_interval.high, abs=0.01)


def test_a_call_that_was_never_answered_forbids_a_decision() -> None:
    found = assess(Rule(), Evidence(Confusion.from_counts(30, 0, 0, 10), errors=1))
    assert (found.outcome, found.reasons) == (NOT_ENOUGH, ("errors_left",))


def test_a_floor_that_is_not_reached_withholds_the_pass() -> None:
    # 10 of 10 caught: the lower Wilson bound at 95 % is 10 / (10 + 3.84) = .72
    table = Confusion.from_counts(30, 0, 0, 10)
    assert assess(Rule(min_tpr=0.7), Evidence(table)).outcome == "passed"
    withheld = assess(Rule(min_tpr=0.75), Evidence(table))
    assert (withheld.outcome, withheld.reasons) == (NOT_ENOUGH, ("tpr_floor",))


def test_a_promising_judge_is_told_how_many_labels_are_missing() -> None:
    found = assess(Rule(), Evidence(Confusion.from_counts(27, 2, 1, 10)))
    assert (found.needed.labels, found.needed.fails) == (70, 20)


def test_a_bound_near_the_threshold_is_found_again_with_more_draws() -> None:
    plain = assess(Rule(), Evidence(Confusion.from_counts(30, 0, 0, 10)))
    near = assess(Rule(min_kappa=0.77), Evidence(Confusion.from_counts(30, 0, 0, 10)))
    assert (plain.draws, near.draws) == (20_000, 200_000)


@pytest.mark.parametrize("bad", [1.0, -0.1, 7])
def test_a_threshold_outside_0_to_1_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="min-kappa"):
        Rule(min_kappa=bad)
