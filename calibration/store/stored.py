"""What is stored already about the samples of an import, read in bulk inside its transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from calibration.records import Label, Sample, Verdict
from calibration.store.rows import row_label, row_sample, row_verdict, to_json

LabelKey = tuple[str, str, str, str, str]  # sample, criterion, part, annotator, mode
VerdictKey = tuple[str, str, str, str, int, int]  # judge name, sample, criterion, part, repeat, attempt

NOTED = "SELECT l.*, n.text AS note FROM {table} l LEFT JOIN notes n ON n.event_id = l.event_id"
AMONG = "IN (SELECT value FROM json_each(?))"


def label_key(label: Label) -> LabelKey:
    """What one annotator can say once."""
    return (label.sample, label.criterion, label.part, label.annotator, str(label.mode))


def verdict_key(verdict: Verdict) -> VerdictKey:
    """What one judge can say once a run."""
    return (verdict.judge, verdict.sample, verdict.criterion, verdict.part, verdict.repeat, verdict.attempt)


@dataclass(frozen=True)
class StoredVerdict:
    """A stored verdict with the name of its run: the label an import gave it, else its number."""

    verdict: Verdict
    run: str


@dataclass(frozen=True)
class Stored:
    """Revisions by sample id, id by current content, current labels, label events and verdicts by their keys."""

    revisions: dict[str, list[Sample]]
    contents: dict[str, str]
    labels: dict[LabelKey, Label]
    events: dict[str, Label]
    verdicts: dict[VerdictKey, list[StoredVerdict]]
    sources: set[tuple[str, str, str]]
    guidelines: set[str]


def read_stored(db: Database, ids: Iterable[str], contents: Iterable[str], events: Iterable[str]) -> Stored:
    """Everything stored about these sample ids, content digests and event ids; empty answers for a new project."""
    wanted = to_json(sorted(set(ids)))
    revisions: dict[str, list[Sample]] = {}
    for row in db.query(f"SELECT * FROM samples WHERE id {AMONG} ORDER BY id, revision", [wanted]):
        revisions.setdefault(row["id"], []).append(row_sample(row))
    sql = f"SELECT id, digest FROM current_samples WHERE digest {AMONG} ORDER BY arrival DESC"
    twins = {row["digest"]: row["id"] for row in db.query(sql, [to_json(sorted(set(contents)))])}
    sql = f"{NOTED.format(table='current_labels')} WHERE l.sample {AMONG}"
    labels = [row_label(row) for row in db.query(sql, [wanted])]
    sql = f"{NOTED.format(table='labels')} WHERE l.event_id {AMONG}"
    held = [row_label(row) for row in db.query(sql, [to_json(sorted(set(events)))])]
    sources = db.query("SELECT sha256, format, mapping FROM sources")
    return Stored(
        revisions=revisions,
        contents=twins,
        labels={label_key(label): label for label in labels},
        events={label.event_id: label for label in held},
        verdicts=_verdicts(db, wanted),
        sources={(row["sha256"], row["format"], row["mapping"]) for row in sources},
        guidelines={row["digest"] for row in db.query("SELECT digest FROM guidelines")},
    )


def _verdicts(db: Database, wanted: str) -> dict[VerdictKey, list[StoredVerdict]]:
    sql = (
        "SELECT v.*, j.name AS judge_name, coalesce(r.label, CAST(v.run AS TEXT)) AS run_name "
        "FROM verdicts v JOIN runs r ON r.id = v.run JOIN judges j ON j.digest = r.judge "
        f"WHERE v.sample {AMONG} ORDER BY v.run"
    )
    found: dict[VerdictKey, list[StoredVerdict]] = {}
    for row in db.query(sql, [wanted]):
        verdict = row_verdict(row, row["judge_name"])
        found.setdefault(verdict_key(verdict), []).append(StoredVerdict(verdict, row["run_name"]))
    return found


def said(verdict: Verdict) -> tuple[Any, ...]:
    """What a verdict says: two verdicts that say the same are one."""
    return (verdict.value, str(verdict.status), verdict.reason, verdict.score, verdict.error, verdict.repair)
