"""Formulas of the yes/no table, for one table and for thousands of drawn ones alike.

Every formula takes cells whose first axis holds both yes (a), human yes judge no (b), human no judge yes (c)
and both no (d). The other axes, such as the draws of an interval, are kept. Counts and shares give the same answer.
A formula that divides by zero answers nan: the caller knows the reason and reports it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Formula = Callable[[FloatArray], FloatArray]


def kappa(cells: FloatArray) -> FloatArray:
    """Agreement beyond luck, -1 to 1; nan when both sides gave one and the same value (Cohen 1960)."""
    a, b, c, d = _split(cells)
    return _ratio(2 * (a * d - b * c), (a + b) * (b + d) + (c + d) * (a + c))


def observed_agreement(cells: FloatArray) -> FloatArray:
    """Share of samples on which human and judge agree, 0 to 1; nan without samples."""
    a, b, c, d = _split(cells)
    return _ratio(a + d, a + b + c + d)


def expected_agreement(cells: FloatArray) -> FloatArray:
    """Share of samples on which they would agree by luck, given both shares of `yes`, 0 to 1 (Cohen 1960)."""
    a, b, c, d = _split(cells)
    n = a + b + c + d
    return _ratio((a + b) * (a + c) + (c + d) * (b + d), n * n)


def fails_caught(cells: FloatArray) -> FloatArray:
    """TPR: share of the human `no` that the judge calls `no`; nan without a human `no`."""
    _, _, c, d = _split(cells)
    return _ratio(d, c + d)


def good_let_through(cells: FloatArray) -> FloatArray:
    """TNR: share of the human `yes` that the judge calls `yes`; nan without a human `yes`."""
    a, b, _, _ = _split(cells)
    return _ratio(a, a + b)


def right_when_yes(cells: FloatArray) -> FloatArray:
    """Share of the judge's `yes` that are right; nan when the judge never says `yes`."""
    a, _, c, _ = _split(cells)
    return _ratio(a, a + c)


def right_when_no(cells: FloatArray) -> FloatArray:
    """Share of the judge's `no` that are right (precision); nan when the judge never says `no`."""
    _, b, _, d = _split(cells)
    return _ratio(d, b + d)


def f1(cells: FloatArray) -> FloatArray:
    """Harmonic mean of fails caught and precision, 0 to 1; nan when nobody said `no`."""
    _, b, c, d = _split(cells)
    return _ratio(2 * d, 2 * d + b + c)


def balanced_accuracy(cells: FloatArray) -> FloatArray:
    """Mean of fails caught and good answers let through, 0 to 1; nan when a human value is missing."""
    return (fails_caught(cells) + good_let_through(cells)) / 2


def mcc(cells: FloatArray) -> FloatArray:
    """Matthews correlation, -1 to 1; nan when human or judge is constant (Chicco & Jurman 2020)."""
    a, b, c, d = _split(cells)
    margins = np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    clipped: FloatArray = np.clip(_ratio(a * d - b * c, margins), -1, 1)  # rounding can lead past 1
    return clipped


def pabak(cells: FloatArray) -> FloatArray:
    """Kappa if both values were equally common, -1 to 1; nan without samples (Byrt, Bishop & Carlin 1993)."""
    return 2 * observed_agreement(cells) - 1


def ac1(cells: FloatArray) -> FloatArray:
    """Agreement beyond luck with Gwet's idea of luck, -1 to 1; nan without samples (Gwet 2008)."""
    a, b, c, d = _split(cells)
    share_no = _ratio((c + d) + (b + d), 2 * (a + b + c + d))
    luck = 2 * share_no * (1 - share_no)
    return (observed_agreement(cells) - luck) / (1 - luck)


def prevalence_index(cells: FloatArray) -> FloatArray:
    """How unequal the two values are, -1 (all no) to 1 (all yes); nan without samples (Byrt et al. 1993)."""
    a, b, c, d = _split(cells)
    return _ratio(a - d, a + b + c + d)


def bias_index(cells: FloatArray) -> FloatArray:
    """How much stricter the judge is than the human, -1 to 1; nan without samples (Byrt et al. 1993)."""
    a, b, c, d = _split(cells)
    return _ratio(b - c, a + b + c + d)


def kappa_max(cells: FloatArray) -> FloatArray:
    """The largest kappa that these shares of `yes` allow; nan when both sides gave one and the same value."""
    a, b, c, d = _split(cells)
    most = _ratio(np.minimum(a + b, a + c) + np.minimum(c + d, b + d), a + b + c + d)
    luck = expected_agreement(cells)
    return _ratio(most - luck, 1 - luck)


def _split(cells: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    return cells[0], cells[1], cells[2], cells[3]


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        result: FloatArray = np.divide(numerator, denominator)
    return result
