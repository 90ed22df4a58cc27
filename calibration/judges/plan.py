"""What a run has to ask: samples grouped by request digest, with what already stands left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.criteria import Criterion
from calibration.digest import digest
from calibration.errors import InputError
from calibration.judges.request import Request, model_name, request_digest
from calibration.prompts import output_schema, render
from calibration.records import Judge, Prompt, Reply, Sample, Verdict, VerdictStatus

if TYPE_CHECKING:
    from calibration.store import Store

CHUNK = 500


@dataclass(frozen=True)
class Job:
    """One request: samples that read the same share it, so that it is sent once."""

    digest: str
    attempt: int
    samples: tuple[Sample, ...]

    def request(self, judge: Judge, prompt: Prompt, criterion: Criterion) -> Request:
        """The request with its texts, made just before it is sent."""
        messages = render(prompt, self.samples[0])
        return Request(self.digest, messages, judge.params, criterion.name, output_schema(criterion))


@dataclass(frozen=True)
class Plan:
    """`jobs` are still to be asked or looked up; `standing` is the newest verdict of each sample that has one."""

    criterion: Criterion
    samples: tuple[Sample, ...]
    jobs: tuple[Job, ...]
    standing: Mapping[str, Verdict]
    not_applicable: int

    @property
    def sample_set(self) -> str:
        """Identity of the samples that are judged."""
        return digest(sorted(sample.digest for sample in self.samples))


def make_plan(
    judge: Judge, samples: Iterable[Sample], criterion: Criterion, store: Store, *, retry_failed: bool = False
) -> Plan:
    """Reads what the judge said before and stores nothing.

    A verdict of the newest run over the same samples stands. One of another run is looked up again under its own
    attempt, so that a sample asked twice keeps its second answer. An error is asked again as attempt + 1.
    """
    every = list(samples)
    applicable = tuple(sample for sample in every if criterion.missing(sample) is None)
    plan = Plan(criterion, applicable, (), {}, len(every) - len(applicable))
    runs = store.runs(judge.digest)
    here = runs[-1].id if runs and runs[-1].sample_set == plan.sample_set else None
    known = store.standing(judge.digest)
    standing: dict[str, Verdict] = {}
    groups: dict[tuple[str, int], list[Sample]] = {}
    for sample in applicable:
        inputs, held = criterion.inputs(sample), known.get(sample.id)
        in_run = held is not None and held.run is not None and held.run == here
        if held is not None and in_run and held.inputs == inputs:
            standing[sample.id] = held
            if not _asked_again(held, retry_failed):
                continue
        attempt = _attempt(held, inputs, in_run, retry_failed)
        groups.setdefault((request_digest(judge, inputs, attempt=attempt), attempt), []).append(sample)
    jobs = tuple(Job(key, attempt, tuple(group)) for (key, attempt), group in groups.items())
    return Plan(criterion, applicable, jobs, standing, plan.not_applicable)


def _asked_again(held: Verdict, retry_failed: bool) -> bool:
    return held.status == VerdictStatus.ERROR or (retry_failed and held.status == VerdictStatus.FAILED)


def _attempt(held: Verdict | None, inputs: str, in_run: bool, retry_failed: bool) -> int:
    if held is None:
        return 0
    if held.inputs != inputs:
        return held.attempt + 1 if in_run else 0
    return held.attempt + 1 if _asked_again(held, retry_failed) else held.attempt


def looked_up(jobs: Iterable[Job], store: Store) -> Iterator[tuple[Job, Reply | None]]:
    """Each job with its stored reply, read in chunks."""
    waiting = list(jobs)
    for at in range(0, len(waiting), CHUNK):
        chunk = waiting[at : at + CHUNK]
        held = store.replies([job.digest for job in chunk])
        for job in chunk:
            yield job, held.get(job.digest)


@dataclass(frozen=True)
class Estimate:
    """What is left to pay for. `calls` are requests without a stored reply, `tokens` a rough count of their input."""

    calls: int
    tokens: int


def estimate(plan: Plan, judge: Judge, prompt: Prompt, store: Store) -> Estimate:
    """Calls and input tokens of a plan, at four characters a token."""
    calls = characters = 0
    for job, reply in looked_up(plan.jobs, store):
        if reply is None:
            calls += 1
            messages = job.request(judge, prompt, plan.criterion).messages
            characters += sum(len(message["content"]) for message in messages)
    return Estimate(calls, characters // 4)


def own_answers(model: str, samples: Iterable[Sample]) -> int:
    """How many of the answers the judge's own model wrote: a model favours its own."""
    name = model_name(model)
    return sum(sample.generator is not None and model_name(sample.generator) == name for sample in samples)


def refuse_secret(params: Iterable[str]) -> None:
    """Raises InputError for a parameter that the tool sets itself or that would store a key."""
    own = ("model", "messages", "response_format", "max_completion_tokens", "stream", "n", "tools")
    secret = ("key", "token", "secret", "authorization", "password", "headers")
    for name in params:
        if name in own:
            raise InputError(f"--param {name} is set by the tool itself; leave it out")
        if name.lower().replace("-", "_").split("_")[-1] in secret:
            raise InputError(f"--param {name} looks like a key; put it into a variable named with --api-key-env")
