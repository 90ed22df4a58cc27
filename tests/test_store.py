"""The store: settings, append-only history, label events and what they are worth after a crash or a second tab."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calibration.errors import InputError, StoreError
from calibration.records import Reveal
from calibration.store import Store
from calibration.store.connection import back_up, connect
from calibration.store.events import save_events
from calibration.store.labels import chain_link
from helpers import add_labels, add_samples, add_verdicts, make_samples

SOURCE = Path(__file__).parent.parent / "calibration"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "a.db")
    add_samples(made, make_samples(5))
    made.ensure_order("ana", ["correct", "faithful"])
    return made


def event(store: Store, position: int = 1, criterion: str = "correct", **changes: Any) -> dict[str, Any]:
    """A valid event on the sample at a position of ana's order."""
    entry = store.queue("ana", position, position)[0]
    made = {
        "id": f"event-{position}-{criterion}",
        "assignment": entry.assignments[criterion],
        "sample": entry.sample.id,
        "criterion": criterion,
        "status": "labelled",
        "value": "no",
        "note": "wrong",
    }
    return made | changes


def test_a_label_is_stored_with_the_digest_of_what_was_looked_at(store: Store) -> None:
    assert save_events([event(store)], "ana", store).acknowledged == ("event-1-correct",)
    label = store.current_labels("correct", "ana")[0]
    sample = store.sample(label.sample)
    assert sample is not None
    from calibration.criteria import BUILT_IN

    assert (label.value, label.note, label.mode) == ("no", "wrong", "blind")
    assert label.inputs == BUILT_IN["correct"].inputs(sample)


def test_the_same_event_again_is_acknowledged_and_stored_once(store: Store) -> None:
    for _ in range(3):
        assert save_events([event(store)], "ana", store).acknowledged == ("event-1-correct",)
    assert len(store.label_events()) == 1


def test_the_same_event_id_with_other_content_is_a_conflict(store: Store) -> None:
    save_events([event(store)], "ana", store)
    for changed in ({"value": "yes"}, {"note": "other"}):
        saved = save_events([event(store) | changed], "ana", store)
        assert saved.acknowledged == ()
        assert "other content" in saved.refused["event-1-correct"]
    assert [label.value for label in store.label_events()] == ["no"]


def test_a_bad_event_is_refused_and_does_not_block_the_others(store: Store) -> None:
    bad = [
        event(store, id="other-person", assignment=999),
        event(store, id="bad-value-1", value="partly"),
        event(store, id="no-value-11", value=None),
        event(store, id="extra-keys1") | {"mode": "audit"},
        event(store, id="nul-in-note", note="a\0b"),
        {"id": "incomplete1"},
    ]
    saved = save_events([*bad, event(store, 2)], "ana", store)
    assert saved.acknowledged == ("event-2-correct",)
    assert len(saved.refused) == len(bad)


def test_one_annotator_cannot_write_on_the_assignment_of_another(store: Store) -> None:
    store.ensure_order("ben", ["correct"])
    assert save_events([event(store)], "ben", store).acknowledged == ()


def test_a_label_after_a_reveal_is_audited_and_the_blind_one_stays(store: Store) -> None:
    first = event(store)
    save_events([first], "ana", store)
    store.reveal([Reveal(first["sample"], "faithful", "ana", None, "disagreements")])
    save_events([event(store, id="second-thought", value="yes")], "ana", store)
    both = {label.mode: label.value for label in store.current_labels("correct", "ana")}
    assert both == {"blind": "no", "audit": "yes"}


def test_a_pair_a_list_was_picked_from_does_not_make_labels_audited(store: Store) -> None:
    first = event(store)
    store.reveal([Reveal(first["sample"], "correct", "ana", None, "picked from")])
    save_events([first], "ana", store)
    assert store.label_events()[0].mode == "blind"


def test_undo_writes_the_state_before(store: Store) -> None:
    save_events([event(store)], "ana", store)
    undone = event(store, id="undo-of-it", status="withdrawn", value=None, note="")
    save_events([undone], "ana", store)
    assert store.current_labels("correct", "ana") == []
    assert [before.value if before else None for _, before in store.undo_stack("ana")] == ["no", None]


