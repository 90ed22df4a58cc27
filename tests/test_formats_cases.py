"""Every file of cases/imports against what must become of it."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from calibration.errors import FileProblems, Problem
from calibration.formats.read import Source, read_files, read_sources
from calibration.records import Sample
from calibration.store import Store
from calibration.store.imports import ImportResult, import_batch

CASES = Path(__file__).parent / "cases" / "imports"
EXPECTED: list[dict[str, Any]] = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))
OPTIONS = ("expect", "expect_with_map", "expect_with_encoding", "expect_with_excel", "expect_with_revise")
LATER = (
    ("010-two-samples.parquet", "expect"),
    ("012-workbook.xlsx", "expect_with_excel"),
    ("075-mlflow-langsmith.jsonl", "expect"),
    ("076-langfuse-opik.jsonl", "expect"),
    ("077-phoenix-reference.jsonl", "expect"),
    ("078-input-output-reference.jsonl", "expect"),
    ("078-input-output-reference.jsonl", "expect_with_map"),
    ("079-promptfoo.json", "expect"),
    ("080-openai-evals.jsonl", "expect"),
    ("083-ragtruth-response.jsonl", "expect"),
    ("089-revision-refused.jsonl", "expect_with_revise"),
    ("091-inspect-log.json", "expect"),
)
"""Other tools' fields, Parquet, Excel and revisions: later."""

ALL = [(case, option) for case in EXPECTED for option in OPTIONS if option in case]
FILES = [(case, option) for case, option in ALL if "file" in case and (case["file"], option) not in LATER]
MADE = [case for case, _ in ALL if "generate" in case]


def name_of(value: object) -> str:
    return str(value.get("file", value.get("what"))) if isinstance(value, dict) else str(value)


def run(store: Store, paths: list[Path], expect: Mapping[str, Any]) -> tuple[ImportResult | None, list[Problem]]:
    try:
        batch = read_files(paths, expect.get("map"), encoding=expect.get("encoding"))
        return import_batch(store, batch), []
    except FileProblems as refused:
        return None, list(refused.problems)


def dump(store: Store) -> list[str]:
    db = sqlite3.connect(store.path)
    try:
        return list(db.iterdump())
    finally:
        db.close()


def has(sample: Sample, wanted: Mapping[str, Any]) -> bool:
    texts = None if sample.context_texts is None else list(sample.context_texts)
    lists = {"contexts": texts, "relevant_ids": list(sample.relevant_ids)}
    lists["retrieved_ids"] = None if sample.retrieved_ids is None else list(sample.retrieved_ids)  # type: ignore[arg-type]
    return all(lists.get(key, getattr(sample, key)) == value for key, value in wanted.items())


def check(store: Store, paths: list[Path], expect: Mapping[str, Any]) -> None:
    before = dump(store)
    result, problems = run(store, paths, expect)
    if "refuse" in expect:
        assert dump(store) == before
        assert len(problems) == expect.get("total", len(expect["refuse"])), problems
        for problem, wanted in zip(problems, expect["refuse"], strict=False):
            assert (problem.line, problem.field) == (wanted["line"], wanted["field"]), problem
            assert wanted["contains"].lower() in problem.message.lower()
        return
    assert result is not None, problems
    assert result.samples == expect["accept"]
    assert sorted({warned.code for warned in result.warnings}) == expect["warnings"]
    assert result.labels == expect.get("labels", result.labels)
    assert result.verdicts == expect.get("verdicts", result.verdicts)
    samples = store.samples()
    for wanted in expect.get("samples", []):
        assert has(next(sample for sample in samples if sample.id == wanted["id"]), wanted)
    assert has(samples[0], expect.get("first", {}))


@pytest.mark.parametrize(("case", "option"), FILES, ids=name_of)
def test_a_file_is_read_or_refused_as_it_must_be(tmp_path: Path, case: dict[str, Any], option: str) -> None:
    store = Store(tmp_path / "a.db")
    for earlier in case.get("after", []):
        import_batch(store, read_files([CASES / earlier]))
    check(store, [CASES / name for name in (*case.get("with", []), case["file"])], case[option])


def generated(kind: str, path: Path) -> None:
    """The files that are too large to ship."""
    sample: dict[str, Any] = {"id": "1", "question": "What is tea?", "answer": "A drink."}
    if "10,000,000 times" in kind:
        path.write_text(json.dumps(sample | {"answer": "x" * 10_000_000}))
    elif "900,000 times" in kind:
        path.write_text(json.dumps(sample | {"answer": "x" * 900_000}))
    elif "zip" in kind:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("samples.csv", "0" * 50_000_000)
    elif "10,000 samples" in kind:
        with path.open("w") as file:
            for n in range(10_000):
                contexts = [f"{n}-{k} ".ljust(1_000, "c") for k in range(5)]
                line = {"id": str(n), "question": f"q{n}", "contexts": contexts, "answer": f"{n} ".ljust(500, "a")}
                file.write(json.dumps(line) + "\n")
    elif "100,000 deep" in kind:
        path.write_text(f'{{"question": "q", "answer": "a", "contexts": {"[" * 100_000}{"]" * 100_000}}}')
    else:
        raise AssertionError(kind)


@pytest.mark.parametrize("case", MADE, ids=name_of)
def test_a_large_file_is_read_or_refused_as_it_must_be(tmp_path: Path, case: dict[str, Any]) -> None:
    path = tmp_path / f"large{case['suffix']}"
    generated(case["generate"], path)
    check(Store(tmp_path / "a.db"), [path], case["expect"])


PIECES = (
    b'"', b"{", b"}", b"[", b"]", b",", b":", b";", b"\n", b"\r", b"\0", b"\xff", b"null", b"1e999", b"NaN", b"\\ud800",
    b'"id": []', b'"metadata": 3', b'"labels": [{}]', b'"verdicts": [null]', b'"contexts": "[["', b'"score": 1',
)  # fmt: skip


def mutated(chance: random.Random, data: bytes) -> bytes:
    """The bytes of a case with one to four small accidents."""
    found = bytearray(data[:4_000])
    for _ in range(chance.randint(1, 4)):
        at, accident = chance.randrange(len(found) + 1), chance.random()
        if accident < 0.3:
            found[at : at + 1] = bytes([chance.randrange(256)])
        elif accident < 0.5:
            del found[at : at + chance.randint(1, 30)]
        else:
            found[at:at] = chance.choice(PIECES)
    return bytes(found)


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_mutated_file_is_read_or_refused_with_a_reason_and_never_crashes(tmp_path: Path, count: int) -> None:
    store, chance = Store(tmp_path / "a.db"), random.Random(2024)
    originals = [path.read_bytes() for path in sorted(CASES.iterdir()) if path.name != "expected.json"]
    for number in range(count):
        batch = read_sources([Source("a", mutated(chance, chance.choice(originals)))])
        assert all(problem.message for problem in batch.problems)
        if not batch.problems:
            with contextlib.suppress(FileProblems):
                import_batch(store, batch, dry_run=number % 20 > 0)


def test_every_case_is_run_or_listed_as_later() -> None:
    known = {(case["file"], option) for case, option in ALL if "file" in case}
    run_now = {(case["file"], option) for case, option in FILES}
    assert run_now | set(LATER) == known
    assert not run_now & set(LATER)
    assert len(FILES) + len(MADE) + len(LATER) == len(ALL)
