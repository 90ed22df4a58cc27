"""The only package with queries. `Store` holds a path; each call opens and closes its own connection."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from calibration.errors import StoreError
from calibration.store.assignments import Assignments
from calibration.store.decisions import Decisions
from calibration.store.labels import Labels
from calibration.store.reveals import Reveals
from calibration.store.runs import Runs
from calibration.store.samples import Samples
from calibration.store.schema import migrate

__all__ = ["Store", "as_stored", "utc_now"]


def utc_now() -> str:
    """The time now, as the store writes it."""
    return as_stored(datetime.now(UTC))


def as_stored(time: datetime) -> str:
    """A time in UTC as ISO 8601 with microseconds, so that texts sort as times do."""
    return time.isoformat(timespec="microseconds")


class Store(Samples, Labels, Assignments, Reveals, Runs, Decisions):
    """A project's database. Made and migrated when opened; `create=False` refuses a path without one."""

    def __init__(self, path: str | Path, now: Callable[[], str] = utc_now, *, create: bool = True) -> None:
        self.path = Path(path)
        self.now = now
        if not create and not self.path.exists():
            raise StoreError(
                f"{self.path}: no database here yet; run `judge-calibration import FILE` or name one with --db"
            )
        migrate(self.path)
