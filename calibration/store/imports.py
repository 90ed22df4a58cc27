"""Store what files hold: all of it or nothing, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlite_utils import Database

from calibration import __version__
from calibration.digest import digest
from calibration.errors import SHOWN_PROBLEMS, FileProblems, Problem
from calibration.records import Reply
from calibration.store import Store
from calibration.store.batch import Batch, LabelEntry, RevealEntry, SampleEntry, VerdictEntry, Warned
from calibration.store.import_checks import Checks, NewFile, NewRun
from calibration.store.labels import append_new_labels, ensure_annotator, label_event_id
from calibration.store.prompts import ensure_judge
from calibration.store.reveals import insert_reveal
from calibration.store.runs import insert_reply, insert_run, insert_verdicts
from calibration.store.samples import insert_relevant, insert_samples, insert_source
from calibration.store.stored import Stored, read_stored


@dataclass(frozen=True)
class ImportResult:
    """How much was new. `problems` is empty unless the import was refused."""

    samples: int = 0
    labels: int = 0
    verdicts: int = 0
    warnings: tuple[Warned, ...] = ()
    problems: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The keys of the `--json` contract; at most 50 problems and their number."""
        return {
            "samples": self.samples,
            "labels": self.labels,
            "verdicts": self.verdicts,
            "warnings": [warned.as_json() for warned in self.warnings],
            "problems": [problem.as_json() for problem in self.problems[:SHOWN_PROBLEMS]],
            "problems_total": len(self.problems),
        }


class ImportRefused(FileProblems):
    """FileProblems with the warnings found on the way."""

    def __init__(self, problems: list[Problem], warnings: tuple[Warned, ...]) -> None:
        super().__init__(problems)
        self.result = ImportResult(warnings=warnings, problems=self.problems)


def import_batch(store: Store, batch: Batch, *, dry_run: bool = False) -> ImportResult:
    """Store everything that is new in a batch, in one transaction; with `dry_run` take it back and only count.

    Raises FileProblems with every problem in file order, of reading and against what is stored; nothing is stored then.
    """
    with store.writing() as db:
        checks = Checks(batch, _stored(db, batch))
        checks.run()
        if checks.problems:
            raise ImportRefused(checks.problems, checks.warned)
        if not dry_run:
            for new in checks.files:
                if not new.same:
                    _write(db, new, store.now())
    counts = [new.counts for new in checks.files]
    return ImportResult(
        samples=sum(count["samples"] for count in counts),
        labels=sum(count["labels"] for count in counts),
        verdicts=sum(count["verdicts"] for count in counts),
        warnings=checks.warned,
    )


def _stored(db: Database, batch: Batch) -> Stored:
    ids: set[str] = set()
    contents: list[str] = []
    events: list[str] = []
    for entry in batch.entries:
        if isinstance(entry, SampleEntry):
            ids.add(entry.sample.id)
            contents.append(entry.sample.digest)
        elif isinstance(entry, LabelEntry):
            ids.add(entry.label.sample)
            events.append(entry.label.event_id or label_event_id(entry.label))
        elif isinstance(entry, VerdictEntry):
            ids.add(entry.verdict.sample)
        elif isinstance(entry, RevealEntry):
            ids.add(entry.reveal.sample)
    return read_stored(db, ids, contents, events)


def _write(db: Database, new: NewFile, time: str) -> None:
    file = new.file
    source = insert_source(
        db, file=file.name, sha256=file.sha256, form=file.form, mapping=file.mapping, counts=new.counts, time=time
    )
    if new.samples:
        insert_samples(db, new.samples, source, time)
    for sample, ids in new.relevant.items():
        insert_relevant(db, sample, ids)
    for annotator in dict.fromkeys(label.annotator for label, _ in new.labels):
        ensure_annotator(db, annotator)
    if new.labels:
        append_new_labels(db, new.labels, time=time)
    # the newest run counts: runs that say when they were go in that order, whichever stands first in the file
    for run in sorted(new.runs.values(), key=lambda run: min(verdict.time or "" for verdict in run.verdicts)):
        _write_run(db, run, time)
    for reveal in new.reveals:
        insert_reveal(db, reveal, time)


def _write_run(db: Database, new: NewRun, time: str) -> None:
    """One finished run of an imported judge; a raw reply is stored under the digest of its text."""
    run = insert_run(
        db,
        ensure_judge(db, new.judge, time),
        sample_set=digest(sorted({verdict.inputs for verdict in new.verdicts})),
        planned=len(new.verdicts),
        time=time,
        code_version=__version__,
        label=new.name or None,
        status="done",
    )
    verdicts = []
    for verdict in new.verdicts:
        if verdict.reply is not None:
            key = digest(["imported", verdict.reply])
            insert_reply(db, Reply(key, verdict.reply), time)
            verdict = replace(verdict, reply=key)
        verdicts.append(verdict)
    insert_verdicts(db, verdicts, run, time)
