"""How long agreement figures take. Times are printed, never asserted; ratios and counts are."""

from collections.abc import Iterator
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from calibration.agreement import Comparison, Confusion, Statistic, decision_draws, interval

FRESH = count(1)  # a new seed for every round: none is served from memory


@pytest.fixture
def pairs() -> tuple[list[str], list[str], list[int]]:
    rng = np.random.default_rng(0)
    human = rng.random(10_000) < 0.8
    judge = np.where(rng.random(10_000) < 0.9, human, ~human)
    values = [np.where(side, "yes", "no").tolist() for side in (human, judge)]
    return values[0], values[1], [i // 4 for i in range(10_000)]


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    interval._drawn.cache_clear()
    yield
    interval._drawn.cache_clear()


def figures(table: Confusion) -> list[Statistic]:
    return [
        table.kappa(),
        table.accuracy(),
        table.tpr(),
        table.tnr(),
        table.right_when_yes(),
        table.right_when_no(),
        table.f1(),
        table.balanced_accuracy(),
        table.mcc(),
        table.pabak(),
        table.ac1(),
        table.prevalence_index(),
        table.bias_index(),
        table.kappa_max(),
    ]


def test_kappa_with_interval_from_counts(benchmark: Any) -> None:
    found = benchmark(lambda: Confusion.from_counts(25, 3, 4, 8).kappa().interval(seed=next(FRESH)))
    assert found.low < found.high


def test_all_figures_of_one_judge_from_10_000_pairs(
    benchmark: Any, pairs: tuple[list[str], list[str], list[int]]
) -> None:
    human, judge, _ = pairs

    def run() -> list[Any]:
        seed = next(FRESH)
        return [figure.as_json(seed=seed) for figure in figures(Confusion.from_values(human=human, judge=judge))]

    assert len(benchmark(run)) == 14


def test_all_figures_of_one_judge_from_10_000_pairs_of_2_500_questions(
    benchmark: Any, pairs: tuple[list[str], list[str], list[int]]
) -> None:
    human, judge, groups = pairs

    def run() -> list[Any]:
        seed = next(FRESH)
        table = Confusion.from_values(human=human, judge=judge, groups=groups)
        return [figure.as_json(seed=seed) for figure in figures(table)]

    assert len(benchmark(run)) == 14


def test_a_decision_with_20_000_draws(benchmark: Any) -> None:
    def run() -> tuple[Any, Any]:
        kappa, seed = Confusion.from_counts(25, 3, 4, 8).kappa(), next(FRESH)
        draws = decision_draws(0.025)
        return kappa.interval(0.95, seed, draws), kappa.interval(0.99, seed, draws)

    lower, upper = benchmark(run)
    assert upper.high > lower.high


def test_a_difference_of_two_judges_with_4_000_draws(benchmark: Any) -> None:
    cells = (20, 4, 3, 2, 1, 2, 3, 9)
    found = benchmark(lambda: Comparison.from_counts(cells).kappa_difference().interval(seed=next(FRESH)))
    assert found.low < found.high


def test_all_figures_of_a_table_share_one_matrix_of_draws() -> None:
    for figure in figures(Confusion.from_counts(25, 3, 4, 8)):
        figure.as_json()
    assert interval._drawn.cache_info().misses == 1


def test_a_decision_draws_once_for_both_of_its_levels() -> None:
    kappa = Confusion.from_counts(25, 3, 4, 8).kappa()
    kappa.interval(0.95, draws=20_000)
    kappa.interval(0.99, draws=20_000)
    assert interval._drawn.cache_info().misses == 1


def test_the_time_of_an_interval_does_not_grow_with_the_number_of_samples() -> None:
    def fastest(scale: int) -> float:
        kappa = Confusion.from_counts(25 * scale, 3 * scale, 4 * scale, 8 * scale).kappa()
        times = []
        for _ in range(15):
            start = perf_counter()
            kappa.interval(seed=next(FRESH))
            times.append(perf_counter() - start)
        return min(times)

    assert fastest(10_000) < 5 * fastest(1)
