"""The baseline: what counts as a word, and the arithmetic of its two measures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.criteria import BUILT_IN, Criterion
from calibration.errors import InputError
from calibration.judges.lexical import lexical_judge, lexical_verdict, tokens
from calibration.records import Context, Sample

CORRECT, FAITHFUL = BUILT_IN["correct"], BUILT_IN["faithful"]


def answered(answer: str, reference: str | None = None, contexts: list[str] | None = None) -> Sample:
    held = None if contexts is None else tuple(Context(text) for text in contexts)
    return Sample("1", "How long?", answer, held, reference)


def test_words_are_folded_and_function_words_left_out() -> None:
    assert tokens("The ﬁle IS in Straße №5, don’t use raise_for_status()") == [
        "file",
        "strasse",
        "no5",
        "don’t",
        "use",
        "raise_for_status",
    ]


def test_a_text_of_function_words_alone_keeps_them() -> None:
    assert tokens("It is the one") == ["one"]
    assert tokens("It is.") == ["it", "is"]


def test_each_chinese_japanese_or_korean_character_is_a_word() -> None:
    assert tokens("默认是5秒 httpx超时") == ["默", "认", "是", "5", "秒", "httpx", "超", "时"]
    assert tokens("タイムは 한국") == ["タ", "イ", "ム", "は", "한", "국"]


def test_a_number_with_its_separators_is_one_word() -> None:
    assert tokens("1,000 at 2.5 and 0.28.1.") == ["1,000", "2.5", "0.28.1"]


def test_correct_is_token_f1_or_reference_recall() -> None:
    # answer {timeout, 5, seconds}, reference {timeout, 10, seconds}: 2 in common, F1 = 2 * 2 / (3 + 3)
    verdict = lexical_verdict(answered("The timeout is 5 seconds", "A timeout of 10 seconds"), CORRECT)
    assert (verdict.value, verdict.score) == ("yes", 0.6667)
    assert verdict.reason == "F1 0.67, reference recall 0.67; matched: timeout, seconds; unmatched: 10"
    # recall 2 / 2 reaches 0.8 although F1 = 2 * 2 / (10 + 2) = 0.33 does not reach 0.5
    verdict = lexical_verdict(answered("seconds five one two three four six seven eight nine", "Five seconds"), CORRECT)
    assert (verdict.value, verdict.score) == ("yes", 0.3333)


def test_correct_fails_another_wording_which_makes_a_good_demo() -> None:
    verdict = lexical_verdict(answered("24 months", "Two years"), CORRECT)
    assert (verdict.value, verdict.score) == ("no", 0.0)
    assert verdict.reason == "F1 0.00, reference recall 0.00; matched: none; unmatched: two, years"


def test_a_word_given_twice_counts_twice() -> None:
    # one "five" of the answer for two of the reference: F1 = 2 * 1 / (1 + 2)
    assert lexical_verdict(answered("five", "five five"), CORRECT).score == 0.6667


@pytest.mark.parametrize("answer", ["", ":", "I don't know"])
def test_an_answer_that_says_nothing_is_not_correct(answer: str) -> None:
    assert lexical_verdict(answered(answer, "Two years"), CORRECT).value == "no"


def test_faithful_is_the_share_of_word_3_grams_found_in_one_context() -> None:
    # grams of "red green blue white": rgb found, gbw not: 1 / 2
    verdict = lexical_verdict(answered("red green blue white", contexts=["Red green blue", "blue white"]), FAITHFUL)
    assert (verdict.value, verdict.score) == ("yes", 0.5)
    expected = "0.50 of the answer's word 3-grams stand in the contexts; matched: red, green, blue; unmatched: white"
    assert verdict.reason == expected
    assert lexical_verdict(answered("red green blue", contexts=["blue green red"]), FAITHFUL).value == "no"


def test_a_short_answer_is_compared_as_a_whole() -> None:
    assert lexical_verdict(answered("5 seconds", contexts=["after 5 seconds it ends"]), FAITHFUL).value == "yes"
    assert lexical_verdict(answered("5 seconds", contexts=[]), FAITHFUL).value == "no"


def test_faithful_is_unsure_when_the_answer_has_no_words() -> None:
    verdict = lexical_verdict(answered("...", contexts=["text"]), FAITHFUL)
    assert (verdict.value, verdict.score, verdict.reason) == ("unsure", None, "the answer has no words to compare")


def test_a_long_list_of_words_is_cut_and_counted() -> None:
    words = " ".join(f"w{i}" for i in range(20))
    assert "w11 and 8 more; unmatched: none" in lexical_verdict(answered(words, words), CORRECT).reason


def test_the_judge_carries_its_thresholds_and_no_prompt() -> None:
    judge = lexical_judge(CORRECT)
    assert (judge.kind, judge.name, judge.prompt, judge.model) == ("lexical", "lexical", None, None)
    assert judge.params == {"version": 1, "f1": 0.5, "recall": 0.8}
    assert judge.digest == lexical_judge(CORRECT).digest != lexical_judge(FAITHFUL).digest


def test_the_verdict_names_its_judge_and_its_inputs() -> None:
    sample = answered("5 seconds", "5 seconds")
    verdict = lexical_verdict(sample, CORRECT)
    assert (verdict.judge, verdict.inputs, verdict.status) == ("lexical", CORRECT.inputs(sample), "ok")


def test_a_sample_without_the_field_or_another_criterion_is_refused() -> None:
    with pytest.raises(InputError, match="sample 1 has no reference: correct does not apply"):
        lexical_verdict(answered("x"), CORRECT)
    other = Criterion("tone", "Tone", "?", ("answer",), (("reason", str), ("tone", bool)))
    with pytest.raises(InputError, match="the lexical baseline judges correct or faithful, not 'tone'"):
        lexical_judge(other)


def test_every_bundled_sample_gets_a_verdict() -> None:
    path = Path(__file__).resolve().parents[1] / "data" / "samples" / "httpx.jsonl"
    for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n"):
        held = json.loads(line)
        verdict = lexical_verdict(answered(held["answer"], held["reference"]), CORRECT)
        assert verdict.value in ("yes", "no")


@given(st.text(), st.text())
def test_any_two_texts_get_a_verdict(answer: str, other: str) -> None:
    sample = answered(answer, other, [other])
    for criterion in (CORRECT, FAITHFUL):
        verdict = lexical_verdict(sample, criterion)
        assert verdict == lexical_verdict(sample, criterion)
        assert verdict.score is None or 0 <= verdict.score <= 1


@given(st.text())
def test_a_text_agrees_with_itself(text: str) -> None:
    expected = "yes" if tokens(text) else "no"
    assert lexical_verdict(answered(text, text), CORRECT).value == expected
