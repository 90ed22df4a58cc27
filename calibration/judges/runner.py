"""Runs a judge over samples. Each reply is committed as it arrives, so a run can end anywhere and go on later."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from calibration import __version__
from calibration.criteria import criterion_named
from calibration.errors import CalibrationError, InputError
from calibration.judges.baseline import run_lexical
from calibration.judges.budget import Budget
from calibration.judges.concurrency import Window
from calibration.judges.plan import Plan, make_plan
from calibration.judges.prices import Prices, load_prices
from calibration.judges.progress import Progress, RunResult, Tally
from calibration.judges.request import ChatClient
from calibration.judges.session import Session, Sleep
from calibration.records import Judge, Prompt, Sample, VerdictStatus

if TYPE_CHECKING:
    from calibration.store import Store

__all__ = ["require_price", "run", "run_lexical"]


def run(
    judge: Judge,
    samples: Iterable[Sample],
    *,
    client: ChatClient,
    store: Store,
    prompt: Prompt,
    max_concurrency: int = 64,
    start_window: float = 8,
    max_calls: int | None = None,
    max_cost: float | None = None,
    retry_failed: bool = False,
    pause_on_alike: bool = True,
    warmed: bool = False,
    sent: int = 0,
    flags: Sequence[str] = (),
    prices: Prices | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Sleep = asyncio.sleep,
    rng: random.Random | None = None,
) -> RunResult:
    """Ask for every sample the criterion applies to, and look up what was answered before; a rerun resumes.

    `sent` are calls made before, probes too; `warmed` says that one of them used this prompt, else the first call
    goes alone, and ends the run when it finds no server. `pause_on_alike` stops when the first three replies fail
    with the same code. The first Ctrl-C lets calls in flight finish, the second leaves at once. Works inside a
    running loop: the calls have their own thread.
    Raises InputError when `max_cost` is given and the model has no price, and whatever the client or store raises.
    """
    if max_concurrency < 1:
        raise InputError(f"--max-concurrency {max_concurrency} allows no call; give 1 or more")
    listed = prices or load_prices()
    require_price(max_cost, judge.model, listed)
    if prompt.digest != judge.prompt:
        raise InputError(f"judge {judge.name} was made for another prompt than {prompt.label}")
    chance = rng or random.Random()  # noqa: S311 - it spreads waits
    plan = make_plan(judge, samples, criterion_named(prompt.criterion), store, retry_failed=retry_failed)
    tally = Tally(len(plan.samples), dict(plan.standing), calls=sent)
    opened = store.open_run(
        judge,
        sample_set=plan.sample_set,
        planned=len(plan.samples),
        code_version=__version__,
        flags=flags,
        prices=listed.digest,
    )
    with store.run_writer(opened.id) as writer:
        session = Session(
            judge=judge,
            prompt=prompt,
            plan=plan,
            client=client,
            store=store,
            writer=writer,
            budget=Budget(listed, judge.model, max_cost),
            at_once=max_concurrency,
            max_calls=max_calls,
            window=Window(max_concurrency, start_window, chance),
            tally=tally,
            clock=clock,
            sleep=sleep,
            rng=chance,
            on_progress=on_progress,
            reached=warmed,
            watching=pause_on_alike and not tally.of(VerdictStatus.OK),
        )
        try:
            _drive(session)
        except asyncio.CancelledError:
            session.stop, session.message = "interrupted", "left at once; calls in flight were not waited for"
    return _result(session, opened.id, plan)


def require_price(max_cost: float | None, model: str | None, prices: Prices) -> None:
    """Raises InputError when a cost limit is given for a model whose price is unknown."""
    if max_cost is not None and model not in prices.models:
        raise InputError(f"--max-cost needs a price, and {model} has none in data/prices.yaml; use --max-calls")


def _drive(session: Session) -> None:
    """Run the session in a thread of its own while this one waits for it, or for Ctrl-C."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="run") as pool:
        future = pool.submit(lambda: asyncio.run(session.go()))
        presses = 0
        while True:
            try:
                while not future.done():
                    wait([future], timeout=0.2)
                break
            except KeyboardInterrupt:
                presses += 1
                session.interrupt(at_once=presses > 1)
        future.result()


def _result(session: Session, number: int, plan: Plan) -> RunResult:
    status = "done" if session.stop is None else "paused" if session.stop == "alike" else "stopped"
    try:
        session.store.finish_run(number, status)
    except CalibrationError:
        if session.failure is None:
            raise
    if session.failure is not None:
        raise session.failure
    return RunResult(
        run=number,
        judge=session.judge,
        status=status,
        progress=session.progress(),
        not_applicable=plan.not_applicable,
        stop=session.stop,
        message=session.message,
    )
