"""Labels, verdicts and reveals inside a file: records in a list, lone lines, and columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from calibration.criteria import BUILT_IN, Criterion
from calibration.formats.contexts import Refused, parse_list, read_id
from calibration.formats.strict_json import NotJson, loads
from calibration.formats.text import why_refused
from calibration.formats.values import NotAValue, is_nothing, read_value
from calibration.records import Label, LabelStatus, Mode, Reveal, Verdict, VerdictStatus
from calibration.store import as_stored
from calibration.store.batch import LabelEntry, RawEntry, RevealEntry, VerdictEntry

IMPORTED = "imported"
NO_VALUE = "no_value"
COMMON = ("sample", "revision", "criterion", "value", "status", "part", "time")
LABEL_KEYS = {*COMMON, "annotator", "note", "event_id", "mode", "guideline", "seconds", "evidence"}
VERDICT_KEYS = {
    *COMMON, "judge", "reason", "run", "repeat", "attempt", "score", "threshold", "error", "repair", "reply",
    "prompt_digest",
}  # fmt: skip
REVEAL_KEYS = {"annotator", "criterion", "judge", "how", "time"}
COUNT_LIMIT = 1_000_000


class FieldRefused(ValueError):
    """A field of a record that is refused."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(message)


class Record:
    """One record with the path that its fields are named by: `labels[0].`; empty for a lone line."""

    def __init__(self, fields: Mapping[str, Any], path: str = "", *, cells: bool = False) -> None:
        self.fields = {key: value for key, value in fields.items() if not (cells and value == "")}
        self.path, self.cells = path, cells

    def refuse(self, key: str, message: str) -> FieldRefused:
        """The error that names a field of this record."""
        return FieldRefused(self.path + key, message)

    def text(self, key: str, default: str = "") -> str:
        """A text, the default when it is missing or null."""
        value = self.fields.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.refuse(key, f"{key} must be a text, not {value!r}")
        reason = why_refused(value)
        if reason is not None:
            raise self.refuse(key, reason)
        return value

    def optional(self, key: str) -> str | None:
        """A text or None."""
        return None if self.fields.get(key) is None else self.text(key)

    def name(self, key: str, default: str) -> str:
        """A name of 1 to 200 characters; a number is read as text."""
        value = self.fields.get(key)
        if value is None or (self.cells and is_nothing(value)):
            return default
        try:
            found = read_id(value)
        except Refused as error:
            raise self.refuse(key, str(error)) from None
        reason = why_refused(found)
        if reason is not None:
            raise self.refuse(key, reason)
        return found

    def choice(self, key: str, allowed: list[str], default: str) -> str:
        """One of the allowed words."""
        value = self.text(key, default)
        if value not in allowed:
            raise self.refuse(key, f"{value!r} is not a {key}; use {', '.join(allowed)}")
        return value

    def number(self, key: str) -> float | None:
        """A finite number or None; in a CSV its text."""
        value = self.fields.get(key)
        if self.cells and isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                value = value or None
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self.refuse(key, f"{key} must be a number, not {value!r}")
        return value

    def moment(self, key: str) -> str | None:
        """A time in UTC as the store writes it, or None; without an offset it is UTC."""
        text = self.optional(key)
        if text is None:
            return None
        try:
            found = datetime.fromisoformat(text)
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, OverflowError):
            message = f"{key} must be a time such as 2026-01-31T09:30:00+00:00, not {text!r}"
            raise self.refuse(key, message) from None
        return as_stored(found)

    def count(self, key: str) -> int:
        """A whole number from 0 on, 0 when it is missing."""
        value = self.number(key)
        if value is None:
            return 0
        if value != int(value) or not 0 <= value <= COUNT_LIMIT:
            raise self.refuse(key, f"{key} must be a whole number from 0 on, not {value!r}")
        return int(value)

    def criterion(self) -> Criterion:
        """The criterion it is about."""
        name = self.text("criterion")
        if not name:
            raise self.refuse("criterion", f"criterion missing; use {' or '.join(BUILT_IN)}")
        if name not in BUILT_IN:
            raise self.refuse("criterion", f"unknown criterion {name!r}; use {' or '.join(BUILT_IN)}")
        return BUILT_IN[name]

    def value(self, criterion: Criterion, status: str, filled: str, what: str) -> str | None:
        """The value, which goes with one status and with no other."""
        raw = self.fields.get("value")
        if status != filled:
            if is_nothing(raw):
                return None
            raise self.refuse("value", f"a value goes with status {filled}, not with {status}")
        if raw is None or raw == "":
            raise self.refuse("value", f"value missing; a {what} without one needs another status than {filled}")
        try:
            return read_value(criterion, raw, what)
        except NotAValue as error:
            raise self.refuse("value", str(error)) from None


