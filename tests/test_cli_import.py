"""`import` and `export` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calibration.store import Store
from helpers import run_command

CASES = Path(__file__).parent / "cases" / "imports"
SAMPLE = '{"id": "1", "question": "What is tea?", "answer": "A drink."}\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGE_CALIBRATION_DB", raising=False)
    return tmp_path


def test_import_makes_the_project_and_names_the_next_step(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("import", str(CASES / "001-canonical.jsonl")) == 0
    out = capsys.readouterr().out.splitlines()
    assert "Added 2 samples, 1 label, 1 verdict." in out
    assert out[-1] == "Next: judge-calibration agreement"
    assert Store(project / "calibration.db", create=False).sample_count() == 2


def test_the_next_step_follows_from_what_the_project_holds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.jsonl").write_text(SAMPLE)
    assert run_command("import", "a.jsonl") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Next: judge-calibration annotate"
    (project / "b.jsonl").write_text('{"sample": "1", "annotator": "a", "criterion": "correct", "value": "yes"}\n')
    assert run_command("import", "b.jsonl") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Next: judge-calibration judge PROMPT --model MODEL"


def test_a_refused_import_leaves_no_new_database(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("import", str(CASES / "063-label-refused.jsonl")) == 2
    caught = capsys.readouterr()
    first = "063-label-refused.jsonl:1:human_correct: 'partly' is not a label; use yes, no or unsure"
    assert caught.err.splitlines()[0] == first
    assert caught.out == ""
    assert run_command("import", str(CASES / "085-labels-unknown-sample.jsonl")) == 2
    assert list(project.iterdir()) == []


def test_a_dry_run_shows_samples_and_leaves_no_new_database(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("import", str(CASES / "071-ragas-new.jsonl"), "--dry-run") == 0
    out = capsys.readouterr().out
    assert "user_input -> question" in out
    assert "Which gas do green plants take in? | They take in carbon dioxide." in out
    assert "Would add 1 sample, 0 labels, 0 verdicts." in out
    assert list(project.iterdir()) == []


def test_json_has_the_keys_of_the_contract(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("import", str(CASES / "055-empty-answer.jsonl"), "--json") == 0
    warning = {"file": "055-empty-answer.jsonl", "code": "empty_answer", "count": 1, "lines": [1]}
    empty = {"labels": 0, "verdicts": 0, "problems": [], "problems_total": 0}
    assert json.loads(capsys.readouterr().out) == {"samples": 1, "warnings": [warning]} | empty


def test_json_lists_fifty_problems_and_their_number(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("import", str(CASES / "058-sixty-problems.csv"), "--json") == 2
    found = json.loads(capsys.readouterr().out)
    assert (len(found["problems"]), found["problems_total"], found["samples"]) == (50, 60, 0)
    assert found["problems"][0].keys() == {"file", "line", "field", "message"}
    assert run_command("import", str(CASES / "058-sixty-problems.csv")) == 2
    assert "and 10 more" in capsys.readouterr().err


def test_a_field_is_mapped_and_a_bad_mapping_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(CASES / "056-answer-and-response-differ.jsonl")
    assert run_command("import", path) == 2
    assert run_command("import", path, "--map", "answer") == 2
    assert run_command("import", path, "--map", "answer=answer", "--map", "answer=response") == 2
    assert run_command("import", path, "--map", "answer=response") == 0
    assert Store(project / "calibration.db").samples()[0].answer == "Oxygen."
    assert "ambiguous" in capsys.readouterr().err


def test_one_problem_in_one_file_stores_nothing_of_the_others(project: Path) -> None:
    (project / "a.jsonl").write_text(SAMPLE)
    assert run_command("import", "a.jsonl") == 0
    good, bad = str(CASES / "001-canonical.jsonl"), str(CASES / "063-label-refused.jsonl")
    assert run_command("import", good, bad) == 2
    assert Store(project / "calibration.db").sample_ids() == ["1"]


def test_a_file_that_is_not_there_is_bad_input(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("import", "none.jsonl") == 2
    assert "none.jsonl: no such file" in capsys.readouterr().err
    assert list(project.iterdir()) == []


def test_another_encoding_is_read_when_it_is_named(project: Path) -> None:
    path = str(CASES / "015-windows-1252.csv")
    assert run_command("import", path) == 2
    assert run_command("import", path, "--encoding", "windows-1252") == 0


def test_export_writes_and_says_what_csv_is_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("import", str(CASES / "001-canonical.jsonl")) == 0
    assert run_command("export", "labels", "labels.jsonl") == 0
    assert run_command("export", "samples", "samples.csv") == 0
    out = capsys.readouterr().out
    assert "Wrote 1 label to labels.jsonl." in out
    assert "CSV is for spreadsheets" in out
    assert run_command("export", "labels", "labels.jsonl") == 2
    assert run_command("export", "labels", "labels.jsonl", "--force") == 0
    assert run_command("export", "prompts", "a.jsonl") == 2


def test_export_without_a_project_makes_none(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("export", "labels", "labels.jsonl") == 5
    assert list(project.iterdir()) == []
