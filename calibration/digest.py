"""Content is named by its digest: canonical JSON to sha256."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces and no ASCII escapes: one spelling for one value.

    Raises ValueError for NaN and infinity, which have no JSON spelling.
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """sha256 of the canonical JSON of `value`, 64 hex digits."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()


def nfc(text: str | None) -> str | None:
    """Text in Unicode normal form C, as every digest of content uses it."""
    return None if text is None else unicodedata.normalize("NFC", text)
