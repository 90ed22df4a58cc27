"""Who is compared with whom, and what is counted as left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.pairing import UNANSWERED, Pairs, majority, pair
from calibration.records import Judge, Label, LabelSet, Sample, Verdict, VerdictSet

JUDGE = Judge("imported", "bem", "correct")


def label(sample: str, value: str, annotator: str = "ana", mode: str = "blind", inputs: str = "now") -> Label:
    return Label(sample, "correct", annotator, value, mode=mode, inputs=inputs, event_id=f"{sample}-{annotator}-{mode}")


def verdict(sample: str, value: str | None, status: str = "ok", inputs: str = "now") -> Verdict:
    return Verdict(sample, "correct", value, status=status, inputs=inputs, judge="bem")


def paired(
    labels: list[Label], verdicts: list[Verdict], *, total: int = 0, choice: str = "blind", **rest: object
) -> Pairs:
    names = sorted({one.sample for one in labels})
    samples = {name: Sample(name, f"question of {name}", "answer", reference="r") for name in names}
    revealed = rest.get("revealed", {})
    assert isinstance(revealed, dict)
    held = LabelSet("correct", tuple(labels), samples, dict.fromkeys(names, "now"), total or len(names), 0, revealed)
    said = VerdictSet(JUDGE, tuple(verdicts), registered_at="2026-02")
    return pair(held, said, choice=choice)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ({"yes": 2, "no": 1}, ("yes", None)),
        ({"yes": 1, "no": 1}, (None, "label_tie")),
        ({}, (None, "label_unsure")),
        ({"no": 1}, ("no", None)),
    ],
)
def test_several_annotators_speak_by_majority(
    votes: dict[str | None, int], expected: tuple[str | None, str | None]
) -> None:
    assert majority(votes) == expected


def test_unsure_is_no_vote() -> None:
    # yes + unsure + unsure: one vote, yes
    found = paired([label("s", "yes"), label("s", "unsure", "ben"), label("s", "unsure", "eve")], [verdict("s", "yes")])
    assert found.human == ["yes"]


@pytest.mark.parametrize(
    ("labels", "verdicts", "reason"),
    [
        ([label("s", "unsure")], [verdict("s", "yes")], "label_unsure"),
        ([label("s", "yes"), label("s", "no", "ben")], [verdict("s", "yes")], "label_tie"),
        ([label("s", "yes")], [], "no_verdict"),
        ([label("s", "yes")], [verdict("s", "unsure")], "verdict_unsure"),
        ([label("s", "yes")], [verdict("s", None, "failed")], "verdict_failed"),
        ([label("s", "yes")], [verdict("s", None, "error")], "verdict_error"),
        ([label("s", "yes", inputs="before")], [verdict("s", "yes")], "outdated"),
        ([label("s", "yes")], [verdict("s", "yes", inputs="before")], "outdated"),
        ([label("s", "yes", mode="audit")], [verdict("s", "yes")], "no_label"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_pair_is_counted_by_its_reason(labels: list[Label], verdicts: list[Verdict], reason: str) -> None:
    found = paired(labels, verdicts)
    assert found.answered == ()
    assert {name: n for name, n in found.excluded.items() if n} == {reason: 1}


def test_no_answer_counts_as_wrong_in_the_strict_table_only() -> None:
    found = paired([label("a", "yes"), label("b", "no")], [verdict("a", None, "failed"), verdict("b", "no")])
    assert found.confusion().cells.counts == (0, 0, 0, 1)
    # the failed one had a label yes: it is added to b, human yes judge no
    assert found.strict_confusion().cells.counts == (0, 1, 0, 1)


def test_an_adjudicated_label_settles_a_tie_only_when_asked_for() -> None:
    labels = [label("s", "yes"), label("s", "no", "ben"), label("s", "no", "eve", "adjudicated")]
    assert paired(labels, [verdict("s", "no")]).excluded["label_tie"] == 1
    assert paired(labels, [verdict("s", "no")], choice="adjudicated").human == ["no"]


def test_a_label_revealed_before_the_prompt_was_registered_is_seen() -> None:
    labels = [label("a", "yes"), label("b", "yes"), label("c", "no")]
    verdicts = [verdict(name, "yes") for name in "abc"]
    found = paired(labels, verdicts, revealed={"a": "2026-01", "b": "2026-03"})
    # registered in 2026-02: a was revealed before, b after, c never
    assert [one.fresh for one in found.answered] == [False, True, True]
    assert [one.sample for one in found.only_fresh().answered] == ["b", "c"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["yes", "no", "unsure", None]),
            st.sampled_from(["yes", "no", None]),
            st.sampled_from(["yes", "no", "unsure", "failed", "error", None]),
            st.sampled_from(["now", "before"]),
        ),
        max_size=30,
    )
)
def test_pairing_loses_nothing(rows: list[tuple[str | None, str | None, str | None, str]]) -> None:
    labels, verdicts = [], []
    for i, (first, second, said, inputs) in enumerate(rows):
        labels += [label(f"s{i}", v, who) for v, who in ((first, "ana"), (second, "ben")) if v is not None]
        if said in ("failed", "error"):
            verdicts.append(verdict(f"s{i}", None, str(said), inputs))
        elif said is not None:
            verdicts.append(verdict(f"s{i}", said, inputs=inputs))
    found = paired(labels, verdicts, total=max(1, len(rows)))
    assert len(found.answered) + sum(found.excluded.values()) == max(1, len(rows))
    assert len(found.unanswered) == sum(found.excluded[reason] for reason in UNANSWERED)
