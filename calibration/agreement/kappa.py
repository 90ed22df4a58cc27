"""Cohen's kappa in one call, from values or from a table."""

from collections.abc import Hashable, Sequence

from calibration.agreement.confusion import Confusion
from calibration.agreement.statistic import Statistic


def cohen_kappa(*, human: Sequence[str], judge: Sequence[str], groups: Sequence[Hashable] | None = None) -> Statistic:
    """Agreement of judge and human beyond luck, -1 to 1, from `yes` and `no` of each sample (Cohen 1960).

    `groups` names the question of each sample and widens the interval where questions repeat; None means one
    sample each. None with reason `no_pairs`: no samples; `both_constant`: both gave one and the same value
    throughout, so agreement by luck is certain. One constant side alone gives 0 and a flag.
    """
    return Confusion.from_values(human=human, judge=judge, groups=groups).kappa()
