"""A real server and a real browser: fresh database, port and browser context for each test, nothing foreign loaded."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from calibration.records import Context, Sample
from calibration.store import Store
from calibration.store.samples import insert_sample

PATIENCE = 15_000
CHROMIUM = "/usr/bin/chromium"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """`judge-calibration annotate` as its own process on its own port; can be stopped and started again."""

    def __init__(self, path: Path, annotator: str = "ana") -> None:
        self.path = path
        self.annotator = annotator
        self.port = free_port()
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def store(self) -> Store:
        return Store(self.path)

    def start(self) -> None:
        command = [sys.executable, "-m", "calibration", "annotate", "--db", str(self.path), "--port", str(self.port)]
        command += ["--annotator", self.annotator, "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert self.url in first, first + self.process.stdout.read()

    def stop(self) -> None:
        """End it as a crash would: no chance to finish anything."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(10)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Not started yet, so that a test can fill the database first."""
    served = Server(tmp_path / "project.db")
    yield served
    served.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed after each file: while Playwright runs, its event loop does, and other tests want their own."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


@pytest.fixture
def new_context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Makes contexts that load nothing but local addresses; a request for anything else fails the test."""
    made: list[BrowserContext] = []
    foreign: list[str] = []

    def check(request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "blob:", "data:")):
            foreign.append(request.url)

    def make(**options: Any) -> BrowserContext:
        context = browser.new_context(**({"viewport": {"width": 1440, "height": 900}} | options))
        context.set_default_timeout(PATIENCE)
        context.on("request", check)
        made.append(context)
        return context

    yield make
    for context in made:
        context.close()
    assert foreign == []


@pytest.fixture
def page(new_context: Callable[..., BrowserContext]) -> Page:
    return new_context().new_page()


@pytest.fixture
def show() -> Callable[[Page, str], None]:
    """Opens an address and waits until the script has run; `networkidle` never comes with a websocket."""

    def open_and_wait(page: Page, address: str) -> None:
        page.goto(address)
        wait_until_drawn(page)

    return open_and_wait


def wait_until_drawn(page: Page) -> None:
    page.wait_for_selector('[data-testid=stApp][data-test-script-state="notRunning"]', state="attached")


@pytest.fixture
def fill() -> Callable[..., list[Sample]]:
    """Puts samples into a store: `fill(store, 3)`, or `fill(store, samples)`."""

    def insert(store: Store, samples: int | list[Sample], **fields: Any) -> list[Sample]:
        made = [sample(n, **fields) for n in range(1, samples + 1)] if isinstance(samples, int) else samples
        with store.writing() as db:
            for one in made:
                insert_sample(db, one, None, store.now())
        return made

    return insert


def sample(n: int, **fields: Any) -> Sample:
    """A sample whose texts name it; `contexts=None` leaves only `correct` to ask."""
    held: dict[str, Any] = {
        "question": f"question of s{n}",
        "answer": f"answer of s{n}",
        "reference": f"reference of s{n}",
        "contexts": (Context(f"context of s{n}", f"d{n}"),),
    }
    return Sample(id=f"s{n}", **(held | fields))
