"""Tables, views and triggers, as forward-only migrations. An applied migration is never edited."""

from __future__ import annotations

from pathlib import Path

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from calibration.errors import StoreError
from calibration.store.connection import MIGRATION_SET, back_up, connect, immediate, integrity, run_script

migrations = Migrations(MIGRATION_SET)

TABLES = """
CREATE TABLE sources (
  id INTEGER PRIMARY KEY, file TEXT NOT NULL, sha256 TEXT NOT NULL, format TEXT NOT NULL,
  mapping TEXT NOT NULL, counts TEXT NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE TABLE samples (
  id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 200), revision INTEGER NOT NULL CHECK (revision >= 1),
  digest TEXT NOT NULL, question TEXT NOT NULL, contexts TEXT, reference TEXT, answer TEXT NOT NULL, system TEXT,
  group_name TEXT, metadata TEXT NOT NULL, retrieved_ids TEXT, generator TEXT, failure TEXT, reason TEXT,
  source INTEGER REFERENCES sources (id), time TEXT NOT NULL,
  PRIMARY KEY (id, revision)
) STRICT;
CREATE INDEX samples_digest ON samples (digest);
CREATE VIEW current_samples AS
  SELECT s.*, (SELECT min(f.rowid) FROM samples f WHERE f.id = s.id) AS arrival FROM samples s
  WHERE s.revision = (SELECT max(n.revision) FROM samples n WHERE n.id = s.id);
CREATE TABLE relevant (
  sample TEXT NOT NULL, context TEXT NOT NULL, PRIMARY KEY (sample, context)
) STRICT;
CREATE TABLE annotators (
  id TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 200), name TEXT NOT NULL, issuer TEXT, subject TEXT,
  verified INTEGER NOT NULL CHECK (verified IN (0, 1)), role TEXT NOT NULL
) STRICT;
CREATE TABLE guidelines (
  digest TEXT PRIMARY KEY, criterion TEXT NOT NULL, text TEXT NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE TABLE plans (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('order', 'double', 'repeat', 'verify', 'hold')),
  judge TEXT, seed INTEGER NOT NULL, sizes TEXT NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE TABLE assignments (
  id INTEGER PRIMARY KEY, plan INTEGER NOT NULL REFERENCES plans (id),
  annotator TEXT NOT NULL REFERENCES annotators (id), sample TEXT NOT NULL, criterion TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('blind', 'audit', 'repeat', 'adjudicated')), position INTEGER NOT NULL,
  stratum TEXT, probability REAL, not_before TEXT,
  UNIQUE (plan, annotator, sample, criterion)
) STRICT;
CREATE INDEX assignments_queue ON assignments (annotator, position);
CREATE TABLE labels (
  seq INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE CHECK (length(event_id) BETWEEN 8 AND 100),
  sample TEXT NOT NULL, revision INTEGER NOT NULL, inputs TEXT NOT NULL, criterion TEXT NOT NULL,
  part TEXT NOT NULL, annotator TEXT NOT NULL REFERENCES annotators (id),
  assignment INTEGER REFERENCES assignments (id),
  status TEXT NOT NULL CHECK (status IN ('labelled', 'withdrawn', 'skipped', 'deferred', 'note')),
  value TEXT, note_digest TEXT, evidence TEXT,
  mode TEXT NOT NULL CHECK (mode IN ('blind', 'audit', 'repeat', 'adjudicated')),
  guideline TEXT REFERENCES guidelines (digest), seconds REAL, time TEXT NOT NULL, chain TEXT NOT NULL,
  CHECK ((status = 'labelled') = (value IS NOT NULL)),
  FOREIGN KEY (sample, revision) REFERENCES samples (id, revision)
) STRICT;
CREATE INDEX labels_annotator ON labels (annotator, sample, criterion, seq);
CREATE INDEX labels_recent ON labels (annotator, seq);
CREATE INDEX labels_current ON labels (criterion, sample, part, annotator, mode, seq);
CREATE VIEW current_labels AS
  SELECT * FROM labels l WHERE status = 'labelled' AND seq = (
    SELECT max(seq) FROM labels n WHERE n.criterion = l.criterion AND n.sample = l.sample AND n.part = l.part
      AND n.annotator = l.annotator AND n.mode = l.mode);
CREATE TABLE notes (event_id TEXT PRIMARY KEY, salt TEXT NOT NULL, text TEXT NOT NULL) STRICT;
CREATE TABLE reveals (
  id INTEGER PRIMARY KEY, annotator TEXT, sample TEXT NOT NULL, criterion TEXT NOT NULL, judge TEXT,
  how TEXT NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE INDEX reveals_sample ON reveals (sample, criterion);
CREATE INDEX reveals_annotator ON reveals (annotator, sample);
CREATE TABLE prompts (
  digest TEXT PRIMARY KEY, criterion TEXT NOT NULL, system TEXT NOT NULL, user TEXT NOT NULL,
  unfenced INTEGER NOT NULL CHECK (unfenced IN (0, 1))
) STRICT;
CREATE TABLE prompt_names (
  name TEXT NOT NULL, version INTEGER NOT NULL CHECK (version >= 1), digest TEXT NOT NULL REFERENCES prompts (digest),
  parent TEXT, note TEXT NOT NULL, author TEXT NOT NULL, created TEXT NOT NULL, examples TEXT NOT NULL,
  registered_at TEXT NOT NULL,
  PRIMARY KEY (name, version), UNIQUE (name, digest)
) STRICT;
CREATE TABLE judges (
  digest TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('llm', 'lexical', 'imported', 'scripted')),
  name TEXT NOT NULL, criterion TEXT NOT NULL, prompt TEXT REFERENCES prompts (digest), model TEXT, host TEXT,
  params TEXT NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE INDEX judges_name ON judges (name);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, judge TEXT NOT NULL REFERENCES judges (digest), sample_set TEXT NOT NULL,
  planned INTEGER NOT NULL, aggregation TEXT NOT NULL, flags TEXT NOT NULL, prices TEXT, code_version TEXT NOT NULL,
  label TEXT, time TEXT NOT NULL, status TEXT NOT NULL, stop INTEGER NOT NULL CHECK (stop IN (0, 1)), heartbeat TEXT
) STRICT;
CREATE TABLE replies (
  digest TEXT PRIMARY KEY, body TEXT NOT NULL, usage TEXT NOT NULL, latency REAL, tries INTEGER NOT NULL,
  model_served TEXT, fingerprint TEXT, time TEXT NOT NULL
) STRICT;
CREATE TABLE verdicts (
  run INTEGER NOT NULL REFERENCES runs (id), sample TEXT NOT NULL, criterion TEXT NOT NULL, part TEXT NOT NULL,
  repeat INTEGER NOT NULL, attempt INTEGER NOT NULL, inputs TEXT NOT NULL, value TEXT, score REAL,
  reason TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'error')), error TEXT,
  repair TEXT NOT NULL, reply TEXT REFERENCES replies (digest), time TEXT NOT NULL,
  PRIMARY KEY (run, sample, criterion, part, repeat, attempt),
  CHECK ((status = 'ok') = (value IS NOT NULL)), CHECK ((status = 'ok') = (error IS NULL))
) STRICT;
CREATE INDEX verdicts_sample ON verdicts (sample, criterion);
CREATE VIEW current_verdicts AS
  SELECT * FROM (
    SELECT r.judge, v.*, row_number() OVER (
      PARTITION BY r.judge, v.sample, v.criterion, v.part, v.repeat ORDER BY v.run DESC, v.attempt DESC) AS newest
    FROM verdicts v JOIN runs r ON r.id = v.run)
  WHERE newest = 1;
CREATE TABLE decisions (
  id INTEGER PRIMARY KEY, judge TEXT NOT NULL REFERENCES judges (digest), criterion TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('passed', 'failed', 'not_enough_evidence')), record TEXT NOT NULL,
  chain TEXT NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE INDEX decisions_judge ON decisions (judge);
"""

