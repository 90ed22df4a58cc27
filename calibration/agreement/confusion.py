"""The yes/no table of one judge against the human labels, and every figure that is read from it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np

from calibration.agreement import formulas
from calibration.agreement.cells import Cells, IntArray
from calibration.agreement.formulas import Formula
from calibration.agreement.interval import ByDraws, ByWilson
from calibration.agreement.statistic import Statistic, undefined
from calibration.errors import InputError

CODES = {"yes": 0, "no": 1}
VERY_FEW_LABELS = 10
LOW_PREVALENCE = 0.1


@dataclass(frozen=True)
class Confusion:
    """Samples by (human, judge): a both yes, b human yes judge no, c human no judge yes, d both no.

    `no` is the positive class of TPR, F1 and precision: what the judge is there to catch. Without samples every
    figure is None with reason `no_pairs`.
    """

    cells: Cells

    @classmethod
    def from_counts(cls, a: int, b: int, c: int, d: int) -> Confusion:
        """From the four counts, every sample with a question of its own."""
        for name, count in zip("abcd", (a, b, c, d), strict=True):
            if not isinstance(count, Integral) or count < 0:
                raise InputError(f"{name} = {count!r}: a count is a whole number, 0 or more")
        return cls(Cells((int(a), int(b), int(c), int(d))))

    @classmethod
    def from_values(
        cls, *, human: Sequence[str], judge: Sequence[str], groups: Sequence[Hashable] | None = None
    ) -> Confusion:
        """From `yes` and `no` of each sample; `groups` names its question, None means one sample each."""
        check_lengths(human=human, judge=judge)
        return cls(Cells.from_codes(2 * codes(human, "human") + codes(judge, "judge"), 4, groups))

    @property
    def a(self) -> int:
        """Samples both call good."""
        return self.cells.counts[0]

    @property
    def b(self) -> int:
        """Samples only the human calls good."""
        return self.cells.counts[1]

    @property
    def c(self) -> int:
        """Samples only the judge calls good."""
        return self.cells.counts[2]

    @property
    def d(self) -> int:
        """Samples both call bad."""
        return self.cells.counts[3]

    @property
    def n(self) -> int:
        """Samples."""
        return self.cells.n

    @property
    def too_strict(self) -> int:
        """Good answers the judge rejects."""
        return self.b

    @property
    def too_lenient(self) -> int:
        """Bad answers the judge lets through."""
        return self.c

    @property
    def human_yes(self) -> int:
        """Samples the human calls good."""
        return self.a + self.b

    @property
    def human_no(self) -> int:
        """Samples the human calls bad."""
        return self.c + self.d

    @property
    def judge_yes(self) -> int:
        """Samples the judge calls good."""
        return self.a + self.c

    @property
    def judge_no(self) -> int:
        """Samples the judge calls bad."""
        return self.b + self.d

    @property
    def questions(self) -> int:
        """Questions the samples belong to."""
        return self.cells.questions

    @cached_property
    def design_effect(self) -> float:
        """How many samples are worth one independent sample, for kappa; 1 when each has its own question."""
        return self.design_effect_of(formulas.kappa)

    def design_effect_of(self, statistic: Formula) -> float:
        """The same for another formula of the cells."""
        return self.cells.design_effect(statistic)

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """Reasons to distrust any figure of this table.

        `human_constant`, `judge_constant`: one value only. `low_prevalence`: fewer than 10 % of the labels have one
        of the two values (not beside a constant side, which says more). `very_few_labels`: fewer than 10 samples.
        """
        human_constant = 0 in (self.human_yes, self.human_no)
        judge_constant = 0 in (self.judge_yes, self.judge_no)
        rare = min(self.human_yes, self.human_no) < LOW_PREVALENCE * self.n
        raised = {
            "human_constant": human_constant,
            "judge_constant": judge_constant,
            "low_prevalence": rare and not (human_constant or judge_constant),
            "very_few_labels": self.n < VERY_FEW_LABELS,
        }
        return tuple(flag for flag, is_raised in raised.items() if is_raised)

    def kappa(self) -> Statistic:
        """Agreement beyond luck; None with `both_constant`: agreement by luck is certain (Cohen 1960).

        Flag `labels_may_be_swapped`: the upper end of the 95 % interval is below 0.
        """
        result = self._drawn(formulas.kappa, self._constant(both=True))
        if result.value is None or result.value >= 0:
            return result
        upper = result.interval()
        if upper is None or upper.high >= 0:
            return result
        return Statistic(self.cells, result.value, flags=(*self.flags, "labels_may_be_swapped"), method=result.method)

    def accuracy(self) -> Statistic:
        """Share of samples on which human and judge agree."""
        return self._proportion(formulas.observed_agreement, self.a + self.d, self.n, "no_pairs")

    def tpr(self) -> Statistic:
        """Share of bad answers the judge catches; None with `no_human_no`."""
        return self._proportion(formulas.fails_caught, self.d, self.human_no, "no_human_no")

    def tnr(self) -> Statistic:
        """Share of good answers the judge lets through; None with `no_human_yes`."""
        return self._proportion(formulas.good_let_through, self.a, self.human_yes, "no_human_yes")

    def right_when_yes(self) -> Statistic:
        """Share of the judge's `yes` the human shares; None with `no_judge_yes`."""
        return self._proportion(formulas.right_when_yes, self.a, self.judge_yes, "no_judge_yes")

    def right_when_no(self) -> Statistic:
        """Share of the judge's `no` the human shares; None with `no_judge_no`."""
        return self._proportion(formulas.right_when_no, self.d, self.judge_no, "no_judge_no")

    def precision(self) -> Statistic:
        """The same number as `right_when_no`, under the name that detection uses."""
        return self.right_when_no()

    def f1(self) -> Statistic:
        """Harmonic mean of TPR and precision; None with `no_fails`: nobody said `no`."""
        return self._drawn(formulas.f1, "no_fails" if self.b + self.c + self.d == 0 else None)

    def balanced_accuracy(self) -> Statistic:
        """Mean of TPR and TNR; None with the reason of the one that is missing."""
        reason = "no_human_no" if self.human_no == 0 else "no_human_yes" if self.human_yes == 0 else None
        return self._drawn(formulas.balanced_accuracy, reason)

    def mcc(self) -> Statistic:
        """Correlation; None with `human_constant`, `judge_constant` or `both_constant` (Chicco & Jurman 2020)."""
        return self._drawn(formulas.mcc, self._constant(both=False))

    def pabak(self) -> Statistic:
        """Kappa if both values were equally common: descriptive, high for a useless judge at 90 % `yes`."""
        return self._drawn(formulas.pabak, None)

    def ac1(self) -> Statistic:
        """Gwet's agreement beyond luck: descriptive, high for a useless judge at 90 % `yes` (Gwet 2008)."""
        return self._drawn(formulas.ac1, None)

    def prevalence_index(self) -> Statistic:
        """How unequal the two values are: share of both yes minus share of both no; no interval."""
        return self._index(formulas.prevalence_index, None)

    def bias_index(self) -> Statistic:
        """Share of too strict minus share of too lenient: positive means a stricter judge; no interval."""
        return self._index(formulas.bias_index, None)

    def kappa_max(self) -> Statistic:
        """The largest kappa these shares of `yes` allow; None with `both_constant`; no interval."""
        return self._index(formulas.kappa_max, self._constant(both=True))

    def _constant(self, *, both: bool) -> str | None:
        """Which side has one value only. `both`: ask only whether both sides have one and the same value."""
        if both:
            return "both_constant" if self.n in (self.a, self.d) else None
        human = 0 in (self.human_yes, self.human_no)
        judge = 0 in (self.judge_yes, self.judge_no)
        if human and judge:
            return "both_constant"
        return "human_constant" if human else "judge_constant" if judge else None

    def _drawn(self, formula: Formula, reason: str | None) -> Statistic:
        if self.n == 0 or reason:
            return undefined(self.cells, reason if self.n and reason else "no_pairs")
        method = ByDraws(self.cells.counts, formula, self.design_effect)
        return Statistic(self.cells, self.cells.value_of(formula), flags=self.flags, method=method)

    def _proportion(self, formula: Formula, k: int, n: int, reason: str) -> Statistic:
        if n == 0:
            return undefined(self.cells, reason if self.n else "no_pairs")
        method = ByWilson(k, n, self.design_effect_of(formula))
        return Statistic(self.cells, k / n, flags=self.flags, method=method)

    def _index(self, formula: Formula, reason: str | None) -> Statistic:
        if self.n == 0 or reason:
            return undefined(self.cells, reason if self.n and reason else "no_pairs")
        return Statistic(self.cells, self.cells.value_of(formula), no_interval="not_computed", flags=self.flags)


def codes(values: Sequence[str], name: str) -> IntArray:
    """0 for each `yes` and 1 for each `no`; anything else is refused by its place."""
    try:
        return np.fromiter(map(CODES.__getitem__, values), dtype=np.intp, count=len(values))
    except (KeyError, TypeError):
        place, value = next((i, v) for i, v in enumerate(values) if not (isinstance(v, str) and v in CODES))
        raise InputError(
            f'{name}[{place}] is {value!r}, not "yes" or "no"; leave such a sample out and count it'
        ) from None


def check_lengths(**values: Sequence[str]) -> None:
    """Refuse sides of different lengths."""
    lengths = {name: len(side) for name, side in values.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"{said} values; give one of each for every sample")
