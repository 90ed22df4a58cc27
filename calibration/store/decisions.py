"""Decisions, append-only and chained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calibration.digest import canonical_json, digest
from calibration.records import Decision
from calibration.store.connection import Connected, one
from calibration.store.rows import row_decision


class Decisions(Connected):
    """Queries on decisions."""

    def add_decision(self, judge: str, criterion: str, outcome: str, record: Mapping[str, Any]) -> Decision:
        """Record one decision of a judge (digest) with everything needed to compute it again."""
        with self.writing() as db:
            last = one(db, "SELECT id, chain FROM decisions ORDER BY id DESC LIMIT 1") or {"id": 0, "chain": ""}
            row: dict[str, Any] = {
                "id": last["id"] + 1,
                "judge": judge,
                "criterion": criterion,
                "outcome": str(outcome),
                "record": canonical_json(dict(record)),
                "time": self.now(),
            }
            db.table("decisions").insert(row | {"chain": digest([last["chain"], row])})
        return row_decision(row)

    def decisions(self, judge: str | None = None, criterion: str | None = None) -> list[Decision]:
        """Decisions, oldest first, of one judge (digest), one criterion or all."""
        sql = "SELECT * FROM decisions WHERE (?1 IS NULL OR judge = ?1) AND (?2 IS NULL OR criterion = ?2) ORDER BY id"
        with self.reading() as db:
            return [row_decision(row) for row in db.query(sql, [judge, criterion])]
