"""From process start to a usable page: the demo against a bare page of one button, in one run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.conftest import CHROMIUM, QUIET, free_port

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BUTTON = "Label 5 yourself, without seeing the scores"
BARE = f"import streamlit\nstreamlit.button({BUTTON!r})\n"
TRIES = 3


def usable_after(browser: Browser, command: Callable[[int], Sequence[str]], folder: Path) -> float:
    """Seconds from the start of the process until the button can be clicked, at best of three."""
    found = []
    for _ in range(TRIES):
        port = free_port()
        page = browser.new_context().new_page()
        start = time.monotonic()
        process = subprocess.Popen(command(port), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while True:
                try:
                    page.goto(f"http://127.0.0.1:{port}/")
                    break
                except Exception:
                    time.sleep(0.05)
            page.get_by_role("button", name=BUTTON).click(trial=True, timeout=30_000)
            found.append(time.monotonic() - start)
        finally:
            process.kill()
            process.wait()
            page.context.close()
    return min(found)


def test_the_demo_is_usable_in_less_than_two_and_a_half_times_the_time_of_a_bare_page(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text(BARE)
    quiet = ["--server.headless", "true", "--browser.gatherUsageStats", "false", "--server.address", "127.0.0.1"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        bare = usable_after(
            browser,
            lambda port: [sys.executable, "-m", "streamlit", "run", "bare.py", "--server.port", str(port), *quiet],
            tmp_path,
        )
        demo = usable_after(
            browser,
            lambda port: [sys.executable, "-m", "calibration", "demo", "--no-browser", "--port", str(port)],
            tmp_path,
        )
        browser.close()
    print(f"usable after: bare page {bare:.1f} s, demo {demo:.1f} s, ratio {demo / bare:.2f}")
    assert demo / bare < 2.5
