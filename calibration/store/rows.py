"""Rows of the database to records and back: the only place that knows both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from calibration.records import Context, Decision, Judge, Label, Prompt, Reply, Sample, Verdict

Row = Mapping[str, Any]


def to_json(value: Any) -> str:
    """JSON text for a column."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def sample_row(sample: Sample, source: int | None, time: str) -> dict[str, Any]:
    """The columns of one revision of a sample."""
    contexts = None if sample.contexts is None else to_json([[c.text, c.id] for c in sample.contexts])
    return {
        "id": sample.id,
        "revision": sample.revision,
        "digest": sample.digest,
        "question": sample.question,
        "contexts": contexts,
        "reference": sample.reference,
        "answer": sample.answer,
        "system": sample.system,
        "group_name": sample.group,
        "metadata": to_json(dict(sample.metadata)),
        "retrieved_ids": None if sample.retrieved_ids is None else to_json(sample.retrieved_ids),
        "generator": sample.generator,
        "failure": sample.failure,
        "reason": sample.reason,
        "source": source,
        "time": time,
    }


def row_sample(row: Row, relevant_ids: tuple[str, ...] = ()) -> Sample:
    """A sample from its row."""
    contexts = row["contexts"]
    retrieved = row["retrieved_ids"]
    return Sample(
        id=row["id"],
        question=row["question"],
        answer=row["answer"],
        contexts=None if contexts is None else tuple(Context(text, key) for text, key in json.loads(contexts)),
        reference=row["reference"],
        system=row["system"],
        group=row["group_name"],
        metadata=json.loads(row["metadata"]),
        relevant_ids=relevant_ids,
        retrieved_ids=None if retrieved is None else tuple(json.loads(retrieved)),
        generator=row["generator"],
        failure=row["failure"],
        revision=row["revision"],
        reason=row["reason"],
    )


def row_label(row: Row) -> Label:
    """A label from its row (with the text of its note joined as `note`)."""
    return Label(
        sample=row["sample"],
        criterion=row["criterion"],
        annotator=row["annotator"],
        value=row["value"],
        status=row["status"],
        mode=row["mode"],
        part=row["part"],
        note=row["note"] or "",
        guideline=row["guideline"],
        seconds=row["seconds"],
        evidence=row["evidence"],
        time=row["time"],
        event_id=row["event_id"],
        assignment=row["assignment"],
        inputs=row["inputs"],
        seq=row["seq"],
    )


def verdict_row(verdict: Verdict, run: int, time: str) -> dict[str, Any]:
    """The columns of one verdict of a run."""
    return {
        "run": run,
        "sample": verdict.sample,
        "criterion": verdict.criterion,
        "part": verdict.part,
        "repeat": verdict.repeat,
        "attempt": verdict.attempt,
        "inputs": verdict.inputs,
        "value": None if verdict.value is None else str(verdict.value),
        "score": verdict.score,
        "reason": verdict.reason,
        "status": str(verdict.status),
        "error": verdict.error,
        "repair": to_json(list(verdict.repair)),
        "reply": verdict.reply,
        "time": verdict.time or time,
    }


def row_verdict(row: Row, judge: str) -> Verdict:
    """A verdict from its row; `judge` is the judge's name."""
    return Verdict(
        sample=row["sample"],
        criterion=row["criterion"],
        value=row["value"],
        status=row["status"],
        reason=row["reason"],
        score=row["score"],
        error=row["error"],
        repair=tuple(json.loads(row["repair"])),
        part=row["part"],
        repeat=row["repeat"],
        attempt=row["attempt"],
        judge=judge,
        run=row["run"],
        inputs=row["inputs"],
        reply=row["reply"],
        time=row["time"],
    )


def row_prompt(row: Row) -> Prompt:
    """A prompt version from prompts joined with prompt_names."""
    return Prompt(
        name=row["name"],
        version=row["version"],
        criterion=row["criterion"],
        system=row["system"],
        user=row["user"],
        parent=row["parent"],
        note=row["note"],
        author=row["author"],
        created=row["created"],
        examples=tuple(json.loads(row["examples"])),
        unfenced=bool(row["unfenced"]),
        digest=row["digest"],
        registered_at=row["registered_at"],
    )


def row_judge(row: Row) -> Judge:
    """A judge from its row."""
    return Judge(
        kind=row["kind"],
        name=row["name"],
        criterion=row["criterion"],
        prompt=row["prompt"],
        model=row["model"],
        host=row["host"],
        params=json.loads(row["params"]),
        time=row["time"],
    )


def row_reply(row: Row) -> Reply:
    """A reply from its row."""
    return Reply(
        digest=row["digest"],
        body=row["body"],
        usage=json.loads(row["usage"]),
        latency=row["latency"],
        tries=row["tries"],
        model_served=row["model_served"],
        fingerprint=row["fingerprint"],
        time=row["time"],
    )


def row_decision(row: Row) -> Decision:
    """A decision from its row."""
    return Decision(
        id=row["id"],
        judge=row["judge"],
        criterion=row["criterion"],
        outcome=row["outcome"],
        record=json.loads(row["record"]),
        time=row["time"],
    )
