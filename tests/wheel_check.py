"""Run an installed `judge-calibration` outside the checkout: the demo must serve its page, the figures must come."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path


def main(command: str) -> None:
    """Start the demo in an empty folder, wait for its page, then ask for the agreement."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        demo = subprocess.Popen([command, "demo", "--no-browser", "--port", str(port)], cwd=folder)
        db = Path(folder) / "judge-calibration-demo" / "demo.db"
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            until(db.exists, f"{db} was not made")
        finally:
            demo.terminate()
            demo.wait(20)
        found = subprocess.run(
            [command, "agreement", "--json", "--db", str(db)], cwd=folder, capture_output=True, check=True, text=True
        )
        judges = [row["judge"] for row in json.loads(found.stdout)]
        if len(judges) < 5:
            sys.exit(f"the installed demo knows only {judges}")
    print(f"the wheel runs: {', '.join(judges)}")


def wait_for(address: str) -> None:
    """Until the server answers."""

    def answers() -> bool:
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:
                return int(answer.status) == 200
        except (urllib.error.URLError, OSError):
            return False

    until(answers, f"{address} did not answer")


def until(condition: Callable[[], bool], failure: str, seconds: float = 60) -> None:
    """Wait for a condition, or end with what failed."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{failure} within {seconds:.0f} s")
        time.sleep(0.2)


if __name__ == "__main__":
    main(sys.argv[1])
