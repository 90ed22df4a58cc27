"""The raw body of a reply to a verdict or to a named failure. Pure; it never raises and never guesses.

No brace scanning, no JSON repair, no first or last object, no default value: whatever is not exactly the schema is
`failed` with a code. Two repairs only, both noted: `think` (one closed leading block removed), then `fence` (one
Markdown fence around all that remains).
Order of checks: body, choices, refusal, content filter, length, tool call, content type, emptiness, finish reason,
prompt size, text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibration.criteria import Criterion
from calibration.records import VerdictStatus

PARSER_VERSION = 1

THINK = ("think", "thinking", "reasoning")
THINK_TAG = re.compile(r"</?(?:think|thinking|reasoning)>")
FENCE_OPEN = re.compile(r"```[\w+-]*[ \t]*\r?\n")
WINDOWS = frozenset((2048, 4096, 8192))
COUNT = (int, type(None))
SURROGATE = re.compile("[\ud800-\udfff]")
FINISH = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True)
class Parsed:
    """What a reply says: `ok` with a value, or `failed` with the code in `error`. `repair` lists what was removed."""

    status: str
    value: str | None = None
    score: float | None = None
    reason: str = ""
    error: str | None = None
    repair: tuple[str, ...] = ()


class _Failed(Exception):
    """A check that did not pass: its code, and the text to keep as the reason."""

    def __init__(self, code: str, reason: str = "") -> None:
        self.code = code
        self.reason = reason


def parse_reply(body: Any, criterion: Criterion, *, min_prompt_tokens: int = 0) -> Parsed:
    """The verdict in the decoded body of a chat completion, or the reason why it is none.

    `min_prompt_tokens` is the fewest tokens the prompt can have (its characters / 8); a server that counts fewer has
    cut the prompt. Usage without a count is not checked.
    """
    repairs: list[str] = []
    try:
        text = _content(body, min_prompt_tokens)
        value, reason = _yes_no(_repaired(text, repairs), criterion)
    except _Failed as failed:
        return Parsed(VerdictStatus.FAILED, reason=failed.reason, error=failed.code, repair=tuple(repairs))
    return Parsed(VerdictStatus.OK, value, reason=reason, repair=tuple(repairs))


# the envelope


def _content(body: Any, min_prompt_tokens: int) -> str:
    """The text of the one choice of a completion that was neither refused, cut nor filtered."""
    choice, usage = _choice(body)
    message, finish = choice.get("message"), choice.get("finish_reason")
    if not isinstance(message, dict) or not isinstance(finish, str | None):
        raise _Failed("not_a_completion")
    _refused(message.get("refusal"))
    if finish == "content_filter":
        raise _Failed("content_filter")
    if finish == "length":
        raise _Failed("truncated")
    if message.get("tool_calls") or message.get("function_call") or finish in ("tool_calls", "function_call"):
        raise _Failed("tool_call")
    text = _filled(message)
    if finish not in ("stop", None):
        raise _Failed(f"finish_{finish}" if FINISH.fullmatch(finish) else "finish_other")
    _whole_prompt(usage, min_prompt_tokens)
    return text


def _choice(body: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The one choice and the usage."""
    if not isinstance(body, dict):
        raise _Failed("not_a_completion")
    choices, usage = body.get("choices"), body.get("usage")
    if not choices and isinstance(body.get("error"), dict | str) and body["error"]:
        raise _Failed("provider_error")
    if "choices" not in body or not isinstance(choices, list | None) or not isinstance(usage, dict | None):
        raise _Failed("not_a_completion")
    if usage and not all(type(usage.get(key)) in COUNT for key in ("prompt_tokens", "completion_tokens")):
        raise _Failed("not_a_completion")
    if not choices:
        raise _Failed("no_choices")
    if len(choices) > 1:
        raise _Failed("many_choices")
    if not isinstance(choices[0], dict):
        raise _Failed("not_a_completion")
    return choices[0], usage or {}


def _refused(refusal: Any) -> None:
    if not isinstance(refusal, str | None):
        raise _Failed("not_a_completion")
    if refusal and refusal.strip():
        raise _Failed("refusal", SURROGATE.sub("\ufffd", refusal))