def read_label(raw: RawEntry, record: Record, sample: str) -> LabelEntry:
    """One label record. Raises FieldRefused."""
    criterion = record.criterion()
    status = record.choice("status", list(LabelStatus), LabelStatus.LABELLED.value)
    event = record.text("event_id")
    if event and not 8 <= len(event) <= 100:
        raise record.refuse("event_id", "an event_id has 8 to 100 characters")
    label = Label(
        sample=sample,
        criterion=criterion.name,
        annotator=record.name("annotator", IMPORTED),
        value=record.value(criterion, status, LabelStatus.LABELLED, "label"),
        status=status,
        mode=record.choice("mode", list(Mode), Mode.BLIND.value),
        part=record.text("part"),
        note=record.text("note"),
        guideline=record.optional("guideline"),
        seconds=record.number("seconds"),
        evidence=record.optional("evidence"),
        time=record.optional("time"),
        event_id=event,
    )
    return LabelEntry(raw.place, f"{record.path}value", label, record.count("revision") or None)


def read_verdict(raw: RawEntry, record: Record, sample: str) -> VerdictEntry:
    """One verdict record. Raises FieldRefused."""
    criterion = record.criterion()
    status = record.choice("status", list(VerdictStatus), VerdictStatus.OK.value)
    score, threshold = record.number("score"), record.number("threshold")
    judge = record.name("judge", IMPORTED)
    if record.fields.get("value") is None and status == VerdictStatus.OK and (score, threshold) != (None, None):
        if score is None or threshold is None:
            raise record.refuse("score", "a score alone is no verdict; give a threshold beside it, or a value")
        value: str | None = "yes" if score >= threshold else "no"
        judge = f"{judge}>={threshold:g}"
    else:
        value, threshold = record.value(criterion, status, VerdictStatus.OK, "verdict"), None
    verdict = Verdict(
        sample=sample,
        criterion=criterion.name,
        value=value,
        status=status,
        reason=record.text("reason"),
        score=score,
        error=None if status == VerdictStatus.OK else record.text("error") or NO_VALUE,
        repair=_texts(record, "repair"),
        part=record.text("part"),
        repeat=record.count("repeat"),
        attempt=record.count("attempt"),
        judge=judge,
        reply=record.optional("reply"),
        time=record.optional("time"),
    )
    run = record.name("run", "")
    return VerdictEntry(raw.place, f"{record.path}value", verdict, run, threshold, record.count("revision") or None)


def read_reveal(raw: RawEntry, record: Record, sample: str) -> RevealEntry:
    """One recorded reveal. Raises FieldRefused."""
    reveal = Reveal(
        sample=sample,
        criterion=record.criterion().name,
        annotator=record.optional("annotator"),
        judge=record.optional("judge"),
        how=record.text("how", IMPORTED),
        time=record.moment("time"),
    )
    return RevealEntry(raw.place, reveal)


def _texts(record: Record, key: str) -> tuple[str, ...]:
    value = record.fields.get(key)
    value = parse_list(value) if isinstance(value, str) else value
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise record.refuse(key, f"{key} must be a list of texts")
    return tuple(value)


def record_list(value: Any, name: str, *, cells: bool) -> Iterator[Record]:
    """The records of a list under one key; in a CSV the list is JSON text. Raises FieldRefused."""
    if cells and isinstance(value, str):
        try:
            value = loads(value) if value.strip() else []
        except NotJson as error:
            raise FieldRefused(name, str(error)) from None
    if value is None:
        return
    if not isinstance(value, list):
        raise FieldRefused(name, f"{name} must be a list of objects")
    for number, fields in enumerate(value):
        if not isinstance(fields, dict):
            raise FieldRefused(f"{name}[{number}]", "must be an object")
        yield Record(fields, f"{name}[{number}].")
