"""The page Label without a browser: what is sent to it, what comes back, and what is stored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from annotate.labeller import Answer, answer, screen_data
from calibration.records import Reveal
from calibration.store import Store
from helpers import add_samples, make_samples

CRITERIA = ["correct", "faithful"]


def page() -> None:
    from annotate.views.label import page

    page()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Four samples, and an environment as the server sets it."""
    made = Store(tmp_path / "project.db")
    add_samples(made, make_samples(4))
    monkeypatch.setenv("JUDGE_CALIBRATION_DB", str(made.path))
    monkeypatch.setenv("JUDGE_CALIBRATION_ANNOTATOR", "ana")
    monkeypatch.setenv("JUDGE_CALIBRATION_ROLE", "annotator")
    return made


def run(**address: str) -> AppTest:
    test = AppTest.from_function(page, default_timeout=15)
    for name, value in address.items():
        test.query_params[name] = value
    return test.run()


def sent(test: AppTest) -> dict[str, Any]:
    (component,) = test.get("bidi_component")
    assert not test.exception
    data: dict[str, Any] = json.loads(component.proto.json)
    return data


def events(store: Store, position: int, number: int = 1, **said: Any) -> list[dict[str, Any]]:
    """An event for every criterion asked of the sample at a position."""
    (entry,) = store.queue("ana", position, position)
    return [
        {
            "id": f"{said.get('kind', 'e')}-{number:08d}-{criterion}",
            "assignment": assignment,
            "sample": entry.sample.id,
            "criterion": criterion,
            "status": said.get("status", "labelled"),
            "value": said.get("value", "yes"),
            "note": said.get("note", ""),
            "seconds": 2.5,
        }
        for criterion, assignment in entry.assignments.items()
    ]


def message(made: list[dict[str, Any]], **place: Any) -> dict[str, Any]:
    return {"n": 7, "at": 1, "open": False, "undo": False, "events": made} | place


def test_the_page_draws_the_queue_and_the_bundled_guidelines(store: Store) -> None:
    data = sent(run())
    assert (data["at"], data["total"], len(data["queue"])) == (1, 4, 4)
    assert {key for entry in data["queue"] for key in entry} == {
        "position", "sample", "question", "contexts", "reference", "answer", "asked", "lacks", "own",
    }  # fmt: skip
    assert data["guidelines"]["faithful"]["text"].startswith("Does every claim")
    assert "rag" not in json.dumps(data["queue"])  # the system


def test_the_address_names_the_sample_and_a_wrong_one_does_not_matter(store: Store) -> None:
    place = {entry["sample"]: entry["position"] for entry in sent(run())["queue"]}
    assert sent(run(s="s3"))["at"] == place["s3"]
    assert sent(run(s="nobody"))["at"] == 1
    assert sent(run(annotator="ben"))["annotator"] == "ana"


def test_labelling_resumes_behind_the_last_label(store: Store) -> None:
    store.ensure_order("ana", CRITERIA)
    answer(message(events(store, 1)), "ana", store)
    data = sent(run())
    assert data["at"] == 2
    assert data["counts"] == {"done": 1, "skipped": 0, "deferred": 0}
    assert data["queue"][0]["own"]["correct"] == {"status": "labelled", "value": "yes", "note": ""}
    assert [step[0]["position"] for step in data["undo"]] == [1, 1]


def test_a_second_annotator_sees_nothing_of_the_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.ensure_order("ana", CRITERIA)
    answer(message(events(store, 1, note="SECRET")), "ana", store)
    monkeypatch.setenv("JUDGE_CALIBRATION_ANNOTATOR", "ben")
    data = sent(run())
    assert data["counts"]["done"] == 0
    assert "SECRET" not in json.dumps(data)


