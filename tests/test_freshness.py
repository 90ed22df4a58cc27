"""What a look at the labels costs: no judge passes on labels that it may have been written from."""

from __future__ import annotations

from pathlib import Path

from calibration.board import board
from calibration.criteria import BUILT_IN
from calibration.disagreements import cell, fresh_left, newly_revealed, recorded, reveal_cell
from calibration.gate import Standing
from calibration.records import Label
from calibration.registry import decide, entries, verify
from calibration.store import Store
from calibration.store.labels import append_label
from helpers import add_labels, add_samples, add_verdicts, make_samples, table_store


def standing(store: Store, judge: str = "bem") -> Standing:
    """The standing of one judge."""
    return board(store, "correct").standing(store.find_judge(judge))


def corrected(store: Store, judge: str = "bem") -> None:
    """The judge comes again under its name, now with the label's value on every sample."""
    labels = {label.sample: str(label.value) for label in store.current_labels("correct")}
    add_verdicts(store, labels, judge=judge)


def test_an_imported_judge_that_comes_again_after_a_look_has_no_fresh_label(tmp_path: Path) -> None:
    store = table_store(tmp_path / "a.db", (20, 10, 0, 10))
    summary = standing(store).summary
    reveal_cell(store, summary, cell(summary, None, None), "ana")
    corrected(store)
    found = standing(store)
    assert (found.summary.fresh, found.summary.seen) == (0, 40)
    assert found.assessment.outcome == "not_enough_evidence"


def test_an_imported_judge_that_comes_again_unseen_counts_as_another_try(tmp_path: Path) -> None:
    store = table_store(tmp_path / "a.db", (20, 10, 0, 10))
    assert standing(store).assessment.evidence.k == 1
    corrected(store)
    assert standing(store).assessment.evidence.k == 2


def test_the_verdicts_of_one_judge_in_two_halves_are_one_try(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.db")
    add_samples(store, make_samples(30))
    add_labels(store, {f"s{i}": "yes" if i % 2 else "no" for i in range(1, 31)})
    add_verdicts(store, {f"s{i}": "yes" for i in range(1, 11)})
    add_verdicts(store, {f"s{i}": "no" for i in range(11, 31)})
    # 20 of 30 labels are at least half, 10 are not
    assert standing(store).assessment.evidence.k == 1


def test_a_note_on_a_label_changes_no_decision_and_raises_no_level(tmp_path: Path) -> None:
    store = table_store(tmp_path / "a.db", (27, 2, 1, 10))
    decision = decide(store, standing(store))
    sample = store.sample("s1")
    assert sample is not None
    with store.writing() as db:
        inputs = BUILT_IN["correct"].inputs(sample)
        again = Label("s1", "correct", "ana", "yes", note="a second thought", inputs=inputs, event_id="noted-later")
        append_label(db, again, revision=1, time=store.now())
    assert standing(store).assessment.evidence.r == 0
    assert verify(store, decision) == (True, [])
    assert entries(store, "correct")[0].stale == []


def test_the_baseline_that_comes_later_does_not_undo_a_decision(tmp_path: Path) -> None:
    from calibration.judges.baseline import run_lexical

    store = table_store(tmp_path / "a.db", (30, 0, 0, 10))
    decision = decide(store, standing(store))
    run_lexical(store.samples(), BUILT_IN["correct"], store)
    assert verify(store, decision) == (True, [])


def test_an_entry_stands_under_the_rule_of_its_decision(tmp_path: Path) -> None:
    from calibration.gate import Rule

    store = table_store(tmp_path / "a.db", (27, 0, 2, 11))
    strict = board(store, "correct", Rule(min_kappa=0.97)).standings[0]
    decide(store, strict)
    assert entries(store, "correct")[0].standing.assessment.rule.min_kappa == 0.97


def test_a_list_says_how_many_labels_it_newly_reveals_and_what_is_left(tmp_path: Path) -> None:
    store = table_store(tmp_path / "a.db", (20, 6, 1, 13))
    add_samples(store, make_samples(43)[40:])
    add_labels(store, {"s41": "yes", "s42": "unsure", "s43": "no"})
    summary = standing(store).summary
    assert newly_revealed(summary, summary.pairs.all) == 40
    # 43 labels; 40 are in the list, one of the other three is no vote
    assert fresh_left(store, summary) == 2
    assert not recorded(store, "ana", summary, summary.pairs.all)
    reveal_cell(store, summary, cell(summary, "yes", "no"), "ana")
    summary = standing(store).summary
    assert newly_revealed(summary, summary.pairs.all) == 0
    assert recorded(store, "ana", summary, summary.pairs.all)
    assert not recorded(store, "ben", summary, summary.pairs.all)


def test_replies_that_were_no_verdict_can_be_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.db")
    add_samples(store, make_samples(3))
    add_labels(store, {"s1": "yes", "s2": "yes", "s3": "no"})
    add_verdicts(store, {"s1": "yes", "s2": None, "s3": "no"})
    summary = standing(store).summary
    assert [pair.sample for pair in cell(summary, None, None)] == ["s2"]
    assert [pair.sample for pair in cell(summary, "yes", "no verdict")] == ["s2"]
