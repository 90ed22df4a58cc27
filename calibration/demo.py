"""The demo project: bundled samples, labels and prompts, and scripted replies played through the real runner."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calibration import guidelines
from calibration.board import AUTHOR
from calibration.criteria import BUILT_IN
from calibration.data_files import data_path
from calibration.formats.read import read_files
from calibration.judges.replay import ReplayClient
from calibration.judges.runner import run, run_lexical
from calibration.prompts import parse_prompt
from calibration.records import Judge, JudgeKind, Prompt
from calibration.store import Store
from calibration.store.imports import import_batch

SCRIPTED_MODEL = "scripted"
VERSIONS = ("correct/v1.md", "correct/v2.md", "faithful/v1.md", "faithful/v2.md")


def make_demo(path: Path) -> Store:
    """A store with everything bundled. An existing demo is reused as it is: its labels are somebody's work.

    A new one is made beside its place and moved there when it is complete.
    """
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / path.name
            fill(Store(made))
            made.replace(path)
    return Store(path)


def fill(store: Store) -> None:
    """Samples and labels of their author, guidelines, both versions of both prompts, and every judge's verdicts."""
    store.add_annotator("author", name="the author of the samples", role=AUTHOR)
    import_batch(store, read_files([data_path("samples", "httpx.jsonl")]))
    guidelines.add_bundled(store)
    replies = scripted_replies()
    samples = store.samples()
    for version in VERSIONS:
        prompt = store.add_prompt(bundled_prompt(version))
        judge = scripted_judge(prompt)
        client = ReplayClient.for_samples(judge, prompt, samples, replies[prompt.label])
        run(judge, samples, client=client, store=store, prompt=prompt)
    for criterion in BUILT_IN.values():
        run_lexical(samples, criterion, store)


def bundled_prompt(version: str) -> Prompt:
    """A prompt version that ships with the product, `correct/v2.md`."""
    path = data_path("prompts", *version.split("/"))
    return parse_prompt(path.read_text(encoding="utf-8"), str(path))


def scripted_judge(prompt: Prompt) -> Judge:
    """A judge whose replies were written by hand: it says so in its kind, its model and its name."""
    return Judge(
        kind=JudgeKind.SCRIPTED,
        name=f"{prompt.label}@{SCRIPTED_MODEL}",
        criterion=prompt.criterion,
        prompt=prompt.digest,
        model=SCRIPTED_MODEL,
    )


def scripted_replies() -> dict[str, dict[str, Mapping[str, Any]]]:
    """The hand-written replies by prompt version and sample id, in the shape a model sends."""
    replies: dict[str, dict[str, Mapping[str, Any]]] = {}
    text = data_path("samples", "httpx-replies.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        entry = json.loads(line)
        choice = {"index": 0, "finish_reason": entry["finish_reason"], "message": entry["message"]}
        replies.setdefault(entry["prompt"], {})[entry["sample"]] = {"choices": [choice]}
    return replies


if __name__ == "__main__":
    make_demo(Path(sys.argv[1]))
