"""Spellings of values: what a label or verdict of a file says."""

from __future__ import annotations

from typing import Any

from calibration.criteria import Criterion
from calibration.records import Value

# fmt: off
YES = (
    "yes", "y", "true", "1", "correct", "pass", "passed", "ok", "right", "good", "supported", "faithful", "accept",
    "accepted",
)
NO = (
    "no", "n", "false", "0", "incorrect", "fail", "failed", "wrong", "bad", "unsupported", "unfaithful", "reject",
    "rejected",
)
# fmt: on
UNSURE = ("unsure", "maybe", "?", "skip", "ignore", "unknown", "not sure", "don't know", "don’t know")
NOTHING = ("", "null", "nan", "none", "n/a", "na", "-")
SPELLINGS = dict.fromkeys(YES, Value.YES) | dict.fromkeys(NO, Value.NO) | dict.fromkeys(UNSURE, Value.UNSURE)


class NotAValue(ValueError):
    """A value that cannot be read, with the ones that can."""


def is_nothing(raw: Any) -> bool:
    """Whether this says that there is no label."""
    return raw is None or (isinstance(raw, str) and raw.strip().casefold() in NOTHING)


def read_value(criterion: Criterion, raw: Any, what: str = "label") -> str:
    """The value of a criterion that `raw` spells. Raises NotAValue.

    Yes/no criteria have many spellings; any other takes exactly its declared values, numbers compared by value.
    """
    found = _yes_no(raw) if criterion.scale == ("yes", "no") else _declared(criterion, raw)
    if found is None:
        known = f"{', '.join(criterion.values[:-1])} or {criterion.values[-1]}"
        raise NotAValue(f"{_shown(raw)} is not a {what}; use {known}")
    return found


def _yes_no(raw: Any) -> str | None:
    if isinstance(raw, bool):
        return (Value.YES if raw else Value.NO).value
    if isinstance(raw, (int, float)):
        return Value.YES.value if raw == 1 else Value.NO.value if raw == 0 else None
    if not isinstance(raw, str):
        return None
    text = raw.strip().casefold()
    found = SPELLINGS.get({"1.0": "1", "0.0": "0"}.get(text, text))
    return None if found is None else found.value


def _declared(criterion: Criterion, raw: Any) -> str | None:
    if isinstance(raw, (dict, list, bool)) or raw is None:
        return None
    text = str(raw).strip()
    if text in criterion.values:
        return text
    number = _number(text)
    return None if number is None else next((v for v in criterion.values if _number(v) == number), None)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _shown(raw: Any) -> str:
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
