"""Read files of samples, labels and verdicts: bytes in, a batch of records, warnings and problems out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from calibration.errors import InputError, Problem
from calibration.formats.containers import FILE_LIMIT, as_utf8, check_encoding, entries_of, form_of, refused_kind
from calibration.formats.entries import read_entry
from calibration.formats.names import check_mapping
from calibration.store.batch import Batch, FileRead, Place, SampleEntry, Warnings

SAMPLE_LIMIT = 200_000
STEP = 1_000
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class Source:
    """A file to read: its name and its bytes."""

    name: str
    data: bytes


def read_files(
    paths: Sequence[str | Path],
    mapping: Mapping[str, str] | None = None,
    *,
    encoding: str | None = None,
    progress: Progress | None = None,
) -> Batch:
    """Read files by path, as one command. Raises InputError for a file that is not there or a mapping of no word."""
    names = [Path(path).name for path in paths]
    shown = [name if names.count(name) == 1 else str(path) for name, path in zip(names, paths, strict=True)]
    sources = [Source(name, _bytes(Path(path))) for name, path in zip(shown, paths, strict=True)]
    return read_sources(sources, mapping, encoding=encoding, progress=progress)


def read_sources(
    sources: Sequence[Source],
    mapping: Mapping[str, str] | None = None,
    *,
    encoding: str | None = None,
    progress: Progress | None = None,
) -> Batch:
    """The same from bytes with names. `mapping` is word -> field; `progress` gets the name and the entries so far.

    Nothing is raised for what a file holds: `Batch.problems` has every reason to refuse it, in file order. When a file
    cannot be read at all, only problems of syntax are listed.
    """
    mapping = dict(mapping or {})
    check_mapping(mapping)
    check_encoding(encoding)
    files: list[FileRead] = []
    unreadable = False
    for source in sources:
        file, syntax = _read(source, mapping, encoding, progress)
        if syntax and not unreadable:
            unreadable = True
            for earlier in files:
                earlier.problems.clear()
        if unreadable:
            file.problems = syntax
        files.append(file)
    if not unreadable:
        _check_mapped(files, mapping)
    return Batch(tuple(files))


def _bytes(path: Path) -> bytes:
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        raise InputError(f"{path}: a folder; name the files in it")
    if path.stat().st_size > FILE_LIMIT:
        raise InputError(f"{path}: larger than the limit of {FILE_LIMIT // 1_000_000} MB; split it")
    return path.read_bytes()


def _read(
    source: Source, mapping: Mapping[str, str], encoding: str | None, progress: Progress | None
) -> tuple[FileRead, list[Problem]]:
    """One file, and its problems of syntax; with these its fields are not looked at."""
    warnings = Warnings(source.name)
    file = FileRead(source.name, hashlib.sha256(source.data).hexdigest(), warnings=warnings)
    data = _text(source, encoding, warnings)
    if isinstance(data, Problem):
        return file, [data]
    file.form = form_of(data)
    syntax: list[Problem] = []
    count = 0
    for raw in entries_of(source.name, data, file.form, warnings):
        if isinstance(raw, Problem):
            syntax.append(raw)
        elif not syntax:
            read_entry(raw, mapping, file)
            count += 1
            if progress is not None and count % STEP == 0:
                progress(source.name, count)
    if encoding is not None:
        file.form += f" {encoding}"
    if sum(isinstance(entry, SampleEntry) for entry in file.entries) > SAMPLE_LIMIT:
        syntax.append(Place(source.name).problem(None, f"more than {SAMPLE_LIMIT:,} samples, the limit; split it"))
    return file, syntax


def _text(source: Source, encoding: str | None, warnings: Warnings) -> bytes | Problem:
    at = Place(source.name)
    if len(source.data) > FILE_LIMIT:
        return at.problem(None, f"larger than the limit of {FILE_LIMIT // 1_000_000} MB; split it")
    kind = refused_kind(source.data)
    if kind is not None:
        return at.problem(None, kind)
    data = as_utf8(source.name, source.data, encoding, warnings)
    if isinstance(data, bytes) and not data.strip():
        return at.problem(None, "empty: there is nothing in this file")
    return data


def _check_mapped(files: Sequence[FileRead], mapping: Mapping[str, str]) -> None:
    """A mapped field that no entry has is a slip of the pen."""
    found = {word for file in files for word in file.mapping.values()}
    ambiguous = {problem.field for file in files for problem in file.problems}
    for word, name in mapping.items():
        if word not in found | ambiguous and files:
            file = files[0]
            file.problems.insert(
                0, Place(file.name).problem(None, f"no entry has a field {name!r} (--map {word}={name})")
            )
