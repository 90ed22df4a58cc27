"""The demo: real arithmetic on scripted replies shows every outcome, and a newcomer's labels are kept apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.board import board
from calibration.demo import make_demo
from calibration.disagreements import compare, own_differences
from calibration.gate import Standing
from calibration.store import Store
from calibration.store.events import save_events
from calibration.wording import comparison_words, judge_words


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_demo(tmp_path_factory.mktemp("demo") / "demo.db")


def standings(store: Store) -> dict[tuple[str, str], Standing]:
    """Every standing by criterion and judge."""
    found = [standing for criterion in ("correct", "faithful") for standing in board(store, criterion).standings]
    return {(standing.summary.criterion, standing.summary.short_name): standing for standing in found}


@pytest.mark.parametrize(
    ("criterion", "judge", "outcome"),
    [
        ("correct", "lexical", "failed"),
        ("correct", "correct-v1", "not_enough_evidence"),
        ("correct", "correct-v2", "passed"),
        ("faithful", "faithful-v1", "not_enough_evidence"),
        ("faithful", "faithful-v2", "not_enough_evidence"),
    ],
)
def test_the_demo_shows_every_outcome(demo: Store, criterion: str, judge: str, outcome: str) -> None:
    assert standings(demo)[criterion, judge].assessment.outcome == outcome


def test_the_first_version_is_mostly_too_strict(demo: Store) -> None:
    table = standings(demo)["correct", "correct-v1"].summary.confusion
    assert table.too_strict > 3 * table.too_lenient


def test_the_second_version_is_better_with_an_interval_above_zero(demo: Store) -> None:
    found = standings(demo)
    first, second = (found["correct", name].summary for name in ("correct-v1", "correct-v2"))
    compared = compare(first, second)
    comparison = compared.answered
    interval = comparison.kappa_difference().interval()
    assert interval is not None
    assert interval.high < 0
    assert len(compared.repaired) > len(compared.broken)
    assert (
        "correct-v2 agrees with the author more than correct-v1"
        in comparison_words(comparison, "correct-v1", "correct-v2", first.people).sentence
    )


def test_what_is_scripted_says_so(demo: Store) -> None:
    judges = [judge for judge in demo.judges() if judge.kind != "lexical"]
    assert {judge.kind for judge in judges} == {"scripted"}
    assert all(judge.name.endswith("@scripted") for judge in judges)
    assert "scripted: no model was asked" in judge_words(standings(demo)["correct", "correct-v2"]).sentence


def test_every_sample_is_paired_or_counted(demo: Store) -> None:
    for standing in standings(demo).values():
        assert standing.summary.n + sum(standing.summary.pairs.excluded.values()) == 40


def test_a_newcomer_changes_no_figure_and_sees_on_how_many_the_judges_differ(tmp_path: Path) -> None:
    store = make_demo(tmp_path / "demo.db")
    before = standings(store)["correct", "correct-v1"].summary.confusion
    store.ensure_order("you", ["correct", "faithful"], role="guest")
    for entry in store.queue("you", 1, 5):
        for criterion, assignment in entry.assignments.items():
            event = {
                "id": f"event-{entry.position}-{criterion}",
                "assignment": assignment,
                "sample": entry.sample.id,
                "criterion": criterion,
                "status": "labelled",
                "value": "no",
            }
            assert not save_events([event], "you", store).refused
    assert standings(store)["correct", "correct-v1"].summary.confusion == before
    own = own_differences(store, "you")
    assert own.labelled == 5
    # each judge is compared on the newcomer's own five, never on the author's labels
    assert all(n <= 5 and differing <= n for _, n, differing in own.judges)
    assert [judge.name for judge, _, _ in own.judges][:2] == ["correct-v1@scripted", "correct-v2@scripted"]


def test_the_demo_is_reused_with_the_labels_given_in_it(tmp_path: Path) -> None:
    first = make_demo(tmp_path / "demo.db")
    first.add_annotator("you", role="guest")
    assert "you" in make_demo(tmp_path / "demo.db").annotators()
