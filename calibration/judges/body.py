"""The body of a response: JSON or text, its token counts, and what an error in it says. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from calibration.judges.request import Response

SHOWN = 300


def body_of(body: str) -> Any:
    """The body as JSON, else as the text it is."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def usage_of(body: Any) -> dict[str, int]:
    """Token counts of a reply's body: prompt, completion, cached and reasoning tokens, where they are given."""
    usage = mapping_in(body, "usage")
    found = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": mapping_in(usage, "prompt_tokens_details").get(
            "cached_tokens", usage.get("prompt_cache_hit_tokens")
        ),
        "reasoning_tokens": mapping_in(usage, "completion_tokens_details").get("reasoning_tokens"),
    }
    return {name: count for name, count in found.items() if type(count) is int and count >= 0}


def mapping_in(value: Any, key: str) -> Mapping[str, Any]:
    """The object under a key, empty when there is none."""
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _error_of(body: str) -> Mapping[str, Any]:
    content = body_of(body)
    error = content.get("error") if isinstance(content, dict) else None
    return error if isinstance(error, dict) else {}


def error_codes(body: str) -> set[str]:
    """The code and the type of an error, as texts."""
    error = _error_of(body)
    return {str(error[key]) for key in ("code", "type") if isinstance(error.get(key), (str, int))}


def error_param(response: Response) -> str:
    """The parameter an error is about, where the endpoint says so; else its message, for a hint only."""
    error = _error_of(response.body)
    return str(error.get("param") or "") or error_text(response, limit=2000)


def error_text(response: Response, limit: int = SHOWN) -> str:
    """The message of an error in one line."""
    if response.status is None:
        return "no answer in time" if response.failure == "timeout" else "no connection"
    text = _error_of(response.body).get("message")
    line = " ".join((text if isinstance(text, str) else response.body).split())
    clean = "".join(letter for letter in line if letter.isprintable())
    return f"HTTP {response.status}: {clean}"[:limit]


def is_provider_error(body: str) -> bool:
    """Whether the body is an error and no completion, whatever its status."""
    content = body_of(body)
    return isinstance(content, dict) and bool(content.get("error")) and not content.get("choices")
