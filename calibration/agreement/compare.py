"""Two judges against the same labels: which agrees more, and is that more than chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, comb
from numbers import Integral
from typing import Literal, TypedDict

import numpy as np

from calibration.agreement import formulas
from calibration.agreement.cells import Cells
from calibration.agreement.confusion import Confusion, check_lengths, codes
from calibration.agreement.formulas import FloatArray, Formula
from calibration.agreement.interval import TABLE_DRAWS, ByDraws
from calibration.agreement.plan import MOST_LABELS, LabelsNeeded
from calibration.agreement.statistic import Statistic, undefined
from calibration.errors import InputError

# cell = 4 * human + 2 * a + b with yes = 0, no = 1; the table of one judge has the cell 2 * human + judge
TABLE_OF_A = (0, 0, 1, 1, 2, 2, 3, 3)
TABLE_OF_B = (0, 1, 0, 1, 2, 3, 2, 3)
ONLY_A_RIGHT = {"yes": 1, "no": 6}
ONLY_B_RIGHT = {"yes": 2, "no": 5}


class McNemarJson(TypedDict):
    """The test as commands print it; `p` is the mid-p."""

    only_a_right: int
    only_b_right: int
    p: float


@dataclass(frozen=True)
class McNemar:
    """Test of equal accuracy, on the samples only one judge got right; `p` is the mid-p, the one to report.

    It does not test equal kappa, and it takes samples of one question as independent.
    """

    only_a_right: int
    only_b_right: int

    @property
    def p_exact(self) -> float:
        """Two-sided exact p; 1 when no judge is ahead."""
        if self.only_a_right == self.only_b_right:
            return 1.0
        return min(1.0, 2 * _half_binomial_cdf(min(self.only_a_right, self.only_b_right), self._flips))

    @property
    def p(self) -> float:
        """Two-sided mid-p; 1 without any flip (Fagerland, Lydersen & Laake 2013)."""
        if self._flips == 0:
            return 1.0
        at_hand = _half_binomial_pmf(min(self.only_a_right, self.only_b_right), self._flips)
        return self.p_exact - (at_hand / 2 if self.only_a_right == self.only_b_right else at_hand)

    def as_json(self) -> McNemarJson:
        """Both counts and the mid-p."""
        return {"only_a_right": self.only_a_right, "only_b_right": self.only_b_right, "p": self.p}

    @property
    def _flips(self) -> int:
        return self.only_a_right + self.only_b_right


@dataclass(frozen=True)
class Comparison:
    """Samples by (human, judge a, judge b); only samples that both judges answered. Differences are a minus b."""

    cells: Cells

    @classmethod
    def from_counts(cls, counts: Sequence[int]) -> Comparison:
        """From 8 counts in the order of (human, a, b): yes yes yes, yes yes no, yes no yes, ..., no no no."""
        if len(counts) != 8:
            raise InputError(f"counts: {len(counts)} values; give the 8 of human, judge a and judge b")
        for place, count in enumerate(counts):
            if not isinstance(count, Integral) or count < 0:
                raise InputError(f"counts[{place}] = {count!r}: a count is a whole number, 0 or more")
        return cls(Cells(tuple(int(count) for count in counts)))

    @classmethod
    def from_values(
        cls,
        *,
        human: Sequence[str],
        a: Sequence[str],
        b: Sequence[str],
        groups: Sequence[Hashable] | None = None,
    ) -> Comparison:
        """From `yes` and `no` of each sample; `groups` names its question, None means one sample each."""
        check_lengths(human=human, a=a, b=b)
        cell = 4 * codes(human, "human") + 2 * codes(a, "a") + codes(b, "b")
        return cls(Cells.from_codes(cell, 8, groups))

    @property
    def n(self) -> int:
        """Samples that both judges answered."""
        return self.cells.n

    @property
    def questions(self) -> int:
        """Questions the samples belong to."""
        return self.cells.questions

    @property
    def design_effect(self) -> float:
        """How many samples are worth one independent sample, for the difference of kappa."""
        return self.cells.design_effect(_kappa_difference)

    @cached_property
    def confusion_a(self) -> Confusion:
        """The table of judge a."""
        return Confusion(self.cells.merged(TABLE_OF_A, 4))

    @cached_property
    def confusion_b(self) -> Confusion:
        """The table of judge b."""
        return Confusion(self.cells.merged(TABLE_OF_B, 4))

    def kappa_a(self) -> Statistic:
        """Kappa of judge a on these samples."""
        return self.confusion_a.kappa()

    def kappa_b(self) -> Statistic:
        """Kappa of judge b on these samples."""
        return self.confusion_b.kappa()

    def kappa_difference(self) -> Statistic:
        """Kappa of a minus kappa of b, -2 to 2; None with the reason of the kappa that is not defined."""
        return self._difference(_kappa_difference, self.kappa_a().undefined or self.kappa_b().undefined)

    def accuracy_difference(self) -> Statistic:
        """Accuracy of a minus accuracy of b, -1 to 1; None with `no_pairs`."""
        return self._difference(_accuracy_difference, None if self.n else "no_pairs")

    def mcnemar(self, within: Literal["yes", "no"] | None = None) -> McNemar:
        """Who is right more often: on all samples, or `within` the human `no` (TPR) or `yes` (TNR) alone."""
        values = ("yes", "no") if within is None else (within,)
        counts = self.cells.counts
        return McNemar(
            sum(counts[ONLY_A_RIGHT[value]] for value in values),
            sum(counts[ONLY_B_RIGHT[value]] for value in values),
        )

    def labels_to_tell_apart(self, level: float = 0.95, seed: int = 0, draws: int = TABLE_DRAWS) -> LabelsNeeded:
        """More labels until half of all data sets would show a difference of kappa as large as this one.

        0 when the interval excludes 0 already. None with `more_than_500`, also when there is no difference at all.
        At about twice as many labels in all, four of five data sets would show it.
        """
        difference = self.kappa_difference()
        interval = difference.interval(level, seed, draws)
        if difference.value is None or interval is None:
            return LabelsNeeded(None, None, difference.undefined)
        if interval.low > 0 or interval.high < 0:
            return LabelsNeeded(0, 0, None)
        if difference.value == 0:
            return LabelsNeeded(None, None, "more_than_500")
        # at the observed cells the variance falls as 1/n, so the half-width falls as its root
        needed = self.n * ((interval.high - interval.low) / 2 / difference.value) ** 2
        if needed - self.n > MOST_LABELS:
            return LabelsNeeded(None, None, "more_than_500")
        more = max(1, ceil(needed) - self.n)
        return LabelsNeeded(more, ceil(more * self.confusion_a.human_no / self.n), None)

    def _difference(self, formula: Formula, reason: str | None) -> Statistic:
        if reason:
            return undefined(self.cells, reason)
        both = (*self.confusion_a.flags, *self.confusion_b.flags)
        method = ByDraws(self.cells.counts, formula, self.cells.design_effect(formula))
        return Statistic(self.cells, self.cells.value_of(formula), flags=tuple(dict.fromkeys(both)), method=method)


def _kappa_difference(cells: FloatArray) -> FloatArray:
    return formulas.kappa(_table(cells, TABLE_OF_A)) - formulas.kappa(_table(cells, TABLE_OF_B))


def _accuracy_difference(cells: FloatArray) -> FloatArray:
    only_a = cells[ONLY_A_RIGHT["yes"]] + cells[ONLY_A_RIGHT["no"]]
    only_b = cells[ONLY_B_RIGHT["yes"]] + cells[ONLY_B_RIGHT["no"]]
    difference: FloatArray = (only_a - only_b) / cells.sum(axis=0)
    return difference


def _table(cells: FloatArray, targets: Sequence[int]) -> FloatArray:
    """The four cells of one judge."""
    table = np.zeros((4, *cells.shape[1:]))
    for source, target in enumerate(targets):
        table[target] += cells[source]
    return table


def _half_binomial_pmf(k: int, n: int) -> float:
    """Chance of k heads in n tosses of a fair coin, from whole numbers, so exact to the last digit."""
    return comb(n, k) / (1 << n)


def _half_binomial_cdf(k: int, n: int) -> float:
    """Chance of at most k heads in n tosses of a fair coin: the last term times the falling ratios before it."""
    i = np.arange(k, 0, -1)
    return _half_binomial_pmf(k, n) * (1 + float(np.cumprod(i / (n - i + 1)).sum()))
