"""What of a batch is new, what is there already and what contradicts it. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from calibration.criteria import BUILT_IN
from calibration.errors import Problem
from calibration.records import Judge, JudgeKind, Label, LabelStatus, Reveal, Sample, Verdict
from calibration.store.batch import (
    Batch,
    FileRead,
    LabelEntry,
    Place,
    RevealEntry,
    SampleEntry,
    VerdictEntry,
    Warned,
)
from calibration.store.labels import label_event_id
from calibration.store.rows import to_json
from calibration.store.stored import LabelKey, Stored, label_key, said, verdict_key

CONTENT = ("question", "contexts", "reference", "answer", "system")
EVENT = ("sample", "criterion", "part", "annotator", "mode", "status", "value")
RunKey = tuple[str, str]  # judge digest, name of the run in the file


@dataclass
class NewRun:
    """One judge of one file with the verdicts that are new."""

    judge: Judge
    name: str
    verdicts: list[Verdict] = field(default_factory=list)


@dataclass
class NewFile:
    """What one file adds. `same` says that nothing of it is looked at: it was imported before."""

    file: FileRead
    same: bool = False
    samples: list[Sample] = field(default_factory=list)
    relevant: dict[str, tuple[str, ...]] = field(default_factory=dict)
    labels: list[tuple[Label, int]] = field(default_factory=list)
    runs: dict[RunKey, NewRun] = field(default_factory=dict)
    reveals: list[Reveal] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How much is new, by kind."""
        verdicts = sum(len(run.verdicts) for run in self.runs.values())
        return {"samples": len(self.samples), "labels": len(self.labels), "verdicts": verdicts}


def source_key(file: FileRead) -> tuple[str, str, str]:
    """The same bytes read in the same way."""
    return (file.sha256, file.form, to_json(file.mapping))


