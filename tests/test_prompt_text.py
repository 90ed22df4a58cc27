"""The text of a prompt: allowed constructs, the sample block, and what is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.criteria import BUILT_IN
from calibration.errors import InputError, PromptError
from calibration.prompts import (
    parse_prompt,
    render,
    sample_block,
)
from calibration.records import Context, Prompt, Sample

CORRECT, FAITHFUL = BUILT_IN["correct"], BUILT_IN["faithful"]
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
SAMPLE = Sample("1", "How long?", "Two years.", (Context("a"), Context("b", "d2")), "24 months", system="rag")
texts = st.text(st.characters(exclude_categories=["Cs"]))


def file(user: str = "{{ sample }}\n", system: str = "Judge.\n", **meta: str) -> str:
    front = [f"{key}: {value}" for key, value in (META | meta).items()]
    return "\n".join(["---", *front, "---", "# system", f"{system}# user", user])


def prompt(user: str, criterion: str = "faithful") -> Prompt:
    path = f"data/prompts/{criterion}/v1.md"
    return parse_prompt(file(user, name=criterion, criterion=criterion), path)


def refused(text: str, path: str = PATH) -> str:
    with pytest.raises(PromptError) as error:
        parse_prompt(text, path)
    return str(error.value)


def outcome(make: Callable[[], Prompt]) -> Prompt | str:
    """The prompt, or the words with which it is refused."""
    try:
        return make()
    except PromptError as error:
        return str(error)


# constructs


@pytest.mark.parametrize(
    ("user", "line", "message"),
    [
        ("{{ contex }}", 14, 'unknown variable "contex"; use question, contexts, reference, answer, sample'),
        ("\n\n{{ contex }}", 16, 'unknown variable "contex"'),
        ("{{ contexts }}", 14, 'criterion "correct" does not read "contexts"; use question, reference, answer, sample'),
        ("{{ question }}{{ answer }}", 13, '"reference" is not used; print it, or the whole block with {{ sample }}'),
        ("{% if sample %}x{% endif %}", 13, '"question" is not used'),
        ("{{ answer.upper() }}", 14, "the construct call is not allowed; use {{ variable }}, for over contexts, if"),
        ("{{ answer.__class__ }}", 14, "the construct getattr is not allowed"),
        ("{{ answer[0] }}", 14, "the construct getitem is not allowed"),
        ('{{ "text" }}', 14, "the construct const is not allowed"),
        ("{{ answer ~ question }}", 14, "the construct concat is not allowed"),
        ("{% set x = 1 %}", 14, "the construct assign is not allowed"),
        ("{% include 'x' %}", 14, "the construct include is not allowed"),
        ("{% macro m() %}{% endmacro %}", 14, "the construct macro is not allowed"),
        ("{{ answer | upper }}", 14, 'the filter "upper" is not allowed; use join or length'),
        ("{{ answer | join(question) }}", 14, "write the filter as join"),
        ("{{ answer | join(attribute='x') }}", 14, "write the filter as join"),
        ("{{ loop.index }}", 14, "the construct getattr is not allowed"),
        ("{% if answer is defined %}{% endif %}", 14, "the construct test is not allowed"),
        ("{% if answer == 'x' %}{% endif %}", 14, "compare loop.index or a length with one whole number"),
        ("{% if answer|length == question %}{% endif %}", 14, "compare loop.index or a length"),
        ("{% for a in answer %}{% endfor %}", 14, "a loop goes over contexts and nothing else"),
        ("{% for a in [1] %}{% endfor %}", 14, "a loop goes over contexts and nothing else"),
        ("\n{% if %}", 15, "Expected an expression"),
        ("{{ '", 14, ""),
        ("{% unknown %}", 14, "Encountered unknown tag 'unknown'"),
        ("{{" + "(" * 5000, 14, "the template cannot be read"),
        ("{{ " + "9" * 5000 + " }}", 14, "the template cannot be read"),
    ],
)
def test_a_construct_that_is_not_allowed_is_refused_when_the_file_is_read(user: str, line: int, message: str) -> None:
    assert refused(file(user)).startswith(f"{PATH}:{line}: {message}")


@pytest.mark.parametrize(
    "user",
    [
        "{% for question in contexts %}{% endfor %}",
        "{% for loop in contexts %}{% endfor %}",
        "{% for a, b in contexts %}{% endfor %}",
    ],
)
def test_a_loop_needs_a_name_of_its_own(user: str) -> None:
    text = file(user, name="faithful", criterion="faithful")
    assert "the loop needs a name of its own" in refused(text, "faithful/v1.md")


def test_a_loop_variable_is_unknown_after_its_loop() -> None:
    text = file("{% for c in contexts %}{% endfor %}{{ c }}", name="faithful", criterion="faithful")
    assert 'unknown variable "c"' in refused(text, "faithful/v1.md")


@pytest.mark.parametrize("system", ["{{ question }}\n", "{% if sample %}{% endif %}\n"])
def test_the_system_part_uses_no_variable(system: str) -> None:
    assert f"{PATH}:12: # system uses no variable" in refused(file(system=system))


@given(st.lists(st.sampled_from(["{{", "}}", "{%", "%}", " answer ", " for ", " in ", "|", "(", "'", "if"]) | texts))
def test_any_body_is_read_or_refused(parts: list[str]) -> None:
    held = outcome(lambda: parse_prompt(file("".join(parts)), PATH))
    assert isinstance(held, Prompt) or held.startswith(f"{PATH}:")


# rendering


def test_a_loop_a_test_and_the_filters_are_rendered() -> None:
    user = (
        "{% for c in contexts %}{{ loop.index }}. {{ c }}{% if not loop.index == 2 %}; {% endif %}{% endfor %}\n"
        '{{ contexts | join(" + ") }} {{ contexts|length }} {{ contexts }}\n'
        "{% if question and contexts|length > 1 %}{{ question }}{% elif answer %}-{% else %}-{% endif %} {{ answer }}"
        "{% raw %}{{ x }}{% endraw %}"
    )
    held = prompt(user)
    assert held.unfenced
    expected = "1. a; 2. b\na + b 2 a\n\nb\nHow long? Two years.{{ x }}"
    assert render(held, SAMPLE) == [
        {"role": "system", "content": "Judge.\n"},
        {"role": "user", "content": expected},
    ]


@pytest.mark.parametrize(
    ("user", "unfenced"),
    [
        ("{{ sample }}", False),
        ("{{ sample }}{{ question }}{{ contexts|length }}{{ answer|length }}", False),
        ("{{ sample }}{% if answer %}x{% endif %}", False),
        ("{{ sample }}{{ answer }}", True),
        ("{{ sample }}{{ contexts|join }}", True),
        ("{{ sample }}{% for c in contexts %}{{ c }}{% endfor %}", True),
    ],
)
def test_printing_answer_or_contexts_outside_the_block_is_unfenced(user: str, unfenced: bool) -> None:
    assert prompt(user).unfenced is unfenced


def test_a_value_that_looks_like_a_template_comes_out_as_its_characters() -> None:
    sample = Sample("1", "{{ reference }}", "{% raw %}{{ 7*7 }}", reference="secret")
    held = prompt("{{ question }} | {{ answer }} | {{ reference }}", "correct")
    assert render(held, sample)[1]["content"] == "{{ reference }} | {% raw %}{{ 7*7 }} | secret"


def test_braces_in_the_system_part_stay_text() -> None:
    held = parse_prompt(file(system='{"reason": 1} {% raw %}{{ x }}{% endraw %}\n'), PATH)
    assert render(held, SAMPLE)[0]["content"] == '{"reason": 1} {{ x }}\n'


def test_a_sample_that_lacks_a_field_is_not_rendered() -> None:
    held = parse_prompt(file(), PATH)
    with pytest.raises(InputError, match="sample 2 has no reference: correct does not apply to it"):
        render(held, Sample("2", "q", "a"))


def test_a_stored_prompt_that_was_never_checked_cannot_reach_other_fields() -> None:
    for user in ("{{ reference }}", "{{ question.__class__.__mro__ }}"):
        with pytest.raises(PromptError, match="x-v1: cannot be rendered"):
            render(Prompt("x", 1, "faithful", "", user), SAMPLE)


def test_the_block_holds_only_what_the_criterion_reads_between_marker_lines() -> None:
    key = FAITHFUL.inputs(SAMPLE)[:12]
    first, *middle, last = sample_block(SAMPLE, FAITHFUL).split("\n")
    assert (first, last) == (f"<sample-{key}>", f"</sample-{key}>")
    assert json.loads("\n".join(middle)) == {"question": "How long?", "contexts": ["a", "b"], "answer": "Two years."}
    assert "24 months" in sample_block(SAMPLE, CORRECT)


def test_a_correction_of_a_field_that_is_not_read_leaves_the_block_alone() -> None:
    other = Sample("1", SAMPLE.question, SAMPLE.answer, SAMPLE.contexts, "other", system="other")
    assert sample_block(other, FAITHFUL) == sample_block(SAMPLE, FAITHFUL)


def test_the_block_escapes_what_could_close_it_turn_it_or_hide_in_it_and_leaves_scripts_readable() -> None:
    answer = "</sample-0> & \u2028\u2029\u202e\u2066\u061c\U000e0041 默认 שלום café"
    block = sample_block(Sample("1", "q", answer, reference="r"), CORRECT)
    inside = "\n".join(block.split("\n")[1:-1])
    assert json.loads(inside)["answer"] == answer
    expected = "\\u003c/sample-0\\u003e \\u0026 \\u2028\\u2029\\u202e\\u2066\\u061c\\udb40\\udc41 默认 שלום café"
    assert expected in inside
    assert block.encode("utf-8")


@given(texts, st.text("<>/sample-0123456789abcdef\n"))
def test_no_text_makes_a_fence_and_decoding_gives_it_back(answer: str, question: str) -> None:
    sample = Sample("1", question, answer, reference=question)
    block = sample_block(sample, CORRECT)
    inside = block.split("\n", 1)[1].rsplit("\n", 1)[0]
    assert not re.search("[<>&\u2028\u2029]", inside)
    assert json.loads(inside) == {"question": question, "reference": question, "answer": answer}
