"""What a file is, decided by its first bytes and never by its ending, and the entries inside."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any

from calibration.errors import InputError, Problem
from calibration.formats.csv_file import read_csv
from calibration.formats.names import is_record
from calibration.formats.strict_json import NESTED, NotJson, decode_at, loads, skip_blank, too_deep
from calibration.store.batch import Place, RawEntry, Warnings

FILE_LIMIT = 200_000_000
WRAPPERS = ("samples", "data", "rows", "examples", "items", "results", "results.results", "test_cases")
CSV = "save it as JSON Lines or CSV"
REFUSED = (
    (b"PAR1", f"a Parquet file; {CSV}"),
    (b"\x1f\x8b", "a compressed file (gzip); unpack it first"),
    (b"BZh", "a compressed file (bzip2); unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a compressed file (zstd); unpack it first"),
    (b"\xfd7zXZ\x00", "a compressed file (xz); unpack it first"),
    (b"7z\xbc\xaf", "a compressed file (7z); unpack it first"),
    (b"SQLite format 3\x00", "a SQLite database; export its table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls); save the sheet as CSV UTF-8"),
    (b"%PDF", f"a PDF; {CSV}"),
)
EXCEL = "an Excel workbook; save the sheet as CSV UTF-8"
ZIP = "a zip archive; unpack it first (an Inspect log: inspect log convert --to json)"
PICKLE = f"a Python pickle, which is never opened; {CSV}"
PICKLE_MARK = re.compile(rb"\x80[\x01-\x05]")
MARKUP = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml|!--|[a-z])", re.IGNORECASE)
LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")
LINE_END = re.compile("\r\n|\r|\n")
BOMS = (
    (codecs.BOM_UTF8, "utf-8", "bom"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "utf32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "utf32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf16"),
)


def refused_kind(data: bytes) -> str | None:
    """Why a file is not even looked into, None when it may be text."""
    for mark, message in REFUSED:
        if data.startswith(mark):
            return message
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return EXCEL if b"xl/workbook.xml" in data else ZIP
    if PICKLE_MARK.match(data):
        return PICKLE
    if MARKUP.match(data):
        return f"a web page or XML, not data; {CSV}"
    return None


def as_utf8(name: str, data: bytes, encoding: str | None, warnings: Warnings) -> bytes | Problem:
    """The same text in UTF-8 without a byte-order mark. The encoding is never guessed."""
    for mark, found, code in BOMS:
        if data.startswith(mark):
            warnings.add(code)
            return _recoded(name, data[len(mark) :], found)
    if encoding is None and b"\0" in data[:200]:
        message = "holds NUL bytes: UTF-16 without a byte-order mark, or no text; name it with --encoding utf-16-le"
        return Place(name).problem(None, message)
    return _recoded(name, data, encoding or "utf-8")


def check_encoding(encoding: str | None) -> None:
    """Raises InputError for a name that is no text encoding."""
    try:
        if encoding is not None:
            "".encode(encoding)
    except LookupError:
        raise InputError(f"--encoding {encoding}: unknown; use a name like windows-1252 or utf-16-le") from None


def _recoded(name: str, data: bytes, encoding: str) -> bytes | Problem:
    try:
        if encoding == "utf-8":
            _validate(data)
            return data
        return data.decode(encoding).encode("utf-8")
    except UnicodeDecodeError as error:
        lines = len(LINE_END.findall(data[: error.start].decode("latin-1"))) + 1
        byte = data[error.start : error.start + 1]
        message = f"not {encoding.upper()}: byte 0x{byte.hex().upper()} at position {error.start}"
        if encoding == "utf-8":
            shown = byte.decode("windows-1252", errors="replace")
            message += f" ({shown!r} in windows-1252); save as UTF-8, or add --encoding windows-1252"
        return Place(name, lines if encoding == "utf-8" else None).problem(None, message)
    except UnicodeEncodeError:
        return Place(name).problem(None, "holds half of a surrogate pair; export the file again as UTF-8")


def _validate(data: bytes, step: int = 1 << 20) -> None:
    """Raises UnicodeDecodeError with the position in the whole file; never holds the whole text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), step):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[start : start + step], final=start + step >= len(data))
        except UnicodeDecodeError as error:
            at = start - pending + error.start
            raise UnicodeDecodeError("utf-8", data, at, at + 1, error.reason) from None


