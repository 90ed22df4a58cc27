"""Reveals: who saw a label beside a verdict, and when. They decide which labels are fresh and which are audited."""

from __future__ import annotations

from collections.abc import Iterable

from sqlite_utils import Database

from calibration.records import Reveal
from calibration.store.connection import Connected, one

PICKED_FROM = "picked from"
"""How of a pair that was compared to pick a list but not shown: seen for the judge, still blind for the person."""


def shown_to(db: Database, annotator: str, sample: str) -> bool:
    """Whether this person was shown a verdict on this sample, inside the caller's connection."""
    sql = "SELECT 1 FROM reveals WHERE annotator = ? AND sample = ? AND how != ? LIMIT 1"
    return one(db, sql, [annotator, sample, PICKED_FROM]) is not None


def insert_reveal(db: Database, reveal: Reveal, time: str) -> bool:
    """Record one reveal inside the caller's write transaction, `time` being now; False when it is recorded already.

    It was never later than now; the same reveal at an earlier time is recorded beside the later one.
    """
    key = [reveal.annotator, reveal.sample, reveal.criterion, reveal.judge, reveal.how]
    when = min(reveal.time or time, time)
    same = "annotator IS ? AND sample = ? AND criterion = ? AND judge IS ? AND how = ?"
    if one(db, f"SELECT 1 FROM reveals WHERE {same} AND time <= ?", [*key, when]) is not None:
        return False
    names = ("annotator", "sample", "criterion", "judge", "how")
    db.table("reveals").insert(dict(zip(names, key, strict=True)) | {"time": when})
    return True


class Reveals(Connected):
    """Queries on reveals."""

    def reveal(self, reveals: Iterable[Reveal]) -> int:
        """Record reveals before anything is shown; one that is recorded as early is left. Returns how many are new."""
        with self.writing() as db:
            return sum(insert_reveal(db, reveal, self.now()) for reveal in reveals)

    def reveals(self) -> list[Reveal]:
        """All reveals, oldest first."""
        with self.reading() as db:
            sql = "SELECT annotator, sample, criterion, judge, how, time FROM reveals ORDER BY id"
            return [Reveal(**row) for row in db.query(sql)]

    def shown(self, annotator: str) -> set[str]:
        """The samples on which this person was shown a verdict."""
        sql = "SELECT DISTINCT sample FROM reveals WHERE annotator = ? AND how != ?"
        with self.reading() as db:
            return {row["sample"] for row in db.query(sql, [annotator, PICKED_FROM])}
