"""Wall time of a run against the list schedule of the same latencies, from the server's own record."""

from __future__ import annotations

import heapq
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from calibration.records import Sample
from calibration.store import Store
from calibration.store.samples import insert_sample

ROOT = Path(__file__).resolve().parents[2]
CALLS, AT_ONCE, LATENCY = 400, 32, 0.4


def list_schedule(latencies: list[float], workers: int) -> float:
    """Seconds that so many workers need when each takes the next call as soon as it is free."""
    free = [0.0] * workers
    for latency in latencies:
        heapq.heappush(free, heapq.heappop(free) + latency)
    return max(free)


def test_the_list_schedule_of_equal_calls_is_their_rounds() -> None:
    # 5 calls of 2 s on 2 workers: 3 rounds
    assert list_schedule([2.0] * 5, 2) == 6.0


@pytest.mark.slow
def test_400_calls_at_32_at_once_end_within_1_4_times_the_list_schedule(tmp_path: Path) -> None:
    ratios: list[float] = []
    while not ratios or (min(ratios) > 1.4 and len(ratios) < 3):  # other work on the machine only ever makes it slower
        ratios.append(ratio(tmp_path / f"try{len(ratios)}"))
    print("wall time / list schedule:", ", ".join(f"{one:.2f}" for one in ratios))
    assert min(ratios) <= 1.4


def ratio(folder: Path) -> float:
    """Wall time from the first request on, over the list schedule of the times the server took."""
    folder.mkdir()
    seen, db = folder / "requests.jsonl", folder / "p.db"
    store = Store(db)
    with store.writing() as connection:
        for i in range(CALLS):
            insert_sample(connection, Sample(id=str(i), question=f"q{i}", answer="a", reference="r"), None, store.now())
    stub = [sys.executable, str(ROOT / "tests" / "stub_server.py"), "--latency", str(LATENCY), "--requests", str(seen)]
    server = subprocess.Popen(stub, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        judge(db, server.stdout.readline().strip())
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    calls = sorted((json.loads(line) for line in seen.read_text().splitlines()), key=lambda one: one["start"])[1:]
    assert len(calls) == CALLS, "one probe and then each sample once"
    wall = max(call["end"] for call in calls) - calls[0]["start"]
    return float(wall / list_schedule([call["end"] - call["start"] for call in calls], AT_ONCE))


def judge(db: Path, url: str) -> None:
    """The command in a process of its own."""
    options = ["--model", "m", "--base-url", url, "--max-concurrency", str(AT_ONCE), "--db", str(db)]
    command = [sys.executable, "-m", "calibration", "judge", "correct-v1", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL)
