"""Labels, append-only and chained, with their notes, annotators and guidelines."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from typing import Any

from sqlite_utils import Database

from calibration.criteria import Criterion, criterion_named
from calibration.digest import digest
from calibration.errors import ConflictError, InputError
from calibration.records import Label, LabelSet, Mode
from calibration.store.connection import Connected, one
from calibration.store.rows import row_label, row_sample
from calibration.store.samples import applies, count_samples

GUEST = "guest"
"""Role of an annotator whose labels enter no figure unless asked for by name: a newcomer trying the demo."""

WITH_NOTE = "SELECT l.*, n.text AS note FROM {view} l LEFT JOIN notes n ON n.event_id = l.event_id"
SAME = ("sample", "criterion", "part", "annotator", "status", "value", "evidence", "assignment")


def label_event_id(label: Label) -> str:
    """The id of a label that came without one: the digest of what it says."""
    said = [label.sample, label.criterion, label.part, label.annotator, str(label.mode), label.value, label.note]
    return "d-" + digest(said)[:32]


def note_digest(salt: str, text: str) -> str:
    """Salted, so that once the salt is erased nobody can guess the text back."""
    return hashlib.sha256((salt + text).encode("utf-8")).hexdigest()


def append_label(db: Database, label: Label, *, revision: int, time: str) -> bool:
    """Append one label event inside the caller's write transaction. True if new, False if it was stored already.

    Raises ConflictError when the event id is known with other content.
    """
    event = label.event_id or label_event_id(label)
    held = _held(db, event)
    if held is not None:
        if not _same(held, label):
            raise ConflictError(f"event {event!r} is already stored with other content")
        return False
    append_new_labels(db, [(label, revision)], time=time)
    return True


def append_new_labels(db: Database, labels: Sequence[tuple[Label, int]], *, time: str) -> None:
    """Append label events that are known to be new, each with the revision it was given on, in one go."""
    last = one(db, "SELECT seq, chain FROM labels ORDER BY seq DESC LIMIT 1") or {"seq": 0, "chain": ""}
    seq, chain = last["seq"], last["chain"]
    rows, notes = [], []
    for label, revision in labels:
        event, seq = label.event_id or label_event_id(label), seq + 1
        row = _label_row(label, event, revision, time) | {"seq": seq}
        if label.note:
            salt = secrets.token_hex(16)
            row["note_digest"] = note_digest(salt, label.note)
            notes.append({"event_id": event, "salt": salt, "text": label.note})
        row["chain"] = chain = chain_link(chain, row)
        rows.append(row)
    if notes:
        db.table("notes").insert_all(notes)
    db.table("labels").insert_all(rows)


def chain_link(before: str, row: dict[str, Any]) -> str:
    """Digest over the link before and everything of this row but the link itself."""
    return digest([before, {key: value for key, value in row.items() if key != "chain"}])


def _label_row(label: Label, event: str, revision: int, time: str) -> dict[str, Any]:
    return {
        "event_id": event,
        "sample": label.sample,
        "revision": revision,
        "inputs": label.inputs,
        "criterion": label.criterion,
        "part": label.part,
        "annotator": label.annotator,
        "assignment": label.assignment,
        "status": str(label.status),
        "value": None if label.value is None else str(label.value),
        "note_digest": None,
        "evidence": label.evidence,
        "mode": str(label.mode),
        "guideline": label.guideline,
        "seconds": label.seconds,
        "time": label.time or time,
    }


def _held(db: Database, event: str) -> dict[str, Any] | None:
    sql = (
        "SELECT l.*, n.salt AS salt, n.text AS note FROM labels l LEFT JOIN notes n ON n.event_id = l.event_id "
        "WHERE l.event_id = ?"
    )
    return one(db, sql, [event])


def _same(held: dict[str, Any], label: Label) -> bool:
    """The note is compared through its salt; once erased it can no longer be told apart."""
    erased = held["note_digest"] is not None and held["salt"] is None
    note = erased or (held["note_digest"] or None) == (note_digest(held["salt"], label.note) if label.note else None)
    return note and all(held[key] == getattr(label, key) for key in SAME)


def ensure_annotator(db: Database, annotator: str, *, name: str = "", role: str = "annotator") -> None:
    """Store an annotator that is not there yet, inside the caller's write transaction."""
    if not annotator.strip() or len(annotator) > 200:
        raise InputError("an annotator's name has 1 to 200 characters")
    if one(db, "SELECT 1 FROM annotators WHERE id = ?", [annotator]) is None:
        row = {"id": annotator, "name": name or annotator, "issuer": None, "subject": None, "verified": 0, "role": role}
        db.table("annotators").insert(row)


