"""Intervals: Wilson for a proportion, draws from a Dirichlet for everything else of a table.

Both stay honest with few labels and none wrong, where Wald and bootstrap intervals shrink to a point.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np

from calibration.agreement.formulas import FloatArray, Formula
from calibration.errors import InputError

TABLE_DRAWS = 4_000  # for tables and pages: Monte Carlo sd of a lower bound of kappa .006
DECISION_DRAWS = 20_000  # at least, for a recorded decision: .003
DRAWS_IN_TAIL = 500
MATRICES_KEPT = 8  # all statistics of one table share one matrix of draws


@dataclass(frozen=True)
class Interval:
    """A range that holds the true value in a share `level` of data sets."""

    low: float
    high: float
    level: float


class Method(Protocol):
    """How a statistic finds the two ends of its interval."""

    @property
    def design_effect(self) -> float:
        """What the counts are divided by."""
        ...

    def bounds(self, level: float, seed: int, draws: int) -> Interval:
        """The interval at this level."""
        ...


@dataclass(frozen=True)
class ByWilson:
    """Interval of the proportion k/n. It is a formula: seed and draws change nothing."""

    k: float
    n: float
    design_effect: float = 1.0

    def bounds(self, level: float, seed: int, draws: int) -> Interval:
        """Wilson interval of k/f out of n/f."""
        return wilson(self.k / self.design_effect, self.n / self.design_effect, level)


@dataclass(frozen=True)
class ByDraws:
    """Interval of a formula over tables drawn around the counts."""

    counts: tuple[int, ...]
    formula: Formula
    design_effect: float = 1.0

    def bounds(self, level: float, seed: int, draws: int) -> Interval:
        """Quantiles of the formula over the drawn tables."""
        check_level(level)
        drawn = self.formula(draw_cells(self.counts, self.design_effect, draws, seed))
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
        return Interval(float(low), float(high), level)


def wilson(k: float, n: float, level: float = 0.95) -> Interval:
    """Interval for a proportion of k in n, both possibly fractional; n must be above 0 (Wilson 1927)."""
    check_level(level)
    if not 0 <= k <= n or n <= 0:
        raise InputError(f"wilson: {k} of {n} is no proportion; give 0 <= k <= n and n above 0")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, spread = k / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    # at k = 0 and k = n the end is 0 and 1 exactly; the formula misses it by rounding
    low = 0.0 if k == 0 else max(0.0, centre - half)
    high = 1.0 if k == n else min(1.0, centre + half)
    return Interval(low, high, level)


def draw_cells(counts: Sequence[float], f: float, draws: int = TABLE_DRAWS, seed: int = 0) -> FloatArray:
    """Tables drawn around `counts`, shape (cells, draws), not normalised and not to be written to.

    Gamma draws of counts / f plus a prior of 2 in all, spread evenly: 1/2 a cell in a yes/no table, 1/4 in the
    8 cells of two judges. Divided by their sum they are Dirichlet. f is the design effect, at least 1.
    """
    if not (f >= 1 and draws >= 1):  # nan is refused too
        raise InputError(f"draw_cells: f = {f}, draws = {draws}; both must be at least 1")
    return _drawn(tuple(counts), f, draws, seed)


@lru_cache(maxsize=MATRICES_KEPT)
def _drawn(counts: tuple[float, ...], f: float, draws: int, seed: int) -> FloatArray:
    shape = np.array(counts)[:, None] / f + 2 / len(counts)
    drawn = np.random.default_rng(seed).standard_gamma(shape, size=(len(counts), draws))
    drawn.setflags(write=False)
    return drawn


def decision_draws(alpha: float) -> int:
    """Draws for a recorded decision at a one-sided error of alpha: 500 in the tail, never below 20,000."""
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha = {alpha}: a one-sided error lies between 0 and .5")
    return max(DECISION_DRAWS, ceil(round(DRAWS_IN_TAIL / alpha, 6)))  # rounded: 500 / .0025 is 200000, not 200001


def check_level(level: float) -> None:
    """Refuse a level outside 0 to 1, such as 95."""
    if not 0 < level < 1:
        raise InputError(f"level = {level}: write 95 % as 0.95")
