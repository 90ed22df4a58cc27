"""The sentences: each case of a judge's standing says what it is good for, and one next step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calibration.agreement import Comparison
from calibration.gate import Evidence, Rule, Standing, assess
from calibration.pairing import EXCLUSIONS, Pair, Pairs
from calibration.records import Judge, Label, Prompt, Verdict
from calibration.summary import Summary
from calibration.wording import comparison_words, judge_words

VERDICT = Verdict("s", "correct", "yes")


def standing(
    table: tuple[int, int, int, int], *, name: str = "correct-v2", seen: int = 0, k: int = 1, people: str = "you"
) -> Standing:
    a, b, c, d = table
    cells = [("yes", "yes")] * a + [("yes", "no")] * b + [("no", "yes")] * c + [("no", "no")] * d
    pairs = tuple(
        Pair(f"s{i}", human, judge, f"g{i}", i >= seen, (Label(f"s{i}", "correct", "ana", human),), VERDICT)
        for i, (human, judge) in enumerate(cells)
    )
    judge = Judge("llm", f"{name}@MODEL", "correct", prompt="p", model="MODEL")
    held = Pairs("correct", judge, "blind", pairs, (), dict.fromkeys(EXCLUSIONS, 0), len(pairs), len(pairs))
    version = Prompt(name.rsplit("-v")[0], int(name[-1]), "correct", "", "")
    evidence = Evidence(held.only_fresh().strict_confusion(), k=k)
    return Standing(Summary(held, version, people), assess(Rule(), evidence))


CASES = [
    (
        standing((26, 1, 0, 13), k=2),
        "You can use correct-v2 on MODEL to score `correct` for answers like these. It agrees with you on 39 of 40: "
        "kappa 0.94, at least 0.67; your threshold is 0.60. It caught 13 of 13 bad answers (77-100 %) and rejected 1 "
        "of 27 good ones. The bar was raised because 2 prompts were tried. The decision lapses when prompt, model, "
        "parameters or labels change.",
        "score your answers",
    ),
    (
        standing((15, 12, 4, 9), name="correct-v1"),
        "Do not use correct-v1 as a score. It agrees with you on 24 of 40: kappa 0.21, at most 0.53; your threshold is "
        "0.60. It is mostly too strict: 12 good answers rejected, 4 bad let through.",
        "read the 12.",
    ),
    (
        standing((27, 2, 1, 10)),
        "Not decided yet, and on course. It agrees with you on 37 of 40: kappa 0.82, with room for 0.52 to 0.93 around "
        'your 0.60. Usable today: its "no" was right 10 of 12 times (55-95 %), its "yes" was right 27 of 28 times '
        '(82-99 %); so read every "no" yourself and spot-check the "yes". To decide: about 70 more labels, about 20 of '
        "them bad answers.",
        "label about 70 more samples.",
    ),
    (
        standing((25, 3, 4, 8)),
        "More labels alone are unlikely to lift it over 0.60: improve the prompt first.",
        "read the 7 disagreements (3 too strict, 4 too lenient).",
    ),
    (
        standing((27, 2, 1, 10), name="correct-v3", seen=28),
        "correct-v3 was written after 28 of these 40 labels had been compared with a judge; only 12 count for it.",
        "",
    ),
    (
        standing((40, 0, 0, 0)),
        'No kappa: you and the judge said "yes" to all 40, so nothing shows whether it would catch a bad answer.',
        "label at least 10 bad answers.",
    ),
    (
        standing((19, 1, 0, 0)),
        "All 20 answers were good in your eyes; the judge rejected 1. Whether it catches bad ones cannot be seen: "
        "there are 0 here.",
        "label at least 10 bad answers.",
    ),
    (
        standing((34, 0, 6, 0)),
        'The judge said "yes" to everything and let through all 6 bad answers; its 34 of 40 agreements are no merit.',
        "next prompt version",
    ),
    (
        standing((2, 1, 1, 1), name="correct-v1"),
        "You differ from correct-v1 on 2 of 5. Too few for a figure.",
        "read the 2.",
    ),
    (
        standing((25, 3, 4, 8), k=6),
        "These labels have now judged 6 prompts. The best of 6 looks better than it is, so the bar is raised (99.2 % "
        "instead of 95 %).",
        "",
    ),
    (standing((34, 3, 0, 3)), "More than 500 labels would be needed", "improve the prompt first."),
    (standing((0, 0, 0, 0)), "Nobody has labelled a sample", "label"),
    (standing((45, 0, 0, 5)), "Only 5 bad answers among the labels; a decision needs 10.", "label about"),
    (standing((0, 4, 5, 0)), "Too few for a figure. Enough to see that it does not agree", "read the 9."),
    (standing((26, 1, 0, 13), people="the author"), "It agrees with the author on 39 of 40", "score"),
]


@pytest.mark.parametrize(("case", "sentence", "then"), CASES, ids=lambda value: None)
def test_a_standing_says_what_it_is_good_for_and_the_next_step(case: Standing, sentence: str, then: str) -> None:
    words = judge_words(case)
    assert sentence in words.sentence
    assert then in words.next


def test_a_failing_judge_is_never_called_usable() -> None:
    assert "You can use" not in judge_words(standing((15, 12, 4, 9))).text


def test_a_better_version_is_named_with_its_difference_in_plus() -> None:
    # (human, a, b): b repairs 6 good answers that a rejected and breaks none
    counts = [20, 0, 6, 1, 1, 0, 0, 12]
    words = comparison_words(Comparison.from_counts(counts), "v1", "v2")
    assert words.sentence.startswith("v2 agrees with you more than v1: kappa ")
    assert "It repaired 6 verdicts and broke none." in words.sentence
    # the order of the two changes nothing
    swapped = comparison_words(Comparison.from_counts([20, 6, 0, 1, 1, 0, 0, 12]), "v2", "v1")
    assert swapped.sentence[:60] == words.sentence[:60]


def test_labels_that_cannot_tell_two_versions_apart_say_so() -> None:
    words = comparison_words(Comparison.from_counts([20, 2, 3, 1, 2, 1, 1, 10]), "v1", "v2")
    assert words.sentence.startswith("These 40 labels cannot tell v1 and v2 apart: ")
    # b right and a wrong: yes,no,yes (3) and no,yes,no (1); a right and b wrong: yes,yes,no (2) and no,no,yes (1)
    assert "v2 repaired 4 and broke 3." in words.sentence


def failing(standing_: Standing, human: str, missing: int) -> Standing:
    """The same with so many replies more that were no verdict, on samples labelled `human`."""
    more = tuple(
        Pair(f"f{i}", human, None, f"f{i}", True, (Label(f"f{i}", "correct", "ana", human),), VERDICT)
        for i in range(missing)
    )
    held = replace(standing_.summary.pairs, unanswered=more)
    evidence = Evidence(held.only_fresh().strict_confusion())
    return Standing(replace(standing_.summary, pairs=held), assess(Rule(), evidence))


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (failing(standing((25, 0, 0, 0)), "yes", 5), "the judge rejected 0"),
        (failing(standing((60, 0, 0, 30)), "yes", 3), "rejected 0 of 60 good ones"),
        (failing(standing((27, 0, 1, 10)), "yes", 2), 'its "no" was right 10 of 10 times'),
        (failing(standing((30, 0, 0, 0)), "no", 12), "12 samples without a yes or no from it count as wrong."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_reply_that_was_no_verdict_is_never_called_one(case: Standing, said: str) -> None:
    assert said in judge_words(case).sentence


def test_failed_replies_do_not_read_as_swapped_labels() -> None:
    words = judge_words(failing(standing((0, 0, 0, 0)), "yes", 29))
    assert "opposite" not in words.text


def test_a_floor_that_labels_cannot_reach_promises_no_number_of_labels() -> None:
    held = standing((60, 2, 3, 35))
    found = assess(Rule(min_tpr=0.99), held.assessment.evidence)
    assert (found.reasons, found.needed.labels) == (("tpr_floor",), None)
    assert (
        "The floor on bad answers caught is not shown to hold." in judge_words(Standing(held.summary, found)).sentence
    )


def test_no_judge_wins_a_comparison_by_abstaining() -> None:
    # b answers only 26 easy ones of 52; counting its silence as wrong it is behind
    answered = Comparison.from_counts([10, 0, 3, 0, 0, 3, 0, 10])
    strict = Comparison.from_counts([10, 13, 3, 0, 0, 3, 13, 10])
    words = comparison_words(answered, "plain", "abstains", strict=strict)
    assert words.sentence.startswith("abstains agrees with you more than plain")
    assert words.sentence.endswith("With 26 missing answers counted as wrong, plain is ahead.")
    assert words.next == "read the replies that were no verdict before choosing."
