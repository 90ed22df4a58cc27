"""The result of every statistic: a value or the reason why there is none, its table, and its interval on demand."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TypedDict

from calibration.agreement.cells import Cells
from calibration.agreement.interval import TABLE_DRAWS, Interval, Method, check_level
from calibration.errors import InputError


class StatisticJson(TypedDict):
    """A statistic as commands print it."""

    value: float | None
    low: float | None
    high: float | None
    level: float
    undefined: str | None
    no_interval: str | None
    flags: list[str]


@dataclass(frozen=True)
class Statistic:
    """A figure of a table.

    `value` is None exactly when `undefined` gives the reason. A value may stand without an interval: `no_interval`
    then says why. `flags` are reasons to distrust a value that is defined; an undefined statistic has none.
    """

    cells: Cells
    value: float | None
    undefined: str | None = None
    no_interval: str | None = None
    flags: tuple[str, ...] = ()
    method: Method | None = None

    def __post_init__(self) -> None:
        """Refuse a result that is both defined and undefined, or neither."""
        if (self.value is None) != (self.undefined is not None):
            raise InputError(f"statistic: value {self.value} with undefined = {self.undefined}; set exactly one")
        if self.value is not None and isnan(self.value):
            raise InputError("statistic: the value is nan; give the reason in undefined instead")
        if self.value is not None and (self.method is None) != (self.no_interval is not None):
            raise InputError(f"statistic: no_interval = {self.no_interval}; a value needs a method or a reason")

    @property
    def counts(self) -> tuple[int, ...]:
        """Samples per cell; for a yes/no table both yes, too strict, too lenient, both no."""
        return self.cells.counts

    @property
    def n(self) -> int:
        """Samples in the table."""
        return self.cells.n

    @property
    def questions(self) -> int:
        """Questions in the table."""
        return self.cells.questions

    @property
    def design_effect(self) -> float | None:
        """What the counts are divided by before the interval is found; None without an interval."""
        return None if self.method is None else self.method.design_effect

    def interval(self, level: float = 0.95, seed: int = 0, draws: int = TABLE_DRAWS) -> Interval | None:
        """The interval, always holding the value; None when `undefined` or `no_interval` gives a reason."""
        check_level(level)
        if self.value is None or self.method is None:
            return None
        found = self.method.bounds(level, seed, draws)
        # the draws of a perfect table end a little below 1, its value is 1
        return Interval(min(found.low, self.value), max(found.high, self.value), level)

    def as_json(self, level: float = 0.95, seed: int = 0, draws: int = TABLE_DRAWS) -> StatisticJson:
        """Value, interval and reasons, with None where there is none."""
        found = self.interval(level, seed, draws)
        return {
            "value": self.value,
            "low": None if found is None else found.low,
            "high": None if found is None else found.high,
            "level": level,
            "undefined": self.undefined,
            "no_interval": self.no_interval,
            "flags": list(self.flags),
        }


def undefined(cells: Cells, reason: str) -> Statistic:
    """A statistic that this table does not define, with the reason."""
    return Statistic(cells, value=None, undefined=reason)
