"""How many labels: the published table, the current table, and when no number helps."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from calibration.agreement import (
    Confusion,
    LabelsNeeded,
    fails_for_half_width,
    kappa_variance,
    labels_for_gate,
    labels_for_half_width,
    labels_needed,
    wilson,
)
from calibration.errors import InputError

# prevalence of yes: n if the true kappa is .8, .85, .9; n for +-.15 at kappa .6, .8; n for +-.10 at kappa .6, .8
PLANS = (
    (0.5, (108, 65, 42), (110, 62), (246, 139)),
    (0.8, (172, 104, 67), (174, 99), (392, 222)),
    (0.9, (309, 186, 120), (314, 179), (705, 401)),
    (0.95, (591, 355, 228), (599, 341), (1347, 768)),
)


@pytest.mark.parametrize(("prevalence", "gate", "wide", "narrow"), PLANS)
def test_planned_numbers_of_labels(
    prevalence: float, gate: tuple[int, ...], wide: tuple[int, ...], narrow: tuple[int, ...]
) -> None:
    share = {"human_no": 1 - prevalence, "judge_no": 1 - prevalence}
    assert tuple(labels_for_gate(kappa=k, threshold=0.6, **share) for k in (0.8, 0.85, 0.9)) == gate
    for half_width, want in ((0.15, wide), (0.10, narrow)):
        assert tuple(labels_for_half_width(kappa=k, half_width=half_width, **share) for k in (0.6, 0.8)) == want


@pytest.mark.parametrize("table", [(25, 3, 4, 8), (40, 9, 6, 45), (80, 10, 5, 5), (26, 1, 0, 13), (2, 20, 18, 3)])
def test_variance_of_kappa_equals_statsmodels(table: tuple[int, int, int, int]) -> None:
    assert kappa_variance(*table) == pytest.approx(cohens_kappa(np.reshape(table, (2, 2))).var_kappa)


def test_variance_of_shares_is_n_times_that_of_counts() -> None:
    shares = (25 / 40, 3 / 40, 4 / 40, 8 / 40)
    assert kappa_variance(*shares) == pytest.approx(40 * kappa_variance(25, 3, 4, 8))


def test_variance_of_a_perfect_table_is_0() -> None:
    assert kappa_variance(30, 0, 0, 10) == 0


@pytest.mark.parametrize("table", [(0, 0, 0, 0), (50, 0, 0, 0), (0, 0, 0, 50)])
def test_variance_of_a_table_without_kappa_is_refused(table: tuple[int, int, int, int]) -> None:
    with pytest.raises(InputError, match="no kappa"):
        kappa_variance(*table)


def test_labels_needed_by_the_current_table() -> None:
    # 27,2,1,10: kappa .82 needs 110 labels in all, 40 are held; 11 of 40 are no: 70 * .275 = 19.25
    assert labels_needed(Confusion.from_counts(27, 2, 1, 10)) == LabelsNeeded(70, 20, None)


def test_a_lower_alpha_needs_more_labels() -> None:
    table = Confusion.from_counts(27, 2, 1, 10)
    assert (labels_needed(table, alpha=0.025 / 6).labels or 0) > 70


def test_repeated_questions_need_more_labels() -> None:
    human = ["yes"] * 29 + ["no"] * 11
    judge = ["yes"] * 27 + ["no"] * 2 + ["yes"] * 1 + ["no"] * 10
    table = Confusion.from_values(human=human, judge=judge, groups=[i // 2 for i in range(40)])
    # f times 110 labels (109.1 before rounding up) minus 40 held
    assert table.design_effect > 1
    assert labels_needed(table).labels == int(np.ceil(table.design_effect * 110)) - 40


@pytest.mark.parametrize(
    ("table", "threshold", "reason"),
    [
        ((25, 3, 4, 8), 0.6, "estimate_not_above_threshold"),  # kappa .57
        ((50, 0, 0, 0), 0.6, "estimate_not_above_threshold"),  # no kappa
        ((0, 0, 0, 0), 0.6, "estimate_not_above_threshold"),
        ((29, 2, 5, 10), 0.62, "estimate_not_above_threshold"),  # kappa (.848 - .583) / .417 = .635
        ((34, 3, 0, 3), 0.6, "more_than_500"),  # kappa .630: 13,508 more
    ],
)
def test_when_no_number_of_labels_helps(table: tuple[int, int, int, int], threshold: float, reason: str) -> None:
    assert labels_needed(Confusion.from_counts(*table), threshold) == LabelsNeeded(None, None, reason)


def test_the_number_behind_more_than_500() -> None:
    kappa = Confusion.from_counts(34, 3, 0, 3).kappa().value
    assert kappa is not None
    total = labels_for_gate(kappa=kappa, threshold=0.6, human_no=3 / 40, judge_no=6 / 40)
    assert total - 40 == 13_508


def test_labels_until_ten_of_each_value_are_expected() -> None:
    # 95,0,0,5: kappa 1, the interval needs no more; 5 more no at 5 % of the labels: 100
    assert labels_needed(Confusion.from_counts(95, 0, 0, 5)) == LabelsNeeded(100, 5, None)
    # 5 human yes in 100: 5 more at 5 %: 100, of them 95 no
    assert labels_needed(Confusion.from_counts(5, 0, 0, 95)) == LabelsNeeded(100, 95, None)


def test_at_least_one_more_label() -> None:
    assert labels_needed(Confusion.from_counts(200, 1, 1, 100)) == LabelsNeeded(1, 1, None)


def test_shares_are_kept_away_from_0_and_1() -> None:
    # 1 no in 200 counts as 2 %: 9 more no at 2 %: 450
    assert labels_needed(Confusion.from_counts(199, 0, 0, 1)) == LabelsNeeded(450, 9, None)


@pytest.mark.parametrize(("tpr", "half_width"), [(0.9, 0.1), (0.7, 0.15), (1.0, 0.1), (0.0, 0.2), (0.5, 0.4)])
def test_fails_for_a_half_width_are_the_fewest_that_reach_it(tpr: float, half_width: float) -> None:
    n = fails_for_half_width(tpr=tpr, half_width=half_width)

    def half(size: int) -> float:
        interval = wilson(tpr * size, size)
        return (interval.high - interval.low) / 2

    assert half(n) <= half_width
    assert n == 1 or half(n - 1) > half_width


def test_impossible_plans_are_refused() -> None:
    with pytest.raises(InputError, match="threshold itself"):
        labels_for_gate(kappa=0.6, threshold=0.6, human_no=0.2, judge_no=0.2)
    with pytest.raises(InputError, match="human_no = 0"):
        labels_for_gate(kappa=0.8, threshold=0.6, human_no=0, judge_no=0.2)
    with pytest.raises(InputError, match="half_width = 0"):
        labels_for_half_width(kappa=0.8, half_width=0, human_no=0.2, judge_no=0.2)
    with pytest.raises(InputError, match="half_width = 0"):
        fails_for_half_width(tpr=0.8, half_width=0)
    with pytest.raises(InputError, match=r"tpr = 1\.5"):
        fails_for_half_width(tpr=1.5, half_width=0.1)
