"""Agreement of a judge with people: pure statistics on counts, with intervals that hold for a few dozen labels.

    Confusion.from_counts(25, 3, 4, 8).kappa().interval(0.95)

Every figure is a frozen `Statistic`: a value or the reason why there is none, and its interval on demand.
"""

from calibration.agreement.cells import Cells
from calibration.agreement.compare import Comparison, McNemar
from calibration.agreement.confusion import Confusion
from calibration.agreement.interval import TABLE_DRAWS, Interval, decision_draws, draw_cells, wilson
from calibration.agreement.kappa import cohen_kappa
from calibration.agreement.plan import (
    LabelsNeeded,
    fails_for_half_width,
    kappa_variance,
    labels_for_gate,
    labels_for_half_width,
    labels_needed,
)
from calibration.agreement.statistic import Statistic

__all__ = [
    "TABLE_DRAWS",
    "Cells",
    "Comparison",
    "Confusion",
    "Interval",
    "LabelsNeeded",
    "McNemar",
    "Statistic",
    "cohen_kappa",
    "decision_draws",
    "draw_cells",
    "fails_for_half_width",
    "kappa_variance",
    "labels_for_gate",
    "labels_for_half_width",
    "labels_needed",
    "wilson",
]
