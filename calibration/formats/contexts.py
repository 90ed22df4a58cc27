"""Contexts and ids as files have them: lists of texts or objects, nested lists, JSON text, printed Python lists."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import Any

from calibration.formats.strict_json import NotJson, loads
from calibration.records import Context

TEXT_KEYS = ("text", "page_content", "content", "document", "passage", "excerpt")
ID_KEYS = ("id", "doc_id", "doc_uri")
ID_LENGTH = 200
NUMPY = "looks like a printed numpy array: passages cannot be told apart; export contexts as JSON"
LIST_LIKE = re.compile(r"\[\s*(?:[\"'\[{\]]|[rbuRBU]?[\"']|array\s*\()")
BLANK = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


class Refused(ValueError):
    """A field that cannot be read, with the way out."""


def read_contexts(raw: Any) -> tuple[Context, ...] | None:
    """The contexts of a sample; None when none were given, () when retrieval found nothing. Raises Refused."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return None
    if isinstance(raw, str):
        raw = parse_list(raw)
        if isinstance(raw, str):
            return (Context(raw),)
    if isinstance(raw, dict):
        raw = [raw]
    if not isinstance(raw, list):
        raise Refused(f"contexts must be texts, not {raw!r}; write a list of texts")
    return tuple(_contexts(raw))


def _contexts(values: list[Any]) -> list[Context]:
    found: list[Context] = []
    for value in values:
        if isinstance(value, str):
            found.append(Context(value))
        elif isinstance(value, list):
            found += _contexts(value)
        elif isinstance(value, dict):
            found.append(_object(value))
        elif value is None:
            raise Refused("a list with null inside; leave it out or write an empty text")
        else:
            raise Refused(f"contexts must be texts, not {value!r}; put quotes around it")
    return found


def _object(value: dict[str, Any]) -> Context:
    key = next((key for key in TEXT_KEYS if key in value), None)
    if key is None:
        raise Refused(f"an object with none of {', '.join(TEXT_KEYS)}; name its text one of these")
    text = value[key]
    if not isinstance(text, str):
        raise Refused(f"contexts must be texts, not {text!r} under {key!r}")
    known = next((value[name] for name in ID_KEYS if value.get(name) is not None), None)
    return Context(text, None if known is None else read_id(known))


def parse_list(text: str) -> Any:
    """The list that a text spells as JSON or as a printed Python list, else the text itself. Raises Refused."""
    stripped = text.strip()
    if not stripped.startswith("["):
        return text
    try:
        return loads(stripped)
    except NotJson:
        pass
    if not LIST_LIKE.match(stripped):
        return text
    if "array(" in stripped[:200] or _adjacent(stripped):
        raise Refused(NUMPY)
    if not stripped.endswith("]"):
        raise Refused("a list that is cut off; export the file again")
    try:
        return ast.literal_eval(stripped)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise Refused("starts like a list but cannot be read as one; write it as JSON") from None


def _adjacent(text: str) -> bool:
    """Whether two texts stand side by side without a comma: Python would glue them into one."""
    before = False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.replace("\n", " ")).readline):
            if token.type in BLANK:
                continue
            if before and token.type == tokenize.STRING:
                return True
            before = token.type == tokenize.STRING
    except (tokenize.TokenError, SyntaxError):
        return False
    return False


def read_id(raw: Any) -> str:
    """An id as text, 1-200 characters, outer spaces removed; 1 and 1.0 are `1`. Raises Refused."""
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        raise Refused(f"{str(raw)[:40]!r} is no id; use a text or a number")
    if isinstance(raw, float):
        raw = int(raw) if raw.is_integer() else repr(raw)
    text = str(raw).strip()
    if not text:
        raise Refused("an id is empty; use 1 to 200 characters")
    if len(text) > ID_LENGTH:
        raise Refused(f"an id of {len(text)} characters; use 1 to {ID_LENGTH}")
    return text


def read_ids(raw: Any, *, gaps: bool = False) -> tuple[str | None, ...]:
    """A list of ids, as a list, JSON text or objects with an id; `gaps` allows null inside. Raises Refused."""
    if isinstance(raw, str):
        raw = parse_list(raw) if raw.strip().startswith("[") else [raw]
        if len(raw) == 1 and isinstance(raw[0], str) and re.search(r"[,;|]", raw[0]) and len(raw[0]) <= ID_LENGTH:
            raise Refused("several ids in one text; write them as a JSON list")
    if not isinstance(raw, list):
        raise Refused("ids must be a list of texts")
    return tuple(_one_id(value, gaps) for value in raw)


def _one_id(value: Any, gaps: bool) -> str | None:
    if isinstance(value, dict):
        value = next((value[name] for name in ID_KEYS if value.get(name) is not None), None)
    if value is None and gaps:
        return None
    if value is None:
        raise Refused("an entry without an id; write the ids of the passages")
    if isinstance(value, str) and len(value) > ID_LENGTH:
        raise Refused(f"a text of {len(value)} characters is a passage, not an id; write the ids of the passages")
    return read_id(value)
