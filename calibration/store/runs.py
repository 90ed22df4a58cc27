"""Runs of judges: replies and verdicts, each committed as it arrives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from calibration.records import Judge, JudgeKind, Reply, Verdict, VerdictSet
from calibration.store.connection import change, connect, immediate, one
from calibration.store.prompts import Prompts, ensure_judge
from calibration.store.rows import row_reply, row_verdict, to_json, verdict_row


@dataclass(frozen=True)
class Run:
    """One judge over a set of samples. `status`: running, done, stopped, paused."""

    id: int
    judge: str
    sample_set: str
    planned: int
    aggregation: str
    status: str
    time: str


def insert_run(
    db: Database,
    judge: str,
    *,
    sample_set: str,
    planned: int,
    time: str,
    code_version: str,
    aggregation: str = "first",
    flags: Sequence[str] = (),
    prices: str | None = None,
    label: str | None = None,
    status: str = "running",
) -> int:
    """Start a run, inside the caller's write transaction; returns its id."""
    row = {
        "judge": judge,
        "sample_set": sample_set,
        "planned": planned,
        "aggregation": aggregation,
        "flags": to_json(list(flags)),
        "prices": prices,
        "code_version": code_version,
        "label": label,
        "time": time,
        "status": status,
        "stop": 0,
        "heartbeat": None,
    }
    return int(db.table("runs").insert(row).last_pk)  # type: ignore[arg-type]


def insert_verdict(db: Database, verdict: Verdict, run: int, time: str) -> None:
    """Append one verdict, inside the caller's write transaction."""
    db.table("verdicts").insert(verdict_row(verdict, run, time))


def insert_verdicts(db: Database, verdicts: Sequence[Verdict], run: int, time: str) -> None:
    """Append the verdicts of one run, inside the caller's write transaction."""
    db.table("verdicts").insert_all([verdict_row(verdict, run, time) for verdict in verdicts])


def insert_reply(db: Database, reply: Reply, time: str) -> None:
    """Store a reply unless its request is answered already, inside the caller's write transaction."""
    if one(db, "SELECT 1 FROM replies WHERE digest = ?", [reply.digest]) is not None:
        return
    row = {
        "digest": reply.digest,
        "body": reply.body,
        "usage": to_json(dict(reply.usage)),
        "latency": reply.latency,
        "tries": reply.tries,
        "model_served": reply.model_served,
        "fingerprint": reply.fingerprint,
        "time": reply.time or time,
    }
    db.table("replies").insert(row)


class RunWriter:
    """One connection in one writer thread: a lost reply is asked again, so it does not wait for the disk."""

    def __init__(self, store: Runs, run: int) -> None:
        self._store, self._run = store, run
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="run-writer")
        self._context: Any = None
        self._db: Database | None = None

    def _open(self) -> None:
        self._context = connect(self._store.path, synchronous="NORMAL")
        self._db = self._context.__enter__()

    def _close(self) -> None:
        if self._context is not None:
            self._context.__exit__(None, None, None)

    def commit(self, reply: Reply | None, verdict: Verdict) -> Future[None]:
        """Reply and verdict in one transaction. The future is done once they are committed."""
        return self._thread.submit(self._commit, reply, verdict)

    def _commit(self, reply: Reply | None, verdict: Verdict) -> None:
        if self._db is None:
            self._open()
        db, now = self._db, self._store.now()
        if db is None:  # pragma: no cover - _open sets it or raises
            raise RuntimeError("no connection")
        with immediate(db):
            if reply is not None:
                insert_reply(db, reply, now)
            insert_verdict(db, verdict, self._run, now)
            change(db, "UPDATE runs SET heartbeat = ? WHERE id = ?", [now, self._run])

    def close(self) -> None:
        """Wait for what is under way and close the connection."""
        self._thread.submit(self._close).result()
        self._thread.shutdown()


