"""The errors that the product raises on purpose. Each carries its exit code and names the way out.

CalibrationError
├── InputError            2  bad input or usage
│   ├── FileProblems      2  a list of file:line:field problems; nothing was stored
│   ├── PromptError       2  a prompt file or text that is refused
│   └── ConflictError     2  the same name or id with other content
└── OutsideError          5  trouble outside the product
    ├── StoreError        5  database full, locked, damaged, read-only or too new
    └── EndpointError     5  the judge's endpoint: unreachable, wrong key, quota
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

SHOWN_PROBLEMS = 50


class CalibrationError(Exception):
    """Base of all errors the product raises on purpose; the text is meant for the user."""

    exit_code = 70


class InputError(CalibrationError, ValueError):
    """Bad input or usage."""

    exit_code = 2


class PromptError(InputError):
    """A prompt that is refused: the text names the file, the line and the way out."""


class ConflictError(InputError):
    """The same name or id came with other content."""


class OutsideError(CalibrationError):
    """Trouble outside the product."""

    exit_code = 5


class StoreError(OutsideError):
    """The database is full, locked, damaged, read-only or written by a newer version."""


class EndpointError(OutsideError):
    """The judge's endpoint cannot be reached or refuses the key, the model or the quota."""


@dataclass(frozen=True)
class Problem:
    """One reason why a file is refused. `line` is None for the whole file, `field` for the whole entry.

    `entry` says that `line` counts entries (arrays, Parquet) and is printed as `#3`.
    """

    file: str
    line: int | None
    field: str | None
    message: str
    entry: bool = False

    def __str__(self) -> str:
        line = None if self.line is None else f"#{self.line}" if self.entry else str(self.line)
        return ":".join(part for part in (self.file, line, self.field) if part is not None) + f": {self.message}"

    def as_json(self) -> dict[str, object]:
        """The four keys of the `--json` contract."""
        return {key: value for key, value in asdict(self).items() if key != "entry"}


class FileProblems(InputError):
    """One or more problems of the files in one command; nothing was stored."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """The problems as text, at most 50 and then how many more there are."""
        lines = [str(problem) for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"and {len(self.problems) - SHOWN_PROBLEMS} more")
        return lines
