"""One Monday morning: 40 answers, two prompts in plain text, an endpoint that refuses json_schema, five commands."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from helpers import run_command
from stub_server import StubServer, deepseek, verdict

FIRST = """You compare answers.
Question: {question}
Reference: {reference}
Answer: {answer}
Is the answer the same as the reference?
"""
SECOND = """You check whether an answer gets right what was asked. Other right ways count.
Question: {question}
Reference: {reference}
Answer: {answer}
Is the answer correct?
"""


def write_answers(path: Path) -> None:
    """40 answers: 26 good (18 of them another way than the reference), 14 bad; labelled by ana."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "question", "reference", "answer", "human_correct", "annotator"])
        for i in range(40):
            kind = "same" if i < 8 else "other way" if i < 26 else "wrong"
            label = "no" if kind == "wrong" else "yes"
            rows.writerow([f"a{i}", f"question {i}?", f"point {i}", f"answer {i}, {kind}", label, "ana"])


def judge_reply(body: dict[str, Any]) -> str:
    """The first prompt accepts only what is the same as the reference, the second every good answer."""
    text = json.dumps(body["messages"])
    lenient = "Other right ways count" in text
    good = ", same" in text or (lenient and "other way" in text)
    return verdict(good, reason="the first differs" if not good else "it fits")


def test_six_commands_from_nothing_to_which_prompt_can_i_trust_it_and_what_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STUB_KEY", "sentinel-key-4711")
    write_answers(tmp_path / "answers.csv")
    (tmp_path / "first.txt").write_text(FIRST)
    (tmp_path / "second.txt").write_text(SECOND)
    with StubServer(deepseek(judge_reply)) as server:
        endpoint = ("--model", "deepseek-chat", "--base-url", server.url, "--api-key-env", "STUB_KEY", "--yes")
        assert run_command("import", "answers.csv") == 0
        for file in ("first.txt", "second.txt"):
            assert run_command("judge", file, "--criterion", "correct", "--name", "correct", *endpoint) == 0
        capsys.readouterr()
        assert run_command("compare", "correct-v1", "correct-v2") == 0
        which = capsys.readouterr().out
        # the first judge fails and the second passes: the worst of both is 1
        assert run_command("gate", "--criterion", "correct") == 1
        trust = capsys.readouterr().out
    assert "correct-v2 agrees with you more than correct-v1" in which
    assert "correct-v1@deepseek-chat: failed" in trust
    assert "correct-v2@deepseek-chat: passed" in trust
    assert "You can use correct-v2 on deepseek-chat to score `correct`" in trust
    assert trust.count("Next: ") == 3
    assert b"sentinel-key-4711" not in (tmp_path / "calibration.db").read_bytes()
