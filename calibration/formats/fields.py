"""The fields of one entry, read one by one, so that every problem is reported and not only the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from calibration.formats.contexts import Refused
from calibration.formats.names import Found, Match
from calibration.formats.text import marks, texts_inside, why_refused
from calibration.store.batch import FileRead, RawEntry


class Fields:
    """One entry with its fields by word. Problems and warnings go to its file; `failed` says there was a problem."""

    def __init__(self, raw: RawEntry, found: Match, mapping: Mapping[str, str], file: FileRead) -> None:
        self.raw, self.found, self.mapping, self.file = raw, found, mapping, file
        self.failed = False
        self.ambiguous: set[str] = set()

    def refuse(self, name: str | None, message: str) -> None:
        """Report a problem of a field."""
        self.failed = True
        self.file.problems.append(self.raw.place.problem(name, message))

    def warn(self, code: str) -> None:
        """Count a warning."""
        self.file.warnings.add(code, self.raw.place.line)

    def single(self, word: str) -> Found | None:
        """The field for a word, None without one; two names with different values are refused."""
        several = self.found.words.get(word, [])
        if len(several) > 1 and word != "answer":
            several = [found for found in several if not blank(found.value)] or several[:1]
        if any(found.value != several[0].value for found in several[1:]):
            self._refuse_ambiguous(word, several)
            return None
        for found in several:
            self.file.mapping.setdefault(found.field, word)
        return several[0] if several else None

    def _refuse_ambiguous(self, word: str, several: list[Found]) -> None:
        names = " and ".join(repr(found.field) for found in several)
        first, last = several[0].field, several[-1].field
        self.refuse(word, f"ambiguous: {names} differ; choose with --map {word}={last} or --map {word}={first}")
        self.found.words[word] = []
        self.ambiguous.add(word)

    def read(self, word: str, reading: Callable[[Any], Any]) -> Any:
        """The value of a word through a reading function; None when it is missing, blank or refused."""
        found = self.single(word)
        if found is None or blank(found.value):
            return None
        try:
            value = reading(found.value)
        except Refused as error:
            self.refuse(found.field, str(error))
            return None
        texts = [[context.text, context.id] for context in value] if word == "contexts" else value
        return value if self.storable(found.field, texts, marked=word == "contexts") else None

    def storable(self, name: str, value: Any, *, marked: bool = False) -> bool:
        """Whether every text inside a value can be stored; warns of marks where asked."""
        for text in texts_inside(value):
            reason = why_refused(text)
            if reason is not None:
                self.refuse(name, reason)
                return False
            for code in marks(text) if marked else ():
                self.warn(code)
        return True

    def text(self, found: Found) -> str | None:
        """A field as text; a whole number is one."""
        value = str(found.value) if is_whole(found.value) else found.value
        if not isinstance(value, str):
            self.refuse(found.field, _no_text(found.field, value))
            return None
        return value if self.storable(found.field, value, marked=True) else None

    def optional(self, word: str) -> str | None:
        """The text of a word that may be missing; blank is missing."""
        found = self.single(word)
        return None if found is None or blank(found.value) else self.text(found)


def _no_text(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"must be a text, not an object; name the field inside: --map WORD={name}.FIELD"
    if isinstance(value, list):
        return "must be a text, not a list"
    return f"must be a text, not {value!r}; put quotes around it"


def blank(value: Any) -> bool:
    """Whether a value is null or a text of white space."""
    return value is None or (isinstance(value, str) and not value.strip())


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number and no boolean."""
    return isinstance(value, int) and not isinstance(value, bool)
