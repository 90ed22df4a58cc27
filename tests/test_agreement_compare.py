"""Two judges on the same samples: differences, who is right more often, and labels to tell them apart."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from calibration.agreement import Comparison, Confusion, LabelsNeeded, McNemar
from calibration.errors import InputError

# (human, a, b): yyy, yyn, yny, ynn, nyy, nyn, nny, nnn. a repaired 6 verdicts of b and broke none:
# a has the table 26, 1, 0, 13 and b the table 20, 7, 0, 13
REPAIRED = (20, 6, 0, 1, 0, 0, 0, 13)


def test_cells_are_counted_by_human_then_a_then_b() -> None:
    human = ["yes", "yes", "yes", "yes", "no", "no", "no", "no", "no"]
    a = ["yes", "yes", "no", "no", "yes", "yes", "no", "no", "no"]
    b = ["yes", "no", "yes", "no", "yes", "no", "yes", "no", "no"]
    assert Comparison.from_values(human=human, a=a, b=b) == Comparison.from_counts((1, 1, 1, 1, 1, 1, 1, 2))


def test_each_judge_has_its_own_table() -> None:
    both = Comparison.from_counts(REPAIRED)
    assert both.confusion_a == Confusion.from_counts(26, 1, 0, 13)
    assert both.confusion_b == Confusion.from_counts(20, 7, 0, 13)
    assert both.kappa_a() == both.confusion_a.kappa()
    assert both.kappa_b() == both.confusion_b.kappa()
    assert (both.n, both.questions, both.design_effect) == (40, 40, 1.0)


def test_difference_is_first_minus_second() -> None:
    both = Comparison.from_counts(REPAIRED)
    kappa, accuracy = both.kappa_difference(), both.accuracy_difference()
    interval = kappa.interval(draws=200_000)
    # .944 - .650; accuracy 39/40 - 33/40
    assert kappa.value == pytest.approx(0.944 - 0.650, abs=0.001)
    assert accuracy.value == pytest.approx(6 / 40)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.08, 0.50), abs=0.006)


def test_exchanged_judges_change_the_sign() -> None:
    # exchanging a and b exchanges cells 1 and 2, and 5 and 6
    forth, back = Comparison.from_counts(REPAIRED), Comparison.from_counts((20, 0, 6, 1, 0, 0, 0, 13))
    assert back.kappa_difference().value == -(forth.kappa_difference().value or 0)
    assert back.accuracy_difference().value == -(forth.accuracy_difference().value or 0)


def test_interval_of_the_differences_equals_independent_draws() -> None:
    counts = (20, 4, 3, 2, 1, 2, 3, 9)
    p = np.random.default_rng(5).dirichlet(np.array(counts) + 0.25, 200_000).reshape(-1, 2, 2, 2)
    table_a, table_b = p.sum(axis=3), p.sum(axis=2)
    both = Comparison.from_counts(counts)
    for statistic, difference in (
        (both.kappa_difference(), _kappa(table_a) - _kappa(table_b)),
        (both.accuracy_difference(), _accuracy(table_a) - _accuracy(table_b)),
    ):
        found = statistic.interval(draws=200_000)
        assert found is not None
        assert [found.low, found.high] == pytest.approx(np.quantile(difference, [0.025, 0.975]), abs=0.005)


def _accuracy(p: Any) -> Any:
    return p[:, 0, 0] + p[:, 1, 1]


def _kappa(p: Any) -> Any:
    luck = (p.sum(axis=2) * p.sum(axis=1)).sum(axis=1)
    return (_accuracy(p) - luck) / (1 - luck)


def test_a_difference_needs_both_kappas() -> None:
    # everybody says yes to everything but b, once
    constant = Comparison.from_counts((19, 1, 0, 0, 0, 0, 0, 0))
    assert (constant.kappa_a().undefined, constant.kappa_b().value) == ("both_constant", 0.0)
    assert (constant.kappa_difference().value, constant.kappa_difference().undefined) == (None, "both_constant")
    assert constant.accuracy_difference().value == pytest.approx(1 / 20)
    empty = Comparison.from_counts((0,) * 8)
    assert empty.kappa_difference().undefined == empty.accuracy_difference().undefined == "no_pairs"


def test_a_difference_carries_the_flags_of_both_tables_once() -> None:
    # 6 samples; judge a says yes throughout
    assert Comparison.from_counts((3, 1, 0, 0, 1, 1, 0, 0)).kappa_difference().flags == (
        "judge_constant",
        "very_few_labels",
    )


def test_grouped_samples_keep_their_questions_in_both_tables() -> None:
    rng = np.random.default_rng(2)
    human, a, b = (np.where(rng.random(60) < 0.6, "yes", "no").tolist() for _ in range(3))
    groups = [i // 3 for i in range(60)]
    both = Comparison.from_values(human=human, a=a, b=b, groups=groups)
    assert both.questions == 20
    assert both.design_effect >= 1
    assert both.confusion_a == Confusion.from_values(human=human, judge=a, groups=groups)
    assert both.confusion_b == Confusion.from_values(human=human, judge=b, groups=groups)


def test_identical_judges_differ_by_nothing_and_the_interval_says_how_sure_that_is() -> None:
    same = Comparison.from_counts((20, 0, 0, 5, 5, 0, 0, 10))
    interval = same.kappa_difference().interval()
    assert same.kappa_difference().value == 0
    assert interval is not None
    assert interval.low < 0 < interval.high


@pytest.mark.parametrize(("u", "v"), [(1, 7), (7, 1), (0, 6), (4, 3), (30, 55), (0, 1), (400, 700), (0, 2000)])
def test_mcnemar_equals_statsmodels_and_scipy(u: int, v: int) -> None:
    got = McNemar(u, v)
    assert got.p_exact == pytest.approx(statsmodels_mcnemar([[0, u], [v, 0]], exact=True).pvalue, rel=1e-9)
    assert got.p == pytest.approx(got.p_exact - binom.pmf(min(u, v), u + v, 0.5), rel=1e-9)


def test_mcnemar_without_a_winner() -> None:
    # no flips; 3 against 3: mid-p = 1 - C(6, 3) / 2^6 / 2 = 1 - 20 / 128
    assert (McNemar(0, 0).p_exact, McNemar(0, 0).p) == (1.0, 1.0)
    assert (McNemar(3, 3).p_exact, McNemar(3, 3).p) == (1.0, 1 - 20 / 128)


def test_mcnemar_stays_a_probability_for_many_flips() -> None:
    assert McNemar(0, 5000).p == 0.0
    assert McNemar(60_000, 60_400).p == pytest.approx(2 * binom.cdf(60_000, 120_400, 0.5), abs=0.003)


def test_mcnemar_counts_who_alone_was_right_within_each_label() -> None:
    # label yes: a alone right in cell 1, b alone in cell 2; label no: a alone in cell 6, b alone in cell 5
    both = Comparison.from_counts((10, 4, 3, 1, 2, 5, 6, 9))
    assert both.mcnemar() == McNemar(4 + 6, 3 + 5)
    assert both.mcnemar(within="yes") == McNemar(4, 3)
    assert both.mcnemar(within="no") == McNemar(6, 5)
    assert Comparison.from_counts(REPAIRED).mcnemar().as_json() == {
        "only_a_right": 6,
        "only_b_right": 0,
        "p": pytest.approx(2 / 2**6 - 1 / 2**6),
    }


def test_labels_to_tell_apart_follow_the_square_of_the_half_width() -> None:
    both = Comparison.from_counts((20, 4, 3, 2, 1, 2, 3, 9))
    difference = both.kappa_difference()
    interval = difference.interval()
    assert interval is not None
    assert difference.value is not None
    half = (interval.high - interval.low) / 2
    # n = 44; in all 44 * (half / difference)^2; 15 of 44 labels are no
    more = int(np.ceil(44 * (half / difference.value) ** 2)) - 44
    assert 1 < more <= 500
    assert both.labels_to_tell_apart() == LabelsNeeded(more, int(np.ceil(more * 15 / 44)), None)


def test_labels_to_tell_apart_when_there_is_nothing_to_find_or_nothing_left_to_show() -> None:
    same = Comparison.from_counts((20, 0, 0, 5, 5, 0, 0, 10))
    assert same.labels_to_tell_apart() == LabelsNeeded(None, None, "more_than_500")
    tiny = Comparison.from_counts((20, 5, 5, 1, 1, 4, 5, 10))
    assert tiny.labels_to_tell_apart() == LabelsNeeded(None, None, "more_than_500")
    assert Comparison.from_counts(REPAIRED).labels_to_tell_apart() == LabelsNeeded(0, 0, None)
    assert Comparison.from_counts((0,) * 8).labels_to_tell_apart() == LabelsNeeded(None, None, "no_pairs")


@pytest.mark.parametrize("counts", [(1, 2, 3), (1, 2, 3, 4, 5, 6, 7, -8), (1, 2, 3, 4, 5, 6, 7, 0.5)])
def test_bad_counts_are_refused(counts: Any) -> None:
    with pytest.raises(InputError, match="counts"):
        Comparison.from_counts(counts)


def test_sides_of_unequal_length_are_refused() -> None:
    with pytest.raises(InputError, match="human has 2, a has 2, b has 1 values"):
        Comparison.from_values(human=["yes", "no"], a=["yes", "no"], b=["yes"])
