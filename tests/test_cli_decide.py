"""From the command line: agreement, compare, gate and registry on tables whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibration.person import login_name
from calibration.records import Prompt, Reveal
from calibration.store import Store
from helpers import add_labels, add_samples, add_verdicts, make_samples, run_command, table_store

# a, b, c, d; kappa or None with its reason; flag; interval; exit code of the gate
EDGE_CASES: list[tuple[tuple[int, int, int, int], float | None, str | None, tuple[float, float] | None, int]] = [
    ((45, 0, 0, 5), 1.0, None, (0.64, 1.00), 3),
    ((30, 0, 0, 10), 1.0, None, (0.77, 1.00), 0),
    ((50, 0, 0, 0), None, "both_constant", None, 3),
    ((48, 2, 0, 0), 0.0, "human_constant", (-0.03, 0.73), 3),
    ((48, 0, 2, 0), 0.0, "judge_constant", (-0.03, 0.73), 3),
    ((34, 0, 6, 0), 0.0, "judge_constant", (-0.06, 0.42), 1),
    ((90, 0, 10, 0), 0.0, "judge_constant", (-0.03, 0.32), 1),
    ((2, 0, 0, 1), 1.0, None, (-0.10, 1.00), 3),
    ((0, 10, 10, 0), -1.0, "labels_may_be_swapped", (-1.0, -0.56), 1),
    ((38, 1, 1, 0), -0.026, "low_prevalence", (-0.05, 0.73), 3),
    ((90, 5, 4, 1), 0.135, None, (-0.04, 0.50), 3),
    ((25, 3, 4, 8), 0.573, None, (0.25, 0.78), 3),
    ((40, 9, 6, 45), 0.70, None, (0.53, 0.81), 3),
    ((80, 10, 5, 5), 0.32, None, (0.08, 0.56), 3),
    ((26, 1, 0, 13), 0.944, None, (0.71, 0.99), 0),
]


def shown(capsys: pytest.CaptureFixture[str]) -> Any:
    """The JSON a command printed."""
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("table", "kappa", "mark", "interval", "code"), EDGE_CASES, ids=lambda value: str(value))
def test_edge_case_from_the_command_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    table: tuple[int, int, int, int],
    kappa: float | None,
    mark: str | None,
    interval: tuple[float, float] | None,
    code: int,
) -> None:
    store = table_store(tmp_path / "a.db", table)
    assert run_command("agreement", "--json", "--db", str(store.path)) == 0
    row = shown(capsys)[0]
    a, b, c, d = table
    assert row["confusion"] == {"yes": {"yes": a, "no": b}, "no": {"yes": c, "no": d}}
    assert row["n"] + sum(row["excluded"].values()) == sum(table)
    found = row["kappa"]
    if kappa is None:
        assert (found["value"], found["low"], found["undefined"]) == (None, None, mark)
    else:
        assert found["value"] == pytest.approx(kappa, abs=0.005)
        assert interval is not None
        assert (found["low"], found["high"]) == (
            pytest.approx(interval[0], abs=0.02),
            pytest.approx(interval[1], abs=0.02),
        )
        assert mark is None or mark in found["flags"]
    assert run_command("gate", "bem", "--json", "--db", str(store.path)) == code


def test_no_labels_at_all_is_not_enough_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "a.db")
    add_samples(store, make_samples(3))
    add_verdicts(store, {"s1": "yes"})
    assert run_command("agreement", "--json", "--db", str(store.path)) == 0
    row = shown(capsys)[0]
    assert row["kappa"]["undefined"] == "no_pairs"
    assert row["excluded"]["no_label"] == 3
    assert run_command("gate", "bem", "--db", str(store.path)) == 3


def test_the_gate_says_how_many_labels_are_missing_or_why_none_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for table, labels, fails, reason in (
        ((27, 2, 1, 10), 70, 20, None),
        ((25, 3, 4, 8), None, None, "estimate_not_above_threshold"),
        ((34, 3, 0, 3), None, None, "more_than_500"),
    ):
        store = table_store(tmp_path / f"{table}.db", table)
        run_command("gate", "bem", "--json", "--db", str(store.path))
        found = shown(capsys)
        assert (found["labels_needed"], found["fails_needed"], found["no_labels_needed"]) == (labels, fails, reason)


def test_the_gate_of_a_criterion_exits_with_the_worst_outcome(tmp_path: Path) -> None:
    store = table_store(tmp_path / "a.db", (30, 0, 0, 30))
    assert run_command("gate", "--criterion", "correct", "--db", str(store.path)) == 0
    # a second judge that is the first one upside down fails
    add_verdicts(store, {f"s{i}": "no" if i <= 30 else "yes" for i in range(1, 61)}, judge="upside-down")
    assert run_command("gate", "--criterion", "correct", "--db", str(store.path)) == 1


def test_a_decision_can_be_computed_again_and_says_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = table_store(tmp_path / "a.db", (30, 0, 0, 10))
    db = ("--db", str(store.path))
    assert run_command("gate", "--verify", *db) == 2
    assert run_command("gate", "bem", *db) == 0
    assert run_command("gate", "--verify", *db) == 0
    assert len(store.decisions()) == 1
    add_labels(store, {"s1": "no"}, annotator="ben")
    capsys.readouterr()
    assert run_command("gate", "--verify", *db) == 4
    assert "data" in capsys.readouterr().out


def test_the_same_labels_again_leave_the_level_as_it_is_and_other_ones_raise_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = table_store(tmp_path / "a.db", (27, 2, 1, 10))
    db = ("--db", str(store.path))
    for _ in range(2):
        run_command("gate", "bem", "--json", *db)
        assert shown(capsys)["r"] == 0
    add_samples(store, make_samples(41)[40:])
    add_labels(store, {"s41": "yes"})
    add_verdicts(store, {f"s{i}": "yes" if i <= 27 or i == 30 else "no" for i in range(1, 42)})
    run_command("gate", "bem", "--json", *db)
    # the label set grew by one: it overlaps the earlier one and differs
    assert shown(capsys)["r"] == 1


def test_a_failed_reply_counts_as_wrong_in_the_gate_and_in_coverage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path / "a.db")
    add_samples(store, make_samples(3))
    add_labels(store, {"s1": "yes", "s2": "yes", "s3": "no"})
    add_verdicts(store, {"s1": "yes", "s2": None, "s3": "no"})
    run_command("agreement", "--json", "--db", str(store.path))
    row = shown(capsys)[0]
    assert (row["n"], row["excluded"]["verdict_failed"]) == (2, 1)
    assert row["kappa"]["value"] == 1
    # strict table 1,1,0,1: 2(1*1-1*0) / (2*1 + 1*2... ) = 2*1 / [(2)(2)+(1)(1)] = .4
    assert row["kappa_strict"]["value"] == pytest.approx(0.4)
    assert row["coverage"]["value"] == pytest.approx(2 / 3)


def test_a_label_revealed_before_the_prompt_was_registered_does_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = table_store(tmp_path / "a.db", (30, 0, 0, 10))
    store.reveal([Reveal(f"s{i}", "correct", "ana", None, "disagreements") for i in range(1, 29)])
    add_verdicts(store, {f"s{i}": "yes" if i <= 30 else "no" for i in range(1, 41)}, judge="late")
    run_command("agreement", "--json", "--judge", "late", "--db", str(store.path))
    row = shown(capsys)[0]
    assert (row["n"], row["fresh"], row["seen"]) == (40, 12, 28)
    assert (
        "was imported after 28 of these 40 labels had been compared with a judge; only 12 count for it."
        in row["sentence"]
    )
    assert run_command("gate", "late", "--db", str(store.path)) == 3
    assert run_command("gate", "bem", "--db", str(store.path)) == 0


def test_compare_says_which_judge_agrees_more_and_records_what_it_reveals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = table_store(tmp_path / "a.db", (20, 7, 0, 13))
    better = {f"s{i}": "yes" if i <= 26 else "no" for i in range(1, 41)}
    add_verdicts(store, better, judge="better")
    assert store.reveals() == []
    assert run_command("compare", "bem", "better", "--json", "--db", str(store.path)) == 0
    found = shown(capsys)
    assert found["mcnemar"]["only_b_right"] == 6
    assert found["flips"] == [f"s{i}" for i in range(21, 27)]
    assert found["kappa_difference"]["high"] < 0
    assert found["sentence"].startswith("better agrees with you more than bem")
    # 40 pairs, two judges: every pair the list was picked from is revealed
    assert len(store.reveals()) == 80
    assert {reveal.annotator for reveal in store.reveals()} == {login_name()}


def test_a_judge_is_not_compared_with_itself_and_nothing_is_revealed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = table_store(tmp_path / "a.db", (20, 7, 0, 13))
    for other in ("bem", store.judges()[0].digest):
        assert run_command("compare", "bem", other, "--db", str(store.path)) == 2
        assert "is named twice: it is bem" in capsys.readouterr().err
    assert store.reveals() == []


def test_a_prompt_version_alone_names_its_judge_in_every_command(tmp_path: Path) -> None:
    store = table_store(tmp_path / "a.db", (30, 0, 0, 10))
    add_verdicts(store, {f"s{i}": "yes" if i <= 30 else "no" for i in range(1, 41)}, judge="correct-v1@model")
    db = ("--db", str(store.path))
    assert run_command("agreement", "--judge", "correct-v1", *db) == 0
    assert run_command("compare", "bem", "correct-v1", *db) == 0
    # what compare revealed changes nothing for a judge that was there before
    assert run_command("gate", "correct-v1", *db) == 0
    assert store.decisions()[0].judge == store.find_judge("correct-v1@model").digest


def test_somebody_without_an_entry_in_the_passwords_is_me(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 3_999_999_999)
    assert login_name() == "me"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["agreement", "--criterion", "tone"], "unknown criterion 'tone'"),
        (["registry", "--criterion", "tone"], "unknown criterion 'tone'"),
        (["compare", "bem", "bem", "--criterion", "tone"], "unknown criterion 'tone'"),
        (["gate", "--verify", "--criterion", "tone"], "unknown criterion 'tone'"),
        (["agreement", "--criterion", "faithful"], "no judge has given a verdict on `faithful` yet"),
        (["agreement", "--judge", "nobody"], "no judge named 'nobody'"),
        (["agreement", "--annotator", "eve"], "nobody named 'eve'"),
        (["compare", "bem"], "name two judges"),
        (["gate", "bem", "--min-kappa", "3"], "from 0 to below 1"),
        (["gate", "--verify"], "no decision to verify"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_gives_one_clear_message_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    store = table_store(tmp_path / "a.db", (3, 0, 0, 1))
    assert run_command(*arguments, "--db", str(store.path)) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_a_missing_database_is_outside_trouble_and_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "none.db"
    assert run_command("agreement", "--db", str(path)) == 5
    assert "no database here yet" in capsys.readouterr().err
    assert not path.exists()


def test_a_name_that_fits_two_judges_lists_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = table_store(tmp_path / "a.db", (3, 0, 0, 1))
    add_verdicts(store, {}, criterion="faithful")
    assert run_command("gate", "bem", "--db", str(store.path)) == 2
    error = capsys.readouterr().err
    assert "fits 2 judges" in error
    assert all(judge.digest[:12] in error for judge in store.judges())


def test_the_registry_shows_drafts_decisions_and_what_went_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = table_store(tmp_path / "a.db", (30, 0, 0, 10))
    db = ("--db", str(store.path))
    run_command("registry", "--json", *db)
    assert shown(capsys)[0]["status"] == "draft"
    run_command("gate", "bem", *db)
    capsys.readouterr()
    run_command("registry", "--json", *db)
    row = shown(capsys)[0]
    assert (row["status"], row["stale"], len(row["decisions"])) == ("passed", [], 1)
    add_labels(store, {"s1": "no"}, annotator="ben")
    run_command("registry", "--json", *db)
    assert "labels" in shown(capsys)[0]["stale"]


def test_a_prompt_registered_before_the_first_reveal_keeps_its_labels_fresh(tmp_path: Path) -> None:
    store = table_store(tmp_path / "a.db", (30, 0, 0, 10))
    early = store.add_prompt(Prompt("correct", 1, "correct", "s", "u", digest="1" * 64))
    store.reveal([Reveal("s1", "correct", "ana", None, "disagreements")])
    late = store.add_prompt(Prompt("correct", 2, "correct", "s2", "u", parent="1" * 64, digest="2" * 64))
    revealed = store.labels("correct").revealed["s1"]
    assert early.registered_at is not None
    assert late.registered_at is not None
    assert early.registered_at < revealed < late.registered_at
