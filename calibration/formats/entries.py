"""One entry of a file to a sample with its labels and verdicts, or to a lone label or verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from calibration.formats.attached import note_marks, read_attached
from calibration.formats.contexts import read_contexts, read_id, read_ids
from calibration.formats.fields import Fields, blank, is_whole
from calibration.formats.label_verdict import (
    LABEL_KEYS,
    VERDICT_KEYS,
    FieldRefused,
    Record,
    read_label,
    read_verdict,
)
from calibration.formats.metadata import read_metadata
from calibration.formats.names import match, normalised
from calibration.formats.traps import set_aside
from calibration.records import Context, Sample
from calibration.store.batch import FileRead, LabelEntry, RawEntry, SampleEntry, VerdictEntry

MISSING = "missing; if it has another name, say --map {word}=NAME"
QUESTION_SET = "missing: questions without answers are for evaluate, not for import; or name it with --map answer=NAME"
EITHER = "a line with sample needs either annotator (a label) or judge (a verdict)"


def read_entry(raw: RawEntry, mapping: Mapping[str, str], file: FileRead) -> None:
    """Add what one entry holds to its file: records, warnings, problems, and how its fields were understood."""
    names = {normalised(key) for key in raw.fields} | set(mapping)
    if "sample" in names and not names & {"question", "answer"}:
        _read_lone(raw, file)
    else:
        _read_sample(Fields(raw, match(raw.fields, mapping), mapping, file))


def _read_lone(raw: RawEntry, file: FileRead) -> None:
    """A label or verdict on a line of its own, as `export labels` and `export verdicts` write them."""
    record = Record(raw.fields, cells=raw.cells)
    givers = [key for key in ("annotator", "judge") if record.fields.get(key) is not None]
    label = givers == ["annotator"]
    read: Callable[[RawEntry, Record, str], LabelEntry | VerdictEntry] = read_label if label else read_verdict
    try:
        if len(givers) != 1:
            raise FieldRefused("annotator", EITHER)
        sample = record.name("sample", "")
        if not sample:
            raise FieldRefused("sample", "missing; give the id of a sample")
        file.entries.append(read(raw, record, sample))
    except FieldRefused as error:
        file.problems.append(raw.place.problem(error.name, str(error)))
        return
    for key in record.fields:
        file.mapping.setdefault(key, key)
    note_marks(file, raw, record, LABEL_KEYS if label else VERDICT_KEYS)


def _read_sample(fields: Fields) -> None:
    """A sample and what hangs on it. With a problem nothing is added but its id, among the broken ones."""
    for name in fields.found.twice:
        fields.refuse(name, "stands there twice, apart from case or marks; rename one of the two")
    key = fields.read("id", read_id)
    set_aside(fields)
    sample = _sample(fields, key)
    file = fields.file
    attached = read_attached(fields, "" if sample is None else sample.id)
    if fields.failed or sample is None:
        file.broken.add(key if key is not None else "" if sample is None else sample.id)
        return
    file.entries.append(SampleEntry(fields.raw.place, sample))
    file.entries.extend(attached)


def _sample(fields: Fields, key: str | None) -> Sample | None:
    question = _question(fields)
    contexts = fields.read("contexts", read_contexts)
    answer = _answer(fields)
    reference, kind = _reference(fields)
    relevant = fields.read("relevant_ids", read_ids) or ()
    contexts, retrieved = _joined(contexts, fields.read("retrieved_ids", partial(read_ids, gaps=True)))
    system, group = fields.optional("system"), fields.read("group", read_id)
    failure, generator = fields.optional("failure"), fields.optional("generator")
    revision = _revision(fields)
    metadata = read_metadata(fields, kind)
    if question is None or answer is None:
        return None
    if generator is None and isinstance(metadata.get("generator"), str):
        generator = metadata["generator"]
    sample = Sample(
        id=key or "",
        question=question,
        answer=answer,
        contexts=contexts,
        reference=reference,
        system=system,
        group=group,
        metadata=metadata,
        relevant_ids=tuple(dict.fromkeys(relevant)),
        retrieved_ids=retrieved,
        generator=generator,
        failure=failure,
        **revision,
    )
    if key is None and not fields.failed:
        return replace(sample, id=f"h-{sample.digest[:16]}")
    return sample


def _question(fields: Fields) -> str | None:
    found = fields.single("question")
    if found is None or found.value is None:
        if "question" not in fields.ambiguous:
            fields.refuse(found.field if found else "question", MISSING.format(word="question"))
        return None
    text = fields.text(found)
    if text is not None and not text.strip():
        fields.refuse(found.field, "empty; a sample needs a question")
    return text


def _answer(fields: Fields) -> str | None:
    found = fields.single("answer")
    if found is None or found.value is None:
        if "answer" not in fields.ambiguous:
            is_set = found is None and any(fields.found.words.get(word) for word in ("reference", "relevant_ids"))
            message = QUESTION_SET if is_set else MISSING.format(word="answer")
            fields.refuse(found.field if found else "answer", message)
        return None
    text = fields.text(found)
    if text is not None and not text.strip():
        fields.warn("empty_answer")
    return text


def _reference(fields: Fields) -> tuple[str | None, str | None]:
    """The reference and, for a list, what kind of list it was: one a line, marked with a dash."""
    found = fields.single("reference")
    if found is None or found.value is None or (fields.raw.cells and not found.value):
        return None, None
    if not isinstance(found.value, list):
        return fields.text(found), None
    texts = [str(value) if is_whole(value) else value for value in found.value]
    if not all(isinstance(text, str) for text in texts):
        fields.refuse(found.field, "a list as reference must hold texts; put quotes around each")
        return None, None
    joined = fields.text(replace(found, value="\n".join(f"- {text}" for text in texts)))
    return (joined, "alternatives") if texts else (None, None)


def _revision(fields: Fields) -> dict[str, Any]:
    """Number and reason of a later revision, which only our own files have."""
    rest = fields.found.rest
    number, reason = rest.get("revision"), rest.get("reason")
    if not isinstance(number, int) or number < 2 or blank(reason) or not isinstance(reason, str):
        return {}
    del rest["revision"], rest["reason"]
    return {"revision": number, "reason": reason}


Contexts = tuple[Context, ...] | None
Ids = tuple[str | None, ...] | None


def _joined(contexts: Contexts, retrieved: Ids) -> tuple[Contexts, Ids]:
    """Contexts and retrieved ids completed by each other, where they are of one length."""
    if contexts and retrieved and len(contexts) == len(retrieved):
        named = zip(contexts, retrieved, strict=True)
        return tuple(c if c.id is not None else replace(c, id=key) for c, key in named), retrieved
    if retrieved is None and contexts and any(context.id is not None for context in contexts):
        return contexts, tuple(context.id for context in contexts)
    return contexts, retrieved
