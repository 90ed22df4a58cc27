"""Public answers with real labels: the figures that are known must come out. Skipped where the data is not at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers import run_command

BENCH = Path(__file__).parent.parent.parent / "shared" / "bench"
SETS = [("nq301.jsonl", "correct"), ("mtrag.jsonl", "faithful"), ("evouna.jsonl", "correct")]

pytestmark = pytest.mark.skipif(not BENCH.exists(), reason="the public data is not at hand")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One database for each set, imported from the command line."""
    folder = tmp_path_factory.mktemp("bench")
    made = {}
    for name, _ in SETS:
        made[name] = folder / f"{name}.db"
        assert run_command("import", str(BENCH / name), "--db", str(made[name])) == 0
    return made


def rows(capsys: pytest.CaptureFixture[str], db: Path, criterion: str) -> dict[str, Any]:
    """The objects of `agreement --json` by judge."""
    capsys.readouterr()
    assert run_command("agreement", "--json", "--criterion", criterion, "--db", str(db)) == 0
    return {row["judge"]: row for row in json.loads(capsys.readouterr().out)}


@pytest.mark.parametrize(("name", "criterion"), SETS)
def test_agreement_gives_the_known_figures(
    stores: dict[str, Path], capsys: pytest.CaptureFixture[str], name: str, criterion: str
) -> None:
    known = json.loads((BENCH / "expected.json").read_text())["files"][name][criterion]["judges_vs_majority"]
    found = rows(capsys, stores[name], criterion)
    assert set(known) <= set(found)
    for judge, want in known.items():
        row = found[judge]
        assert row["n"] == want["n"]
        assert row["confusion"] == want["confusion"]
        for figure in ("kappa", "accuracy", "balanced_accuracy", "tpr", "tnr", "f1", "mcc"):
            assert row[figure]["value"] == pytest.approx(want[figure], abs=1e-6)
        excluded = {reason: n for reason, n in row["excluded"].items() if n}
        assert excluded == {reason: n for reason, n in want["excluded"].items() if n}


def test_intervals_on_grouped_answers_carry_the_design_effect(
    stores: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    known = json.loads((BENCH / "expected_intervals.json").read_text())
    cases = known if isinstance(known, list) else known["cases"]
    found = rows(capsys, stores["nq301.jsonl"], "correct")
    for case in cases:
        row, want = found[case["input"]["judge"]], case["expected"]
        assert row["design_effect"] == pytest.approx(want["design_effect"], abs=0.006)
        # 4,000 draws: a Monte Carlo sd of .006 beside the tolerance of the case
        assert row["kappa"]["low"] == pytest.approx(want["low"], abs=0.018)
        assert row["kappa"]["high"] == pytest.approx(want["high"], abs=0.018)


@pytest.mark.parametrize(
    ("judge", "threshold", "outcome", "code"),
    [
        ("correct-v1@gpt-4", "0.6", "passed", 0),
        ("bem", "0.6", "not_enough_evidence", 3),
        ("bem", "0.75", "failed", 1),
    ],
)
def test_the_gate_decides_from_the_ends_of_the_interval(
    stores: dict[str, Path], capsys: pytest.CaptureFixture[str], judge: str, threshold: str, outcome: str, code: int
) -> None:
    capsys.readouterr()
    asked = ("gate", judge, "--min-kappa", threshold, "--json", "--db", str(stores["nq301.jsonl"]))
    assert run_command(*asked) == code
    decision = json.loads(capsys.readouterr().out)
    assert (decision["outcome"], decision["k"]) == (outcome, 3)
    found = decision["kappa_strict"]
    assert (found["low"] >= float(threshold)) == (outcome == "passed")


def test_two_judges_are_compared_on_the_samples_both_answered(
    stores: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    known = json.loads((BENCH / "expected.json").read_text())["files"]["nq301.jsonl"]["correct"]["compare"]
    capsys.readouterr()
    assert run_command("compare", known["a"], known["b"], "--json", "--db", str(stores["nq301.jsonl"])) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == known["n"]
    assert found["kappa_difference"]["value"] == pytest.approx(known["kappa_difference"], abs=1e-6)
    assert found["mcnemar"]["only_a_right"] == known[f"only_{known['a']}_right"]
    assert found["mcnemar"]["only_b_right"] == known[f"only_{known['b']}_right"]
    assert "cannot tell" in found["sentence"]
