"""What the command `judge` shows: what a run will take, how far it is, and how it ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import click

from calibration.judges.plan import Estimate
from calibration.judges.prices import Prices
from calibration.judges.progress import Progress, RunResult

REPLY_TOKENS = 150
Show = Callable[[Progress], None]


def announced(judge: str, found: Estimate, model: str, prices: Prices) -> str:
    """One line on the calls, tokens and cost to come."""
    if not found.calls:
        return f"{judge}: everything is answered, no call"
    written = REPLY_TOKENS * found.calls
    cost = prices.cost(model, {"prompt_tokens": found.tokens, "completion_tokens": written})
    price = "cost unknown" if cost is None else f"cost about ${cost:.2g} (prices of {prices.date})"
    calls = "1 call" if found.calls == 1 else f"{found.calls:,} calls"
    return f"{judge}: {calls}, about {found.tokens:,} tokens in and {written:,} out, {price}"


def codes(counts: Mapping[str, int]) -> str:
    """Counts by code, the most frequent first: `not_json 2, truncated 1`."""
    return ", ".join(f"{code} {n}" for code, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def summary(result: RunResult) -> str:
    """How a run ended, in a few lines."""
    found = result.progress
    failed = f"{sum(found.failed.values())} failed ({codes(found.failed)})" if found.failed else "0 failed"
    lines = [f"{result.judge.name}: {found.done} of {found.planned} samples have a verdict: {found.ok} ok, {failed}"]
    if found.error:
        lines.append(f"  {found.error} without an answer ({codes(found.errors)})")
    if result.not_applicable:
        lines.append(f"  {result.not_applicable} not asked: {result.judge.criterion} does not apply to them")
    lines.append(f"  {_spent(found)}")
    if result.message:
        lines.append(f"  {result.message}")
    if result.left:
        lines.append(f"  {result.left} left: run the same command again to ask only these")
    return "\n".join(lines)


def _spent(found: Progress) -> str:
    cost = "cost unknown" if found.cost is None else f"cost ${found.cost:.4f}"
    share = f" ({100 * found.cached_tokens // found.input_tokens} % cached)" if found.input_tokens else ""
    hits = f", {found.cache_hits} from stored replies" if found.cache_hits else ""
    limited = f", {found.limited} refused for their rate" if found.limited else ""
    tokens = f"{found.input_tokens:,} tokens in{share}, {found.output_tokens:,} out"
    return f"{found.calls} calls{limited}{hits}; {tokens}; {cost}; {found.seconds:.1f} s"


@contextmanager
def progress_bar(judge: str) -> Iterator[Show]:
    """A bar on stderr when it is a terminal, else nothing: the summary is the one line."""
    if not sys.stderr.isatty():
        yield _notice_once()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[state]}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(judge, total=None, state="")

        def show(found: Progress) -> None:
            bar.update(task, total=found.planned, completed=found.done + found.error, state=state(found))

        yield show


def state(found: Progress) -> str:
    """The figures beside the bar."""
    rate = (found.calls - found.in_flight) / found.seconds if found.seconds > 0 else 0.0
    cost = "cost unknown" if found.cost is None else f"${found.cost:.3f}"
    parts = [
        f"{rate:.1f} calls/s",
        f"window {found.window}",
        f"failed {codes(found.failed)}" if found.failed else "",
        f"errors {codes(found.errors)}" if found.errors else "",
        f"429s {found.limited}" if found.limited else "",
        f"stored {found.cache_hits}" if found.cache_hits else "",
        f"{found.input_tokens + found.output_tokens:,} tokens",
        cost,
        "stopping: waiting for calls in flight" if found.stopping else "",
    ]
    return "  ".join(part for part in parts if part)


def _notice_once() -> Show:
    told = False

    def show(found: Progress) -> None:
        nonlocal told
        if found.stopping and not told:
            told = True
            click.echo("stopping: waiting for calls in flight", err=True)

    return show
