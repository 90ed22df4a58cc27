"""The reply parser against every recorded case, and against anything JSON can hold."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.criteria import BUILT_IN, Criterion
from calibration.judges.parse import Parsed, parse_reply

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cases" / "replies.json").read_text(encoding="utf-8"))
CORRECT, FAITHFUL = BUILT_IN["correct"], BUILT_IN["faithful"]
OK = '{"reason": "ok", "correct": true}'


def body_of(reply: dict[str, Any]) -> Any:
    """The response body of a case."""
    if "body" in reply:
        return reply["body"]
    message = {key: value for key, value in reply.items() if key not in ("finish_reason", "content_repeat")}
    if "content_repeat" in reply:
        repeat = reply["content_repeat"]
        message["content"] = repeat["before"] + repeat["text"] * repeat["times"]
    choice = {"finish_reason": reply["finish_reason"], "message": message}
    return {"choices": [choice], "usage": {"prompt_tokens": 300}}


def said(content: Any, criterion: Criterion = CORRECT, **message: Any) -> Parsed:
    return parse_reply(body_of({"content": content, "finish_reason": "stop"} | message), criterion)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["criterion"] in BUILT_IN], ids=lambda case: str(case["name"])
)
def test_a_recorded_reply_is_read_as_expected(case: dict[str, Any]) -> None:
    body, expected = body_of(case["reply"]), case["expected"]
    parsed = parse_reply(body, BUILT_IN[case["criterion"]], min_prompt_tokens=case.get("min_prompt_tokens", 0))
    assert (parsed.status, parsed.value, parsed.error) == (expected["status"], expected["value"], expected.get("error"))
    assert parsed.repair == tuple(expected.get("repair", ()))
    assert parsed.score == expected.get("score")
    assert parsed.reason == expected.get("reason", parsed.reason)


def test_the_cases_left_out_are_those_of_criteria_that_are_not_built_in() -> None:
    left_out = Counter(case["criterion"] for case in CASES if case["criterion"] not in BUILT_IN)
    assert left_out == {"claim_support": 12, "relevance": 10, "context_useful": 3}
    assert len(CASES) == 56


@pytest.mark.parametrize(
    ("content", "repair"),
    [
        (f"<think>draft {OK}</think>\n{OK}", ("think",)),
        (f"<thinking>a < b</thinking>{OK}", ("think",)),
        (f"  <reasoning>\n</reasoning>\n```json\n{OK}\n```\n", ("think", "fence")),
        (f"```\r\n{OK}\r\n```", ("fence",)),
        ('{"reason": "it has <think> and ```\\n``` in it", "correct": true}', ()),
        ('{"correct": true, "reason": "verdict first"}', ()),
    ],
)
def test_two_repairs_are_made_and_noted(content: str, repair: tuple[str, ...]) -> None:
    parsed = said(content)
    assert (parsed.value, parsed.repair) == ("yes", repair)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (f"<think>a</think><think>b</think>{OK}", "unclosed_think"),
        (f"<think>a</thinking>{OK}", "unclosed_think"),
        (f"{OK}</think>", "unclosed_think"),
        (f"<think>{OK}</think>", "reasoning_only"),
        ("```\n```", "empty"),
        ("```\n\n```", "empty"),
        (f"```json\n{OK}\n```\nHope this helps", "extra_text"),
        (f"Here:\n```json\n{OK}\n```", "extra_text"),
        (f"```json\n{OK}\n```\n```json\n{OK}\n```", "extra_text"),
        (f"```json\n{OK}", "extra_text"),
        (f"\ufeff{OK}", "extra_text"),
        ("The answer is correct.", "not_json"),
        ("true", "not_an_object"),
        ('{"reason": "x", "reason": "y", "correct": true}', "duplicate_key"),
        ('{"reason": "x", "correct": true, "correct": true}', "duplicate_key"),
        ('{"reason": {"a": 1, "a": 2}, "correct": true}', "duplicate_key"),
        ('{"reason": "x", "correct": tr', "not_json"),
        ('{"reason": "x", "correct": NaN}', "not_json"),
        ('{"reason": "x", "correct": 1e999}', "wrong_type"),
        ('{"reason": ["x"], "correct": true}', "wrong_type"),
        ('{"reason": "x\ny", "correct": true}', "not_json"),
        ('{"reason": "\\ud800", "correct": true}', "bad_text"),
        (f"\ud800{OK}", "bad_text"),
        ("[" * 100_000, "not_json"),
        ('{"reason": "x", "correct": ' + "9" * 5000 + "}", "not_json"),
        ("", "empty"),
        (7, "not_a_completion"),
        ({"reason": "x", "correct": True}, "not_a_completion"),
    ],
)
def test_a_content_that_is_not_exactly_the_schema_has_a_code(content: Any, code: str) -> None:
    parsed = said(content)
    assert (parsed.status, parsed.value, parsed.error) == ("failed", None, code)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (None, "not_a_completion"),
        ("text", "not_a_completion"),
        ({}, "not_a_completion"),
        ({"choices": None}, "no_choices"),
        ({"choices": None, "error": {"code": 502}}, "provider_error"),
        ({"error": "overloaded"}, "provider_error"),
        ({"choices": {}}, "not_a_completion"),
        ({"choices": ["x"]}, "not_a_completion"),
        ({"choices": [{"message": None}]}, "not_a_completion"),
        ({"choices": [{"message": {"content": OK}, "finish_reason": 3}]}, "not_a_completion"),
        ({"choices": [{"message": {"content": OK}}], "usage": []}, "not_a_completion"),
        ({"choices": [{"message": {"content": OK}}], "usage": {"prompt_tokens": "9"}}, "not_a_completion"),
        ({"choices": [{"message": {"content": OK, "refusal": ["no"]}}]}, "not_a_completion"),
        ({"choices": [{"message": {"content": OK}, "finish_reason": "max_time"}]}, "finish_max_time"),
        ({"choices": [{"message": {"content": OK}, "finish_reason": "a b"}]}, "finish_other"),
        ({"choices": [{"message": {"content": OK, "function_call": {"name": "f"}}}]}, "tool_call"),
    ],
)
def test_a_body_of_another_shape_has_a_code(body: Any, code: str) -> None:
    assert parse_reply(body, CORRECT).error == code


def test_the_order_of_checks_is_fixed() -> None:
    # each reply fails this check and every later one; the first is the code
    assert said(None, finish_reason="content_filter", refusal="no").error == "refusal"
    assert said(None, finish_reason="content_filter", tool_calls=[{}]).error == "content_filter"
    assert said(None, finish_reason="length", tool_calls=[{}]).error == "truncated"
    assert said(OK, finish_reason="length").error == "truncated"
    assert said("", finish_reason="other", tool_calls=[{}]).error == "tool_call"
    assert said([], finish_reason="other").error == "content_parts"
    assert said(" ", finish_reason="other").error == "empty"
    body = body_of({"content": "no json", "finish_reason": "other"})
    assert parse_reply(body, CORRECT, min_prompt_tokens=900).error == "finish_other"
    body["choices"][0]["finish_reason"] = None
    assert parse_reply(body, CORRECT, min_prompt_tokens=900).error == "prompt_truncated"
    assert parse_reply(body, CORRECT).error == "not_json"


def test_a_reply_that_fills_a_context_window_to_the_token_had_its_prompt_cut() -> None:
    body = body_of({"content": OK, "finish_reason": "stop"})
    for completion, code in ((3796, "prompt_truncated"), (3797, None)):  # 300 + 3796 = 4096
        body["usage"]["completion_tokens"] = completion
        assert parse_reply(body, CORRECT).error == code


def test_a_finish_reason_or_a_usage_that_is_absent_passes() -> None:
    assert parse_reply({"choices": [{"message": {"content": OK}}]}, CORRECT).value == "yes"
    assert parse_reply({"choices": [{"message": {"content": OK}}], "usage": None}, CORRECT).value == "yes"


def test_an_unfaithful_verdict_names_what_is_unsupported() -> None:
    assert said('{"unsupported": " ", "faithful": false}', FAITHFUL).error == "no_reason"
    assert said('{"unsupported": " ", "faithful": true}', FAITHFUL).value == "yes"


def test_the_text_of_a_refusal_is_kept_and_can_be_stored() -> None:
    parsed = said(None, refusal="I can't\ud800")
    assert (parsed.error, parsed.reason) == ("refusal", "I can't\ufffd")


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
names = st.sampled_from(
    ["choices", "message", "content", "finish_reason", "refusal", "usage", "error", "reason", "correct", "tool_calls"]
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | st.text(), inner, max_size=4)
)
pieces = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", '"reason"', '"correct"', ":", ",", "true", '"x"', "<think>", "</think>", "```", "\n", " "]
    )
    | st.text(max_size=4),
    max_size=14,
).map("".join)
replies = values.map(lambda value: json.dumps(value, allow_nan=True)) | pieces | st.just(OK)


@given(values)
def test_no_body_makes_it_raise(body: Any) -> None:
    parsed = parse_reply(body, CORRECT)
    assert (parsed.status == "ok") == (parsed.value is not None) == (parsed.error is None)


@given(replies | values)
def test_ok_is_only_what_holds_exactly_the_schema(content: Any) -> None:
    parsed = said(content)
    if parsed.status != "ok":
        assert (parsed.status, parsed.value) == ("failed", None)
        assert parsed.error
        return
    text = content.split("</think>")[-1] if "think" in parsed.repair else content
    text = text.strip().removeprefix("```").removesuffix("```") if "fence" in parsed.repair else text
    found = json.loads(text[text.index("{") :])
    assert set(found) == {"reason", "correct"}
    assert isinstance(found["correct"], bool)
    assert found["reason"].strip()
    assert (parsed.value, parsed.reason) == ("yes" if found["correct"] else "no", found["reason"])
