"""The command `judge` against a real local server: what it says, stores, refuses, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calibration.cli.judge_screen import progress_bar, state
from calibration.data_files import data_path
from calibration.judges.progress import Progress
from calibration.store import Store
from helpers import add_samples, make_samples, run_command
from stub_server import StubServer, completion, deepseek, error, good, reasoning, verdict

KEY = "sk-sentinel-0123456789abcdef"
TABLES = ("judges", "runs", "replies", "verdicts", "prompts", "prompt_names")
STUB = Path(__file__).with_name("stub_server.py")


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "calibration.db"
    add_samples(Store(path), make_samples(6))
    return path


def rows(db: Path) -> dict[str, int]:
    reader = sqlite3.connect(db)
    try:
        return {table: reader.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
    finally:
        reader.close()


def judge(stub: StubServer | str, *arguments: str) -> int:
    url = stub if isinstance(stub, str) else stub.url
    return run_command("judge", "--base-url", url, *arguments)


def test_a_bundled_prompt_is_run_registered_and_summed_up(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with StubServer() as stub:
        assert judge(stub, "correct-v1", "--model", "m") == 0
        shown = capsys.readouterr()
        assert len(stub.log) == 7, "one probe and six calls"
        assert judge(stub, "correct-v1", "--model", "m") == 0
        assert len(stub.log) == 7, "a rerun makes no call, not even a probe"
    assert "correct-v1@m: 6 calls, about" in shown.err
    assert "cost unknown" in shown.err
    assert "baseline lexical for correct: 6 verdicts, no call" in shown.err
    assert "correct-v1@m: 6 of 6 samples have a verdict: 6 ok, 0 failed" in shown.out
    assert "7 calls; 6,000 tokens in (40 % cached), 300 out; cost unknown" in shown.out
    assert "everything is answered, no call" in capsys.readouterr().err
    (found,) = Store(db).judges("correct")[:1]
    assert (found.name, found.model, found.params["response_format"]) == ("correct-v1@m", "m", "json_schema")
    assert [prompt.label for prompt in Store(db).prompts()] == ["correct-v1"]


def test_json_is_one_object_for_one_prompt_and_a_list_for_several(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with StubServer(lambda body: verdict() if '"question 3"' not in str(body) else "no json") as stub:
        assert judge(stub, "correct-v1", "--model", "gpt-5-mini", "--json") == 0
        one = json.loads(capsys.readouterr().out)
        assert judge(stub, "correct-v1", "correct-v2", "--model", "gpt-5-mini", "--json") == 0
        two = json.loads(capsys.readouterr().out)
    assert list(one) == ["run", "judge", "planned", "ok", "failed", "error", "calls", "cost"]
    assert (one["planned"], one["ok"], one["failed"], one["error"], one["calls"]) == (6, 5, {"not_json": 1}, 0, 7)
    # 6 replies of 600 x 0.25 + 400 x 0.025 + 50 x 2.00 = 260 USD per million
    assert one["cost"] == pytest.approx(6 * 260 / 1e6)
    assert [found["judge"] for found in two] == ["correct-v1@gpt-5-mini", "correct-v2@gpt-5-mini"]
    assert [found["calls"] for found in two] == [0, 7]


def test_a_deepseek_like_endpoint_takes_two_probes(
    db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    with StubServer(deepseek(), key=KEY) as stub:
        given = ("--api-key-env", "DEEPSEEK_API_KEY", "--param", 'thinking={"type":"enabled"}')
        assert judge(stub, "correct-v1", "--model", "deepseek-chat", *given, "--json") == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 8
    assert [one.status for one in stub.log].count(400) == 1
    assert all(one.body["thinking"] == {"type": "enabled"} for one in stub.log)
    (found,) = [one for one in Store(db).judges("correct") if one.kind == "llm"]
    assert found.params["response_format"] == "json_object"
    assert found.params["extra"] == {"thinking": {"type": "enabled"}}


def test_a_wrong_key_is_one_message_and_leaves_the_database_as_it_was(
    db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    before = rows(db)
    with StubServer(key="another-key") as stub:
        assert judge(stub, "correct-v1", "--model", "m") == 5
    shown = capsys.readouterr()
    assert "refuses the key" in shown.err
    assert "--api-key-env" in shown.err
    assert "Traceback" not in shown.err
    assert KEY not in shown.err + shown.out
    assert rows(db) == before
    files = [path for path in db.parent.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_an_endpoint_that_cannot_be_reached_is_one_message(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = rows(db)
    with StubServer() as stub:
        url = stub.url
    assert judge(url, "correct-v1", "--model", "m") == 5
    shown = capsys.readouterr().err
    assert f"error: {url}: the endpoint cannot be reached; check --base-url" in shown
    assert "Traceback" not in shown
    assert rows(db) == before


def test_a_missing_key_names_its_variable(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = rows(db)
    assert judge("https://api.example.com/v1", "correct-v1", "--model", "m", "--api-key-env", "MY_KEY") == 5
    assert "set the environment variable MY_KEY" in capsys.readouterr().err
    assert rows(db) == before


def test_an_error_that_is_left_exits_5_and_says_how_to_go_on(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return error(413, "too large") if '"question 3"' in str(body) else good(body)

    with StubServer(answer) as stub:
        assert judge(stub, "correct-v1", "--model", "m") == 5
        shown = capsys.readouterr().out
        assert "1 without an answer (http_413 1)" in shown
        assert "1 left: run the same command again to ask only these" in shown
        stub.reply = good
        assert judge(stub, "correct-v1", "--model", "m") == 0
    assert len(stub.log) == 8


def test_limits_end_with_exit_0_and_hold_for_all_prompts(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with StubServer() as stub:
        assert judge(stub, "correct-v1", "correct-v2", "--model", "m", "--max-calls", "12") == 0
        assert len(stub.log) == 12
        assert "stopped by the limit on calls" in capsys.readouterr().out
        assert judge(stub, "faithful-v1", "--model", "m", "--limit", "2") == 0
        assert len(stub.log) == 15
        assert judge(stub, "faithful-v1", "faithful-v2", "--model", "m", "--max-calls", "6") == 0
        assert "faithful-v2@m: not started, the limit on calls is reached" in capsys.readouterr().err
    assert len(stub.log) == 19
    assert judge(stub, "correct-v1", "--model", "m", "--max-cost", "1") == 2
    assert "--max-cost needs a price" in capsys.readouterr().err


def test_replies_that_all_fail_alike_exit_5_unless_yes(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with StubServer(lambda body: completion("{", finish="length")) as stub:
        assert judge(stub, "correct-v1", "--model", "m", "--max-concurrency", "1") == 5
        shown = capsys.readouterr().out
        assert "the first 3 replies all failed with truncated" in shown
        assert "max_tokens=4096" in shown
        assert len(stub.log) == 4
        assert judge(stub, "correct-v1", "--model", "m", "--yes") == 0
    assert len(stub.log) == 7


def test_a_model_that_refuses_temperature_0_needs_the_flag(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with StubServer(reasoning()) as stub:
        assert judge(stub, "correct-v1", "--model", "m") == 5
        assert "--allow-default-temperature" in capsys.readouterr().err
        assert judge(stub, "correct-v1", "--model", "m", "--allow-default-temperature") == 0
    assert Store(db).judges("correct")[0].params["temperature"] == "not accepted"


def test_a_model_does_not_judge_its_own_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.db"
    add_samples(Store(path), [replace(sample, generator="m") for sample in make_samples(2)])
    with StubServer() as stub:
        assert judge(stub, "correct-v1", "--model", "m", "--db", str(path)) == 2
        assert "m wrote 2 of these answers" in capsys.readouterr().err
        assert judge(stub, "correct-v1", "--model", "m", "--db", str(path), "--allow-same-model") == 0
    reader = sqlite3.connect(path)
    assert reader.execute("SELECT flags FROM runs ORDER BY id LIMIT 1").fetchone()[0] == '["same_model"]'
    reader.close()


def test_a_prompt_file_brings_its_earlier_versions_along(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(data_path("prompts", "correct"), db.parent / "mine" / "correct")
    file = db.parent / "mine" / "correct" / "v2.md"
    with StubServer() as stub:
        assert judge(stub, str(file), "--model", "m") == 0
        assert [prompt.label for prompt in Store(db).prompts()] == ["correct-v1", "correct-v2"]
        file.write_text(file.read_text(encoding="utf-8").replace("gets right", "really gets right"), encoding="utf-8")
        assert judge(stub, str(file), "--model", "m") == 2
    assert "correct-v2 is already registered with another text; make version 3" in capsys.readouterr().err


def test_a_prompt_file_without_its_earlier_version_is_refused(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (db.parent / "correct").mkdir()
    file = shutil.copy(data_path("prompts", "correct", "v2.md"), db.parent / "correct" / "v2.md")
    assert judge("http://127.0.0.1:1/v1", str(file), "--model", "m") == 2
    assert "version 1 of correct is not registered" in capsys.readouterr().err
    assert rows(db)["prompts"] == 0


def test_a_plain_text_becomes_a_version_of_a_name(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = db.parent / "mine.txt"
    file.write_text("Say whether the answer is right.\nQuestion: {question}\nRight: {reference}\nAnswer: {answer}\n")
    with StubServer() as stub:
        assert judge(stub, str(file), "--model", "m") == 2
        assert "--criterion and --name" in capsys.readouterr().err
        for _ in range(2):
            assert judge(stub, str(file), "--model", "m", "--criterion", "correct", "--name", "mine") == 0
    assert [prompt.label for prompt in Store(db).prompts()] == ["mine-v1"]
    assert len(stub.log) == 7


def test_lexical_runs_the_baseline_of_every_criterion_without_a_model(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("judge", "lexical", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["planned"], one["calls"], one["cost"]) for one in found] == [(6, 0, 0.0), (6, 0, 0.0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("correct-v1",), "name the model that judges with --model"),
        (("nothing-v9", "--model", "m"), "nothing-v9: no such file and no prompt of that name"),
        (("correct-v1", "--model", "m", "--param", "thinking=on"), "KEY=JSON"),
        (("correct-v1", "--model", "m", "--param", "api_key=1"), "looks like a key"),
        (("correct-v1", "--model", "m", "--param", "messages=[]"), "set by the tool itself"),
        (("correct-v1", "--model", "m", "--param", "max_tokens=0"), "whole number from 1"),
        (("correct-v1", "--model", "m", "--param", "x=NaN"), "KEY=JSON"),
        (("correct-v1", "--model", "m", "--param", "x=1e999"), "KEY=JSON"),
        (("correct-v1", "--model", "m", "--param", 'x="\\ud800"'), "KEY=JSON"),
        (("correct-v1", "--model", "m", "--api-key-env", "sk-12"), "takes the NAME"),
        (("correct-v1", "--model", "m", "--base-url", "http://u:p@h/v1"), "no user name"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_way_out(
    db: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert run_command("judge", *arguments) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "sk-12" not in shown


def test_the_key_in_another_option_is_refused(
    db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert run_command("judge", "correct-v1", "--model", "m", "--param", f'user="{KEY}"') == 2
    assert KEY not in capsys.readouterr().err


def test_without_samples_the_import_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.db"
    Store(path)
    assert run_command("judge", "correct-v1", "--model", "m", "--db", str(path)) == 2
    assert "no samples yet; run `judge-calibration import FILE` first" in capsys.readouterr().err


def test_the_bar_shows_rate_failures_and_cost() -> None:
    found = Progress(
        planned=10, ok=3, failed={"not_json": 2, "empty": 1}, errors={"timeout": 1}, cache_hits=1, calls=8, limited=2,
        window=9, input_tokens=1000, cached_tokens=0, output_tokens=200, cost=0.25, seconds=2.0,
        in_flight=4,
    )  # fmt: skip
    assert state(found) == (
        "2.0 calls/s  window 9  failed not_json 2, empty 1  errors timeout 1  429s 2  stored 1  1,200 tokens  $0.250"
    )
    with progress_bar("j") as show:
        show(found)


# a process of its own


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    seen = tmp_path / "requests.jsonl"
    seen.touch()
    process = subprocess.Popen(
        [sys.executable, str(STUB), "--latency", "0.3", "--requests", str(seen)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), seen
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def started(db: Path, url: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "calibration", "judge", "correct-v1", "--model", "m", "--base-url", url]
    root = str(Path(__file__).resolve().parents[1])
    return subprocess.Popen(
        [*command, "--db", str(db), *arguments],
        env=os.environ | {"PYTHONPATH": root},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(seen: Path, n: int) -> None:
    for _ in range(600):
        if len(seen.read_text().splitlines()) >= n:
            return
        time.sleep(0.05)
    raise AssertionError(f"fewer than {n} requests in 30 s")


def asked(seen: Path) -> list[str]:
    """The question of every request that was answered, without the probe."""
    texts = [json.loads(line)["body"]["messages"][-1]["content"] for line in seen.read_text().splitlines()]
    return [match[1] for text in texts if (match := re.search(r'"question": "(question \d+)"', text))]


def test_ctrl_c_lets_calls_in_flight_finish_and_keeps_them(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, seen = server
    db = tmp_path / "p.db"
    add_samples(Store(db), make_samples(200))
    process = started(db, url, "--max-concurrency", "8")
    wait_for(seen, 12)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopping: waiting for calls in flight" in err
    assert "calls in flight were finished and kept" in out
    assert "left: run the same command again" in out
    assert "Traceback" not in err
    kept = rows(db)["replies"]
    assert kept == len(asked(seen)) < 200
    assert Store(db).runs()[0].status == "stopped"


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    db = tmp_path / "p.db"
    add_samples(Store(db), make_samples(20))
    calls: list[str] = []
    with StubServer(lambda body: calls.append("x") or good(body), latency=lambda: 20 if len(calls) > 1 else 0) as stub:  # type: ignore[func-returns-value]
        process = started(db, stub.url)
        for _ in range(400):
            if len(calls) > 5:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        out, err = process.communicate(timeout=30)
    assert time.monotonic() - begin < 10
    assert "calls in flight were not waited for" in out
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "left: run the same command again" in out
    assert Store(db).runs()[0].status == "stopped"


@pytest.mark.slow
def test_kill_9_keeps_every_committed_verdict_and_repeats_no_committed_call(
    tmp_path: Path, server: tuple[str, Path]
) -> None:
    url, seen = server
    db = tmp_path / "p.db"
    add_samples(Store(db), make_samples(300))
    process = started(db, url, "--max-concurrency", "16")
    wait_for(seen, 120)
    process.kill()
    process.communicate()
    before = {found.sample: found for found in Store(db).run_verdicts(1)}
    questions = {sample.id: sample.question for sample in Store(db).samples()}
    first = len(asked(seen))
    assert 100 - 16 <= len(before) < 300
    process = started(db, url, "--max-concurrency", "64")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    after = {found.sample: found for found in Store(db).run_verdicts(1)}
    assert len(after) == 300
    assert {key: after[key] for key in before} == before
    assert {questions[key] for key in before} & set(asked(seen)[first:]) == set()
    assert len(asked(seen)) <= 300 + 16
    reader = sqlite3.connect(db)
    assert reader.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    reader.close()
