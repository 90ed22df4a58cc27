"""Runs against a real local server and a real database: what is stored, asked again, counted and stopped."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calibration.criteria import BUILT_IN
from calibration.data_files import data_path
from calibration.digest import digest
from calibration.errors import EndpointError, InputError
from calibration.judges.client import OpenAIClient
from calibration.judges.prices import Price, Prices, load_prices
from calibration.judges.progress import Progress, RunResult
from calibration.judges.replay import ReplayClient
from calibration.judges.request import default_params, request_digest
from calibration.judges.runner import run, run_lexical
from calibration.prompts import parse_prompt
from calibration.records import Judge, JudgeKind, Prompt, Sample
from calibration.store import Store
from helpers import add_samples, make_samples
from stub_server import Answer, Body, Reply, StubServer, completion, error, good, verdict

PRICES = Prices("2026-11-30", {"priced": Price(1.0, 0.5, 10.0)}, "p")


class Project:
    """A store with samples and a registered prompt, and a judge at a server."""

    def __init__(self, path: Path, n: int = 6, model: str = "m") -> None:
        self.store = Store(path)
        self.samples = make_samples(n)
        add_samples(self.store, self.samples)
        source = data_path("prompts", "correct", "v1.md")
        self.prompt: Prompt = self.store.add_prompt(parse_prompt(source.read_text(encoding="utf-8"), str(source)))
        self.model = model
        self.waits: list[float] = []

    def judge(self, host: str = "h") -> Judge:
        name = f"correct-v1@{self.model}"
        params = default_params({})
        return Judge(
            JudgeKind.LLM, name, "correct", prompt=self.prompt.digest, model=self.model, host=host, params=params
        )

    def run(self, stub: StubServer, samples: list[Sample] | None = None, **more: Any) -> RunResult:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)
            await asyncio.sleep(seconds / 200)

        given: dict[str, Any] = {
            "client": OpenAIClient(self.model, base_url=stub.url),
            "sleep": sleep,
            "rng": random.Random(1),
        } | more
        chosen = self.samples if samples is None else samples
        return run(self.judge(), chosen, store=self.store, prompt=self.prompt, **given)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "p.db")


def by_question(replies: dict[int, Any], other: Reply = good) -> Reply:
    """Replies for the samples whose question is `question i`."""

    def answer(body: Body) -> Answer | str | Body:
        text = body["messages"][-1]["content"]
        found = [reply for i, reply in replies.items() if f'"question {i}"' in text]
        if not found:
            return other(body)
        return found[0](body) if callable(found[0]) else found[0]  # type: ignore[no-any-return]

    return answer


def once(first: Any, then: Reply = good) -> Callable[[Body], Any]:
    """The first answer once, then another."""
    left = [first]
    return lambda body: left.pop() if left else then(body)


def test_every_reply_is_stored_with_its_verdict(project: Project) -> None:
    with StubServer(by_question({2: verdict(False, reason="wrong day")})) as stub:
        result = project.run(stub)
    assert (result.status, result.stop, result.left) == ("done", None, 0)
    assert result.as_json() == {
        "run": 1, "judge": "correct-v1@m", "planned": 6, "ok": 6, "failed": {}, "error": 0, "calls": 6, "cost": None,
    }  # fmt: skip
    stored = {found.sample: found for found in project.store.run_verdicts(1)}
    assert {key: found.value for key, found in stored.items()} == {f"s{i}": "yes" for i in range(1, 7)} | {"s2": "no"}
    assert stored["s2"].reason == "wrong day"
    assert stored["s2"].inputs == BUILT_IN["correct"].inputs(project.samples[1])
    reply = project.store.reply(stored["s2"].reply or "")
    assert reply is not None
    assert json.loads(reply.body)["choices"][0]["message"]["content"] == verdict(False, reason="wrong day")
    assert (reply.model_served, reply.fingerprint, reply.tries) == ("m", "fp_stub", 1)
    assert reply.usage == {"prompt_tokens": 1000, "completion_tokens": 50, "cached_tokens": 400}
    assert project.store.runs()[0].status == "done"


def test_a_rerun_of_a_complete_run_makes_no_call(project: Project) -> None:
    with StubServer() as stub:
        project.run(stub)
        result = project.run(stub)
    assert len(stub.log) == 6
    assert (result.run, result.progress.calls, result.progress.ok, result.progress.cost) == (1, 0, 6, 0.0)


def test_the_first_call_goes_alone_unless_the_client_is_warm(project: Project) -> None:
    with StubServer(latency=0.05) as stub:
        project.run(stub)
    seen = sorted(stub.log, key=lambda one: one.start)
    assert seen[0].end <= seen[1].start
    assert max(one.in_flight for one in seen) == 5


def test_samples_that_read_the_same_are_asked_once(project: Project) -> None:
    twins = [replace(project.samples[0], id=f"twin{i}", system=f"system {i}") for i in range(3)]
    add_samples(project.store, twins)
    with StubServer(latency=0.02) as stub:
        result = project.run(stub, [*project.samples, *twins])
    assert len(stub.log) == 6
    assert (result.progress.planned, result.progress.ok, result.progress.calls) == (9, 9, 6)


def test_a_new_sample_opens_a_new_run_and_is_the_only_call(project: Project) -> None:
    with StubServer() as stub:
        project.run(stub)
        more = replace(project.samples[0], id="new", question="another question")
        add_samples(project.store, [more])
        result = project.run(stub, [*project.samples, more])
    assert len(stub.log) == 7
    assert (result.run, result.progress.calls, result.progress.cache_hits, result.progress.ok) == (2, 1, 6, 7)


def test_a_field_the_criterion_does_not_read_buys_nothing_again(project: Project) -> None:
    with StubServer() as stub:
        project.run(stub)
        result = project.run(stub, [replace(sample, contexts=(), system="x") for sample in project.samples])
    assert len(stub.log) == 6
    assert result.progress.cache_hits == 6


def test_a_sample_without_a_reference_costs_no_call(project: Project) -> None:
    with StubServer() as stub:
        result = project.run(stub, [project.samples[0], replace(project.samples[1], reference=None)])
    assert (result.progress.planned, result.not_applicable, len(stub.log)) == (1, 1, 1)


def test_a_reply_that_is_no_json_is_a_failed_verdict_with_its_raw_text(project: Project) -> None:
    with StubServer(by_question({3: "I think it is fine."})) as stub:
        result = project.run(stub)
        assert project.run(stub).progress.calls == 0, "a failed verdict is not asked again"
    assert result.progress.failed == {"not_json": 1}
    (failed,) = [found for found in project.store.run_verdicts(1) if found.status == "failed"]
    reply = project.store.reply(failed.reply or "")
    assert (failed.sample, failed.value, failed.error) == ("s3", None, "not_json")
    assert reply is not None
    assert "I think it is fine." in reply.body


def test_a_body_that_is_no_json_at_all_is_kept_as_it_came(project: Project) -> None:
    with StubServer(by_question({3: Answer(200, "<html>oops</html>")})) as stub:
        result = project.run(stub)
    assert result.progress.failed == {"not_a_completion": 1}
    (failed,) = [found for found in project.store.run_verdicts(1) if found.status == "failed"]
    reply = project.store.reply(failed.reply or "")
    assert reply is not None
    assert reply.body == "<html>oops</html>"


def test_retry_failed_asks_again_and_keeps_the_first_attempt(project: Project) -> None:
    with StubServer(by_question({3: once("no json")})) as stub:
        project.run(stub)
        result = project.run(stub, retry_failed=True)
    assert (result.progress.calls, result.progress.ok, result.progress.failed) == (1, 6, {})
    attempts = [(v.attempt, v.status) for v in project.store.run_verdicts(1) if v.sample == "s3"]
    assert attempts == [(0, "failed"), (1, "ok")]


def test_a_second_answer_is_carried_into_the_next_run(project: Project) -> None:
    with StubServer(by_question({3: once("no json")})) as stub:
        project.run(stub)
        project.run(stub, retry_failed=True)
        result = project.run(stub, project.samples[:4])
    assert (result.run, result.progress.ok, result.progress.calls) == (2, 4, 0)
    assert project.store.standing(project.judge().digest)["s3"].attempt == 1


def test_an_error_is_asked_again_on_resume_as_the_next_attempt(project: Project) -> None:
    with StubServer(by_question({3: once(error(413, "too large"))})) as stub:
        first = project.run(stub)
        assert (first.progress.errors, first.left, first.status) == ({"http_413": 1}, 1, "done")
        second = project.run(stub)
    assert (second.progress.calls, second.progress.ok, second.progress.error) == (1, 6, 0)
    attempts = [(v.attempt, v.status, v.error) for v in project.store.run_verdicts(1) if v.sample == "s3"]
    assert attempts == [(0, "error", "http_413"), (1, "ok", None)]


def test_trouble_that_passes_is_tried_again_after_the_wait_the_server_asks_for(project: Project) -> None:
    busy = error(429, "slow down", headers={"Retry-After": "7"})
    with StubServer(by_question({1: once(busy), 2: once(error(500, "oops"))})) as stub:
        result = project.run(stub)
    assert (result.progress.ok, result.progress.calls, result.progress.limited) == (6, 8, 1)
    assert 7 <= max(project.waits) <= 7 * 1.25
    tries = Counter(project.store.reply(v.reply or "").tries for v in project.store.run_verdicts(1))  # type: ignore[union-attr]
    assert tries == {1: 4, 2: 2}


def test_eight_tries_and_no_more(project: Project) -> None:
    with StubServer(by_question({1: lambda body: error(500, "oops")})) as stub:
        result = project.run(stub)
    assert (result.progress.errors, result.progress.ok, result.progress.calls) == ({"http_500": 1}, 5, 13)


def test_a_provider_error_with_status_200_is_tried_again_when_its_code_says_so(project: Project) -> None:
    body = {"choices": None, "error": {"code": 502, "message": "upstream"}}
    with StubServer(by_question({1: once(Answer(200, body))})) as stub:
        assert project.run(stub).progress.ok == 6
    assert len(stub.log) == 7


def test_a_content_filter_is_a_failed_verdict_and_is_not_asked_again(project: Project) -> None:
    refused = error(400, "filtered", code="content_filter")
    with StubServer(by_question({1: lambda body: refused})) as stub:
        assert project.run(stub).progress.failed == {"content_filter": 1}
        again = project.run(stub, project.samples[:3])
    assert (again.progress.failed, again.progress.calls, again.progress.cache_hits) == ({"content_filter": 1}, 0, 3)


def test_a_used_up_quota_stops_the_run_at_once(tmp_path: Path) -> None:
    project = Project(tmp_path / "p.db", n=40)
    quota = error(429, "You exceeded your current quota", code="insufficient_quota")
    with StubServer(by_question({5: lambda body: quota}), latency=0.02) as stub:
        result = project.run(stub, max_concurrency=4)
        assert (result.status, result.stop, result.progress.errors) == ("stopped", "quota", {"quota": 1})
        assert len(stub.log) < 12
        stub.reply = good
        assert project.run(stub).progress.ok == 40
    assert "quota is used up" in result.message


def test_a_wait_of_more_than_two_minutes_stops_the_run(project: Project) -> None:
    later = error(429, "tomorrow", headers={"Retry-After": "3600"})
    with StubServer(by_question({1: lambda body: later})) as stub:
        result = project.run(stub)
    assert (result.stop, result.progress.error) == ("wait", 0)
    assert "3600 s" in result.message


def test_a_key_refused_in_the_middle_stops_and_blames_no_sample(project: Project) -> None:
    with StubServer(by_question({2: lambda body: error(401, "revoked")})) as stub:
        result = project.run(stub, max_concurrency=1)
    assert (result.stop, result.progress.ok, result.progress.error) == ("endpoint", 1, 0)
    assert "refuses the key" in result.message


def test_a_server_that_is_gone_stops_the_run(project: Project) -> None:
    with StubServer() as stub:
        gone = OpenAIClient("m", base_url=stub.url)
    result = project.run(stub, client=gone)
    assert (result.stop, result.progress.error, result.progress.calls) == ("endpoint", 0, 1)
    assert "cannot be reached" in result.message
    result = project.run(stub, client=gone, warmed=True, max_concurrency=1)
    assert (result.stop, result.progress.errors, result.progress.calls) == ("endpoint", {"connection": 1}, 8)


def test_the_call_limit_counts_probes_and_tries_and_can_be_resumed(project: Project) -> None:
    with StubServer() as stub:
        result = project.run(stub, max_calls=4, sent=2)
        assert (result.stop, result.progress.ok, result.progress.calls, result.left) == ("limit", 2, 4, 4)
        assert project.store.runs()[0].status == "stopped"
        assert project.run(stub).progress.ok == 6
    assert len(stub.log) == 6


def test_the_cost_limit_holds_with_calls_in_flight(tmp_path: Path) -> None:
    # a reply: 600 x 1 + 400 x 0.5 + 50 x 10 = 1300 USD per million = 0.0013; worst case: 2048 x 10 + its bytes > 0.02
    project = Project(tmp_path / "p.db", n=40, model="priced")
    with StubServer(latency=0.01) as stub:
        result = project.run(stub, max_cost=0.05, prices=PRICES)
        assert result.stop == "limit"
        assert result.progress.cost == pytest.approx(0.0013 * len(stub.log))
        assert 0.02 < (result.progress.cost or 0) <= 0.05
        assert max(one.in_flight for one in stub.log) <= 2
        assert project.run(stub, prices=PRICES).progress.ok == 40


def test_a_cost_limit_refuses_a_model_without_a_price(project: Project) -> None:
    with StubServer() as stub, pytest.raises(InputError, match="--max-cost needs a price, and m has none"):
        project.run(stub, max_cost=1.0)
    assert project.store.runs() == []


def test_three_first_replies_that_fail_alike_pause_the_run(tmp_path: Path) -> None:
    project = Project(tmp_path / "p.db", n=60)
    with StubServer(lambda body: completion("{", finish="length"), latency=0.01) as stub:
        result = project.run(stub)
        assert (result.status, result.stop) == ("paused", "alike")
        assert len(stub.log) < 20
        assert "truncated: {" in result.message
        assert "max_tokens=4096" in result.message
        assert project.run(stub, pause_on_alike=False).progress.failed == {"truncated": 60}


def test_failures_that_differ_or_come_after_an_answer_do_not_pause(project: Project) -> None:
    with StubServer(by_question({1: good}, lambda body: "no json")) as stub:
        assert project.run(stub).status == "done"


def test_a_missing_key_is_raised_and_the_run_can_go_on(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STUB_KEY", raising=False)
    nowhere = OpenAIClient("m", base_url="https://api.example.com/v1", api_key_env="STUB_KEY")
    with StubServer() as stub:
        with pytest.raises(EndpointError, match="STUB_KEY"):
            project.run(stub, client=nowhere)
        assert project.store.run_verdicts(1) == []
        assert project.run(stub).progress.ok == 6


def test_no_key_is_in_any_file_of_the_project(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-sentinel-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)

    def echo(body: Body) -> Answer | str:
        return error(413, f"key {key}") if '"question 3"' in body["messages"][-1]["content"] else verdict(reason=key)

    reader = sqlite3.connect(project.store.path)  # keeps the write-ahead log alive
    reader.execute("SELECT 1 FROM runs").fetchall()
    with StubServer(echo) as stub:
        result = project.run(stub)
    assert (result.progress.ok, result.progress.error) == (5, 1)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name.endswith("-wal") for path in files)
    assert [path.name for path in files if key.encode() in path.read_bytes()] == []
    reader.close()


def test_run_works_inside_a_running_loop_and_reports_progress(project: Project) -> None:
    seen: list[Progress] = []

    async def notebook(stub: StubServer) -> RunResult:
        return project.run(stub, on_progress=seen.append)

    with StubServer() as stub:
        result = asyncio.run(notebook(stub))
    assert result.progress.ok == 6
    assert [one.done for one in seen] == [1, 2, 3, 4, 5, 6]


def test_many_refusals_lose_no_sample(tmp_path: Path) -> None:
    project = Project(tmp_path / "p.db", n=150)
    with StubServer(latency=0.02, cap=12) as stub:
        result = project.run(stub)
    assert result.progress.ok == 150
    assert result.progress.limited / result.progress.calls < 0.2


def test_replayed_replies_need_no_network(project: Project) -> None:
    judge = Judge(JudgeKind.SCRIPTED, "correct-v1@scripted", "correct", prompt=project.prompt.digest, model="scripted")
    bodies = {sample.id: completion(verdict()) for sample in project.samples}
    client = ReplayClient.for_samples(judge, project.prompt, project.samples, bodies)
    assert len(client.replies) == 6
    result = run(judge, project.samples, client=client, store=project.store, prompt=project.prompt)
    assert (result.progress.ok, result.progress.cost) == (6, None)
    inputs = BUILT_IN["correct"].inputs(project.samples[0])
    missing = ReplayClient({})
    other = replace(judge, name="other", model="other")
    with pytest.raises(InputError, match=request_digest(other, inputs)):
        run(other, project.samples[:1], client=missing, store=project.store, prompt=project.prompt)


def test_the_baseline_writes_verdicts_without_replies(project: Project) -> None:
    result = run_lexical(project.samples, BUILT_IN["correct"], project.store)
    again = run_lexical(project.samples, BUILT_IN["correct"], project.store)
    assert (result.progress.planned, result.progress.done, result.progress.calls) == (6, 6, 0)
    assert (again.run, len(project.store.run_verdicts(result.run))) == (result.run, 6)


def test_a_judge_of_another_prompt_is_refused(project: Project) -> None:
    with pytest.raises(InputError, match="made for another prompt"):
        run(
            replace(project.judge(), prompt=digest("x")),
            project.samples,
            client=ReplayClient({}),
            store=project.store,
            prompt=project.prompt,
        )


def test_prices_are_dated_and_unknown_models_cost_nothing_known(tmp_path: Path) -> None:
    prices = load_prices()
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "cached_tokens": 500_000}
    # gpt-5-mini: 0.5 x 0.25 + 0.5 x 0.025 + 0.1 x 2.00
    assert prices.cost("gpt-5-mini", usage) == pytest.approx(0.125 + 0.0125 + 0.2)
    assert prices.cost("unknown", usage) is None
    assert prices.cost("gpt-5-mini", {}) is None
    assert len(prices.digest) == 64
    bad = tmp_path / "prices.yaml"
    bad.write_text("date: 2026-01-01\nmodels: {m: {input: 1}}\n")
    with pytest.raises(InputError, match=r"prices\.yaml: not a price file"):
        load_prices(bad)