class Checks:
    """Goes through a batch in the order of arrival, against what is stored and what came before in the command."""

    def __init__(self, batch: Batch, stored: Stored) -> None:
        self.batch, self.stored = batch, stored
        self.files = [NewFile(file) for file in batch.files]
        self.warnings = [file.warnings.copy() for file in batch.files]
        self.found: list[list[Problem]] = [list(file.problems) for file in batch.files]
        self._samples: dict[str, tuple[Sample, Place | None]] = {
            key: (revisions[-1], None) for key, revisions in stored.revisions.items()
        }
        self._contents = dict(stored.contents)
        self._labels: dict[LabelKey, Label] = dict(stored.labels)
        self._events: dict[str, Label] = dict(stored.events)
        self._slots: dict[tuple[int, RunKey, object], Verdict] = {}
        self._broken = {key for file in batch.files for key in file.broken}

    def run(self) -> None:
        """Check everything."""
        seen = set(self.stored.sources)
        for number, (new, file) in enumerate(zip(self.files, self.batch.files, strict=True)):
            if not file.problems and source_key(file) in seen:
                new.same = True
                self.warnings[number] = type(file.warnings)(file.name)
                self.warnings[number].add("same_file")
                continue
            seen.add(source_key(file))
            for entry in file.entries:
                if isinstance(entry, SampleEntry):
                    self._sample(number, entry)
                elif isinstance(entry, LabelEntry):
                    self._label(number, entry)
                elif isinstance(entry, VerdictEntry):
                    self._verdict(number, entry)
                else:
                    self._reveal(number, entry)

    @property
    def problems(self) -> list[Problem]:
        """Every problem, in file order and there by line."""
        return [p for found in self.found for p in sorted(found, key=lambda problem: problem.line or 0)]

    @property
    def warned(self) -> tuple[Warned, ...]:
        """The warnings in file order."""
        return tuple(warned for warnings in self.warnings for warned in warnings.listed())

    def _refuse(self, number: int, place: Place, name: str, message: str) -> None:
        self.found[number].append(place.problem(name, message))

    def _warn(self, number: int, code: str, place: Place) -> None:
        self.warnings[number].add(code, place.line)

    # samples

    def _sample(self, number: int, entry: SampleEntry) -> None:
        sample, place = entry.sample, entry.place
        known = self._samples.get(sample.id)
        if known is None:
            if sample.revision > 1:
                message = f"revision {sample.revision} of sample {sample.id!r}, whose earlier revisions are not here"
                self._refuse(number, place, "revision", message)
                self._broken.add(sample.id)
                return
            if self._contents.setdefault(sample.digest, sample.id) != sample.id:
                self._warn(number, "same_content", place)
            self._samples[sample.id] = (sample, place)
            self.files[number].samples.append(sample)
        elif known[0].digest == sample.digest:
            self._warn(number, "same_sample", place)
            held = self.files[number].relevant.get(sample.id, ())
            self.files[number].relevant[sample.id] = (*held, *sample.relevant_ids)
        else:
            self._refuse(number, place, "id", _conflict(sample, *known, place))

    def _on(self, number: int, entry: LabelEntry | VerdictEntry | RevealEntry, key: str) -> Sample | None:
        """The sample a record is about, in the revision it names; None when that is a problem."""
        known = self._samples.get(key)
        if known is None:
            if key not in self._broken:
                message = f"unknown sample {key!r}; import the sample first, or in the same command before this file"
                self._refuse(number, entry.place, "sample", message)
            return None
        wanted = None if isinstance(entry, RevealEntry) else entry.revision
        if wanted is None or wanted == known[0].revision:
            return known[0]
        older = [sample for sample in self.stored.revisions.get(key, []) if sample.revision == wanted]
        if not older:
            self._refuse(number, entry.place, "revision", f"sample {key!r} has no revision {wanted}")
        return older[0] if older else None

    # labels

    def _label(self, number: int, entry: LabelEntry) -> None:
        sample = self._on(number, entry, entry.label.sample)
        if sample is None:
            return
        label = replace(entry.label, inputs=BUILT_IN[entry.label.criterion].inputs(sample))
        if label.guideline is not None and label.guideline not in self.stored.guidelines:
            self._warn(number, "unknown_guideline", entry.place)
            label = replace(label, guideline=None)
        event, key = label.event_id or label_event_id(label), label_key(label)
        held = self._events.get(event)
        if held is not None:
            if label.event_id and not _same_event(held, label):
                name = entry.field.removesuffix("value") + "event_id"
                self._refuse(number, entry.place, name, f"event {event!r} is already used with other content")
            return
        current = self._labels.get(key)
        if not label.event_id and current is not None:
            if current.value != label.value:
                self._refuse(number, entry.place, entry.field, _second(label, current.value))
                return
            if current.note == label.note:
                return
        self._events[event] = label
        if label.status == LabelStatus.LABELLED:
            self._labels[key] = label
        else:
            self._labels.pop(key, None)
        self.files[number].labels.append((label, sample.revision))

    # verdicts

    def _verdict(self, number: int, entry: VerdictEntry) -> None:
        sample = self._on(number, entry, entry.verdict.sample)
        if sample is None:
            return
        verdict = replace(entry.verdict, inputs=BUILT_IN[entry.verdict.criterion].inputs(sample))
        params: Mapping[str, float] = {} if entry.threshold is None else {"threshold": entry.threshold}
        judge = Judge(JudgeKind.IMPORTED, verdict.judge, verdict.criterion, params=params)
        run, slot = (judge.digest, entry.run), verdict_key(verdict)
        earlier = self._slots.setdefault((number, run, slot), verdict)
        if earlier is not verdict:
            if said(earlier) != said(verdict):
                message = f"second value by {verdict.judge} for this sample: {verdict.value} after {earlier.value}"
                self._refuse(number, entry.place, entry.field, f"{message}; keep one, or name their runs with run")
            return
        stored = self.stored.verdicts.get(slot, [])
        stored = [one for one in stored if one.run == entry.run] if entry.run else stored[-1:]
        if any(said(one.verdict) == said(verdict) and one.verdict.inputs == verdict.inputs for one in stored):
            return
        self.files[number].runs.setdefault(run, NewRun(judge, entry.run)).verdicts.append(verdict)

    def _reveal(self, number: int, entry: RevealEntry) -> None:
        if self._on(number, entry, entry.reveal.sample) is not None:
            self.files[number].reveals.append(entry.reveal)


def _conflict(sample: Sample, other: Sample, where: Place | None, place: Place) -> str:
    new, old = sample.fields(CONTENT), other.fields(CONTENT)
    name = next(name for name in CONTENT if new[name] != old[name])
    at = "already stored" if where is None else f"already used {where.seen_from(place)}"
    return (
        f"id {sample.id!r} {at} with another {name}; another sample needs another id; "
        f"correcting a stored one (samples revise {sample.id}) comes with a later version"
    )


def _second(label: Label, value: str | None) -> str:
    return (
        f"second value by {label.annotator} for {label.criterion} of sample {label.sample!r}: {label.value} after "
        f"{value}; keep one, or give each label an event_id, the newest then counts"
    )


def _same_event(held: Label, label: Label) -> bool:
    """A note that was erased can no longer be told apart."""
    same = all(str(getattr(held, name)) == str(getattr(label, name)) for name in EVENT)
    return same and (held.note == label.note or not held.note)
