"""Labels, verdicts and reveals that stand inside a sample's entry, in columns or in lists."""

from __future__ import annotations

from collections.abc import Callable

from calibration.criteria import BUILT_IN
from calibration.formats.contexts import Refused, read_id
from calibration.formats.fields import Fields
from calibration.formats.label_verdict import (
    IMPORTED,
    LABEL_KEYS,
    REVEAL_KEYS,
    VERDICT_KEYS,
    FieldRefused,
    Record,
    read_label,
    read_reveal,
    read_verdict,
    record_list,
)
from calibration.formats.names import ASSUMED_NAMES, HUMAN, JUDGED
from calibration.formats.text import marks
from calibration.formats.values import NotAValue, is_nothing, read_value
from calibration.records import Label, Verdict
from calibration.store.batch import FileRead, LabelEntry, RawEntry, RevealEntry, VerdictEntry

Read = Callable[[RawEntry, Record, str], LabelEntry | VerdictEntry | RevealEntry]
LISTS: dict[str, tuple[Read, set[str]]] = {
    "labels": (read_label, LABEL_KEYS),
    "verdicts": (read_verdict, VERDICT_KEYS),
    "reveals": (read_reveal, REVEAL_KEYS),
}


def read_attached(fields: Fields, sample: str) -> list[LabelEntry | VerdictEntry | RevealEntry]:
    """What hangs on the sample of an entry; problems are reported on the way."""
    found: list[LabelEntry | VerdictEntry | RevealEntry] = []
    for column, criterion in (HUMAN | JUDGED).items():
        entry = _column(fields, column, criterion, sample)
        if entry is not None:
            found.append(entry)
    for word, (read, known) in LISTS.items():
        for record in _records(fields, word):
            try:
                found.append(read(fields.raw, record, sample))
            except FieldRefused as error:
                fields.refuse(error.name, str(error))
            note_marks(fields.file, fields.raw, record, known)
    return found


def note_marks(file: FileRead, raw: RawEntry, record: Record, known: set[str]) -> None:
    """Warn of keys that a record has no place for, and of marks in its texts."""
    if not known.issuperset(record.fields):
        file.warnings.add("ignored_keys", raw.place.line)
    for key in ("note", "reason"):
        value = record.fields.get(key)
        for code in marks(value) if isinstance(value, str) else ():
            file.warnings.add(code, raw.place.line)


def _column(fields: Fields, column: str, criterion: str, sample: str) -> LabelEntry | VerdictEntry | None:
    found = fields.single(column)
    if found is None or is_nothing(found.value):
        return None
    human = column in HUMAN
    giver = _giver(fields, "annotator" if human else "judge")
    try:
        value = read_value(BUILT_IN[criterion], found.value, "label" if human else "verdict")
    except NotAValue as error:
        fields.refuse(found.field, str(error))
        return None
    if found.key in ASSUMED_NAMES:
        fields.warn("assumed_human")
    at = fields.raw.place
    if human:
        return LabelEntry(at, found.field, Label(sample, criterion, giver, value))
    return VerdictEntry(at, found.field, Verdict(sample, criterion, value, judge=giver))


def _giver(fields: Fields, word: str) -> str:
    """Who labelled or judged, where a column says so."""
    found = fields.single(word)
    if found is None or is_nothing(found.value):
        return IMPORTED
    try:
        name = read_id(found.value)
    except Refused as error:
        fields.refuse(found.field, str(error))
        return IMPORTED
    return name if fields.storable(found.field, name) else IMPORTED


def _records(fields: Fields, word: str) -> list[Record]:
    found = fields.single(word)
    if found is None:
        return []
    try:
        return list(record_list(found.value, found.field, cells=fields.raw.cells))
    except FieldRefused as error:
        fields.refuse(error.name, str(error))
        return []
