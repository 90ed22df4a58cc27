"""Prompt files: read, written and named by their digest; a finished file made from plain text. No reading of disks.

A file is front matter between two `---` lines, then the lines `# system` and `# user` with their texts.
Refusals are PromptErrors with file, line and the way out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime
from pathlib import PurePath
from typing import Any

import yaml

from calibration.criteria import Criterion, criterion_named
from calibration.digest import digest
from calibration.errors import InputError, PromptError
from calibration.plain_text import body_of_plain_text
from calibration.prompt_text import check_system, check_user, refuse, render, sample_block
from calibration.records import Prompt

__all__ = [
    "body_text",
    "from_plain_text",
    "is_prompt_file",
    "output_schema",
    "parse_prompt",
    "prompt_digest",
    "read_text",
    "render",
    "sample_block",
    "to_text",
]

FORMAT = 1
KEYS = ("format", "name", "criterion", "parent", "note", "author", "created", "examples")
NAME = re.compile(r"[a-z][a-z0-9-]*")
FILE = re.compile(r"v([1-9][0-9]{0,8})\.md")
SURROGATE = re.compile("[\ud800-\udfff]")
TYPES = {str: "string", bool: "boolean"}


def output_schema(criterion: Criterion) -> dict[str, Any]:
    """JSON schema of the reply: the reason key before the verdict key, and no other key."""
    return {
        "type": "object",
        "properties": {key: {"type": TYPES[kind]} for key, kind in criterion.reply_keys},
        "required": [key for key, _ in criterion.reply_keys],
        "additionalProperties": False,
    }


def prompt_digest(criterion: Criterion, system: str, user: str) -> str:
    """Identity of a prompt: what is sent and what must come back. Texts in NFC with LF; nothing else is trimmed."""
    messages = [["system", _normal(system)], ["user", _normal(user)]]
    content = {"criterion": criterion.name, "messages": messages, "output_schema": output_schema(criterion)}
    return digest({"format": FORMAT, **content})


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n"))


def read_text(data: bytes, path: str) -> str:
    """The bytes of a file as text; PromptError with the line of the first byte that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise refuse(path, line, "is not valid UTF-8; save the file as UTF-8") from error


def is_prompt_file(text: str) -> bool:
    """Whether the text is a finished prompt file (it starts with front matter) and not plain text."""
    return text.removeprefix("\ufeff").split("\n", 1)[0].rstrip("\r") == "---"


def parse_prompt(text: str, path: str, *, check_path: bool = True, version: int | None = None) -> Prompt:
    """The prompt version in a finished file, checked as a whole.

    With `check_path` the path must be `<name>/v<N>.md` and says the version. Without it `version` says it, else the
    file's name where it has the form v<N>.md, else it is 1. Texts are in NFC with LF, as the digest has them.
    """
    lines = _normal(text.removeprefix("\ufeff")).split("\n")
    broken = next((number for number, line in enumerate(lines, start=1) if not _text(line)), None)
    if broken is not None:
        raise refuse(path, broken, "is not valid UTF-8; save the file as UTF-8")
    meta, where, end = _front_matter(lines, path)
    number = _version(meta["name"], where["name"], path, version, check_path)
    if number is not None and (meta["parent"] is None) != (number == 1):
        way = "version 1 has none: write null" if number == 1 else "from version 2 on it is the full digest"
        raise refuse(path, where["parent"], f"wrong parent for version {number}; {way}")
    try:
        criterion = criterion_named(meta["criterion"])
    except InputError as error:
        raise refuse(path, where["criterion"], str(error)) from error
    system_at, user_at = _sections(lines, end, path)
    system = "".join(f"{line}\n" for line in lines[system_at + 1 : user_at])
    user = "\n".join(lines[user_at + 1 :])
    check_system(system, path, system_at + 1)
    unfenced = check_user(user, criterion, path, user_at + 1)
    key = prompt_digest(criterion, system, user)
    about = {name: meta[name] for name in ("name", "criterion", "parent", "note", "author", "created", "examples")}
    return Prompt(version=number or 1, system=system, user=user, unfenced=unfenced, digest=key, **about)


def _version(name: str, line: int, path: str, version: int | None, check_path: bool) -> int | None:
    """The version by argument or path, None when neither says it."""
    match = FILE.fullmatch(PurePath(path).name)
    if not check_path:
        return version if version is not None else int(match[1]) if match else None
    if match is None:
        raise refuse(path, None, "a prompt file is called v<N>.md, N from 1; rename it")
    folder = PurePath(path).parent.name
    if folder != name:
        raise refuse(path, line, f'name "{name}" differs from the folder "{folder}"; make them the same')
    if version is not None and version != int(match[1]):
        raise refuse(path, None, f"the file is version {match[1]}, not {version}; rename it")
    return int(match[1])


