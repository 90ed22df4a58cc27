"""Counts of a table, and how its samples fall on questions.

Answers to one question resemble each other, so they carry less evidence than their number says.
The design effect f is how many such samples are worth one independent sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.agreement.formulas import FloatArray, Formula
from calibration.errors import InputError

IntArray = NDArray[np.intp]

EPSILON = 1e-5  # step of the numerical influence
SAME = 1e-9  # influences closer than this are equal: they differ by rounding only
PRIOR_QUESTIONS = 10  # the prior of f weighs as much as this many questions
PRIOR_CORRELATION = 0.3
NO_DISAGREEMENT_CORRELATION = 0.5


@dataclass(frozen=True)
class Cells:
    """Samples per cell, whole numbers.

    `rows` holds the distinct cell counts of one question, each with the number of questions that have them;
    empty means that every sample has a question of its own.
    """

    counts: tuple[int, ...]
    rows: tuple[tuple[tuple[int, ...], int], ...] = ()

    @classmethod
    def from_codes(cls, codes: IntArray, width: int, groups: Sequence[Hashable] | None) -> Cells:
        """Count samples per cell, and per question where `groups` names the question of each sample."""
        counts = tuple(np.bincount(codes, minlength=width).tolist())
        if groups is None:
            return cls(counts)
        if len(groups) != len(codes):
            raise InputError(f"groups: {len(groups)} values for {len(codes)} samples; name one question per sample")
        question = _numbered(groups)
        questions = int(question.max()) + 1 if len(question) else 0
        if questions == len(codes):
            return cls(counts)
        table = np.bincount(question * width + codes, minlength=questions * width).reshape(questions, width)
        rows = Counter(zip(*table.T.tolist(), strict=True))  # faster than numpy.unique over rows
        return cls(counts, tuple(sorted(rows.items())))

    @property
    def n(self) -> int:
        """Samples."""
        return sum(self.counts)

    @property
    def questions(self) -> int:
        """Questions; as many as samples when each has its own."""
        return sum(times for _, times in self.rows) if self.rows else self.n

    def value_of(self, statistic: Formula) -> float:
        """The statistic at these counts; nan where it is not defined."""
        return float(statistic(np.array(self.counts, dtype=float)))

    def merged(self, targets: Sequence[int], width: int) -> Cells:
        """The same samples in fewer cells: cell i goes to cell `targets[i]` of a table with `width` cells."""
        rows: Counter[tuple[int, ...]] = Counter()
        for row, times in self.rows:
            rows[_pooled(row, targets, width)] += times
        return Cells(_pooled(self.counts, targets, width), tuple(sorted(rows.items())))

    def design_effect(self, statistic: Formula) -> float:
        """How many of these samples are worth one independent sample for this statistic; at least 1.

        From the spread of the influence between questions, drawn towards a correlation of .3 by a prior worth 10
        questions. One sample a question gives 1. Where the influence is the same everywhere (no disagreement) or
        there is a single question, no spread can be measured: the result is then a correlation of .5 or .3 alone.
        """
        if not self.rows:
            return 1.0
        extra = self.n / self.questions - 1
        influence = self._influence(statistic)
        if not np.ptp(influence[np.array(self.counts) > 0]) > SAME:  # also when it is nan
            return 1 + NO_DISAGREEMENT_CORRELATION * extra
        prior = 1 + PRIOR_CORRELATION * extra
        q = self.questions
        if q == 1:
            return prior
        return max(1.0, (q * self._spread(influence) + PRIOR_QUESTIONS * prior) / (q + PRIOR_QUESTIONS))

    def _influence(self, statistic: Formula) -> FloatArray:
        """How much the statistic moves when weight moves to each cell; 0 for a cell without samples."""
        shares = np.array(self.counts, dtype=float) / self.n
        moved = (1 - EPSILON) * shares[:, None] + EPSILON * np.eye(len(shares))
        influence = (statistic(moved) - statistic(shares)) / EPSILON
        return np.where(shares > 0, influence, 0.0)

    def _spread(self, influence: FloatArray) -> float:
        """Variance of the questions' summed influence over what independent samples would have."""
        rows = np.array([row for row, _ in self.rows], dtype=float)
        times = np.array([k for _, k in self.rows], dtype=float)
        sums = rows @ influence
        q = times.sum()
        between = float(times @ (sums - times @ sums / q) ** 2)
        within = float(np.array(self.counts) @ influence**2)
        return float(q / (q - 1)) * between / within


def _numbered(groups: Sequence[Hashable]) -> IntArray:
    """Number the questions in the order they appear."""
    try:
        index = {group: number for number, group in enumerate(dict.fromkeys(groups))}
        return np.fromiter(map(index.__getitem__, groups), dtype=np.intp, count=len(groups))
    except TypeError as error:
        raise InputError(f"groups: {error}; name a question by a text, a number or a tuple") from error


def _pooled(counts: Sequence[int], targets: Sequence[int], width: int) -> tuple[int, ...]:
    pooled = [0] * width
    for count, target in zip(counts, targets, strict=True):
        pooled[target] += count
    return tuple(pooled)
