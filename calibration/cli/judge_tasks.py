"""The judges of one command: what each will ask, the question before it starts, and the runs one after another."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from calibration.cli.judge_prompts import Chosen, choose_prompt
from calibration.cli.judge_screen import announced, progress_bar
from calibration.criteria import BUILT_IN, Criterion, criterion_named
from calibration.errors import EndpointError, InputError
from calibration.judges.client import OpenAIClient, host_of
from calibration.judges.plan import estimate, make_plan, own_answers
from calibration.judges.prices import load_prices
from calibration.judges.probe import MAX_PROBES, SAMPLE, Probed, probe, same_wish
from calibration.judges.progress import RunResult
from calibration.judges.request import default_params, model_name
from calibration.judges.runner import require_price, run, run_lexical
from calibration.prompts import output_schema, render
from calibration.records import Judge, JudgeKind, Sample, VerdictStatus

if TYPE_CHECKING:
    from calibration.store import Store


@dataclass(frozen=True)
class Options:
    """The options of one command; `params` are JSON values."""

    model: str
    base_url: str
    api_key_env: str
    params: dict[str, Any]
    limit: int | None
    max_concurrency: int
    max_calls: int | None
    max_cost: float | None
    retry_failed: bool
    allow_default_temperature: bool
    allow_same_model: bool
    criterion: str | None
    name: str | None
    yes: bool
    as_json: bool


@dataclass(frozen=True)
class Task:
    """One judge to run. `judge` has the rung of an earlier run when `known`, else the form that is asked for first."""

    chosen: Chosen
    judge: Judge
    known: bool
    criterion: Criterion
    samples: tuple[Sample, ...]
    flags: tuple[str, ...]
    calls: int


def make_tasks(words: Sequence[str], store: Store, samples: Sequence[Sample], options: Options) -> list[Task]:
    """The judges meant by the words, announced. Stores nothing. Raises InputError for what cannot be run."""
    prices = load_prices()
    tasks = []
    for word in words:
        chosen = choose_prompt(word, store, criterion=options.criterion, name=options.name)
        criterion = criterion_named(chosen.prompt.criterion)
        asked = _asked(samples, criterion, options)
        flags = _flags(asked, options)
        judge, known = _judge(chosen, store, options)
        require_price(options.max_cost, judge.model, prices)
        plan = make_plan(judge, asked, criterion, store, retry_failed=options.retry_failed)
        expected = estimate(plan, judge, chosen.prompt, store)
        click.echo(announced(judge.name, expected, judge.model or "", prices), err=True)
        tasks.append(Task(chosen, judge, known, criterion, asked, flags, expected.calls))
    return tasks


def _asked(samples: Sequence[Sample], criterion: Criterion, options: Options) -> tuple[Sample, ...]:
    """The samples to ask, with those that the criterion does not apply to unless there is a limit."""
    asked = [sample for sample in samples if criterion.missing(sample) is None][: options.limit]
    if not asked:
        needed = " and ".join(criterion.optional_reads)
        raise InputError(f"{criterion.name} applies to no sample: none has {needed}; import samples that do")
    return tuple(samples) if options.limit is None else tuple(asked)


def _flags(asked: Sequence[Sample], options: Options) -> tuple[str, ...]:
    own = own_answers(options.model, asked)
    if own and not options.allow_same_model:
        raise InputError(
            f"{model_name(options.model)} wrote {own} of these answers, and a model favours its own; judge with "
            "another model, or add --allow-same-model, which then stands in every decision"
        )
    return ("same_model",) if own else ()


def _judge(chosen: Chosen, store: Store, options: Options) -> tuple[Judge, bool]:
    """The judge, with the rung of an earlier run that was answered, if there is one."""
    prompt, model = chosen.prompt, model_name(options.model)
    wanted = Judge(
        kind=JudgeKind.LLM,
        name=f"{prompt.label}@{model}",
        criterion=prompt.criterion,
        prompt=prompt.digest,
        model=model,
        host=host_of(options.base_url),
        params=default_params(options.params),
    )
    allow = options.allow_default_temperature
    for held in reversed(store.judges(prompt.criterion)):
        same = (held.kind, held.prompt, held.model, held.host) == (wanted.kind, wanted.prompt, model, wanted.host)
        if same and same_wish(held.params, wanted.params, allow_default_temperature=allow) and _answered(held, store):
            return held, True
    return wanted, False


def _answered(judge: Judge, store: Store) -> bool:
    return any(verdict.status != VerdictStatus.ERROR for verdict in store.standing(judge.digest).values())


def run_tasks(tasks: Sequence[Task], store: Store, samples: Sequence[Sample], options: Options) -> list[RunResult]:
    """Ask once, then run the judges one after another; the limits hold for all of them together."""
    calls = sum(task.calls for task in tasks)
    if calls and not options.yes and sys.stdin.isatty():
        click.confirm("Start?", default=True, abort=True, err=True)
    results: list[RunResult] = []
    for task in tasks:
        if results and _too_few_calls(task, options, results):
            click.echo(f"{task.judge.name}: not started, the limit on calls is reached", err=True)
            break
        result = _run_task(task, store, options, results)
        results.append(result)
        if result.stop is not None:
            break
    for name in dict.fromkeys(task.criterion.name for task in tasks[: len(results)]):
        baseline = run_lexical(samples, criterion_named(name), store)
        click.echo(f"baseline {baseline.judge.name} for {name}: {baseline.progress.done} verdicts, no call", err=True)
    return results


def _too_few_calls(task: Task, options: Options, before: Sequence[RunResult]) -> bool:
    """Whether --max-calls leaves too little to start another judge."""
    left = _left(options.max_calls, sum(result.progress.calls for result in before))
    return left is not None and task.calls > 0 and left < (1 if task.known else MAX_PROBES)


def _run_task(task: Task, store: Store, options: Options, before: Sequence[RunResult]) -> RunResult:
    client = OpenAIClient(options.model, base_url=options.base_url, api_key_env=options.api_key_env)
    prices = load_prices()
    calls = _left(options.max_calls, sum(result.progress.calls for result in before))
    cost = _left(options.max_cost, sum(result.progress.cost or 0.0 for result in before))
    judge, found = task.judge, None
    if task.calls and not task.known:
        found = _probed(task, client, options, calls)
        judge = Judge(**{**vars(judge), "params": found.params})
        cost = _left(cost, prices.cost(judge.model, found.usage) or 0.0)
    prompt = task.chosen.register(store)

    def start(pause_on_alike: bool, sent: int) -> RunResult:
        with progress_bar(judge.name) as show:
            return run(
                judge,
                task.samples,
                client=client,
                store=store,
                prompt=prompt,
                max_concurrency=options.max_concurrency,
                max_calls=calls,
                max_cost=cost,
                retry_failed=options.retry_failed,
                pause_on_alike=pause_on_alike,
                warmed=found is not None,
                sent=sent,
                flags=task.flags,
                prices=prices,
                on_progress=show,
            )

    result = start(not options.yes, found.calls if found else 0)
    if result.stop == "alike" and sys.stdin.isatty():
        click.echo(result.message, err=True)
        if click.confirm("Go on?", default=False, err=True):
            result = start(False, result.progress.calls)
    return result


def _left(limit: Any, used: Any) -> Any:
    return None if limit is None else max(limit - used, 0)


def _probed(task: Task, client: OpenAIClient, options: Options, calls: int | None) -> Probed:
    """The form the endpoint accepts. Its errors name the address."""
    try:
        return probe(
            client,
            messages=render(task.chosen.prompt, SAMPLE),
            name=task.criterion.name,
            schema=output_schema(task.criterion),
            params=task.judge.params,
            allow_default_temperature=options.allow_default_temperature,
            max_calls=calls,
        )
    except EndpointError as error:
        raise EndpointError(f"{options.base_url}: {error}") from None


def baselines(store: Store, samples: Sequence[Sample]) -> list[RunResult]:
    """The lexical baseline of every criterion that some sample allows."""
    usable = [c for c in BUILT_IN.values() if any(c.missing(sample) is None for sample in samples)]
    return [run_lexical(samples, criterion, store) for criterion in usable]
