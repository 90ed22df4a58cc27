"""Samples, the ids that should have been retrieved, and the files they came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlite_utils import Database

from calibration.criteria import Criterion
from calibration.digest import digest
from calibration.records import Sample
from calibration.store.connection import Connected, one
from calibration.store.rows import row_sample, sample_row, to_json


def insert_sample(db: Database, sample: Sample, source: int | None, time: str) -> None:
    """Append one revision of a sample and its relevant ids, inside the caller's transaction."""
    db.table("samples").insert(sample_row(sample, source, time))
    insert_relevant(db, sample.id, sample.relevant_ids)


def insert_samples(db: Database, samples: Sequence[Sample], source: int | None, time: str) -> None:
    """Append samples whose ids are all new, with their relevant ids, inside the caller's transaction."""
    db.table("samples").insert_all([sample_row(sample, source, time) for sample in samples])
    relevant = [{"sample": s.id, "context": key} for s in samples for key in dict.fromkeys(s.relevant_ids)]
    if relevant:
        db.table("relevant").insert_all(relevant)


def insert_relevant(db: Database, sample: str, ids: Iterable[str]) -> None:
    """Add relevant ids that are not there yet, inside the caller's transaction."""
    held = {row["context"] for row in db.query("SELECT context FROM relevant WHERE sample = ?", [sample])}
    rows = [{"sample": sample, "context": key} for key in dict.fromkeys(ids) if key not in held]
    if rows:
        db.table("relevant").insert_all(rows)


def insert_source(
    db: Database, *, file: str, sha256: str, form: str, mapping: Mapping[str, str], counts: Mapping[str, int], time: str
) -> int:
    """Record one imported file; returns its id."""
    row = {"file": file, "sha256": sha256, "format": form, "mapping": to_json(dict(mapping))}
    table = db.table("sources").insert(row | {"counts": to_json(dict(counts)), "time": time})
    return int(table.last_pk)  # type: ignore[arg-type]


def find_sample(db: Database, key: str) -> Sample | None:
    """The current revision of a sample, inside the caller's connection."""
    row = one(db, "SELECT * FROM samples WHERE id = ? ORDER BY revision DESC LIMIT 1", [key])
    if row is None:
        return None
    relevant = db.query("SELECT context FROM relevant WHERE sample = ? ORDER BY rowid", [key])
    return row_sample(row, tuple(r["context"] for r in relevant))


def applies(criterion: Criterion, table: str = "s") -> str:
    """The SQL condition under which a criterion is asked: constants of the code only."""
    needs = [f"{table}.{name} IS NOT NULL" for name in criterion.optional_reads]
    return " AND ".join(needs) or "1"


class Samples(Connected):
    """Queries on samples."""

    def sample(self, key: str) -> Sample | None:
        """The current revision of one sample, None when there is none of that id."""
        with self.reading() as db:
            return find_sample(db, key)

    def samples(self, ids: Iterable[str] | None = None) -> list[Sample]:
        """Current revisions in order of arrival; `ids` narrows them down."""
        return list(self.iter_samples(ids))

    def iter_samples(self, ids: Iterable[str] | None = None) -> Iterator[Sample]:
        """The same, one at a time."""
        with self.reading() as db:
            wanted = None if ids is None else to_json(list(dict.fromkeys(ids)))
            relevant = _relevant(db, wanted)
            for row in _current(db, wanted):
                yield row_sample(row, tuple(relevant.get(row["id"], ())))

    def revisions(self, key: str) -> list[Sample]:
        """All revisions of one sample, oldest first."""
        with self.reading() as db:
            return [row_sample(r) for r in db.query("SELECT * FROM samples WHERE id = ? ORDER BY revision", [key])]

    def sample_count(self) -> int:
        """How many samples the project has."""
        with self.reading() as db:
            return count_samples(db)

    def sample_ids(self) -> list[str]:
        """Ids in order of arrival."""
        with self.reading() as db:
            return [row["id"] for row in db.query("SELECT id FROM current_samples ORDER BY arrival")]

    def systems(self) -> dict[str, int]:
        """How many samples each system answered."""
        sql = "SELECT coalesce(system, '') AS system, count(*) AS n FROM current_samples GROUP BY 1 ORDER BY 1"
        with self.reading() as db:
            return {row["system"]: row["n"] for row in db.query(sql)}

    def sources(self) -> list[dict[str, Any]]:
        """The imported files, oldest first."""
        with self.reading() as db:
            return list(db.query("SELECT * FROM sources ORDER BY id"))

    def sample_set_digest(self) -> str:
        """Identity of the project's samples: the sorted digests of their current content."""
        with self.reading() as db:
            return digest(sorted(row["digest"] for row in db.query("SELECT digest FROM current_samples")))


def count_samples(db: Database) -> int:
    """How many samples there are, inside the caller's connection."""
    return int(next(iter(db.query("SELECT count(DISTINCT id) AS n FROM samples")))["n"])


def _current(db: Database, wanted: str | None) -> Iterator[dict[str, Any]]:
    """The current samples, of all or of the ids in a JSON list."""
    where, bound = _among("id", wanted)
    yield from db.query(f"SELECT * FROM current_samples {where} ORDER BY arrival", bound)


def _relevant(db: Database, wanted: str | None) -> dict[str, list[str]]:
    """The relevant ids by sample, of the same ones."""
    where, bound = _among("sample", wanted)
    found: dict[str, list[str]] = {}
    for row in db.query(f"SELECT sample, context FROM relevant {where} ORDER BY rowid", bound):
        found.setdefault(row["sample"], []).append(row["context"])
    return found


def _among(column: str, wanted: str | None) -> tuple[str, list[str]]:
    return ("", []) if wanted is None else (f"WHERE {column} IN (SELECT value FROM json_each(?))", [wanted])
