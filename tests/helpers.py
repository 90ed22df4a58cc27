"""Small makers of samples, labels and verdicts for tests: real records in a real store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from calibration.criteria import BUILT_IN
from calibration.records import Context, Judge, JudgeKind, Label, Sample, Verdict
from calibration.store import Store
from calibration.store.labels import append_label, ensure_annotator
from calibration.store.prompts import ensure_judge
from calibration.store.runs import insert_run, insert_verdict
from calibration.store.samples import find_sample, insert_sample


def make_samples(n: int, *, contexts: bool = True, questions: int | None = None) -> list[Sample]:
    """n samples s1, s2, ... of as many questions unless told otherwise."""
    return [
        Sample(
            id=f"s{i}",
            question=f"question {i % (questions or n)}",
            answer=f"answer {i}",
            reference=f"reference {i}",
            contexts=(Context(f"context {i}", f"d{i}"),) if contexts else None,
            system="rag",
        )
        for i in range(1, n + 1)
    ]


def add_samples(store: Store, samples: Sequence[Sample]) -> None:
    """Store samples as an import would."""
    with store.writing() as db:
        for sample in samples:
            insert_sample(db, sample, None, store.now())


def add_labels(
    store: Store, values: dict[str, str], *, annotator: str = "ana", criterion: str = "correct", mode: str = "blind"
) -> None:
    """Labels of one annotator by sample id."""
    with store.writing() as db:
        ensure_annotator(db, annotator)
        for key, value in values.items():
            sample = find_sample(db, key)
            assert sample is not None
            inputs = BUILT_IN[criterion].inputs(sample)
            label = Label(key, criterion, annotator, value, mode=mode, inputs=inputs, note=f"note on {key}")
            append_label(db, label, revision=sample.revision, time=store.now())


def add_verdicts(
    store: Store,
    values: Mapping[str, str | None],
    *,
    judge: str = "bem",
    criterion: str = "correct",
    status: str = "failed",
) -> Judge:
    """Verdicts of an imported judge by sample id; None is a failed (or error) one."""
    record = Judge(JudgeKind.IMPORTED, judge, criterion)
    with store.writing() as db:
        key = ensure_judge(db, record, store.now())
        run = insert_run(
            db, key, sample_set="test", planned=len(values), time=store.now(), code_version="test", status="done"
        )
        for name, value in values.items():
            sample = find_sample(db, name)
            assert sample is not None
            verdict = Verdict(
                name,
                criterion,
                value,
                status="ok" if value is not None else status,
                error=None if value is not None else "not_json",
                reason=f"reason for {name}",
                inputs=BUILT_IN[criterion].inputs(sample),
            )
            insert_verdict(db, verdict, run, store.now())
    return record


def table_store(path: Path, table: tuple[int, int, int, int], *, groups: int | None = None) -> Store:
    """A store whose judge `bem` has the table (both yes, too strict, too lenient, both no) for `correct`."""
    a, b, c, d = table
    cells = [("yes", "yes")] * a + [("yes", "no")] * b + [("no", "yes")] * c + [("no", "no")] * d
    store = Store(path)
    add_samples(store, make_samples(max(1, len(cells)), questions=groups))
    add_labels(store, {f"s{i}": human for i, (human, _) in enumerate(cells, start=1)})
    add_verdicts(store, {f"s{i}": judge for i, (_, judge) in enumerate(cells, start=1)})
    return store


def run_command(*arguments: str) -> int:
    """The exit code of a command run in this process."""
    from calibration.cli import main

    try:
        main(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    raise AssertionError("the command line always exits")
