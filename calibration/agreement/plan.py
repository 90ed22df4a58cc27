"""How many labels: for a decision, for a width, for a share of fails caught. All take samples as independent.

The formulas rest on the Wald variance of kappa; the gate is a little more careful, so every number is a lower figure.
"""

from dataclasses import dataclass
from itertools import count
from math import ceil, sqrt
from statistics import NormalDist

from calibration.agreement.confusion import Confusion
from calibration.agreement.interval import check_level, wilson
from calibration.errors import InputError

DECISION_ALPHA = 0.025
POWER = 0.8
MOST_LABELS = 500  # more than this is no plan: improve the prompt
OF_EACH_VALUE = 10  # a pass needs as many human `yes` and human `no`
CLEARLY_ABOVE = 0.02  # kappa must exceed the threshold by more than this for labels to help
RAREST = 0.02  # observed shares are kept within .02 and .98


@dataclass(frozen=True)
class LabelsNeeded:
    """How many more labels, and how many of them must be human `no`; both None when `reason` is set."""

    labels: int | None
    fails: int | None
    reason: str | None


def kappa_variance(a: float, b: float, c: float, d: float) -> float:
    """Variance of kappa for the table a, b, c, d (Fleiss, Cohen & Everitt 1969).

    Shares instead of counts give n times the variance. Not for intervals: 0 for a perfect table.
    """
    n = a + b + c + d
    p = ((a / n, b / n), (c / n, d / n)) if n else ((0.0, 0.0), (0.0, 0.0))
    rows = [sum(row) for row in p]
    columns = [p[0][j] + p[1][j] for j in range(2)]
    expected = sum(rows[i] * columns[i] for i in range(2))
    if n == 0 or max(a, d) == n:
        raise InputError(f"kappa_variance: {a}, {b}, {c}, {d} has no kappa; give a table with both values")
    kappa = (p[0][0] + p[1][1] - expected) / (1 - expected)
    agree = sum(p[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(2))
    differ = (1 - kappa) ** 2 * sum(p[i][1 - i] * (rows[1 - i] + columns[i]) ** 2 for i in range(2))
    both = (kappa - expected * (1 - kappa)) ** 2
    return max(0.0, agree + differ - both) / (n * (1 - expected) ** 2)


def labels_for_gate(
    *,
    kappa: float,
    threshold: float,
    human_no: float,
    judge_no: float,
    alpha: float = DECISION_ALPHA,
    power: float = POWER,
) -> int:
    """Labels in all for a decision: the true kappa shows against the threshold with this power (Cantor 1996).

    `human_no` and `judge_no` are shares of `no`; `alpha` is one-sided.
    """
    if kappa == threshold:
        raise InputError(f"kappa = {kappa} is the threshold itself: no number of labels tells them apart")
    _check_shares(human_no=human_no, judge_no=judge_no, alpha=alpha, power=power)
    at_threshold = sqrt(_unit_variance(threshold, human_no, judge_no))
    at_kappa = sqrt(_unit_variance(kappa, human_no, judge_no))
    reach = _z(1 - alpha) * at_threshold + _z(power) * at_kappa
    return ceil((reach / (kappa - threshold)) ** 2)


def labels_for_half_width(
    *, kappa: float, half_width: float, human_no: float, judge_no: float, level: float = 0.95
) -> int:
    """Labels in all for an interval of kappa that reaches `half_width` to either side."""
    check_level(level)
    _check_shares(human_no=human_no, judge_no=judge_no, half_width=half_width)
    return ceil((_z((1 + level) / 2) / half_width) ** 2 * _unit_variance(kappa, human_no, judge_no))


def fails_for_half_width(*, tpr: float, half_width: float, level: float = 0.95) -> int:
    """Human `no` for a Wilson interval of TPR that is at most `half_width` to either side, at the expected TPR."""
    _check_shares(half_width=half_width)
    if not 0 <= tpr <= 1:
        raise InputError(f"tpr = {tpr}: a share lies between 0 and 1")
    return next(n for n in count(1) if _wilson_half_width(tpr, n, level) <= half_width)


def labels_needed(
    confusion: Confusion, threshold: float = 0.6, alpha: float = DECISION_ALPHA, power: float = POWER
) -> LabelsNeeded:
    """Labels still missing until a judge with the current kappa would pass, at least 1.

    Enough for the interval and for 10 of each human value, at the shares of `no` seen so far, times the design
    effect. None with `estimate_not_above_threshold`: no kappa, or at most .02 above the threshold; more labels are
    unlikely to help. None with `more_than_500`.
    """
    kappa = confusion.kappa().value
    if kappa is None or kappa <= threshold + CLEARLY_ABOVE:
        return LabelsNeeded(None, None, "estimate_not_above_threshold")
    human_no = _kept(confusion.human_no / confusion.n)
    judge_no = _kept(confusion.judge_no / confusion.n)
    total = confusion.design_effect * labels_for_gate(
        kappa=kappa, threshold=threshold, human_no=human_no, judge_no=judge_no, alpha=alpha, power=power
    )
    missing_no = max(0, OF_EACH_VALUE - confusion.human_no) / human_no
    missing_yes = max(0, OF_EACH_VALUE - confusion.human_yes) / (1 - human_no)
    more = max(1, ceil(total) - confusion.n, ceil(missing_no), ceil(missing_yes))
    if more > MOST_LABELS:
        return LabelsNeeded(None, None, "more_than_500")
    return LabelsNeeded(more, ceil(more * human_no), None)


def _unit_variance(kappa: float, r: float, s: float) -> float:
    """Variance of kappa times n, for the table with this kappa and the shares of `no` r (human) and s (judge)."""
    both_no = kappa * (r + s) / 2 + (1 - kappa) * r * s
    cells = (1 - r - s + both_no, s - both_no, r - both_no, both_no)
    return kappa_variance(*(max(0.0, cell) for cell in cells))


def _wilson_half_width(share: float, n: int, level: float) -> float:
    interval = wilson(share * n, n, level)
    return (interval.high - interval.low) / 2


def _kept(share: float) -> float:
    return min(max(share, RAREST), 1 - RAREST)


def _z(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def _check_shares(**shares: float) -> None:
    for name, share in shares.items():
        if not 0 < share < 1:
            raise InputError(f"{name} = {share}: give a share between 0 and 1")
