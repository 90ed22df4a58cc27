"""Intervals: Wilson against scipy, the draws against independent ones, and what is refused."""

import numpy as np
import pytest
from scipy.stats import binomtest

from calibration.agreement import Confusion, Statistic, decision_draws, draw_cells, formulas, wilson
from calibration.agreement.cells import Cells
from calibration.agreement.interval import ByDraws
from calibration.errors import InputError


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 20), (13, 13), (10, 12), (27, 28), (81, 263), (5000, 9000)])
def test_wilson_equals_scipy(k: int, n: int, level: float) -> None:
    want = binomtest(k, n).proportion_ci(level, method="wilson")
    got = wilson(k, n, level)
    assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=1e-12)


def test_wilson_by_hand() -> None:
    # 10 of 10, z = 1.96: low = 1 / (1 + z^2 / 10) = 1 / 1.38415 = .72247
    assert wilson(10, 10, 0.95).low == pytest.approx(0.72247, abs=1e-5)


def test_wilson_reaches_0_and_1_exactly() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


def test_wilson_of_halved_counts_is_wider() -> None:
    # f = 2 turns 9 of 12 into 4.5 of 6
    whole, halved = wilson(9, 12), wilson(4.5, 6)
    assert halved.low < whole.low < whole.high < halved.high


@pytest.mark.parametrize(("k", "n"), [(0, 0), (-1, 5), (6, 5), (float("nan"), 5), (1, float("nan"))])
def test_wilson_refuses_what_is_no_proportion(k: float, n: float) -> None:
    with pytest.raises(InputError, match="no proportion"):
        wilson(k, n)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1])
def test_a_level_outside_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(InputError, match=r"0\.95"):
        wilson(1, 2, level)
    with pytest.raises(InputError, match=r"0\.95"):
        Confusion.from_counts(1, 2, 3, 4).kappa().interval(level)
    with pytest.raises(InputError, match=r"0\.95"):
        Confusion.from_counts(0, 0, 0, 0).kappa().interval(level)


def test_draws_follow_the_documented_generator() -> None:
    rng = np.random.default_rng(3)
    want = rng.standard_gamma(np.array([25, 3, 4, 8])[:, None] / 1.5 + 0.5, size=(4, 50))
    assert np.array_equal(draw_cells((25, 3, 4, 8), 1.5, 50, 3), want)


def test_the_prior_is_2_in_all_whatever_the_table() -> None:
    # no counts: the mean of a gamma draw is its shape, so the cells add up to 2
    for width in (4, 8, 9):
        assert draw_cells((0,) * width, 1.0, 200_000, 0).sum(axis=0).mean() == pytest.approx(2, abs=0.02)


def test_equal_arguments_share_one_matrix_that_nobody_can_change() -> None:
    first = draw_cells((25, 3, 4, 8), 1.0, 4000, 0)
    assert draw_cells([25, 3, 4, 8], 1.0, 4000, 0) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1.0


@pytest.mark.parametrize(("f", "draws"), [(0.5, 4000), (1.0, 0), (float("nan"), 4000)])
def test_draws_refuse_a_design_effect_below_1_and_no_draws(f: float, draws: int) -> None:
    with pytest.raises(InputError, match="at least 1"):
        draw_cells((1, 2, 3, 4), f, draws, 0)


def test_kappa_interval_equals_independent_dirichlet_draws() -> None:
    # other generator, other seed, kappa as (po - pe) / (1 - pe)
    p = np.random.default_rng(99).dirichlet([25.5, 3.5, 4.5, 8.5], 200_000)
    observed = p[:, 0] + p[:, 3]
    human, judge = p[:, 0] + p[:, 1], p[:, 0] + p[:, 2]
    luck = human * judge + (1 - human) * (1 - judge)
    want = np.quantile((observed - luck) / (1 - luck), [0.025, 0.975])
    got = Confusion.from_counts(25, 3, 4, 8).kappa().interval(draws=200_000)
    assert got is not None
    assert [got.low, got.high] == pytest.approx(want, abs=0.005)


def test_the_same_seed_gives_the_same_interval_and_another_seed_nearly_the_same() -> None:
    kappa = Confusion.from_counts(25, 3, 4, 8).kappa()
    first, other = kappa.interval(seed=1), kappa.interval(seed=2)
    assert first == kappa.interval(seed=1)
    assert first is not None
    assert other is not None
    assert first != other
    assert first.low == pytest.approx(other.low, abs=0.03)


@pytest.mark.parametrize(
    ("alpha", "draws"),
    [(0.025, 20_000), (0.0125, 40_000), (0.0025, 200_000), (0.025 / 3, 60_000), (0.1, 20_000)],
)
def test_a_decision_keeps_500_draws_in_the_tail(alpha: float, draws: int) -> None:
    # 500 / .0125 = 40,000; never below 20,000
    assert decision_draws(alpha) == draws


@pytest.mark.parametrize("alpha", [0, -0.1, 0.5, 2.5])
def test_decision_draws_refuse_what_is_no_one_sided_error(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha"):
        decision_draws(alpha)


def test_json_of_a_statistic_has_exactly_the_documented_keys() -> None:
    found = Confusion.from_counts(30, 0, 0, 10).kappa().as_json()
    assert list(found) == ["value", "low", "high", "level", "undefined", "no_interval", "flags"]
    assert (found["value"], found["high"], found["level"]) == (1.0, 1.0, 0.95)
    assert found["low"] == pytest.approx(0.77, abs=0.02)
    assert (found["undefined"], found["no_interval"], found["flags"]) == (None, None, [])


def test_json_of_an_undefined_statistic_has_a_reason_and_no_numbers() -> None:
    assert Confusion.from_counts(50, 0, 0, 0).kappa().as_json(0.9) == {
        "value": None,
        "low": None,
        "high": None,
        "level": 0.9,
        "undefined": "both_constant",
        "no_interval": None,
        "flags": [],
    }


def test_json_of_an_index_has_a_value_and_says_why_there_is_no_interval() -> None:
    found = Confusion.from_counts(25, 3, 4, 8).bias_index().as_json()
    # (3 - 4) / 40
    assert (found["value"], found["low"], found["high"], found["no_interval"]) == (-0.025, None, None, "not_computed")


def test_the_interval_is_stretched_to_hold_the_value() -> None:
    kappa = Confusion.from_counts(0, 10, 10, 0).kappa()
    assert kappa.value == -1.0
    # the draws end at -.99
    assert ByDraws(kappa.counts, formulas.kappa).bounds(0.95, 0, 4000).low > -1.0
    interval = kappa.interval()
    assert interval is not None
    assert interval.low == -1.0


def test_a_result_cannot_be_defined_and_undefined_at_once() -> None:
    cells = Cells((1, 2, 3, 4))
    method = ByDraws(cells.counts, lambda table: table[0])
    for value, reason in [(None, None), (0.5, "no_pairs")]:
        with pytest.raises(InputError, match="exactly one"):
            Statistic(cells, value, undefined=reason, method=method)
    with pytest.raises(InputError, match="nan"):
        Statistic(cells, float("nan"), method=method)
    with pytest.raises(InputError, match="no_interval"):
        Statistic(cells, 0.5)