def form_of(data: bytes) -> str:
    """`jsonl`, `json` or `csv`, by the text itself."""
    start = re.compile(rb"\s*").match(data).end()  # type: ignore[union-attr]
    if data[start : start + 1] == b"[":
        return "json"
    if data[start : start + 1] != b"{":
        return "csv"
    line = LINE.match(data, start)
    after = re.compile(rb"\s*(\S?)").match(data, line.end())  # type: ignore[union-attr]
    if line is None or after is None or not after[1]:
        return "json"
    try:
        loads(line[1].decode("utf-8"))
    except NotJson as error:
        # a pretty-printed object goes on with a key, broken JSON Lines with the next object
        return "jsonl" if error.pos is None or after[1] == b"{" else "json"
    return "jsonl"


def entries_of(name: str, data: bytes, form: str, warnings: Warnings) -> Iterator[RawEntry | Problem]:
    """The entries of a text in UTF-8, with problems of syntax among them."""
    if form == "csv":
        return read_csv(name, data, warnings)
    return _lines(name, data) if form == "jsonl" else _document(name, data.decode("utf-8"), warnings)


def _lines(name: str, data: bytes) -> Iterator[RawEntry | Problem]:
    for number, match in enumerate(LINE.finditer(data), start=1):
        if not match[1].strip():
            continue
        at = Place(name, number)
        try:
            yield _entry(at, loads(match[1].decode("utf-8")))
        except NotJson as error:
            yield at.problem(None, str(error))


def _entry(at: Place, value: Any) -> RawEntry | Problem:
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a value"
        return at.problem(None, f"expected an object with question and answer, found {kind}")
    return at.problem(None, NESTED) if too_deep(value) else RawEntry(at, value)


def _document(name: str, text: str, warnings: Warnings) -> Iterator[RawEntry | Problem]:
    start = skip_blank(text, 0)
    if text[start] == "[":
        yield from _array(name, text, start)
        return
    try:
        value = loads(text)
    except NotJson as error:
        yield Place(name, _line(text, error.pos or start)).problem(None, str(error))
        return
    found = _wrapped(value)
    if found is None:
        yield _entry(Place(name, _line(text, start)), value)
        return
    warnings.add("wrapped")
    if not found:
        yield Place(name).problem(None, "no rows in the list")
    for number, inner in enumerate(found, start=1):
        yield _entry(Place(name, number, counted=True), inner)


def _array(name: str, text: str, start: int) -> Iterator[RawEntry | Problem]:
    """One element at a time, so that a refused one still has its physical line."""
    pos, number = skip_blank(text, start + 1), 0
    if text[pos : pos + 1] == "]":
        yield Place(name).problem(None, "no rows in the list")
        return
    while True:
        number += 1
        try:
            value, end = decode_at(text, pos)
        except NotJson as error:
            yield Place(name, _line(text, pos if error.pos is None else error.pos)).problem(None, str(error))
            return
        yield _entry(Place(name, number, counted=True), value)
        pos = skip_blank(text, end)
        mark = text[pos : pos + 1]
        if mark == ",":
            pos = skip_blank(text, pos + 1)
            continue
        rest = skip_blank(text, pos + 1)
        if mark == "]" and rest >= len(text):
            return
        what = (
            "cut off in the middle; export the file again" if not mark else "a comma or the end of the list is missing"
        )
        what = "more text after the end of the list" if mark == "]" else what
        yield Place(name, _line(text, rest if mark == "]" else pos)).problem(None, f"not JSON: {what}")
        return


def _wrapped(value: Any) -> list[Any] | None:
    """The list of entries inside an object that is no entry itself."""
    if not isinstance(value, dict) or is_record(value):
        return None
    for path in WRAPPERS:
        inner: Any = value
        for key in path.split("."):
            inner = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(inner, list):
            return inner
    return None


def _line(text: str, pos: int) -> int:
    return len(LINE_END.findall(text[:pos])) + 1