def _front_matter(lines: list[str], path: str) -> tuple[dict[str, Any], dict[str, int], int]:
    """The checked front matter, the file line of each key, and the index of the line that ends it."""
    if lines[0] != "---" or "---" not in lines[1:]:
        raise refuse(path, 1, "front matter stands between two lines ---; `prompts add` writes it for a plain text")
    end = lines.index("---", 1)
    source = "\n".join(lines[1:end])
    try:
        where = _key_lines(source, path)
        meta = yaml.safe_load(source)
    except PromptError:
        raise
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 2
        raise refuse(path, line, f"front matter is not valid YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise refuse(path, 1, f"front matter is not valid YAML: {str(error).splitlines()[0]}") from error
    for key in KEYS:
        if key not in where:
            raise refuse(path, 1, f'missing key "{key}"; front matter has {", ".join(KEYS)}')
        fits, way = CHECKS[key]
        if not fits(meta[key]):
            raise refuse(path, where[key], f'"{key}" {way}')
    return meta | {"created": str(meta["created"]), "examples": tuple(meta["examples"])}, where, end


def _key_lines(source: str, path: str) -> dict[str, int]:
    """File line of each key. Refuses aliases, a key given twice, and keys other than the eight."""
    for event in yaml.parse(source, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            line = 1 if event.start_mark is None else event.start_mark.line + 2
            raise refuse(path, line, "an alias is not allowed; write the value out")
    top = yaml.compose(source, Loader=yaml.SafeLoader)
    if not isinstance(top, yaml.MappingNode):
        raise refuse(path, 2, f"front matter is a list of keys: {', '.join(KEYS)}")
    where: dict[str, int] = {}
    for key, _ in top.value:
        line = key.start_mark.line + 2
        if key.tag != "tag:yaml.org,2002:str":
            raise refuse(path, line, f"a key that is no word; use {', '.join(KEYS)}")
        if key.value in where:
            raise refuse(path, line, f'key "{key.value}" stands twice; keep one')
        if key.value not in KEYS:
            raise refuse(path, line, f'unknown key "{key.value}"; use {", ".join(KEYS)}')
        where[key.value] = line
    return where


def _text(value: Any) -> bool:
    """Whether it is a text that UTF-8 can hold."""
    return isinstance(value, str) and SURROGATE.search(value) is None


def _date(value: Any) -> bool:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        try:
            return bool(date.fromisoformat(value))
        except ValueError:
            return False
    return isinstance(value, date) and not isinstance(value, datetime)


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "format": (lambda value: type(value) is int and value == FORMAT, f"must be {FORMAT}"),
    "name": (
        lambda value: isinstance(value, str) and NAME.fullmatch(value) is not None,
        "must be lower-case letters, digits and hyphens, a letter first",
    ),
    "criterion": (_text, "must be the name of a criterion"),
    "parent": (
        lambda value: value is None or (isinstance(value, str) and bool(re.fullmatch(r"[0-9a-f]{64}", value))),
        "must be null or a full digest of 64 hex digits",
    ),
    "note": (_text, "must be text; put it in quotes"),
    "author": (_text, "must be text; put it in quotes"),
    "created": (_date, "must be a date as in 2026-11-30"),
    "examples": (lambda value: isinstance(value, list) and all(map(_text, value)), 'must be a list of ids: ["17"]'),
}


def _sections(lines: list[str], end: int, path: str) -> tuple[int, int]:
    """The indices of the lines `# system` and `# user`, once each, in that order, with nothing before the first."""
    found = [i for i, line in enumerate(lines) if i > end and line in ("# system", "# user")]
    if [lines[i] for i in found] != ["# system", "# user"]:
        line = found[2] + 1 if len(found) > 2 else end + 2
        raise refuse(path, line, "the body has the lines `# system` and `# user`, once each, in that order")
    for i in range(end + 1, found[0]):
        if lines[i].strip():
            raise refuse(path, i + 1, "text before `# system`; move it below that line")
    return found[0], found[1]


def body_text(prompt: Prompt) -> str:
    """The part of the file that is the prompt: `# system` and `# user` with their texts."""
    return f"# system\n{prompt.system}# user\n{prompt.user}"


def to_text(prompt: Prompt) -> str:
    """The finished prompt file."""
    created = date.fromisoformat(prompt.created) if _date(prompt.created) else prompt.created
    about = {key: getattr(prompt, key) for key in ("name", "criterion", "parent", "note", "author")}
    meta = {"format": FORMAT, **about, "created": created, "examples": list(prompt.examples)}
    front = yaml.safe_dump(meta, sort_keys=False, allow_unicode=True, default_flow_style=None, width=10_000)
    return f"---\n{front}---\n{body_text(prompt)}"


def from_plain_text(
    text: str,
    *,
    criterion: str,
    name: str,
    version: int,
    parent: str | None,
    author: str,
    created: str,
    note: str = "",
    path: str = "text",
) -> Prompt:
    """A finished prompt from what somebody typed; plain_text.py says how its placeholders are read.

    `created` is a date as in 2026-11-30; `path` names the text in messages.
    """
    system, user = body_of_plain_text(_normal(text.removeprefix("\ufeff")), criterion_named(criterion), path)
    draft = Prompt(name, version, criterion, system, user, parent=parent, note=note, author=author, created=created)
    return parse_prompt(to_text(draft), draft.label, check_path=False, version=version)
