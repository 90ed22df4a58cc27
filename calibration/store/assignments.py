"""Who labels what in which order: plans and assignments, and the state of the queue they make."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from calibration.criteria import criterion_named
from calibration.records import Label, LabelStatus, Sample
from calibration.store.connection import Connected, one
from calibration.store.labels import ensure_annotator
from calibration.store.rows import row_label, row_sample, to_json
from calibration.store.samples import applies

# The state of a sample for an annotator and criterion is that of the newest event that is no hidden repeat.
NEWEST = (
    "(SELECT max(l.seq) FROM labels l WHERE l.annotator = a.annotator AND l.sample = a.sample "
    "AND l.criterion = a.criterion AND l.mode != 'repeat')"
)
STATES = (
    "SELECT a.position, a.sample, a.criterion, l.status, l.value FROM assignments a JOIN plans p ON p.id = a.plan "
    f"LEFT JOIN labels l ON l.seq = {NEWEST} WHERE a.annotator = ? AND p.kind = 'order'"
)


@dataclass(frozen=True)
class QueueEntry:
    """One sample in an annotator's order: `assignments` by criterion asked, `labels` the own state by criterion."""

    position: int
    sample: Sample
    assignments: dict[str, int]
    labels: dict[str, Label]


@dataclass(frozen=True)
class Progress:
    """How far an annotator is, in samples; `values` counts own values by criterion."""

    total: int = 0
    done: int = 0
    skipped: int = 0
    deferred: int = 0
    values: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def open(self) -> int:
        """Samples that still want a label now or later in this queue."""
        return self.total - self.done - self.deferred