def test_skipped_samples_come_back_after_the_untouched_ones(store: Store) -> None:
    skips = [event(store, 1, c, status="skipped", value=None, note="") for c in ("correct", "faithful")]
    save_events(skips, "ana", store)
    assert store.first_open("ana") == 2
    for position in range(2, 6):
        save_events([event(store, position, c) for c in ("correct", "faithful")], "ana", store)
    assert store.first_open("ana") == 1
    progress = store.progress("ana")
    assert (progress.total, progress.done, progress.skipped, progress.open) == (5, 4, 1, 1)


def test_a_criterion_that_does_not_apply_is_not_assigned(tmp_path: Path) -> None:
    made = Store(tmp_path / "b.db")
    add_samples(made, make_samples(3, contexts=False))
    made.ensure_order("ana", ["correct", "faithful"])
    assert {tuple(entry.assignments) for entry in made.queue("ana", 1, 3)} == {("correct",)}


def test_samples_that_come_later_are_appended_to_the_order(store: Store) -> None:
    before = store.positions("ana")
    add_samples(store, [sample for sample in make_samples(8) if sample.id in ("s6", "s7", "s8")])
    store.ensure_order("ana", ["correct", "faithful"])
    after = store.positions("ana")
    assert {key: after[key] for key in before} == before
    assert sorted(set(after.values())) == list(range(1, 9))


