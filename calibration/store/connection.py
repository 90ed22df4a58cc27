"""The only module that opens transactions. One connection for each operation, opened and closed in its thread."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sqlite_utils import Database

from calibration.errors import StoreError

BUSY_SECONDS = 30.0
MIGRATION_SET = "judge-calibration"
"""The name of our migrations: a database with tables but without them is of another program."""
TRANSLATIONS = (
    ("database or disk is full", "the disk is full; free some space and try again, nothing was half-written"),
    ("locked", "the database is locked by another program; close it and try again"),
    ("readonly", "the database is read-only; check the rights of the file and its folder"),
    ("disk i/o", "the disk cannot be read or written; check the disk and the rights of the folder"),
    ("malformed", "the database is damaged; put back a backup"),
    ("not a database", "the file is not a judge-calibration database; name another with --db"),
    ("unable to open", "the database cannot be opened; check that the folder exists and may be written"),
)


def explain(error: sqlite3.Error, path: Path) -> StoreError:
    """The error of the library as a sentence with the way out."""
    text = str(error).lower()
    hint = next((hint for mark, hint in TRANSLATIONS if mark in text), str(error))
    return StoreError(f"{path}: {hint}")


@contextmanager
def _private_files() -> Iterator[None]:
    """Files made inside can be read by their owner only."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def connect(path: Path, *, synchronous: str = "FULL") -> Iterator[Database]:
    """A connection with the store's settings, closed at the end. Errors come out as StoreError."""
    try:
        with _private_files():
            conn = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    except sqlite3.Error as error:
        raise explain(error, path) from error
    try:
        _configure(conn, path, synchronous)
        yield Database(conn, execute_plugins=False)
    except sqlite3.IntegrityError:
        raise
    except sqlite3.Error as error:
        raise explain(error, path) from error
    finally:
        conn.close()


def _configure(conn: sqlite3.Connection, path: Path, synchronous: str) -> None:
    if _foreign(conn):
        raise StoreError(f"{path}: a database of another program; name another file with --db")
    if _write_ahead(conn) != "wal":
        raise StoreError(f"{path}: this disk does not support the write-ahead log; keep the database on a local disk")
    conn.execute(f"PRAGMA synchronous={synchronous}")
    conn.execute("PRAGMA foreign_keys=ON")
    conn.execute("PRAGMA trusted_schema=OFF")
    conn.execute("PRAGMA recursive_triggers=ON")


def _foreign(conn: sqlite3.Connection) -> bool:
    """Whether another program made the tables. Looked at first: the write-ahead log would change its file."""
    tables = {row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    if "_sqlite_migrations" not in tables:
        return bool(tables)
    sql = "SELECT 1 FROM _sqlite_migrations WHERE migration_set = ? LIMIT 1"
    return conn.execute(sql, [MIGRATION_SET]).fetchone() is None


def _write_ahead(conn: sqlite3.Connection) -> str:
    """The journal mode after asking for the write-ahead log.

    A new file is switched once; SQLite does not wait when several processes do so at the same moment, so we do.
    """
    end = monotonic() + BUSY_SECONDS
    while True:
        mode = str(conn.execute("PRAGMA journal_mode").fetchone()[0])
        if mode == "wal":
            return mode
        try:
            return str(conn.execute("PRAGMA journal_mode=WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() > end:
                raise
            sleep(0.02)


@contextmanager
def immediate(db: Database) -> Iterator[Database]:
    """One write transaction. Taken before the first read, so that read-then-write never fails half-way."""
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        yield db
        db.conn.execute("COMMIT")
    except BaseException:
        if db.conn.in_transaction:
            db.conn.execute("ROLLBACK")
        raise


def one(db: Database, sql: str, bound: Sequence[Any] = ()) -> dict[str, Any] | None:
    """The first row of a query, None without one."""
    return next(iter(db.query(sql, bound)), None)


def change(db: Database, sql: str, bound: Sequence[Any] = ()) -> None:
    """Run one statement that is no query: the few updates of a run's state, and pragmas."""
    db.conn.execute(sql, bound)


def back_up(db: Database, target: Path) -> None:
    """A copy in one file that only its owner can read."""
    with _private_files():
        change(db, "VACUUM INTO ?", [str(target)])


def integrity(db: Database) -> str:
    """What SQLite's own check says: `ok` or the first fault."""
    return str(db.conn.execute("PRAGMA integrity_check(1)").fetchone()[0])


def run_script(db: Database, script: str) -> None:
    """Run statement by statement inside the caller's transaction; executescript would commit it."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            change(db, statement)
            statement = ""


class Connected:
    """Holds a path; each reading and each writing opens and closes a connection of its own."""

    path: Path
    now: Callable[[], str]

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """A connection with one consistent view of the data."""
        with connect(self.path) as db:
            db.conn.execute("BEGIN")
            yield db

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """One committed-or-nothing write."""
        with connect(self.path) as db, immediate(db):
            yield db
