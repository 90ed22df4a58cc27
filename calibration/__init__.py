"""Calibrate LLM judges against labels by people: see whether their scores can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Store", "__version__", "agreement", "pair"]

if TYPE_CHECKING:
    from calibration import agreement
    from calibration.pairing import pair
    from calibration.store import Store


def __getattr__(name: str) -> Any:
    """Load on first use, so that `judge-calibration --help` stays fast."""
    from importlib import import_module

    if name == "Store":
        return import_module("calibration.store").Store
    if name == "pair":
        return import_module("calibration.pairing").pair
    if name == "agreement":
        return import_module("calibration.agreement")
    raise AttributeError(f"module 'calibration' has no attribute {name!r}")
