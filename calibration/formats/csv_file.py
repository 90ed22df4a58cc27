"""CSV read strictly: every cell a text, no guessing; comma, semicolon or tab."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Protocol

from calibration.errors import Problem
from calibration.formats.names import known_name, normalised
from calibration.store.batch import Place, RawEntry, Warnings

DELIMITERS = ",;\t"


class Rows(Protocol):
    """What `csv.reader` makes: rows, and the physical line read last."""

    line_num: int

    def __next__(self) -> list[str]:
        """The next row."""


def read_csv(name: str, data: bytes, warnings: Warnings) -> Iterator[RawEntry | Problem]:
    """The rows of a CSV in UTF-8, each at the physical line where it starts; problems of syntax among them."""
    if csv.field_size_limit() < len(data):
        csv.field_size_limit(len(data))
    lines = iter(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=""))
    skipped, first = 0, next(lines, "")
    told = _told(first)
    while told is None and first and not first.strip():
        skipped, first = skipped + 1, next(lines, "")
    if told is not None:
        skipped, first = 1, next(lines, "")
    delimiter = told or _most_frequent(first)
    at = Place(name, skipped + 1)
    if delimiter is None:
        yield at.problem(None, "no delimiter: neither JSON nor a CSV with comma, semicolon or tab in its first line")
        return
    if delimiter != ",":
        warnings.add("delimiter", at.line)
    rows = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    yield from _rows(name, rows, skipped)


def _rows(name: str, rows: Rows, skipped: int) -> Iterator[RawEntry | Problem]:
    header: list[str] | None = None
    start, filled = skipped + 1, False
    while True:
        at = Place(name, start)
        try:
            row = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            yield at.problem(None, _explain(error))
            return
        start = skipped + rows.line_num + 1
        if not row:
            continue
        if header is None:
            header = [cell.strip() for cell in row]
            bad = _header_problems(at, header)
            yield from bad
            if bad:
                return
        elif len(row) != len(header):
            yield at.problem(None, f"{len(row)} cells where the header has {len(header)}; put quotes around the text")
            filled = True
        else:
            yield RawEntry(at, dict(zip(header, row, strict=True)), cells=True)
            filled = True
    if not filled:
        yield Place(name).problem(None, "no rows below the header")


def _header_problems(at: Place, header: Sequence[str]) -> list[Problem]:
    problems, seen = [], set()
    for number, cell in enumerate(header, start=1):
        key = normalised(cell) if known_name(cell) else cell
        if not cell:
            problems.append(at.problem(f"column {number}", "a column without a name in the header; name it"))
        elif key in seen:
            problems.append(at.problem(cell, "stands twice in the header; rename one of the two"))
        seen.add(key)
    return problems


def _told(line: str) -> str | None:
    """The separator a first line `sep=;` names."""
    text = line.strip("\r\n").strip('"')
    return text[4] if len(text) == 5 and text.lower().startswith("sep=") and text[4] in DELIMITERS else None


def _most_frequent(header: str) -> str | None:
    counts = dict.fromkeys(DELIMITERS, 0)
    quoted = False
    for letter in header:
        if letter == '"':
            quoted = not quoted
        elif not quoted and letter in counts:
            counts[letter] += 1
    best = max(counts, key=lambda delimiter: counts[delimiter])
    return best if counts[best] else None


def _explain(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "a quote is opened and never closed; double the quotes inside texts"
    if "expected after" in text:
        return 'text after a closing quote; double the quotes inside texts: "a ""b"" c"'
    return f"not CSV: {text}"