@pytest.mark.parametrize("table", ["labels", "verdicts", "decisions", "samples", "reveals", "replies", "prompts"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET {} = {}", "DELETE FROM {}"])
def test_history_cannot_be_changed_even_with_plain_sqlite(store: Store, table: str, statement: str) -> None:
    _fill_all(store)
    conn = sqlite3.connect(store.path)
    column = conn.execute(f"SELECT name FROM pragma_table_info('{table}') LIMIT 1").fetchone()[0]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        conn.execute(statement.format(table, column, column))
    conn.close()


@pytest.mark.parametrize("key", ["seq", "event_id"])
def test_a_replacing_insert_cannot_change_a_label(store: Store, key: str) -> None:
    _fill_all(store)
    conn = sqlite3.connect(store.path)
    columns = [row[0] for row in conn.execute("SELECT name FROM pragma_table_info('labels')")]
    other = "event_id" if key == "seq" else "seq"
    picked = ", ".join({"value": "'yes'", other: "seq + 1000"}.get(name, name) for name in columns)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        conn.execute(f"INSERT OR REPLACE INTO labels ({', '.join(columns)}) SELECT {picked} FROM labels LIMIT 1")
    conn.close()


def test_the_label_chain_verifies(store: Store) -> None:
    for position in range(1, 6):
        save_events([event(store, position)], "ana", store)
    conn = sqlite3.connect(store.path)
    conn.row_factory = sqlite3.Row
    before = ""
    for row in conn.execute("SELECT * FROM labels ORDER BY seq"):
        assert row["chain"] == chain_link(before, dict(row))
        before = row["chain"]
    conn.close()


def test_the_text_of_a_note_stands_only_in_the_erasable_table(store: Store) -> None:
    save_events([event(store, note="a very private note")], "ana", store)
    conn = sqlite3.connect(store.path)
    rows = conn.execute("SELECT * FROM labels").fetchall()
    assert "private" not in repr(rows)
    conn.execute("DELETE FROM notes")
    conn.commit()
    conn.close()
    assert store.label_events()[0].note == ""


def test_files_are_readable_by_their_owner_only(store: Store) -> None:
    for path in store.path.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("tables", ["things (id)", "_sqlite_migrations (migration_set, name, applied_at)"])
def test_a_database_of_another_program_is_refused_and_no_byte_of_it_changes(tmp_path: Path, tables: str) -> None:
    path = tmp_path / "other.db"
    conn = sqlite3.connect(path)
    conn.execute(f"CREATE TABLE {tables}")
    conn.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_backup_is_readable_by_its_owner_only(store: Store) -> None:
    target = store.path.with_name("a.db.before")
    before = os.umask(0o022)
    try:
        with connect(store.path) as db:
            back_up(db, target)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert Store(target).sample_count() == 5


def test_the_same_reveal_is_stored_again_only_when_it_was_earlier_and_never_later_than_now(tmp_path: Path) -> None:
    made = Store(tmp_path / "b.db", now=lambda: "2026-03-01T00:00:00.000000+00:00")
    again = Reveal("s1", "correct", "ana", None, "disagreements")
    early, late = "2026-02-01T00:00:00.000000+00:00", "2027-01-01T00:00:00.000000+00:00"
    assert [made.reveal([replace(again, time=time)]) for time in (late, None, early, early, late)] == [1, 0, 1, 0, 0]
    assert [reveal.time for reveal in made.reveals()] == [made.now(), early]


def test_relevant_ids_come_with_the_samples_asked_for(tmp_path: Path) -> None:
    made = Store(tmp_path / "b.db")
    add_samples(made, [replace(sample, relevant_ids=(f"d-{sample.id}",)) for sample in make_samples(3)])
    assert [sample.relevant_ids for sample in made.samples(["s3", "s1"])] == [("d-s1",), ("d-s3",)]
    assert len([sample for sample in made.samples() if sample.relevant_ids]) == 3
    assert made.samples([]) == []


def test_an_order_with_nothing_missing_waits_for_no_writer(store: Store) -> None:
    before = store.positions("ana")
    with store.writing(), ThreadPoolExecutor() as pool:
        pool.submit(store.ensure_order, "ana", ["correct", "faithful"]).result(timeout=10)
    assert store.positions("ana") == before


def test_a_judge_is_found_by_its_prompt_version_alone_where_one_fits(store: Store) -> None:
    first = add_verdicts(store, {}, judge="correct-v1@small")
    assert store.find_judge("correct-v1").digest == first.digest
    add_verdicts(store, {}, judge="correct-v1@large")
    add_verdicts(store, {}, judge="correct-v11@large")
    with pytest.raises(InputError, match=r"fits 2 judges: correct-v1@small .*, correct-v1@large "):
        store.find_judge("correct-v1")
    assert store.find_judge("correct-v1@small").digest == first.digest


def test_a_database_of_a_newer_version_is_refused(store: Store) -> None:
    conn = sqlite3.connect(store.path)
    conn.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('judge-calibration', 'm999', 'later')"
    )
    conn.commit()
    conn.close()
    with pytest.raises(StoreError, match="newer version"):
        Store(store.path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("this is no database, only some text that is long enough to be looked at" * 20)
    with pytest.raises(StoreError, match="not a judge-calibration database"):
        Store(path)


def test_only_one_module_opens_transactions() -> None:
    forbidden = re.compile(r"\"BEGIN|db\.begin\(|conn\.execute|upsert|replace=True|ignore=True|alter=True")
    for path in SOURCE.rglob("*.py"):
        if path.name == "connection.py":
            continue
        lines = [
            line for line in path.read_text().splitlines() if "CREATE TRIGGER" not in line and "RAISE(" not in line
        ]
        assert not [line for line in lines if forbidden.search(line)], path


def _fill_all(store: Store) -> None:
    from calibration.records import Prompt, Reply, Verdict

    add_labels(store, {"s1": "no"})
    judge = add_verdicts(store, {"s1": "yes"})
    store.add_decision(judge.digest, "correct", "failed", {"k": 1})
    store.reveal([Reveal("s1", "correct", "ana", None, "disagreements")])
    store.add_prompt(Prompt("correct", 1, "correct", "s", "u", digest="d" * 64))
    run = store.runs()[0].id
    with store.run_writer(run) as writer:
        reply = Reply("r" * 64, "{}")
        writer.commit(reply, Verdict("s2", "correct", "yes", reply=reply.digest)).result()


def together(*arguments: tuple[str, ...]) -> list[int]:
    """Exit codes of processes that start their work at the same moment."""
    start = str(time.time() + 1.5)
    worker = str(Path(__file__).with_name("store_worker.py"))
    running = [subprocess.Popen([sys.executable, worker, what, path, start, *who]) for what, path, *who in arguments]
    return [process.wait(60) for process in running]


def test_several_processes_lose_no_label_and_do_not_fork_the_chain(tmp_path: Path) -> None:
    made = Store(tmp_path / "a.db")
    add_samples(made, make_samples(20))
    people = [f"person{i}" for i in range(4)]
    for who in people:
        made.ensure_order(who, ["correct"])
    assert together(*(("label", str(made.path), who) for who in people)) == [0] * 4
    # 4 people x 20 labels, numbered without a gap
    assert [label.seq for label in made.label_events()] == list(range(1, 81))


def test_servers_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    assert together(*[("open", str(path))] * 4) == [0] * 4
    conn = sqlite3.connect(path)
    assert conn.execute("SELECT count(*) FROM _sqlite_migrations").fetchone()[0] == 1
    conn.close()
