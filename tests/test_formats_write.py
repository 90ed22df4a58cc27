"""Writing files: byte-faithful JSON Lines that come back as they were, and CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import json
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.errors import InputError
from calibration.formats.read import Source, read_files, read_sources
from calibration.formats.write import export
from calibration.records import Reveal
from calibration.store import Store
from calibration.store.imports import import_batch

KINDS = ("samples", "labels", "verdicts", "all")
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
filled = texts.filter(lambda text: bool(text.strip()))
values = st.sampled_from(["yes", "no", "unsure"])
names = st.sampled_from(["ana", "ben"])
labels = st.fixed_dictionaries({"annotator": names, "criterion": st.just("correct"), "value": values, "note": texts})
verdicts = st.fixed_dictionaries(
    {"judge": names, "criterion": st.sampled_from(["correct", "faithful"]), "value": values, "reason": texts},
    optional={"score": st.floats(-1, 1), "reply": texts, "repair": st.lists(texts, max_size=2)},
)
samples: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"question": filled, "answer": texts},
    optional={
        "contexts": st.none() | st.lists(texts, max_size=3),
        "reference": texts,
        "system": filled,
        "group": filled.map(str.strip).filter(bool),
        "relevant_ids": st.lists(filled, max_size=2),
        "failure": filled,
        "metadata": st.dictionaries(filled, texts, max_size=2),
        "labels": st.lists(labels, max_size=2, unique_by=lambda label: label["annotator"]),
        "verdicts": st.lists(verdicts, max_size=2, unique_by=lambda verdict: (verdict["judge"], verdict["criterion"])),
    },
)


def source(*entries: dict[str, Any]) -> Source:
    return Source("a.jsonl", "".join(json.dumps(entry) + "\n" for entry in entries).encode())


def written(store: Store, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    for kind in KINDS:
        export(store, kind, folder / f"{kind}.jsonl")
    return {kind: (folder / f"{kind}.jsonl").read_bytes() for kind in KINDS}


@settings(max_examples=30, deadline=None)
@given(st.lists(samples, min_size=1, max_size=4, unique_by=lambda sample: str(sample["question"])))
def test_export_and_import_into_an_empty_project_is_the_identity(entries: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = Store(folder / "a.db")
        numbered = [entry | {"id": str(n)} for n, entry in enumerate(entries)]
        import_batch(first, read_sources([source(*numbered)]))
        before = written(first, folder / "a")
        whole, parts = Store(folder / "b.db"), Store(folder / "c.db")
        import_batch(whole, read_files([folder / "a" / "all.jsonl"]))
        files = [folder / "a" / f"{kind}.jsonl" for kind in KINDS if kind != "all" and before[kind]]
        import_batch(parts, read_files(files))
        assert written(whole, folder / "b") == before
        assert written(parts, folder / "c") == before
        assert whole.samples() == parts.samples() == first.samples()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "a.db")
    entry: dict[str, Any] = {"id": "=1", "question": "q", "answer": "=cmd|' /C calc'!A0", "contexts": ["é", "b"]}
    entry |= {"labels": [{"annotator": "ana", "criterion": "correct", "value": "no", "note": "＝x"}]}
    entry |= {
        "verdicts": [{"judge": "j", "criterion": "correct", "value": None, "status": "failed", "error": "not_json"}]
    }
    import_batch(made, read_sources([source(entry)]))
    return made


def test_lines_have_sorted_keys_and_no_escapes(store: Store, tmp_path: Path) -> None:
    export(store, "samples", tmp_path / "a.jsonl")
    expected = '{"answer": "=cmd|\' /C calc\'!A0", "contexts": ["é", "b"], "id": "=1", "question": "q"}\n'
    assert (tmp_path / "a.jsonl").read_bytes() == expected.encode()


def test_a_label_and_a_verdict_have_the_keys_of_the_contract(store: Store, tmp_path: Path) -> None:
    export(store, "labels", tmp_path / "l.jsonl")
    label = json.loads((tmp_path / "l.jsonl").read_text())
    assert label.keys() >= {"sample", "annotator", "criterion", "value", "note"}
    export(store, "verdicts", tmp_path / "v.jsonl")
    verdict = json.loads((tmp_path / "v.jsonl").read_text())
    keys = "sample judge criterion part repeat attempt value score status error repair reason reply"
    assert verdict.keys() >= set(keys.split())
    assert (verdict["status"], verdict["error"], verdict["value"]) == ("failed", "not_json", None)


def test_a_cell_that_a_spreadsheet_would_run_gets_a_quote(store: Store, tmp_path: Path) -> None:
    export(store, "samples", tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["id"], row["answer"]) == ("'=1", "'=cmd|' /C calc'!A0")
    assert json.loads(row["contexts"]) == ["é", "b"]
    export(store, "labels", tmp_path / "l.csv")
    assert "'＝x" in (tmp_path / "l.csv").read_text(encoding="utf-8")


def test_labels_and_verdicts_in_csv_are_read_back(store: Store, tmp_path: Path) -> None:
    export(store, "samples", tmp_path / "s.jsonl")
    export(store, "labels", tmp_path / "l.csv")
    export(store, "verdicts", tmp_path / "v.csv")
    other = Store(tmp_path / "b.db")
    text = (tmp_path / "l.csv").read_text(encoding="utf-8").replace("'=1", "=1")
    lone = Source("l.csv", text.encode())
    import_batch(other, read_files([tmp_path / "s.jsonl"]))
    assert import_batch(other, read_sources([lone])).labels == 1
    assert other.current_labels("correct")[0].value == "no"


def test_an_existing_file_is_replaced_only_when_forced_and_never_half_written(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "a.jsonl"
    target.write_text("mine")
    with pytest.raises(InputError, match="--force"):
        export(store, "samples", target)
    assert target.read_text() == "mine"
    assert export(store, "samples", target, force=True) == 1
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_another_ending_or_kind_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.jsonl or \.csv"):
        export(store, "samples", tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="cannot export"):
        export(store, "prompts", tmp_path / "a.jsonl")


def test_a_seen_label_stays_seen_when_a_project_moves(store: Store, tmp_path: Path) -> None:
    store.reveal([Reveal("=1", "correct", "ana", None, "disagreements")])
    export(store, "all", tmp_path / "all.jsonl")
    other = Store(tmp_path / "b.db")
    import_batch(other, read_files([tmp_path / "all.jsonl"]))
    assert other.reveals() == store.reveals()


def test_the_newest_run_stays_the_newest_wherever_it_stands_in_the_file(tmp_path: Path) -> None:
    verdict = {"judge": "j", "criterion": "correct"}
    old, new = {"run": "1", "time": "2026-01-01"}, {"run": "2", "time": "2026-02-01"}
    one = {"id": "1", "question": "q1", "answer": "a", "verdicts": [verdict | new | {"value": "yes"}]}
    two: dict[str, Any] = {"id": "2", "question": "q2", "answer": "a"}
    two |= {"verdicts": [verdict | old | {"value": "no"}, verdict | new | {"value": "yes"}]}
    store = Store(tmp_path / "a.db")
    import_batch(store, read_sources([source(one, two)]))
    assert {v.value for v in store.standing(store.judges()[0].digest).values()} == {"yes"}
