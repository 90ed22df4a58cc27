"""The money of a run: what was spent, and the worst case of the calls in flight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibration.judges.prices import Prices
from calibration.judges.request import Request


@dataclass
class Budget:
    """US dollars. `reserved` is the worst case of calls in flight, `spent` what the others cost.

    Without a `limit` everything is affordable. A reply without token counts is spent at its worst case.
    """

    prices: Prices
    model: str | None
    limit: float | None = None
    reserved: float = 0.0
    spent: float = 0.0

    def worst(self, request: Request) -> float:
        """The most this call can cost; 0 without a limit."""
        if self.limit is None:
            return 0.0
        return self.prices.worst(self.model, request.text_bytes, request.max_tokens) or 0.0

    def affords(self, worst: float) -> bool:
        """Whether a call may start now."""
        return self.limit is None or self.spent + self.reserved + worst <= self.limit

    def pay(self, usage: Mapping[str, Any], worst: float) -> float | None:
        """Count a reply as spent; its price, None when it is unknown."""
        cost = self.prices.cost(self.model, usage)
        self.spent += worst if cost is None else cost
        return cost