class Labels(Connected):
    """Queries on labels, annotators and guidelines."""

    def labels(
        self,
        criterion: str,
        *,
        annotators: Sequence[str] | None = None,
        modes: Sequence[str] = (Mode.BLIND, Mode.ADJUDICATED),
    ) -> LabelSet:
        """The current labels of a criterion with what pairing needs.

        `annotators` None: everybody but guests. Pairing chooses between blind and adjudicated labels.
        """
        asked = criterion_named(criterion)
        with self.reading() as db:
            found = _current_labels(db, criterion, annotators, modes)
            sql = (
                "SELECT * FROM current_samples WHERE id IN (SELECT sample FROM current_labels WHERE criterion = ?) "
                "ORDER BY arrival"
            )
            rows = list(db.query(sql, [criterion]))
            total = count_samples(db)
            lacking = _not_applicable(db, asked)
            sql = "SELECT sample, min(time) AS time FROM reveals WHERE criterion = ? GROUP BY sample"
            revealed = {row["sample"]: row["time"] for row in db.query(sql, [criterion])}
        wanted = {label.sample for label in found}
        samples = {row["id"]: row_sample(row) for row in rows if row["id"] in wanted}
        inputs = {key: asked.inputs(sample) for key, sample in samples.items() if asked.missing(sample) is None}
        return LabelSet(criterion, tuple(found), samples, inputs, total, lacking, revealed)

    def label_events(self, sample: str | None = None) -> list[Label]:
        """Every label event in order of arrival, of one sample or of all."""
        with self.reading() as db:
            where = "WHERE l.sample = ?" if sample is not None else ""
            sql = f"{WITH_NOTE.format(view='labels')} {where} ORDER BY l.seq"
            return [row_label(row) for row in db.query(sql, [sample] if sample is not None else [])]

    def current_labels(self, criterion: str, annotator: str | None = None) -> list[Label]:
        """Current labels of all modes, of one annotator or of everybody, in order of arrival."""
        with self.reading() as db:
            chosen = None if annotator is None else [annotator]
            return _current_labels(db, criterion, chosen, [mode.value for mode in Mode], guests=True)

    def label_counts(self) -> list[dict[str, Any]]:
        """Current labels counted by annotator, criterion, mode and value."""
        sql = (
            "SELECT annotator, criterion, mode, value, count(*) AS labels FROM current_labels "
            "GROUP BY annotator, criterion, mode, value ORDER BY annotator, criterion, mode, value DESC"
        )
        with self.reading() as db:
            return list(db.query(sql))

    def labelled_criteria(self) -> list[str]:
        """Criteria that have a label, in the order of their first one."""
        sql = "SELECT criterion FROM labels GROUP BY criterion ORDER BY min(seq)"
        with self.reading() as db:
            return [row["criterion"] for row in db.query(sql)]

    def add_annotator(self, annotator: str, *, name: str = "", role: str = "annotator") -> None:
        """Store an annotator unless it is there."""
        with self.writing() as db:
            ensure_annotator(db, annotator, name=name, role=role)

    def annotators(self) -> dict[str, str]:
        """Annotators and their roles."""
        with self.reading() as db:
            return {row["id"]: row["role"] for row in db.query("SELECT id, role FROM annotators ORDER BY rowid")}

    def add_guideline(self, criterion: str, text: str) -> str:
        """Store a guideline unless that text is there; returns its digest."""
        key = digest([criterion, text])
        with self.writing() as db:
            if one(db, "SELECT 1 FROM guidelines WHERE digest = ?", [key]) is None:
                row = {"digest": key, "criterion": criterion, "text": text, "time": self.now()}
                db.table("guidelines").insert(row)
        return key

    def guideline(self, criterion: str) -> tuple[str, str] | None:
        """Digest and text of the newest guideline of a criterion."""
        sql = "SELECT digest, text FROM guidelines WHERE criterion = ? ORDER BY rowid DESC LIMIT 1"
        with self.reading() as db:
            row = one(db, sql, [criterion])
        return None if row is None else (row["digest"], row["text"])


def _current_labels(
    db: Database, criterion: str, annotators: Sequence[str] | None, modes: Sequence[str], *, guests: bool = False
) -> list[Label]:
    where = "l.criterion = ? AND l.mode IN (SELECT value FROM json_each(?))"
    bound: list[Any] = [criterion, json.dumps([str(mode) for mode in modes])]
    if annotators is not None:
        where += " AND l.annotator IN (SELECT value FROM json_each(?))"
        bound.append(json.dumps(list(annotators)))
    elif not guests:
        where += " AND l.annotator NOT IN (SELECT id FROM annotators WHERE role = ?)"
        bound.append(GUEST)
    sql = f"{WITH_NOTE.format(view='current_labels')} WHERE {where} ORDER BY l.seq"
    return [row_label(row) for row in db.query(sql, bound)]


def _not_applicable(db: Database, criterion: Criterion) -> int:
    sql = f"SELECT count(*) AS n FROM current_samples s WHERE NOT ({applies(criterion)})"
    return int(next(iter(db.query(sql)))["n"])
