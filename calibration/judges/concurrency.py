"""How many calls run at once: additive increase, multiplicative decrease, driven by the share of refused calls."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

LIMITED = frozenset({429, 503, 529})
TOLERATED_SHARE = 0.15
LONGEST_PAUSE = 120.0


@dataclass
class Window:
    """The window of calls in flight. Pure: every time is given in seconds of one clock, randomness by `rng`.

    `size` is the window, `share` the moving share of refused calls, `size_at_cut` and `cut_at` the last cut,
    `pause_until` the time before which nothing starts.
    """

    limit: int
    start: float = 8
    rng: random.Random = field(default_factory=random.Random, repr=False)
    in_flight: int = 0
    share: float = 0.0
    size_at_cut: float | None = None
    cut_at: float | None = None
    pause_until: float = -math.inf

    def __post_init__(self) -> None:
        self.size = float(min(self.start, self.limit))

    def wait(self, now: float) -> float | None:
        """Seconds until a call may start: 0 is at once, None means a call in flight has to end first."""
        if self.in_flight >= math.floor(self.size):
            return None
        return max(0.0, self.pause_until - now)

    def begin(self) -> None:
        """A call starts."""
        self.in_flight += 1

    def end(self, started: float, now: float, status: int | None, retry_after: float | None = None) -> None:
        """The call of `started` ends with an HTTP status, None when there was no answer."""
        self.in_flight -= 1
        limited = status in LIMITED
        self.share = 0.9 * self.share + 0.1 * limited
        if limited and self.share > TOLERATED_SHARE:
            self._cut(started, now, retry_after)
        elif status == 200:
            self._grow()

    def _cut(self, started: float, now: float, retry_after: float | None) -> None:
        if self.cut_at is None or started > self.cut_at:
            self.size_at_cut, self.cut_at = self.size, now
            self.size = max(1.0, 0.8 * self.size)
        if self.size < 2:
            pause = min(0.5 if retry_after is None else retry_after, LONGEST_PAUSE) * self.rng.uniform(1, 1.1)
            self.pause_until = max(self.pause_until, now + pause)

    def _grow(self) -> None:
        step = 1.0
        if self.size_at_cut is not None:
            step = (2 if self.size < 0.95 * self.size_at_cut else 0.5) / self.size
        self.size = min(float(self.limit), self.size + step)