class Runs(Prompts):
    """Queries on runs, replies and verdicts."""

    def open_run(
        self,
        judge: Judge,
        *,
        sample_set: str,
        planned: int,
        code_version: str,
        aggregation: str = "first",
        flags: Sequence[str] = (),
        prices: str | None = None,
    ) -> Run:
        """The judge's newest run if it is over this set of samples, else a new one.

        An older run over the same samples is not opened again: what counts is the newest run that holds a verdict.
        """
        with self.writing() as db:
            key = ensure_judge(db, judge, self.now())
            sql = "SELECT id, sample_set FROM runs WHERE judge = ? AND aggregation = ? ORDER BY id DESC LIMIT 1"
            row = one(db, sql, [key, aggregation])
            if row is None or row["sample_set"] != sample_set:
                number = insert_run(
                    db,
                    key,
                    sample_set=sample_set,
                    planned=planned,
                    time=self.now(),
                    code_version=code_version,
                    aggregation=aggregation,
                    flags=flags,
                    prices=prices,
                )
            else:
                number = row["id"]
                change(db, "UPDATE runs SET status = 'running', stop = 0 WHERE id = ?", [number])
            return _run(db, number)

    def finish_run(self, run: int, status: str) -> None:
        """Say how a run ended: done, stopped or paused."""
        with self.writing() as db:
            change(db, "UPDATE runs SET status = ? WHERE id = ?", [status, run])

    def runs(self, judge: str | None = None) -> list[Run]:
        """Runs, oldest first, of one judge (digest) or of all."""
        where, bound = ("WHERE judge = ?", [judge]) if judge is not None else ("", [])
        with self.reading() as db:
            return [_run(db, row["id"]) for row in db.query(f"SELECT id FROM runs {where} ORDER BY id", bound)]

    def standing(self, judge: str) -> dict[str, Verdict]:
        """The current verdict of a judge (digest) on each sample as a whole, labelled or not."""
        sql = "SELECT * FROM current_verdicts WHERE judge = ? AND part = '' AND repeat = 0"
        with self.reading() as db:
            return {row["sample"]: row_verdict(row, judge) for row in db.query(sql, [judge])}

    def run_verdicts(self, run: int) -> list[Verdict]:
        """Every verdict of one run, all attempts."""
        sql = (
            "SELECT v.*, j.name AS judge_name FROM verdicts v JOIN runs r ON r.id = v.run "
            "JOIN judges j ON j.digest = r.judge WHERE v.run = ? ORDER BY v.rowid"
        )
        with self.reading() as db:
            return [row_verdict(row, row["judge_name"]) for row in db.query(sql, [run])]

    def reply(self, key: str) -> Reply | None:
        """The stored reply to a request digest, None when it was never answered."""
        with self.reading() as db:
            row = one(db, "SELECT * FROM replies WHERE digest = ?", [key])
        return None if row is None else row_reply(row)

    def reply_text(self, key: str) -> str:
        """The raw body of a stored reply, empty when there is none."""
        found = self.reply(key)
        return "" if found is None else found.body

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """The stored replies among these request digests, in one query."""
        sql = "SELECT * FROM replies WHERE digest IN (SELECT value FROM json_each(?))"
        with self.reading() as db:
            return {row["digest"]: row_reply(row) for row in db.query(sql, [json.dumps(list(keys))])}

    @contextmanager
    def run_writer(self, run: int) -> Iterator[RunWriter]:
        """A writer for one run; everything submitted is committed when the block ends."""
        writer = RunWriter(self, run)
        try:
            yield writer
        finally:
            writer.close()

    def verdicts(self, judge: str | Judge, criterion: str) -> VerdictSet:
        """The current verdicts of a judge (name, digest or record) on labelled samples; the others are one count."""
        found = judge if isinstance(judge, Judge) else self.find_judge(judge, criterion)
        key = found.digest
        with self.reading() as db:
            sql = (
                "SELECT v.* FROM current_verdicts v WHERE v.judge = ? AND v.criterion = ? AND v.part = '' "
                "AND v.repeat = 0 AND v.sample IN (SELECT sample FROM labels WHERE criterion = ?)"
            )
            rows = [row_verdict(row, found.name) for row in db.query(sql, [key, criterion, criterion])]
            sql = (
                "SELECT count(*) AS asked, count(CASE WHEN status = 'ok' AND value != 'unsure' THEN 1 END) AS answered "
                "FROM current_verdicts WHERE judge = ? AND criterion = ? AND part = '' AND repeat = 0"
            )
            counts = one(db, sql, [key, criterion]) or {}
            sql = "SELECT examples FROM prompt_names WHERE digest = ?"
            shown = [key for row in db.query(sql, [found.prompt]) for key in json.loads(row["examples"])]
            arrived, tried = _tries(db, found, criterion)
        return VerdictSet(
            judge=found,
            verdicts=tuple(rows),
            registered_at=self.registered_at(found),
            examples=tuple(shown),
            arrived=arrived,
            tried=tried,
            asked=counts["asked"],
            answered=counts["answered"],
        )

    def all_verdicts(self) -> Iterator[tuple[Verdict, str, str | None]]:
        """Every verdict, oldest run first, with the name of its run and the raw body of its reply."""
        sql = (
            "SELECT v.*, j.name AS judge_name, coalesce(r.label, CAST(v.run AS TEXT)) AS run_name, p.body AS body "
            "FROM verdicts v JOIN runs r ON r.id = v.run JOIN judges j ON j.digest = r.judge "
            "LEFT JOIN replies p ON p.digest = v.reply ORDER BY v.run, v.rowid"
        )
        with self.reading() as db:
            for row in db.query(sql):
                yield row_verdict(row, row["judge_name"]), row["run_name"], row["body"]


def _tries(db: Database, judge: Judge, criterion: str) -> tuple[dict[int, str], tuple[frozenset[str], ...]]:
    """When each run of a judge without a known prompt was stored, and the labelled samples of each."""
    if judge.kind != JudgeKind.IMPORTED:
        return {}, ()
    times = {row["id"]: row["time"] for row in db.query("SELECT id, time FROM runs WHERE judge = ?", [judge.digest])}
    sql = (
        "SELECT v.run, v.sample FROM verdicts v JOIN runs r ON r.id = v.run WHERE r.judge = ? AND v.criterion = ? "
        "AND v.sample IN (SELECT sample FROM labels WHERE criterion = ?)"
    )
    samples: dict[int, set[str]] = {}
    for row in db.query(sql, [judge.digest, criterion, criterion]):
        samples.setdefault(row["run"], set()).add(row["sample"])
    return times, tuple(frozenset(found) for found in samples.values())


def _run(db: Database, number: int) -> Run:
    sql = "SELECT id, judge, sample_set, planned, aggregation, status, time FROM runs WHERE id = ?"
    return Run(**next(iter(db.query(sql, [number]))))
