"""What a prompt in plain text becomes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.criteria import BUILT_IN
from calibration.errors import InputError, PromptError
from calibration.plain_text import reply_instruction
from calibration.prompts import (
    from_plain_text,
    parse_prompt,
    render,
    to_text,
)
from calibration.records import Context, Prompt, Sample

CORRECT, FAITHFUL = BUILT_IN["correct"], BUILT_IN["faithful"]
SAMPLE = Sample("1", "How long?", "Two years.", (Context("a"), Context("b", "d2")), "24 months", system="rag")
texts = st.text(st.characters(exclude_categories=["Cs"]))


def plain(text: str, criterion: str = "correct") -> Prompt:
    return from_plain_text(
        text, criterion=criterion, name="mine", version=1, parent=None, author="ana", created="2026-11-30"
    )


def outcome(make: Callable[[], Prompt]) -> Prompt | str:
    """The prompt, or the words with which it is refused."""
    try:
        return make()
    except PromptError as error:
        return str(error)


STANDARD = "You judge.\n\nQuestion: {question}\nReference: {{reference}}\n\nAnswer:\n{{ answer }}\n\nIs it right?\n"


def test_labelled_placeholders_become_one_sample_block() -> None:
    held = plain(STANDARD)
    assert held.user == "{{ sample }}\n\nIs it right?\n"
    assert held.system.startswith("You judge.\n\nThe user message holds one sample as a JSON object with the fields ")
    assert held.system.endswith(reply_instruction(CORRECT) + "\n")
    assert not held.unfenced
    assert (held.label, held.author, held.created, held.parent) == ("mine-v1", "ana", "2026-11-30", None)


@pytest.mark.parametrize(
    "text",
    [
        "{question}\n{reference}\n{answer}",
        "**Question:** {question}\n**Reference answer**: {reference}\n- Answer: {answer}\n",
        "## Question\n{question}\n\n### The reference\n{reference}\n\n[Answer]\n{answer}",
        "<question>\n{question}\n</question>\n<ref>{reference}</ref>\n<answer> {answer} </answer>",
        'Question: "{question}"\nReference:\n"""\n{reference}\n"""\nAnswer:\n```\n{answer}\n```\n',
        "问题：{question}\n参考：{reference}\n回答：{answer}",
        "Question: {question}\nAnswer: {answer}",
        "Sample:\n{sample}",
        "",
    ],
)
def test_fields_in_their_usual_frames_leave_nothing_but_the_block(text: str) -> None:
    held = plain(text)
    assert (held.user, held.unfenced) == ("{{ sample }}\n", False)
    assert held.system.startswith("The user message holds one sample")


def test_text_without_a_placeholder_is_the_system_part() -> None:
    held = plain("Judge strictly.\n")
    assert held.system.startswith("Judge strictly.\n\nThe user message")
    assert held.user == "{{ sample }}\n"


def test_a_placeholder_inside_a_sentence_stays_there_and_is_unfenced() -> None:
    held = plain("Judge.\nGiven {reference}, is {{answer}} right for {{ question }}?")
    assert held.user == "Given {{ reference }}, is {{ answer }} right for {{ question }}?\n"
    assert held.unfenced
    assert held.system == f"Judge.\n\n{reply_instruction(CORRECT)}\n"


def test_a_field_that_stands_nowhere_comes_with_the_block() -> None:
    assert plain("Is {question} answered?").user == "Is {{ question }} answered?\n\n{{ sample }}\n"


def test_a_frame_that_does_not_close_is_no_frame() -> None:
    assert "<a>{{ answer }}</b>" in plain("<a>{answer}</b>\n{question}\n{reference}").user


def test_a_sentence_with_a_colon_is_no_label() -> None:
    held = plain("Now tell me if this one is right: {answer}\n{question}\n{reference}")
    assert held.user == "Now tell me if this one is right: {{ answer }}\n{{ sample }}\n"
    assert held.unfenced


def test_an_unknown_braced_word_is_refused_with_its_line() -> None:
    expected = 'text:2: unknown variable "contex"; use question, contexts, reference, answer, sample'
    for braced in ("{contex}", "{{contex}}", "{{ contex }}"):
        with pytest.raises(PromptError) as error:
            plain(f"a\nb {braced}")
        assert str(error.value) == expected


def test_a_field_the_criterion_does_not_read_is_refused() -> None:
    with pytest.raises(PromptError, match='text:1: criterion "correct" does not read "contexts"'):
        plain("{contexts}")
    assert plain("Contexts: {contexts}", "faithful").user == "{{ sample }}\n"


def test_other_braces_are_text() -> None:
    text = 'Is {answer} right for {question}, {reference}? {"a": {"b": 1}} {{"c": 1}} { x } {} {%if%} {# no #} {1} {'
    held = plain(text)
    sent = text.replace("{answer}", "A").replace("{question}", "Q").replace("{reference}", "R")
    assert render(held, Sample("1", "Q", "A", reference="R"))[1]["content"] == sent + "\n"


@given(st.lists(st.sampled_from(["{", "}", "{{", "%}", "{%", "{#", "raw", "endraw", " ", "\n", '"', ":"]) | texts))
def test_text_before_the_block_is_sent_as_it_was_typed(parts: list[str]) -> None:
    text = "".join(parts)
    held = outcome(lambda: plain(text))
    if isinstance(held, str):
        assert "unknown variable" in held
        return
    sent = render(held, SAMPLE)[0]["content"]
    if "sample" in held.user and "{{" not in held.user.replace("{{ sample }}", "") and not held.user[12:].strip():
        normal = unicodedata.normalize("NFC", text.removeprefix("\ufeff").replace("\r\n", "\n")).rstrip()
        # Jinja writes every line end as LF
        assert sent.startswith(re.sub("\r", "\n", normal))


@pytest.mark.parametrize(
    ("text", "appended"),
    [
        ('Reply in JSON: {"reason": "...", "correct": true}', False),
        ('{answer}\nReply in JSON: {"reason": "...", "correct": true}', False),
        ('Reply in JSON: {"correct": true, "reason": "..."}', True),
        ('Reply with "reason" and "correct".', True),
        ("Answer yes or no.", True),
    ],
)
def test_the_reply_instruction_is_appended_only_where_it_is_missing(text: str, appended: bool) -> None:
    assert (reply_instruction(CORRECT) in plain(text).system) is appended


def test_the_reply_instruction_names_the_keys_in_their_order() -> None:
    assert reply_instruction(FAITHFUL).endswith(
        '{"unsupported": "what no context supports, or None", "faithful": true or false}'
    )


def test_a_heading_line_of_prompt_files_is_refused_in_plain_text() -> None:
    with pytest.raises(PromptError, match="text:2: `# user` divides a prompt file; write another heading"):
        plain("a\n# user\n{answer}")


def test_a_bad_name_date_or_criterion_is_refused() -> None:
    for name, created in (("Mine", "2026-11-30"), ("mine", "soon")):
        with pytest.raises(PromptError, match="must be"):
            from_plain_text("x", criterion="correct", name=name, version=1, parent=None, author="", created=created)
    with pytest.raises(InputError, match="unknown criterion 'tone'; use correct or faithful"):
        plain("x", "tone")


def test_finished_plain_text_is_a_file_that_is_read_back() -> None:
    held = plain(STANDARD)
    assert parse_prompt(to_text(held), "prompts/mine/v1.md") == held


@pytest.mark.parametrize("piece", [" ", "\t", "\n", "{", "a ", "a:", "<a>", "*", '"', "# a\n", "- "])
def test_a_long_text_is_read_in_a_short_time(piece: str) -> None:
    start = perf_counter()
    plain(piece * 50_000)
    assert perf_counter() - start < 5
