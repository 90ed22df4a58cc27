"""One entry of a file to a sample with its labels and verdicts, or to a lone label or verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from calibration.criteria import BUILT_IN
from calibration.store.batch import FileRead, LabelEntry, RawEntry, RevealEntry, SampleEntry, VerdictEntry
from calibration.formats.contexts import Refused, read_contexts, read_id, read_ids
from calibration.formats.marks import (
    IMPORTED,
    LABEL_KEYS,
    VERDICT_KEYS,
    FieldRefused,
    Record,
    read_label,
    read_reveal,
    read_verdict,
    record_list,
)
from calibration.formats.names import ASSUMED_NAMES, HUMAN, IDEAL_NAMES, JUDGED, UNMAPPED_NAMES, Found, Match
from calibration.formats.names import match as match_names
from calibration.formats.names import normalised
from calibration.formats.strict_json import NotJson, loads
from calibration.formats.text import marks, texts_inside, why_refused
from calibration.formats.values import NotAValue, is_nothing, read_value
from calibration.records import Label, Sample, Verdict

MISSING = "missing; if it has another name, say --map {word}=NAME"
QUESTION_SET = "missing: questions without answers are for evaluate, not for import; or name it with --map answer=NAME"
TWO_WAYS = "can be read two ways, as passages or as addresses; decide with --map contexts={field}, or rename it"
IDEAL = "is the ideal context here, nothing was retrieved; --map contexts={field} if it was retrieved"
Lone = Callable[[RawEntry, Record, str], LabelEntry | VerdictEntry]


def read_entry(raw: RawEntry, mapping: Mapping[str, str], file: FileRead) -> None:
    """Add what one entry holds to its file: records, warnings, problems, and how its fields were understood."""
    names = {normalised(key) for key in raw.fields}
    if "sample" in names and not names & {"question", "answer"} and not {"question", "answer"} & set(mapping):
        _Lone(raw, file).read()
    else:
        _Reader(raw, match_names(raw.fields, mapping), mapping, file).read()


class _Lone:
    """A label or verdict on a line of its own, as `export labels` and `export verdicts` write them."""

    def __init__(self, raw: RawEntry, file: FileRead) -> None:
        self.raw, self.file = raw, file

    def read(self) -> None:
        record = Record(self.raw.fields, cells=self.raw.cells)
        people = [key for key in ("annotator", "judge") if record.fields.get(key) is not None]
        try:
            if len(people) != 1:
                raise FieldRefused(
                    "annotator", "a line with sample needs either annotator (a label) or judge (a verdict)"
                )
            sample = record.name("sample", "")
            if not sample:
                raise FieldRefused("sample", "missing; give the id of a sample")
            lone: Lone = read_label if people == ["annotator"] else read_verdict
            self.file.entries.append(lone(self.raw, record, sample))
        except FieldRefused as error:
            self.file.problems.append(self.raw.place.problem(error.name, str(error)))
            return
        known = LABEL_KEYS if people == ["annotator"] else VERDICT_KEYS
        for key in record.fields:
            self.file.mapping.setdefault(key, key)
        _note_ignored(self.file, self.raw, record, known)


def _note_ignored(file: FileRead, raw: RawEntry, record: Record, known: set[str]) -> None:
    if not known.issuperset(record.fields):
        file.warnings.add("ignored_keys", raw.place.line)
    for key in ("note", "reason"):
        value = record.fields.get(key)
        for code in marks(value) if isinstance(value, str) else ():
            file.warnings.add(code, raw.place.line)


class _Reader:
    """Reads one sample entry field by field, so that every problem is reported and not only the first."""

    def __init__(self, raw: RawEntry, found: Match, mapping: Mapping[str, str], file: FileRead) -> None:
        self.raw, self.found, self.mapping, self.file = raw, found, mapping, file
        self.failed = False
        self.ambiguous: set[str] = set()

    def refuse(self, name: str | None, message: str) -> None:
        self.failed = True
        self.file.problems.append(self.raw.place.problem(name, message))

    def warn(self, code: str) -> None:
        self.file.warnings.add(code, self.raw.place.line)

    def read(self) -> None:
        for name in self.found.twice:
            self.refuse(name, "stands there twice, apart from case or marks; rename one of the two")
        key = self._guarded("id", read_id)
        self._set_aside()
        question = self._question()
        contexts = self._guarded("contexts", read_contexts)
        answer = self._answer()
        reference, kind = self._reference()
        values: dict[str, Any] = {
            "system": self._short("system"),
            "group": self._guarded("group", read_id),
            "failure": self._short("failure"),
        }
        relevant = self._guarded("relevant_ids", read_ids) or ()
        retrieved = self._guarded("retrieved_ids", partial(read_ids, gaps=True))
        revision = self._revision()
        metadata = self._metadata(kind)
        values["generator"] = self._short("generator") or _named(metadata.get("generator"))
        if self.failed or question is None or answer is None:
            self._records(key or "?", store=False)
            if key is not None:
                self.file.broken.add(key)
            return
        contexts, retrieved = _joined(contexts, retrieved)
        sample = Sample(
            id=key or "?",
            question=question,
            answer=answer,
            contexts=contexts,
            reference=reference,
            metadata=metadata,
            relevant_ids=tuple(dict.fromkeys(relevant)),
            retrieved_ids=retrieved,
            **revision,
            **values,
        )
        if key is None:
            sample = replace(sample, id=f"h-{sample.digest[:16]}")
        at = len(self.file.entries)
        self._records(sample.id, store=True)
        if self.failed:
            self.file.broken.add(sample.id)
        else:
            self.file.entries.insert(at, SampleEntry(self.raw.place, sample))

    # one field

    def _single(self, word: str) -> Found | None:
        """The field for a word; two names with different values are refused."""
        several = self.found.words.get(word, [])
        if len(several) > 1 and word != "answer":
            filled = [found for found in several if not _blank(found.value)]
            several = filled or several[:1]
        if any(found.value != several[0].value for found in several[1:]):
            names = " and ".join(repr(found.field) for found in several)
            choice = f"--map {word}={several[-1].field}"
            self.refuse(word, f"ambiguous: {names} differ; choose with {choice} or --map {word}={several[0].field}")
            self.found.words[word] = []
            self.ambiguous.add(word)
            return None
        if several:
            for found in several:
                self.file.mapping.setdefault(found.field, word)
            return several[0]
        return None

    def _guarded(self, word: str, read: Callable[[Any], Any]) -> Any:
        """The value of a word through a reading function; None when missing or refused."""
        found = self._single(word)
        if found is None or _blank(found.value):
            return None
        try:
            value = read(found.value)
        except Refused as error:
            self.refuse(found.field, str(error))
            return None
        texts = [[context.text, context.id] for context in value] if word == "contexts" else value
        return value if self._checked(found.field, texts, marked=word == "contexts") else None

    def _checked(self, name: str, value: Any, *, marked: bool = False) -> bool:
        """Whether every text inside a value can be stored; warns of marks where asked."""
        for text in texts_inside(value):
            reason = why_refused(text)
            if reason is not None:
                self.refuse(name, reason)
                return False
            for code in marks(text) if marked else ():
                self.warn(code)
        return True

    def _text(self, found: Found) -> str | None:
        value = str(found.value) if _is_whole(found.value) else found.value
        if not isinstance(value, str):
            self.refuse(found.field, f"must be a text, not {str(value)[:40]!r}; put quotes around it")
            return None
        return value if self._checked(found.field, value, marked=True) else None

    def _short(self, word: str) -> str | None:
        found = self._single(word)
        return None if found is None or _blank(found.value) else self._text(found)

    def _question(self) -> str | None:
        found = self._single("question")
        if found is None or found.value is None:
            if "question" not in self.ambiguous:
                self.refuse(found.field if found else "question", MISSING.format(word="question"))
            return None
        text = self._text(found)
        if text is not None and not text.strip():
            self.refuse(found.field, "empty; a sample needs a question")
            return None
        return text

    def _answer(self) -> str | None:
        found = self._single("answer")
        if found is None or found.value is None:
            if "answer" not in self.ambiguous:
                is_set = any(self.found.words.get(word) for word in ("reference", "relevant_ids"))
                message = QUESTION_SET if found is None and is_set else MISSING.format(word="answer")
                self.refuse(found.field if found else "answer", message)
            return None
        text = self._text(found)
        if text is not None and not text.strip():
            self.warn("empty_answer")
        return text

    def _reference(self) -> tuple[str | None, str | None]:
        """The reference and, for a list, what kind of list it was."""
        found = self._single("reference")
        if found is None or found.value is None or (self.raw.cells and not found.value):
            return None, None
        if not isinstance(found.value, list):
            return self._text(found), None
        texts = [str(value) if _is_whole(value) else value for value in found.value]
        if not all(isinstance(text, str) for text in texts):
            self.refuse(found.field, "a list as reference must hold texts; put quotes around each")
            return None, None
        joined = self._text(replace(found, value="\n".join(f"- {text}" for text in texts)))
        return (joined, "alternatives") if texts else (None, None)

    # fields that mislead

    def _set_aside(self) -> None:
        """Contexts that were not retrieved, and addresses, go to metadata or are refused."""
        for name in list(self.found.rest):
            key = normalised(name)
            if key in IDEAL_NAMES:
                self.warn("ideal_context")
            elif key in UNMAPPED_NAMES:
                self.warn("unmapped_label")
        if "contexts" in self.mapping:
            return
        several = self.found.words.get("contexts", [])
        for found in list(several):
            beside = len(several) > 1
            if found.key == "context" and (self.found.has("actualoutput") or self.found.has("retrievalcontext")):
                self.found.drop(found)
                if self.found.has("retrievalcontext"):
                    self.warn("ideal_context")
                else:
                    self.refuse(found.field, IDEAL.format(field=found.field))
            elif found.key == "sources" and beside:
                self.found.drop(found)
            elif found.key == "sources" and not _objects(found.value):
                self.found.drop(found)
                self.refuse(found.field, TWO_WAYS.format(field=found.field))

    def _metadata(self, kind: str | None) -> dict[str, Any]:
        """Everything that stands for nothing, with the file's own `metadata`."""
        metadata = {name: value for name, value in self.found.rest.items() if not (self.raw.cells and value == "")}
        found = self._single("metadata")
        own = found.value if found else None
        if self.raw.cells and isinstance(own, str) and own.strip().startswith("{"):
            try:
                own = loads(own)
            except NotJson as error:
                self.refuse("metadata", str(error))
                return {}
        if isinstance(own, dict):
            for name in own.keys() & metadata.keys():
                if own[name] != metadata[name]:
                    self.refuse(name, "stands beside metadata and inside it with another value; rename one of the two")
            metadata |= own
        elif not _blank(own):
            metadata["metadata"] = own
        if not self._used("annotator") and not _blank(value := self._value("annotator")):
            metadata["annotator"] = value
        if not self._used("judge") and not _blank(value := self._value("judge")):
            metadata["judge"] = value
        if kind is not None:
            metadata.setdefault("reference_kind", kind)
        self._checked("metadata", metadata)
        return metadata

    def _value(self, word: str) -> Any:
        several = self.found.words.get(word, [])
        return several[0].value if several else None

    def _used(self, person: str) -> bool:
        """Whether a column names the giver of a label or verdict of this entry."""
        columns = HUMAN if person == "annotator" else JUDGED
        return any(self.found.words.get(column) for column in columns)

    def _revision(self) -> dict[str, Any]:
        """Number and reason of a later revision, which only our own files have."""
        number, reason = self.found.rest.get("revision"), self.found.rest.get("reason")
        if not _is_whole(number) or number < 2 or not isinstance(reason, str):
            return {}
        del self.found.rest["revision"], self.found.rest["reason"]
        return {"revision": number, "reason": reason}

    # labels and verdicts

    def _records(self, sample: str, *, store: bool) -> None:
        """Read what hangs on the sample; without `store` only for its problems."""
        kept = len(self.file.entries)
        for column, criterion in HUMAN.items():
            self._column(column, criterion, sample)
        for column, criterion in JUDGED.items():
            self._column(column, criterion, sample)
        self._list("labels", read_label, LABEL_KEYS, sample)
        self._list("verdicts", read_verdict, VERDICT_KEYS, sample)
        self._list("reveals", read_reveal, None, sample)
        if not store or self.failed:
            del self.file.entries[kept:]

    def _column(self, column: str, criterion: str, sample: str) -> None:
        found = self._single(column)
        if found is None or is_nothing(found.value):
            return
        human = column in HUMAN
        try:
            value = read_value(BUILT_IN[criterion], found.value, "label" if human else "verdict")
            giver = self._giver("annotator" if human else "judge")
        except NotAValue as error:
            self.refuse(found.field, str(error))
            return
        if found.key in ASSUMED_NAMES:
            self.warn("assumed_human")
        at = self.raw.place
        if human:
            label = Label(sample, criterion, giver, value)
            self.file.entries.append(LabelEntry(at, found.field, label))
        else:
            self.file.entries.append(VerdictEntry(at, found.field, Verdict(sample, criterion, value, judge=giver)))

    def _giver(self, word: str) -> str:
        found = self._single(word)
        if found is None or is_nothing(found.value):
            return IMPORTED
        try:
            return read_id(found.value)
        except Refused as error:
            self.refuse(found.field, str(error))
            return IMPORTED

    def _list(
        self,
        word: str,
        read: Callable[[RawEntry, Record, str], LabelEntry | VerdictEntry | RevealEntry],
        known: set[str] | None,
        sample: str,
    ) -> None:
        found = self._single(word)
        if found is None:
            return
        try:
            records = list(record_list(found.value, found.field, cells=self.raw.cells))
        except FieldRefused as error:
            self.refuse(error.name, str(error))
            return
        for record in records:
            try:
                self.file.entries.append(read(self.raw, record, sample))
            except FieldRefused as error:
                self.refuse(error.name, str(error))
                continue
            if known is not None:
                _note_ignored(self.file, self.raw, record, known)


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _named(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _objects(value: Any) -> bool:
    """Whether sources are passages with text: a list of objects, or nothing at all."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = loads(value)
        except NotJson:
            return False
    return _blank(value) or (isinstance(value, list) and all(isinstance(inner, dict) for inner in value))


def _joined(contexts: Any, retrieved: Any) -> tuple[Any, Any]:
    """Contexts and retrieved ids completed by each other, where they are of one length."""
    if contexts and retrieved and len(contexts) == len(retrieved):
        named = zip(contexts, retrieved, strict=True)
        return tuple(c if c.id is not None else replace(c, id=key) for c, key in named), retrieved
    if retrieved is None and contexts and any(context.id is not None for context in contexts):
        return contexts, tuple(context.id for context in contexts)
    return contexts, retrieved
