"""What the store holds as records that `import` reads back: one dictionary a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from calibration.records import Label, Reveal, Sample, Verdict
from calibration.store import Store

Line = dict[str, Any]


def sample_record(sample: Sample) -> Line:
    """A sample; what it does not have is left out."""
    retrieved = None if sample.retrieved_ids is None else list(sample.retrieved_ids)
    found = {
        "id": sample.id,
        "question": sample.question,
        "contexts": None if sample.context_texts is None else list(sample.context_texts),
        "reference": sample.reference,
        "answer": sample.answer,
        "system": sample.system,
        "group": sample.group,
        "relevant_ids": list(sample.relevant_ids) or None,
        "retrieved_ids": retrieved,
        "generator": sample.generator,
        "failure": sample.failure,
        "metadata": dict(sample.metadata) or None,
        "revision": sample.revision if sample.revision > 1 else None,
        "reason": sample.reason,
    }
    return _filled(found)


def label_record(label: Label) -> Line:
    """A label without its sample: what it says, then the keys of history."""
    said = {
        "annotator": label.annotator,
        "criterion": label.criterion,
        "value": label.value,
        "note": label.note,
        "event_id": label.event_id,
        "mode": str(label.mode),
        "status": str(label.status),
        "time": label.time,
    }
    more = {"part": label.part or None, "guideline": label.guideline, "seconds": label.seconds}
    return said | _filled(more | {"evidence": label.evidence})


def verdict_record(verdict: Verdict, run: str, body: str | None) -> Line:
    """A verdict without its sample; `reply` is the raw body that the model sent."""
    return {
        "judge": verdict.judge,
        "criterion": verdict.criterion,
        "part": verdict.part,
        "repeat": verdict.repeat,
        "attempt": verdict.attempt,
        "value": verdict.value,
        "score": verdict.score,
        "status": str(verdict.status),
        "error": verdict.error,
        "repair": list(verdict.repair),
        "reason": verdict.reason,
        "reply": body,
        "run": run,
        "time": verdict.time,
    }


def reveal_record(reveal: Reveal) -> Line:
    """A reveal without its sample."""
    found = {"annotator": reveal.annotator, "criterion": reveal.criterion, "judge": reveal.judge}
    return _filled(found | {"how": reveal.how, "time": reveal.time})


def samples(store: Store) -> Iterator[Line]:
    """Current revisions in the order of arrival."""
    return (sample_record(sample) for sample in store.iter_samples())


def labels(store: Store) -> Iterator[Line]:
    """Every label event in the order of arrival."""
    return ({"sample": label.sample} | label_record(label) for label in store.label_events())


def verdicts(store: Store) -> Iterator[Line]:
    """Every verdict, oldest run first."""
    for verdict, run, body in store.all_verdicts():
        yield {"sample": verdict.sample} | verdict_record(verdict, run, body)


def decisions(store: Store) -> Iterator[Line]:
    """Every decision, oldest first, with what is needed to compute it again."""
    for decision in store.decisions():
        yield {
            "id": decision.id,
            "judge": decision.judge,
            "criterion": decision.criterion,
            "outcome": str(decision.outcome),
            "time": decision.time,
            "record": dict(decision.record),
        }


def everything(store: Store) -> Iterator[Line]:
    """Samples with their labels, verdicts and reveals inside."""
    inside: dict[str, dict[str, list[Line]]] = {}
    for label in store.label_events():
        _add(inside, label.sample, "labels", label_record(label))
    for verdict, run, body in store.all_verdicts():
        _add(inside, verdict.sample, "verdicts", verdict_record(verdict, run, body))
    for reveal in store.reveals():
        _add(inside, reveal.sample, "reveals", reveal_record(reveal))
    for sample in store.iter_samples():
        yield sample_record(sample) | inside.get(sample.id, {})


def _add(inside: dict[str, dict[str, list[Line]]], sample: str, kind: str, record: Line) -> None:
    inside.setdefault(sample, {}).setdefault(kind, []).append(record)


def _filled(record: Line) -> Line:
    return {key: value for key, value in record.items() if value is not None}


KINDS: dict[str, Callable[[Store], Iterator[Line]]] = {
    "samples": samples,
    "labels": labels,
    "verdicts": verdicts,
    "decisions": decisions,
    "all": everything,
}
