"""Texts as read: what is refused, and what is kept with a warning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TEXT_LIMIT = 1_000_000
SURROGATE = re.compile("[\ud800-\udfff]")
# bidi and zero-width marks; a joiner between letters or emoji belongs to the script
HIDDEN = re.compile(
    "[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
    "|(?:^|(?<=[\x00-\x7f]))[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f]|$)"
)
# U+FFFD, and UTF-8 that was read as windows-1252 or Latin-1
MOJIBAKE = re.compile("\ufffd|[ÃÂ][\u0080-\u00bf]|â€[\u0080-\u00bf˜™œ“”\u009d¦¢]|ï»¿")


def why_refused(text: str) -> str | None:
    """Why a text cannot be stored, None when it can."""
    if len(text) > TEXT_LIMIT:
        return f"{len(text):,} characters; the limit is {TEXT_LIMIT:,}"
    if "\0" in text:
        return "holds a NUL character, which no text has; remove it"
    if not text.isascii() and SURROGATE.search(text):
        return "holds half of a surrogate pair; export the file again as UTF-8"
    return None


def marks(text: str) -> Iterator[str]:
    """The warnings a text deserves."""
    if text.isascii():
        return
    if HIDDEN.search(text):
        yield "hidden_marks"
    if MOJIBAKE.search(text):
        yield "mojibake"


def texts_inside(value: Any) -> Iterator[str]:
    """Every text of a nested value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_inside(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from texts_inside(inner)
