"""Wall time of a run against the list schedule of the same latencies, from the server's own record."""

from __future__ import annotations

import heapq
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    seen, data, db = tmp_path / "requests.jsonl", tmp_path / "samples.jsonl", tmp_path / "p.db"
    samples = [{"id": str(i), "question": f"q{i}", "reference": "r", "answer": "a"} for i in range(CALLS)]
    data.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JUDGE_CALIBRATION_DB": str(db)}
    run = [sys.executable, "-m", "calibration"]
    subprocess.run([*run, "import", str(data)], env=environment, check=True, capture_output=True)
    stub = [sys.executable, str(ROOT / "tests" / "stub_server.py"), "--latency", str(LATENCY), "--requests", str(seen)]
    server = subprocess.Popen(stub, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        judge = ["judge", "correct-v1", "--model", "m", "--base-url", url, "--max-concurrency", str(AT_ONCE)]
        subprocess.run([*run, *judge], env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    calls = sorted((json.loads(line) for line in seen.read_text().splitlines()), key=lambda one: one["start"])[1:]
    assert len(calls) == CALLS
    wall = max(call["end"] for call in calls) - calls[0]["start"]
    bound = list_schedule([call["latency"] for call in calls], AT_ONCE)
    print(f"{wall:.2f} s against {bound:.2f} s: {wall / bound:.2f}")
    assert wall <= 1.4 * bound