def _filled(message: Mapping[str, Any]) -> str:
    """The content, a text that is not blank. A verdict is never read out of reasoning."""
    content = message.get("content")
    if isinstance(content, list):
        raise _Failed("content_parts")
    if not isinstance(content, str | None):
        raise _Failed("not_a_completion")
    if content is None or not content.strip():
        thoughts = (message.get("reasoning"), message.get("reasoning_content"))
        thought = any(isinstance(text, str) and text.strip() for text in thoughts)
        raise _Failed("reasoning_only" if thought else "empty")
    return content


def _whole_prompt(usage: Mapping[str, Any], fewest: int) -> None:
    """Refuse a reply to a prompt that the server cut: too few tokens, or a full context window to the token."""
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if prompt is not None and (prompt < fewest or (completion is not None and prompt + completion in WINDOWS)):
        raise _Failed("prompt_truncated")


# the text


def _repaired(text: str, repairs: list[str]) -> str:
    """The text without one closed leading think block and without one fence around all the rest."""
    if not _storable(text):
        raise _Failed("bad_text")
    text = text.strip()
    for tag in THINK:
        if text.startswith(f"<{tag}>"):
            _, closed, rest = text.partition(f"</{tag}>")
            if not closed:
                raise _Failed("unclosed_think")
            text = rest.strip()
            repairs.append("think")
            break
    opened = FENCE_OPEN.match(text)
    if opened and text.endswith("\n```") and "\n```" not in text[opened.end() - 1 : -4]:
        text = text[opened.end() : -4].strip()
        repairs.append("fence")
    if not text:
        raise _Failed("reasoning_only" if repairs == ["think"] else "empty")
    return text


def _storable(text: str) -> bool:
    """Whether UTF-8 can hold the text."""
    return text.isascii() or SURROGATE.search(text) is None


def _object(text: str) -> dict[str, Any]:
    """The text as one JSON object without a key given twice, at any depth."""
    doubled = False

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal doubled
        held = dict(found)
        doubled = doubled or len(held) < len(found)
        return held

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _Failed(_not_json(text, error)) from None
    except (ValueError, RecursionError):
        raise _Failed("not_json") from None
    if not isinstance(value, dict):
        raise _Failed("not_an_object")
    if doubled:
        raise _Failed("duplicate_key")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _not_json(text: str, error: json.JSONDecodeError) -> str:
    """Which failure a text is that is no JSON: this looks at braces to name it, never to read a verdict."""
    opening, closing = text.find("{"), text.rfind("}")
    before = text if opening < 0 else text[:opening]
    if THINK_TAG.search(before) or (closing >= 0 and THINK_TAG.search(text, closing)):
        return "unclosed_think"
    bracket = text.startswith(("{", "["))
    followed = bracket and error.msg == "Extra data"
    return "extra_text" if followed or (opening > 0 and not bracket) else "not_json"


def _exact(found: dict[str, Any], keys: tuple[tuple[str, type], ...]) -> None:
    """Refuse any other keys and any other types: true is a boolean, 1 is not."""
    names = [name for name, _ in keys]
    if any(name not in found for name in names):
        raise _Failed("missing_key")
    if len(found) > len(names):
        raise _Failed("extra_key")
    if any(type(found[name]) is not kind for name, kind in keys):
        raise _Failed("wrong_type")
    if any(kind is str and not _storable(found[name]) for name, kind in keys):
        raise _Failed("bad_text")


# the criteria


def _yes_no(text: str, criterion: Criterion) -> tuple[str, str]:
    """Value and reason of a criterion that is answered by a reason and a boolean.

    The key `reason` is never blank; another reason key (`unsupported`) names what is wrong and is blank only on yes.
    """
    found = _object(text)
    _exact(found, criterion.reply_keys)
    (reason_key, _), (verdict_key, _) = criterion.reply_keys
    reason, verdict = found[reason_key], found[verdict_key]
    if not reason.strip() and (reason_key == "reason" or not verdict):
        raise _Failed("no_reason")
    return ("yes" if verdict else "no"), reason
