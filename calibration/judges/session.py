"""One run under way: workers pull requests, send them inside the window, and commit what comes back."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from calibration.judges.body import body_of, usage_of
from calibration.judges.budget import Budget
from calibration.judges.concurrency import LIMITED, Window
from calibration.judges.plan import Job, Plan, looked_up
from calibration.judges.probe import UNREACHABLE, explain
from calibration.judges.progress import Progress, Tally
from calibration.judges.reading import error_of, hint, reply_of, shown, verdict_of
from calibration.judges.request import ChatClient, Request, Response
from calibration.judges.retry import FATAL, LONGEST_WAIT, MAX_TRIES, Next, Step, next_step, retry_after, wait_before
from calibration.records import Judge, Prompt, Reply, Verdict

if TYPE_CHECKING:
    from calibration.store import Store
    from calibration.store.runs import RunWriter

Sleep = Callable[[float], Awaitable[None]]
ALIKE = 3


@dataclass
class Session:
    """The state of a run. `stop` says why nothing new starts, `failure` what was raised.

    `watching` says that the first replies are compared, `first` holds their codes; `reached` that the endpoint has
    answered before.
    """

    judge: Judge
    prompt: Prompt
    plan: Plan
    client: ChatClient
    store: Store
    writer: RunWriter
    budget: Budget
    at_once: int
    max_calls: int | None
    window: Window
    tally: Tally
    clock: Callable[[], float]
    sleep: Sleep
    rng: random.Random
    on_progress: Callable[[Progress], None] | None = None
    watching: bool = True
    reached: bool = False
    stop: str | None = None
    message: str = ""
    failure: Exception | None = None
    first: list[str | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._halted, self._changed = asyncio.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    # control

    def halt(self, stop: str, message: str) -> None:
        """Start nothing new; calls in flight finish and are committed."""
        if self.stop is None:
            self.stop, self.message = stop, message
            self._halted.set()
            self._notify()

    def interrupt(self, *, at_once: bool) -> None:
        """Ctrl-C, from another thread: halt, or cancel what is in flight too."""
        if self._loop is None or self._task is None:
            self.stop, self.message = "interrupted", "stopped before the first call"
            return
        with contextlib.suppress(RuntimeError):
            if at_once:
                self._loop.call_soon_threadsafe(self._task.cancel)
            else:
                self._loop.call_soon_threadsafe(self._interrupted)

    def _interrupted(self) -> None:
        self.halt("interrupted", "stopped; calls in flight were finished and kept")
        self._show()

    def progress(self) -> Progress:
        """The counts of this moment."""
        found = self.tally.progress(window=int(self.window.size), seconds=self.clock() - self._began)
        return replace(found, in_flight=self.window.in_flight, stopping=self.stop is not None)

    def _show(self) -> None:
        if self.on_progress is not None:
            self.on_progress(self.progress())

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # work

    async def go(self) -> None:
        """Everything there is to do. Ends when all is asked, or after a halt when nothing is in flight."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            waiting = await self._from_store()
            jobs = iter(waiting)
            if not self.reached and waiting:
                await self._work(iter([next(jobs)]))
            await asyncio.gather(*(self._work(jobs) for _ in range(min(self.at_once, len(waiting)))))
        finally:
            await self.client.close()

    async def _from_store(self) -> list[Job]:
        """Verdicts for replies that are stored; the jobs without one."""
        waiting, last = [], None
        for job, reply in looked_up(self.plan.jobs, self.store):
            if reply is None:
                waiting.append(job)
                continue
            characters = job.request(self.judge, self.prompt, self.plan.criterion).characters
            verdict = verdict_of(self.plan.criterion, job, reply, characters)
            for sample in job.samples:
                last = self.writer.commit(None, replace(verdict, sample=sample.id))
                self.tally.add(replace(verdict, sample=sample.id))
                self.tally.cache_hits += 1
        if last is not None:
            await asyncio.wrap_future(last)
            self._show()
        return waiting

    async def _work(self, jobs: Iterator[Job]) -> None:
        """One worker: pull a job, ask, commit. What is raised halts the run and is raised at its end."""
        for job in jobs:
            if self.stop is not None:
                return
            try:
                await self._ask(job)
            except Exception as error:
                self.failure = self.failure or error
                self.halt("failure", str(error))

    async def _ask(self, job: Job) -> None:
        request = job.request(self.judge, self.prompt, self.plan.criterion)
        for tries in range(1, MAX_TRIES + 1):
            response = await self._call(request)
            if response is None:
                return
            if response.status is None and response.failure == "connection" and not self.reached:
                self.halt("endpoint", UNREACHABLE)
                return
            self.reached = True
            found = next_step(response)
            if found.step is not Step.RETRY or tries == MAX_TRIES:
                await self._settle(job, request, response, found, tries)
                return
            asked = retry_after(response.headers, time.time())
            if asked is not None and asked > LONGEST_WAIT:
                self.halt("wait", f"the endpoint asks to wait {asked:.0f} s; run the same command again after that")
                return
            await self._rest(wait_before(tries, asked, self.rng), self._halted)

    async def _call(self, request: Request) -> Response | None:
        """One try inside the window; None when the run halts first."""
        worst = self.budget.worst(request)
        if not await self._slot(worst):
            return None
        started, status, asked = self.clock(), None, None
        try:
            response = await self.client.complete(request)
            status, asked = response.status, retry_after(response.headers, time.time())
            if status == 200:
                usage = usage_of(body_of(response.body))
                self.tally.pay(usage, self.budget.pay(usage, worst))
        finally:
            self.budget.reserved -= worst
            self.tally.limited += status in LIMITED
            self.window.end(started, self.clock(), status, asked)
            self._notify()
        return response

    async def _slot(self, worst: float) -> bool:
        """Wait for a place in the window; False when the run halts. The place is taken and the call counted."""
        while self.stop is None:
            wait = self.window.wait(self.clock())
            if self.max_calls is not None and self.tally.calls >= self.max_calls:
                self.halt("limit", "stopped by the limit on calls")
            elif wait == 0 and self.budget.affords(worst):
                self.window.begin()
                self.tally.calls += 1
                self.budget.reserved += worst
                return True
            elif wait == 0 and self.window.in_flight == 0:
                self.halt("limit", "stopped by the limit on cost")
            else:
                await self._rest(wait or None, self._changed)
        return False

    async def _rest(self, seconds: float | None, event: asyncio.Event) -> None:
        """Sleep until the event or for so many seconds."""
        if seconds is None:
            await event.wait()
            return
        tasks = [asyncio.ensure_future(self.sleep(seconds)), asyncio.ensure_future(event.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    # results

    async def _settle(self, job: Job, request: Request, response: Response, found: Next, tries: int) -> None:
        """Commit what the last try brought. A refused key, model or account says nothing about the sample."""
        if found.step is Step.STOP or found.code == "connection":
            self.halt("quota" if found.code == "quota" else "endpoint", explain(found.code, response))
        if response.status in FATAL:
            return
        criterion, reply = self.plan.criterion, None
        if found.step in (Step.READ, Step.FAILED):
            reply = reply_of(request, response, tries)
            verdict = verdict_of(criterion, job, reply, request.characters)
        else:
            verdict = error_of(criterion, job, found, response)
        self._watch(verdict, response)
        await self._commit(job, reply, verdict)

    async def _commit(self, job: Job, reply: Reply | None, verdict: Verdict) -> None:
        for sample in job.samples:
            one = replace(verdict, sample=sample.id)
            await asyncio.wrap_future(self.writer.commit(reply, one))
            self.tally.add(one)
            self._show()

    def _watch(self, verdict: Verdict, response: Response) -> None:
        """Halt when the first replies all fail with the same code."""
        if self.watching:
            self.first.append(verdict.error)
            self.watching = len(self.first) < ALIKE
            code = verdict.error
            if not self.watching and code is not None and set(self.first) == {code}:
                text = f"the first {ALIKE} replies all failed with {code}: {shown(response)}\n{hint(code)}"
                self.halt("alike", text)