class Assignments(Connected):
    """Queries on plans and assignments."""

    def ensure_order(self, annotator: str, criteria: Sequence[str], *, seed: int = 0, role: str = "annotator") -> None:
        """Give every sample a place in the annotator's random order; samples that came later are appended.

        One position holds all criteria of a sample. The order is random for each annotator and fixed by the seed.
        """
        with self.reading() as db:
            known = one(db, "SELECT 1 FROM annotators WHERE id = ?", [annotator]) is not None
            if known and not self._unassigned(db, annotator, criteria):
                return
        with self.writing() as db:
            ensure_annotator(db, annotator, role=role)
            missing = self._unassigned(db, annotator, criteria)
            if not missing:
                return
            plan = self._order_plan(db, annotator, seed)
            held = {
                row["sample"]: row["position"]
                for row in db.query("SELECT sample, position FROM assignments WHERE plan = ?", [plan])
            }
            fresh = sorted({sample for sample, _ in missing} - set(held))
            random.Random(f"{seed}/{annotator}/{len(held)}").shuffle(fresh)  # noqa: S311
            position = held | {sample: len(held) + n for n, sample in enumerate(fresh, start=1)}
            db.table("assignments").insert_all(
                [
                    {
                        "plan": plan,
                        "annotator": annotator,
                        "sample": sample,
                        "criterion": criterion,
                        "mode": "blind",
                        "position": position[sample],
                        "stratum": None,
                        "probability": None,
                        "not_before": None,
                    }
                    for sample, criterion in missing
                ]
            )

    def _order_plan(self, db: Database, annotator: str, seed: int) -> int:
        sql = (
            "SELECT p.id FROM plans p JOIN assignments a ON a.plan = p.id WHERE a.annotator = ? AND p.kind = 'order' "
            "LIMIT 1"
        )
        row = one(db, sql, [annotator])
        if row is not None:
            return int(row["id"])
        plan = {"kind": "order", "judge": None, "seed": seed, "sizes": to_json({}), "time": self.now()}
        return int(db.table("plans").insert(plan).last_pk)  # type: ignore[arg-type]

    @staticmethod
    def _unassigned(db: Database, annotator: str, criteria: Sequence[str]) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for name in criteria:
            sql = (
                f"SELECT s.id FROM current_samples s WHERE {applies(criterion_named(name))} AND s.id NOT IN ("
                "SELECT a.sample FROM assignments a WHERE a.annotator = ? AND a.criterion = ?) ORDER BY s.arrival"
            )
            found += [(row["id"], name) for row in db.query(sql, [annotator, name])]
        return found

    def progress(self, annotator: str) -> Progress:
        """Counts of an annotator's queue."""
        with self.reading() as db:
            rows = list(db.query(STATES, [annotator]))
        by_sample: dict[str, list[dict[str, Any]]] = {}
        values: dict[str, dict[str, int]] = {}
        for row in rows:
            by_sample.setdefault(row["sample"], []).append(row)
            if row["status"] == LabelStatus.LABELLED:
                counts = values.setdefault(row["criterion"], {})
                counts[row["value"]] = counts.get(row["value"], 0) + 1
        states = [_state(rows) for rows in by_sample.values()]
        return Progress(
            total=len(states),
            done=states.count("done"),
            skipped=states.count("skipped"),
            deferred=states.count("deferred"),
            values=values,
        )

    def first_open(self, annotator: str, after: int = 0) -> int | None:
        """Position of the next sample to label, from behind `after` and round the end; None when all are done.

        Untouched ones come first, then skipped ones; deferred ones are set aside.
        """
        with self.reading() as db:
            rows = list(db.query(STATES + " ORDER BY a.position", [annotator]))
        by_position: dict[int, list[dict[str, Any]]] = {}
        for row in rows:
            by_position.setdefault(row["position"], []).append(row)
        states = {position: _state(rows) for position, rows in by_position.items()}
        order = sorted(states, key=lambda position: (position <= after, position))
        for wanted in ("open", "skipped"):
            for position in order:
                if states[position] == wanted:
                    return position
        return None

    def set_aside(self, annotator: str) -> list[int]:
        """Positions of the samples the annotator deferred."""
        with self.reading() as db:
            rows = list(db.query(STATES + " ORDER BY a.position", [annotator]))
        return sorted({row["position"] for row in rows if row["status"] == LabelStatus.DEFERRED})

    def reasons_to_add(self, annotator: str) -> list[int]:
        """Positions of the samples with a `no` or `unsure` that has no note yet."""
        sql = (
            "SELECT DISTINCT a.position FROM assignments a JOIN plans p ON p.id = a.plan "
            f"JOIN labels l ON l.seq = {NEWEST} WHERE a.annotator = ? AND p.kind = 'order' "
            "AND l.status = 'labelled' AND l.value IN ('no', 'unsure') AND l.note_digest IS NULL ORDER BY a.position"
        )
        with self.reading() as db:
            return [row["position"] for row in db.query(sql, [annotator])]

    def positions(self, annotator: str) -> dict[str, int]:
        """The place of every sample in the annotator's order."""
        sql = (
            "SELECT DISTINCT a.sample, a.position FROM assignments a JOIN plans p ON p.id = a.plan "
            "WHERE a.annotator = ? AND p.kind = 'order' ORDER BY a.position"
        )
        with self.reading() as db:
            return {row["sample"]: row["position"] for row in db.query(sql, [annotator])}

    def queue(self, annotator: str, first: int, last: int) -> list[QueueEntry]:
        """The samples at positions `first` to `last` with the annotator's own labels. Never a verdict or metadata."""
        sql = (
            "SELECT a.id, a.position, a.sample, a.criterion FROM assignments a JOIN plans p ON p.id = a.plan "
            "WHERE a.annotator = ? AND p.kind = 'order' AND a.position BETWEEN ? AND ? ORDER BY a.position, a.id"
        )
        with self.reading() as db:
            entries: dict[int, tuple[str, dict[str, int]]] = {}
            for row in db.query(sql, [annotator, first, last]):
                entries.setdefault(row["position"], (row["sample"], {}))[1][row["criterion"]] = row["id"]
            return [
                QueueEntry(position, _sample(db, sample), asked, _own(db, annotator, sample))
                for position, (sample, asked) in entries.items()
            ]

    def undo_stack(self, annotator: str, limit: int = 20) -> list[tuple[Label, Label | None]]:
        """The annotator's last events, newest first, each with the own state before it on that sample and criterion."""
        events = (
            "SELECT l.*, n.text AS note FROM labels l LEFT JOIN notes n ON n.event_id = l.event_id "
            "WHERE l.annotator = ? {more} ORDER BY l.seq DESC LIMIT ?"
        )
        with self.reading() as db:
            last = [row_label(row) for row in db.query(events.format(more=""), [annotator, limit])]
            stack = []
            for label in last:
                more = "AND l.sample = ? AND l.criterion = ? AND l.mode != 'repeat' AND l.seq < ?"
                bound = [annotator, label.sample, label.criterion, label.seq, 1]
                before = one(db, events.format(more=more), bound)
                stack.append((label, None if before is None else row_label(before)))
            return stack


def _state(rows: Sequence[dict[str, Any]]) -> str:
    statuses = {row["status"] for row in rows}
    if statuses == {LabelStatus.LABELLED}:
        return "done"
    if LabelStatus.DEFERRED in statuses:
        return "deferred"
    return "skipped" if LabelStatus.SKIPPED in statuses else "open"


def _sample(db: Database, key: str) -> Sample:
    sql = "SELECT * FROM samples WHERE id = ? ORDER BY revision DESC LIMIT 1"
    return row_sample(next(iter(db.query(sql, [key]))))


def _own(db: Database, annotator: str, sample: str) -> dict[str, Label]:
    sql = (
        "SELECT l.*, n.text AS note FROM labels l LEFT JOIN notes n ON n.event_id = l.event_id WHERE l.annotator = ? "
        "AND l.sample = ? AND l.part = '' AND l.mode != 'repeat' ORDER BY l.seq"
    )
    return {row["criterion"]: row_label(row) for row in db.query(sql, [annotator, sample])}
