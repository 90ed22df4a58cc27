"""The labelling screen: what goes to the browser, what comes back, and the component that shows it.

Blind: the browser gets a sample's texts, the own labels and nothing else; `entry_data` is the whole list.
Events travel as a message `{n, at, open, undo, events}`: `n` is echoed, `at` is the position on the screen, `open`
asks for the next sample to label behind it, `undo` for the stack of undo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import streamlit as st

from calibration.criteria import BUILT_IN
from calibration.digest import digest
from calibration.errors import StoreError
from calibration.records import Label, LabelStatus
from calibration.store import Store
from calibration.store.assignments import Progress, QueueEntry
from calibration.store.events import save_events

AHEAD, BEHIND = 8, 3
MOST_EVENTS = 1000
UNDO = "u-"
"""Ids of events that undo another start with this, so that the stack of undo can be told after a reload."""


@dataclass(frozen=True)
class Answer:
    """What the server says to one message of the screen. A failed write acknowledges nothing."""

    number: int = 0
    at: int = 0
    open: bool = False
    undo: bool = False
    acknowledged: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


def answer(message: Any, annotator: str, store: Store) -> Answer | None:
    """Save the events of one message; None when it is no message of the screen."""
    if not isinstance(message, Mapping) or not isinstance(message.get("events"), list):
        return None
    place = Answer(
        number=_number(message.get("n")),
        at=_number(message.get("at")),
        open=message.get("open") is True,
        undo=message.get("undo") is True,
    )
    try:
        saved = save_events(message["events"][:MOST_EVENTS], annotator, store)
    except StoreError as error:
        return replace(place, error=str(error))
    return replace(place, acknowledged=saved.acknowledged, refused=saved.refused)


def _number(value: Any) -> int:
    return value if type(value) is int else 0


def screen_data(
    store: Store, annotator: str, *, sample: str | None = None, reply: Answer | None = None
) -> dict[str, Any]:
    """The component's data: the queue around where the annotator is, and the answer to the last message.

    Without a message it starts at `sample`, else at the next one to label.
    """
    progress = store.progress(annotator)
    places = store.positions(annotator) if reply is None or reply.undo else {}
    at = _place(store, annotator, progress, places.get(sample or ""), reply)
    reply = reply or Answer(undo=True)
    middle = at or progress.total
    return {
        "project": digest(str(store.path.resolve()))[:16],
        "annotator": annotator,
        "answered": reply.number,
        "acknowledged": list(reply.acknowledged),
        "refused": dict(reply.refused),
        "error": reply.error,
        "at": at,
        "total": progress.total,
        "counts": {"done": progress.done, "skipped": progress.skipped, "deferred": progress.deferred},
        "criteria": [
            {"name": c.name, "title": c.title, "question": c.question, "values": list(c.values)}
            for c in BUILT_IN.values()
        ],
        "guidelines": _guidelines(store),
        "queue": [entry_data(entry) for entry in store.queue(annotator, middle - BEHIND, middle + AHEAD)],
        "undo": _undo(store, annotator, places) if reply.undo else None,
        "finished": _finished(store, annotator, progress) if at is None else None,
    }


def entry_data(entry: QueueEntry) -> dict[str, Any]:
    """What the browser may know of a sample. Never a verdict, metadata, system, mode or plan."""
    sample = entry.sample
    lacks = {name: criterion.missing(sample) for name, criterion in BUILT_IN.items() if name not in entry.assignments}
    return {
        "position": entry.position,
        "sample": sample.id,
        "question": sample.question,
        "contexts": None if sample.contexts is None else [{"id": c.id, "text": c.text} for c in sample.contexts],
        "reference": sample.reference,
        "answer": sample.answer,
        "asked": entry.assignments,
        "lacks": {name: missing for name, missing in lacks.items() if missing is not None},
        "own": {name: _state(label) for name, label in entry.labels.items()},
    }


def _state(label: Label | None) -> dict[str, Any]:
    if label is None:
        return {"status": str(LabelStatus.WITHDRAWN), "value": None, "note": ""}
    return {"status": str(label.status), "value": label.value, "note": label.note}


def _place(store: Store, annotator: str, progress: Progress, start: int | None, reply: Answer | None) -> int | None:
    """The position to show; None when everything is labelled or set aside."""
    if reply is not None and not reply.open:
        return min(max(reply.at, 1), progress.total) if progress.total else None
    return start or store.first_open(annotator, after=0 if reply is None else reply.at)


def _guidelines(store: Store) -> dict[str, dict[str, str]]:
    found = {name: store.guideline(name) for name in BUILT_IN}
    return {name: {"digest": held[0], "text": held[1]} for name, held in found.items() if held is not None}


def _undo(store: Store, annotator: str, places: Mapping[str, int]) -> list[list[dict[str, Any]]]:
    """Steps that can be undone, oldest first. One step of a skipped or deferred sample holds all its criteria.

    An undo takes the step before it off the stack; a note alone is no step.
    """
    steps: list[list[dict[str, Any]]] = []
    for label, before in reversed(store.undo_stack(annotator, limit=60)):
        if label.assignment is None or label.sample not in places or _is_note(label, before):
            continue
        if label.event_id.startswith(UNDO):
            _take_back(steps, label)
            continue
        step = {
            "position": places[label.sample],
            "sample": label.sample,
            "criterion": label.criterion,
            "assignment": label.assignment,
            "status": str(label.status),
            "note": label.note,
            "before": _state(before),
        }
        if steps and _together(steps[-1], step):
            steps[-1].append(step)
        else:
            steps.append([step])
    return steps


def _is_note(label: Label, before: Label | None) -> bool:
    held = _state(before)
    same = (str(label.status), label.value) == (held["status"], held["value"])
    return not label.event_id.startswith(UNDO) and (label.status == LabelStatus.NOTE or same)


def _take_back(steps: list[list[dict[str, Any]]], label: Label) -> None:
    if steps:
        steps[-1] = [s for s in steps[-1] if (s["sample"], s["criterion"]) != (label.sample, label.criterion)]
        if not steps[-1]:
            steps.pop()


def _together(group: list[dict[str, Any]], step: dict[str, Any]) -> bool:
    last = group[-1]
    moved = step["status"] in (LabelStatus.SKIPPED, LabelStatus.DEFERRED)
    return (
        moved and all(last[key] == step[key] for key in ("sample", "status")) and last["criterion"] != step["criterion"]
    )


def _finished(store: Store, annotator: str, progress: Progress) -> dict[str, Any]:
    """What is said after the last sample, and the places where something is left to do."""
    from calibration.wording import labelled_words

    bad = {name: progress.values[name].get("no", 0) for name in BUILT_IN if name in progress.values}
    words = labelled_words(progress.done, bad, judged=bool(store.judges()))
    return {
        "sentence": words.text,
        "reasons": store.reasons_to_add(annotator),
        "deferred": store.set_aside(annotator),
    }


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_mount = st.components.v2.component("judge_calibration_labeller", js=_file("labeller.js"), css=_file("labeller.css"))


def labeller(data: Mapping[str, Any], *, key: str, on_message: Callable[[], None]) -> None:
    """Show the screen; `on_message` runs when it sent something."""
    _mount(key=key, data=dict(data), on_message_change=on_message)
