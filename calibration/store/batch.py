"""What reading files gives: entries in the order of arrival, with where each one stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calibration.errors import Problem
from calibration.records import Label, Reveal, Sample, Verdict

FIRST_LINES = 5


@dataclass(frozen=True)
class Place:
    """Where an entry stands: `counted` when `line` is its position in a list, not a physical line."""

    file: str
    line: int | None = None
    counted: bool = False

    def problem(self, name: str | None, message: str) -> Problem:
        """A reason to refuse the file, at this place."""
        return Problem(self.file, self.line, name, message, entry=self.counted)

    def seen_from(self, other: Place) -> str:
        """This place as a sentence at another one names it: `on line 3`, `in a.csv on line 3`."""
        where = f"on #{self.line}" if self.counted else f"on line {self.line}"
        return where if self.file == other.file else f"in {self.file} {where}"


@dataclass(frozen=True)
class RawEntry:
    """One object or row as the file has it. `cells` says that all values are texts of a CSV."""

    place: Place
    fields: Mapping[str, Any]
    cells: bool = False


@dataclass(frozen=True)
class SampleEntry:
    """A sample of a file."""

    place: Place
    sample: Sample


@dataclass(frozen=True)
class LabelEntry:
    """A label of a file; `field` is where its value stands, `revision` that of the sample it was given on."""

    place: Place
    field: str
    label: Label
    revision: int | None = None


@dataclass(frozen=True)
class VerdictEntry:
    """A verdict of a file; `run` is the name of its run there, `threshold` the cut that made it from a score."""

    place: Place
    field: str
    verdict: Verdict
    run: str = ""
    threshold: float | None = None
    revision: int | None = None


@dataclass(frozen=True)
class RevealEntry:
    """A recorded reveal of a file, so that a seen label stays seen when a project moves."""

    place: Place
    reveal: Reveal


Entry = SampleEntry | LabelEntry | VerdictEntry | RevealEntry


@dataclass(frozen=True)
class Warned:
    """A warning of one file: how often, and the first lines. It never blocks."""

    file: str
    code: str
    count: int
    lines: tuple[int, ...]

    def as_json(self) -> dict[str, object]:
        """The four keys of the `--json` contract."""
        return {"file": self.file, "code": self.code, "count": self.count, "lines": list(self.lines)}


class Warnings:
    """The warnings of one file, each code once in the order of its first line."""

    def __init__(self, file: str, codes: Mapping[str, list[int | None]] | None = None) -> None:
        self.file = file
        self._lines: dict[str, list[int | None]] = {code: list(lines) for code, lines in (codes or {}).items()}

    def add(self, code: str, line: int | None = None) -> None:
        """Count a warning; one line is counted once a code."""
        lines = self._lines.setdefault(code, [])
        if not lines or lines[-1] != line:
            lines.append(line)

    def copy(self) -> Warnings:
        """The same warnings, to be added to."""
        return Warnings(self.file, self._lines)

    def listed(self) -> list[Warned]:
        """One record a code."""
        return [
            Warned(self.file, code, len(lines), tuple(line for line in lines if line is not None)[:FIRST_LINES])
            for code, lines in self._lines.items()
        ]


@dataclass
class FileRead:
    """One file as read: its identity, how its fields were understood, its entries and its problems.

    `broken` are the ids of samples with a problem: what refers to them is not called unknown on top.
    """

    name: str
    sha256: str
    form: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    warnings: Warnings = field(default_factory=lambda: Warnings(""))
    problems: list[Problem] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Batch:
    """The files of one command. Nothing is stored when `problems` is not empty."""

    files: tuple[FileRead, ...]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every problem in file order."""
        return tuple(problem for file in self.files for problem in file.problems)

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """The warnings of reading in file order."""
        return tuple(warned for file in self.files for warned in file.warnings.listed())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything in the order of arrival."""
        return tuple(entry for file in self.files for entry in file.entries)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The samples in the order of arrival, a repeated one as often as it stands there."""
        return tuple(entry.sample for entry in self.entries if isinstance(entry, SampleEntry))

    @property
    def mapping(self) -> dict[str, str]:
        """Field as spelled -> word of the product, over all files."""
        return {name: word for file in self.files for name, word in file.mapping.items()}
