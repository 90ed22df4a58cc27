"""Label events from the labelling screen: checked, given their mode, appended, and only then acknowledged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from calibration.criteria import BUILT_IN
from calibration.errors import ConflictError, InputError
from calibration.records import Label, LabelStatus, Mode
from calibration.store import Store
from calibration.store.connection import one
from calibration.store.labels import append_label
from calibration.store.reveals import shown_to
from calibration.store.samples import find_sample

NOTE_LIMIT = 20_000
KEYS = {"id", "assignment", "sample", "criterion", "status", "value", "note", "evidence", "guideline", "seconds"}
NEEDED = {"id", "assignment", "sample", "criterion", "status"}


@dataclass(frozen=True)
class Saved:
    """Ids that are on disk, and ids that were refused with the reason. What is in neither must be sent again."""

    acknowledged: tuple[str, ...]
    refused: dict[str, str]


def save_events(events: Sequence[Mapping[str, Any]], annotator: str, store: Store) -> Saved:
    """Append label events of one annotator in one transaction; annotator and mode never come from the event.

    An event has `id` (made at the key press), `assignment`, `sample`, `criterion`, `status` and, where they apply,
    `value`, `note`, `evidence`, `guideline`, `seconds`. A bad one is refused with its reason and does not block the
    others. Raises StoreError when nothing could be written: then nothing is acknowledged.
    """
    acknowledged: list[str] = []
    refused: dict[str, str] = {}
    with store.writing() as db:
        for event in events:
            key = str(event.get("id", ""))[:100] if isinstance(event, Mapping) else ""
            try:
                label, revision = _checked(db, event, annotator)
                append_label(db, label, revision=revision, time=store.now())
                acknowledged.append(key)
            except (InputError, ConflictError) as error:
                refused[key] = str(error)
    return Saved(tuple(acknowledged), refused)


def _checked(db: Database, event: Mapping[str, Any], annotator: str) -> tuple[Label, int]:
    _shape(event)
    criterion = BUILT_IN.get(event["criterion"])
    sample = find_sample(db, event["sample"])
    if criterion is None or sample is None:
        raise InputError("unknown sample or criterion")
    asked = one(db, "SELECT * FROM assignments WHERE id = ?", [event["assignment"]])
    owner = None if asked is None else (asked["annotator"], asked["sample"], asked["criterion"])
    if asked is None or owner != (annotator, sample.id, criterion.name):
        raise InputError("not assigned to this annotator")
    value = event.get("value")
    if (event["status"] == LabelStatus.LABELLED) != (value is not None):
        raise InputError("a value goes with status labelled and with no other")
    if value is not None and value not in criterion.values:
        raise InputError(f"{value!r} is not a label; use {', '.join(criterion.values)}")
    guideline = event.get("guideline")
    if guideline is not None and not _exists(db, guideline):
        raise InputError("unknown guideline")
    label = Label(
        sample=sample.id,
        criterion=criterion.name,
        annotator=annotator,
        value=value,
        status=event["status"],
        mode=Mode.AUDIT if shown_to(db, annotator, sample.id) else asked["mode"],
        note=event.get("note") or "",
        guideline=guideline,
        seconds=event.get("seconds"),
        evidence=event.get("evidence"),
        event_id=event["id"],
        assignment=event["assignment"],
        inputs=criterion.inputs(sample),
    )
    return label, sample.revision


def _exists(db: Database, guideline: str) -> bool:
    return one(db, "SELECT 1 FROM guidelines WHERE digest = ?", [guideline]) is not None


def _shape(event: Mapping[str, Any]) -> None:
    if not isinstance(event, Mapping) or not set(event) >= NEEDED or not set(event) <= KEYS:
        raise InputError("an event has other keys")
    texts = ("id", "sample", "criterion", "status")
    if not all(isinstance(event[key], str) and 0 < len(event[key]) <= 200 for key in texts):
        raise InputError("an event's texts are empty, too long or of another type")
    if not 8 <= len(event["id"]) <= 100 or event["status"] not in list(LabelStatus):
        raise InputError("an event's id or status is not valid")
    if isinstance(event["assignment"], bool) or not isinstance(event["assignment"], int):
        raise InputError("an event's assignment is not a number")
    _optional(event, ("value", "note", "evidence", "guideline"))
    seconds = event.get("seconds")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e6
    ):
        raise InputError("an event's seconds are not a number of seconds")


def _optional(event: Mapping[str, Any], names: Sequence[str]) -> None:
    for name in names:
        text = event.get(name)
        if text is None:
            continue
        if not isinstance(text, str) or len(text) > NOTE_LIMIT:
            raise InputError(f"{name} is no text or longer than {NOTE_LIMIT} characters")
        if "\0" in text or any(0xD800 <= ord(letter) <= 0xDFFF for letter in text):
            raise InputError(f"{name} holds characters that cannot be stored")
