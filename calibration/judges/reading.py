"""A response as a reply to store and a verdict to record. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from calibration.criteria import Criterion
from calibration.judges.body import SHOWN, body_of, error_text, mapping_in, usage_of
from calibration.judges.parse import parse_reply
from calibration.judges.plan import Job
from calibration.judges.request import Request, Response, model_name
from calibration.judges.retry import Next, Step, next_step
from calibration.records import Reply, Verdict, VerdictStatus

HINTS = {
    "truncated": "raise the limit: --param max_tokens=4096",
    "reasoning_only": "the model spends its tokens on reasoning: raise --param max_tokens=4096",
    "empty": "raise the limit: --param max_tokens=4096, or try another model",
    "prompt_truncated": "the server cuts the prompt: raise its context length",
    "content_filter": "the provider's filter blocks these samples: try another model",
    "refusal": "the model refuses the task: look at the prompt",
}
DEFAULT_HINT = "the prompt should ask for one JSON object and nothing else; look at the reply and at the prompt"
ERROR_HINT = "look at the endpoint's message, the model and every --param"


def _text(value: Any, key: str) -> str | None:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found.encode("utf-8", "replace").decode() if isinstance(found, str) else None


def reply_of(request: Request, response: Response, tries: int) -> Reply:
    """What is stored of a response: the raw body and what it cost."""
    body = body_of(response.body)
    served = _text(body, "model")
    return Reply(
        digest=request.digest,
        body=response.body,
        usage=usage_of(body),
        latency=response.latency,
        tries=tries,
        model_served=None if served is None else model_name(served),
        fingerprint=_text(body, "system_fingerprint"),
    )


def verdict_of(criterion: Criterion, job: Job, reply: Reply, characters: int) -> Verdict:
    """The verdict that a stored reply gives for the first sample of a job. `characters` is the prompt's length."""
    blank = _blank(criterion, job)
    found = next_step(Response(200, reply.body))
    if found.step is Step.FAILED:
        reason = error_text(Response(400, reply.body))
        return replace(blank, status=VerdictStatus.FAILED, error=found.code, reason=reason, reply=reply.digest)
    parsed = parse_reply(body_of(reply.body), criterion, min_prompt_tokens=characters // 8)
    return replace(
        blank,
        value=parsed.value,
        status=VerdictStatus(parsed.status),
        score=parsed.score,
        reason=parsed.reason or "",
        error=parsed.error,
        repair=tuple(parsed.repair),
        reply=reply.digest,
    )


def error_of(criterion: Criterion, job: Job, found: Next, response: Response) -> Verdict:
    """The verdict of a call that was never answered."""
    reason = error_text(response)
    return replace(_blank(criterion, job), status=VerdictStatus.ERROR, error=found.code, reason=reason)


def _blank(criterion: Criterion, job: Job) -> Verdict:
    sample = job.samples[0]
    return Verdict(
        sample=sample.id, criterion=criterion.name, value=None, attempt=job.attempt, inputs=criterion.inputs(sample)
    )


def hint(code: str) -> str:
    """The likely fix for replies that all fail with this code."""
    return HINTS.get(code, ERROR_HINT if code.startswith(("http_", "provider_")) else DEFAULT_HINT)


def shown(response: Response) -> str:
    """The text of a reply, or the message of an error, in one line for a terminal."""
    if response.status != 200:
        return error_text(response)
    choices = _list(body_of(response.body), "choices")
    text = _text(mapping_in(choices[0], "message"), "content") if choices else None
    line = " ".join((response.body if text is None else text).split())
    return "".join(letter for letter in line if letter.isprintable())[:SHOWN] or "an empty reply"


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else []
