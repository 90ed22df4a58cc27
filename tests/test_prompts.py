"""Prompt files: how they are read, written and named, and with which words they are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calibration.criteria import BUILT_IN
from calibration.digest import digest, nfc
from calibration.errors import PromptError
from calibration.prompts import (
    body_text,
    from_plain_text,
    is_prompt_file,
    output_schema,
    parse_prompt,
    prompt_digest,
    read_text,
    to_text,
)
from calibration.records import Prompt

CORRECT, FAITHFUL = BUILT_IN["correct"], BUILT_IN["faithful"]
BUNDLED = sorted((Path(__file__).resolve().parents[1] / "data" / "prompts").glob("*/v*.md"))
ABSENT = "absent"
PATH = "data/prompts/correct/v1.md"
META = {
    "format": "1",
    "name": "correct",
    "criterion": "correct",
    "parent": "null",
    "note": '"first version"',
    "author": "ana",
    "created": "2026-11-30",
    "examples": "[]",
}
texts = st.text(st.characters(exclude_categories=["Cs"]))


def file(user: str = "{{ sample }}\n", system: str = "Judge.\n", **meta: str) -> str:
    front = [f"{key}: {value}" for key, value in (META | meta).items() if value != ABSENT]
    return "\n".join(["---", *front, "---", "# system", f"{system}# user", user])


def refused(text: str, path: str = PATH) -> str:
    with pytest.raises(PromptError) as error:
        parse_prompt(text, path)
    return str(error.value)


def plain(text: str, criterion: str = "correct") -> Prompt:
    return from_plain_text(
        text, criterion=criterion, name="mine", version=1, parent=None, author="ana", created="2026-11-30"
    )


# reading and writing


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_bundled_prompt_is_read_and_written_without_loss(path: Path) -> None:
    held = parse_prompt(read_text(path.read_bytes(), str(path)), str(path))
    assert held.label == f"{path.parent.name}-{path.stem}"
    assert not held.unfenced
    assert parse_prompt(to_text(held), str(path)) == held


def test_a_bundled_second_version_names_the_digest_of_the_first() -> None:
    held = {path.parts[-2:]: parse_prompt(path.read_text(encoding="utf-8"), str(path)) for path in BUNDLED}
    for name in ("correct", "faithful"):
        assert held[name, "v2.md"].parent == held[name, "v1.md"].digest


def test_a_prompt_file_is_read_field_by_field() -> None:
    held = parse_prompt(file(examples='["17", "x"]'), PATH)
    assert (held.name, held.version, held.criterion, held.parent) == ("correct", 1, "correct", None)
    assert (held.note, held.author, held.created, held.examples) == ("first version", "ana", "2026-11-30", ("17", "x"))
    assert (held.system, held.user, held.unfenced) == ("Judge.\n", "{{ sample }}\n", False)


def test_the_digest_covers_what_is_sent_and_what_must_come_back_and_nothing_else() -> None:
    messages = [["system", "Judge.\n"], ["user", "{{ sample }}\n"]]
    content = {"format": 1, "criterion": "correct", "messages": messages, "output_schema": output_schema(CORRECT)}
    held = parse_prompt(file(), PATH)
    assert held.digest == digest(content) == prompt_digest(CORRECT, held.system, held.user)
    assert parse_prompt(file(note="other", author="bob", examples='["3"]'), PATH).digest == held.digest
    assert parse_prompt(file(system="Judge!\n"), PATH).digest != held.digest


def test_the_digest_does_not_depend_on_line_ends_or_normal_form_but_on_white_space() -> None:
    assert prompt_digest(CORRECT, "caf\u00e9\n", "x") == prompt_digest(CORRECT, "cafe\u0301\r\n", "x")
    assert prompt_digest(CORRECT, "a\n", "x") != prompt_digest(CORRECT, "a", "x")
    assert parse_prompt("\ufeff" + file().replace("\n", "\r\n"), PATH) == parse_prompt(file(), PATH)


def test_the_schema_asks_for_the_reason_first_and_for_no_other_key() -> None:
    assert json.dumps(output_schema(FAITHFUL)) == (
        '{"type": "object", "properties": {"unsupported": {"type": "string"}, "faithful": {"type": "boolean"}}, '
        '"required": ["unsupported", "faithful"], "additionalProperties": false}'
    )


def test_without_the_path_check_the_version_is_an_argument_or_in_the_file_name() -> None:
    assert parse_prompt(file(), "draft.md", check_path=False).version == 1
    later = file(parent="a" * 64)
    assert parse_prompt(later, "draft.md", check_path=False, version=3).version == 3
    assert parse_prompt(later, "elsewhere/v2.md", check_path=False).version == 2


def test_a_finished_file_is_told_from_plain_text_by_its_first_line() -> None:
    assert is_prompt_file("---\r\nformat: 1")
    assert is_prompt_file("\ufeff---\n")
    assert not is_prompt_file("--- judge this")
    assert not is_prompt_file("")


@given(texts, texts)
@example("a\n---\nb", "# system\n'")
@example("\x00\x85\u2028\ufeff", "null")
@example("2026-11-30", "[")
def test_whatever_note_and_author_are_the_file_is_read_back(note: str, author: str) -> None:
    held = Prompt("x", 1, "correct", "", "{{ sample }}", note=note, author=author, created="2026-11-30")
    again = parse_prompt(to_text(held), "text", check_path=False, version=1)
    assert (again.note, again.author) == (nfc(note), nfc(author))
    assert body_text(again) == body_text(held)


# refusals


@pytest.mark.parametrize(
    ("meta", "line", "message"),
    [
        ({"colour": "red"}, 10, 'unknown key "colour"; use format, name, criterion, parent, note, author, created'),
        ({"note": ABSENT}, 1, 'missing key "note"; front matter has format, name'),
        ({"note": "12"}, 6, '"note" must be text; put it in quotes'),
        ({"note": '"\\ud800"'}, 6, '"note" must be text'),
        ({"format": "2"}, 2, '"format" must be 1'),
        ({"format": "true"}, 2, '"format" must be 1'),
        ({"name": "Correct"}, 3, '"name" must be lower-case letters, digits and hyphens, a letter first'),
        ({"name": "strict"}, 3, 'name "strict" differs from the folder "correct"; make them the same'),
        ({"criterion": "tone"}, 4, "unknown criterion 'tone'; use correct or faithful"),
        ({"parent": "abc"}, 5, '"parent" must be null or a full digest of 64 hex digits'),
        ({"parent": "a" * 64}, 5, "wrong parent for version 1; version 1 has none: write null"),
        ({"created": "yesterday"}, 8, '"created" must be a date as in 2026-11-30'),
        ({"created": '"2026-02-30"'}, 8, '"created" must be a date'),
        ({"created": "2026-02-30"}, 1, "front matter is not valid YAML: day is out of range"),
        ({"examples": "[17]"}, 9, '"examples" must be a list of ids: ["17"]'),
        ({"examples": "null"}, 9, '"examples" must be a list of ids'),
        ({"author": "&a ana", "note": "*a"}, 6, "an alias is not allowed; write the value out"),
        ({"author": "ana\nnote: again"}, 8, 'key "note" stands twice; keep one'),
        ({"author": "ana\n? [a]\n: b"}, 8, "a key that is no word"),
        ({"author": "ana\n!!binary note: b"}, 8, "a key that is no word"),
        ({"author": "!!python/name:os.system"}, 7, "front matter is not valid YAML: could not determine a constructor"),
        ({"author": '"ana'}, 9, "front matter is not valid YAML"),
        ({"author": "\x00"}, 1, "front matter is not valid YAML"),
        ({"author": "[" * 1200 + "]" * 1200}, 1, "front matter is not valid YAML"),
    ],
)
def test_front_matter_is_refused_with_file_line_and_way_out(meta: dict[str, str], line: int, message: str) -> None:
    assert refused(file(**meta)).startswith(f"{PATH}:{line}: {message}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (file().replace("# user", "# User"), 11),
        (file().replace("# system\nJudge.\n# user", "# user\n# system"), 11),
        (file("{{ sample }}\n# user\n"), 15),
    ],
)
def test_the_two_headings_stand_once_each_in_order(text: str, line: int) -> None:
    expected = f"{PATH}:{line}: the body has the lines `# system` and `# user`, once each, in that order"
    assert refused(text) == expected


def test_text_before_the_first_heading_is_refused_and_blank_lines_are_not() -> None:
    assert f"{PATH}:12: text before `# system`" in refused(file().replace("# system", "\nhello\n# system"))
    assert parse_prompt(file().replace("# system", "\n \n# system"), PATH) == parse_prompt(file(), PATH)


def test_a_text_without_front_matter_is_refused() -> None:
    for text in ("", "hello", "---\nformat: 1\n"):
        assert refused(text).startswith(f"{PATH}:1: front matter stands between two lines ---")
    assert "front matter is a list of keys" in refused("---\n- a\n---\n")


@pytest.mark.parametrize("name", ["1.md", "v0.md", "v01.md", "v1.txt"])
def test_a_file_that_is_not_called_by_its_version_is_refused(name: str) -> None:
    assert refused(file(), f"correct/{name}") == f"correct/{name}: a prompt file is called v<N>.md, N from 1; rename it"


def test_from_the_second_version_on_the_parent_is_missed() -> None:
    expected = "correct/v2.md:5: wrong parent for version 2; from version 2 on it is the full digest"
    assert refused(file(), "correct/v2.md").startswith(expected)


def test_a_version_that_differs_from_the_path_is_refused() -> None:
    with pytest.raises(PromptError, match="the file is version 1, not 2"):
        parse_prompt(file(), PATH, version=2)


def test_bytes_that_are_not_utf_8_are_refused_with_their_line() -> None:
    with pytest.raises(PromptError, match=r"x\.md:2: is not valid UTF-8; save the file as UTF-8"):
        read_text(b"a\nb\xff", "x.md")
    assert f"{PATH}:14: is not valid UTF-8" in refused(file("\ud800"))
    with pytest.raises(PromptError, match="is not valid UTF-8"):
        plain("\ud800")