def test_a_message_is_stored_and_acknowledged_once(store: Store) -> None:
    store.ensure_order("ana", CRITERIA)
    made = events(store, 1, value="no", note="wrong number")
    bad = made[0] | {"id": "e-of-somebody-else", "assignment": 10_000}
    reply = answer(message([*made, bad]), "ana", store)
    assert reply == answer(message([*made, bad]), "ana", store)
    assert reply is not None
    assert reply.acknowledged == tuple(event["id"] for event in made)
    assert reply.refused == {"e-of-somebody-else": "not assigned to this annotator"}
    stored = [(e.criterion, e.value, e.note, e.mode, e.seconds) for e in store.label_events()]
    assert stored == [(criterion, "no", "wrong number", "blind", 2.5) for criterion in CRITERIA]
    data = screen_data(store, "ana", reply=reply)
    assert (data["answered"], data["acknowledged"]) == (7, list(reply.acknowledged))
    assert data["undo"] is None


@pytest.mark.parametrize("broken", [None, 3, "x", {}, {"events": "x"}])
def test_what_is_no_message_changes_nothing(store: Store, broken: Any) -> None:
    assert answer(broken, "ana", store) is None
    assert store.label_events() == []


def test_a_failed_write_acknowledges_nothing_and_says_why(store: Store, tmp_path: Path) -> None:
    store.ensure_order("ana", CRITERIA)
    made = events(store, 1)
    store.path.with_suffix(".db-wal").unlink(missing_ok=True)
    store.path = tmp_path / "gone" / "project.db"
    reply = answer(message(made), "ana", store)
    assert reply is not None
    assert reply.acknowledged == ()
    assert "cannot be opened" in reply.error


def test_a_first_label_after_a_reveal_is_audited_also_after_a_restart(store: Store) -> None:
    store.ensure_order("ana", CRITERIA)
    made = events(store, 1)
    store.reveal([Reveal(made[0]["sample"], "correct", "ana", None, "disagreements")])
    answer(message(made), "ana", Store(store.path))
    assert {event.mode for event in store.label_events()} == {"audit"}
    assert "audit" not in json.dumps(screen_data(store, "ana"))


def test_the_next_sample_is_the_next_untouched_one_then_the_skipped(store: Store) -> None:
    store.ensure_order("ana", CRITERIA)

    def after(place: int) -> int | None:
        at: int | None = screen_data(store, "ana", reply=Answer(at=place, open=True))["at"]
        return at

    answer(message(events(store, 2, 2, status="skipped", value=None)), "ana", store)
    answer(message(events(store, 3, 3, status="deferred", value=None)), "ana", store)
    assert [after(place) for place in (0, 1, 4)] == [1, 4, 1]
    answer(message(events(store, 1, 1)), "ana", store)
    answer(message(events(store, 4, 4)), "ana", store)
    assert after(4) == 2
    answer(message(events(store, 2, 5, value="no")), "ana", store)
    assert after(2) is None
    finished = screen_data(store, "ana")["finished"]
    assert finished["sentence"].startswith("All 3 labelled")
    assert (finished["reasons"], finished["deferred"]) == ([2], [3])


def test_an_undo_is_off_the_stack_after_a_reload(store: Store) -> None:
    store.ensure_order("ana", CRITERIA)
    answer(message(events(store, 1, 1)), "ana", store)
    answer(message(events(store, 2, 2, status="skipped", value=None)), "ana", store)

    def steps() -> list[list[tuple[int, str]]]:
        stack = screen_data(store, "ana")["undo"]
        return [[(part["position"], part["criterion"]) for part in step] for step in stack]

    one, skip = [[(1, "correct")], [(1, "faithful")]], [(2, "correct"), (2, "faithful")]
    assert steps() == [*one, skip]  # a skip is one step
    answer(message(events(store, 2, 3, kind="u", status="withdrawn", value=None)), "ana", store)
    assert steps() == one
    answer(message(events(store, 1, 4, note="a note is no step")), "ana", store)
    assert steps() == one


def test_a_sample_that_lacks_a_field_says_which(store: Store) -> None:
    add_samples(store, [replace(make_samples(1)[0], id="s9", contexts=None)])
    entries = {entry["sample"]: entry for entry in sent(run())["queue"]}
    assert entries["s9"]["lacks"] == {"faithful": "contexts"}
    assert list(entries["s9"]["asked"]) == ["correct"]


def test_a_project_without_samples_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path / "empty.db")
    monkeypatch.setenv("JUDGE_CALIBRATION_DB", str(tmp_path / "empty.db"))
    test = run()
    assert not test.exception
    assert test.subheader[0].value == "Nothing to label yet"
