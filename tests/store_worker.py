"""One process of several that use a store at once: `python store_worker.py open|label DB START [WHO]`."""

from __future__ import annotations

import sys
import time

from calibration.store import Store
from calibration.store.events import save_events


def main(what: str, path: str, start: str, who: str = "") -> None:
    """Wait for the common start, then open the store or label 20 samples, each acknowledged."""
    time.sleep(max(0.0, float(start) - time.time()))
    store = Store(path)
    if what == "open":
        return
    for position in range(1, 21):
        entry = store.queue(who, position, position)[0]
        made = {
            "id": f"{who}-{position:08}",
            "assignment": entry.assignments["correct"],
            "sample": entry.sample.id,
            "criterion": "correct",
            "status": "labelled",
            "value": "yes",
        }
        if save_events([made], who, store).acknowledged != (made["id"],):
            sys.exit(f"{made['id']} was not acknowledged")


if __name__ == "__main__":
    main(*sys.argv[1:])
