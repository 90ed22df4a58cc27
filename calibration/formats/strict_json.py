"""JSON read strictly: no NaN or Infinity, no duplicate key, no number that would lose digits, bounded nesting."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

DEPTH = 12
METADATA_DEPTH = 13
"""One deeper, so that an export, which puts unknown keys into `metadata`, can be read back."""
DIGITS = 18
NESTED = f"nested deeper than {DEPTH} levels; write the contexts as a plain list of texts"


class NotJson(ValueError):
    """A text that is refused. `pos` is the character where, None when only the entry is known."""

    def __init__(self, message: str, pos: int | None = None) -> None:
        self.pos = pos
        super().__init__(message)


def loads(text: str) -> Any:
    """The value of a JSON text. Raises NotJson."""
    value, end = decode_at(text, skip_blank(text, 0))
    rest = skip_blank(text, end)
    if rest != len(text):
        raise NotJson("not JSON: more text after the end of the value", rest)
    return value


def decode_at(text: str, pos: int) -> tuple[Any, int]:
    """The value that starts at `pos` and where it ends. Raises NotJson."""
    try:
        return _DECODER.raw_decode(text, pos)
    except json.JSONDecodeError as error:
        raise NotJson(_explain(error, text), error.pos) from None
    except StopIteration as stop:  # pragma: no cover - raw_decode translates it
        raise NotJson("not JSON: a value is missing", stop.value) from None
    except RecursionError:
        raise NotJson(NESTED) from None


def skip_blank(text: str, pos: int) -> int:
    """The first position from `pos` on that holds no JSON white space."""
    while pos < len(text) and text[pos] in " \t\n\r":
        pos += 1
    return pos


def too_deep(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is nested deeper than allowed; its own level counts as the first."""
    return any(
        _deeper(value, (METADATA_DEPTH if key == "metadata" else DEPTH) - 1)
        for key, value in entry.items()
        if isinstance(value, (dict, list))
    )


def _deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


def _explain(error: json.JSONDecodeError, text: str) -> str:
    unfinished = error.msg.startswith("Unterminated string") or not text[error.pos :].strip()
    if unfinished:
        return "not JSON: cut off in the middle; export the file again"
    if text[error.pos : error.pos + 1] == "'":
        return "not JSON: texts stand in single quotes, as a printed Python dict has them; write it with json.dumps"
    if error.msg.startswith("Invalid control character"):
        return "not JSON: a line break or control character inside a text; write it as \\n"
    return f"not JSON: {error.msg[:1].lower()}{error.msg[1:]} at column {error.colno}"


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise NotJson(f"duplicate key {twice!r}; keep one of the two")
    return made


def _constant(name: str) -> Any:
    raise NotJson(f"{name} is not JSON; write null or leave the key out")


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits.lstrip("-")) <= DIGITS else digits


def _real(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise NotJson(f"{text[:40]} is larger than any number a program can hold; write it as text")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_whole, parse_float=_real)