# Everything but runs (status, stop flag, heartbeat), annotators and notes (both erasable) is insert-only.
INSERT_ONLY = (
    "sources",
    "samples",
    "guidelines",
    "plans",
    "assignments",
    "labels",
    "reveals",
    "prompts",
    "prompt_names",
    "judges",
    "replies",
    "verdicts",
    "decisions",
)
# A replacing insert walks past the delete guard of plain sqlite3: these two refuse the key before it can.
KEYED = {"labels": "seq = NEW.seq OR event_id = NEW.event_id", "decisions": "id = NEW.id"}


def _guards() -> str:
    statements = []
    for table in INSERT_ONLY:
        for verb in ("UPDATE", "DELETE"):
            statements.append(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END;"
            )
    for table, taken in KEYED.items():
        statements.append(
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN EXISTS "
            f"(SELECT 1 FROM {table} WHERE {taken}) BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END;"
        )
    return "\n".join(statements)


@migrations()
def m001_start(db: Database) -> None:
    """The first tables."""
    run_script(db, TABLES)
    run_script(db, _guards())


def migrate(path: Path) -> None:
    """Bring the database up to date under one write lock; a stored one is backed up first."""
    with connect(path) as db:
        if not _pending(db, path):
            return
        if db.table_names():
            backup = path.with_name(f"{path.name}.before-{migrations.pending(db)[-1].name}")
            if not backup.exists():
                back_up(db, backup)
        with immediate(db):
            if _pending(db, path):
                migrations.apply(db)
                if integrity(db) != "ok":
                    raise StoreError(f"{path}: the database is damaged; put back a backup")


def _pending(db: Database, path: Path) -> bool:
    known = {migration.name for migration in migrations._migrations}
    newer = [migration.name for migration in migrations.applied(db) if migration.name not in known]
    if newer:
        raise StoreError(f"{path}: written by a newer version ({newer[-1]}); upgrade judge-calibration")
    return bool(migrations.pending(db))
