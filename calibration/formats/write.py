"""Write records as JSON Lines, byte-faithful, or as CSV for spreadsheets; by the ending of the file."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from calibration.errors import InputError
from calibration.formats.export_records import KINDS, Line
from calibration.store import Store

ENDINGS = (".jsonl", ".csv")
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
# fmt: off
ORDER = (
    "id", "sample", "question", "contexts", "reference", "answer", "system", "group", "annotator", "judge", "criterion",
    "part", "repeat", "attempt", "value", "score", "status", "error", "repair", "reason", "note", "outcome",
)
# fmt: on


def export(store: Store, kind: str, path: str | Path, *, force: bool = False) -> int:
    """Write one kind (`samples`, `labels`, `verdicts`, `decisions`, `all`) to a file; returns the number of records.

    The file is complete or not there: it is written beside the target and renamed. Raises InputError for another
    ending, and for a target that exists unless `force`.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if kind not in KINDS:
        raise InputError(f"cannot export {kind!r}; use {', '.join(KINDS)}")
    if ending not in ENDINGS:
        raise InputError(f"{target}: the ending says how to write; use {' or '.join(ENDINGS)}")
    if target.is_dir() or (target.exists() and not force):
        raise InputError(f"{target}: already there; add --force to replace it, or name another file")
    records = KINDS[kind](store)
    with _beside(target) as file:
        return _write_lines(file, records) if ending == ".jsonl" else _write_csv(file, list(records))


def json_line(record: Line) -> str:
    """A record as one line: sorted keys, no ASCII escapes."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"


def neutral(cell: str) -> str:
    """A cell that a spreadsheet shows instead of running it."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _write_lines(file: IO[bytes], records: Iterable[Line]) -> int:
    count = 0
    for record in records:
        file.write(json_line(record).encode("utf-8"))
        count += 1
    return count


def _write_csv(file: IO[bytes], records: list[Line]) -> int:
    names = {name for record in records for name in record}
    header = [name for name in ORDER if name in names] + sorted(names - set(ORDER))
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    rows = csv.writer(text)
    rows.writerow(header)
    rows.writerows([neutral(_cell(record.get(name))) for name in header] for record in records)
    text.detach()
    return len(records)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


@contextmanager
def _beside(target: Path) -> Iterator[IO[bytes]]:
    """A temporary file in the target's folder, readable by its owner alone, renamed when everything is written."""
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
