"""The client and the probe ladder against a real local server."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any

import pytest

from calibration.criteria import BUILT_IN
from calibration.errors import EndpointError, InputError
from calibration.judges.client import OpenAIClient, host_of, is_loopback, scrub
from calibration.judges.probe import SAMPLE, Probed, probe, same_wish
from calibration.judges.replay import ReplayClient
from calibration.judges.request import Request, Response, default_params, model_name, request_digest
from calibration.prompts import output_schema
from calibration.records import Judge, JudgeKind
from stub_server import Answer, Reply, StubServer, deepseek, error, good, old, reasoning

KEY = "sk-sentinel-0123456789abcdef"
MESSAGES = [
    {"role": "system", "content": 'Reply with one JSON object: {"reason": "...", "correct": true}'},
    {"role": "user", "content": "the sample"},
]


def request(extra: Mapping[str, Any] | None = None, **params: Any) -> Request:
    return Request("d1", MESSAGES, default_params(extra or {}) | params, "correct", output_schema(BUILT_IN["correct"]))


def complete(client: OpenAIClient, one: Request) -> Response:
    async def call() -> Response:
        try:
            return await client.complete(one)
        finally:
            await client.close()

    return asyncio.run(call())


def probed(stub: StubServer, messages: list[dict[str, str]] = MESSAGES, **more: Any) -> Probed:
    schema = output_schema(BUILT_IN["correct"])
    params = more.pop("params", default_params({}))
    client = OpenAIClient("m", base_url=stub.url)
    return probe(client, messages=messages, name="correct", schema=schema, params=params, **more)


def test_the_request_carries_schema_limit_temperature_and_every_param() -> None:
    with StubServer() as stub:
        found = complete(OpenAIClient("m", base_url=stub.url), request({"thinking": {"type": "enabled"}}))
    body = stub.log[0].body
    assert found.status == 200
    assert found.failure is None
    assert json.loads(found.body)["choices"][0]["finish_reason"] == "stop"
    assert body["model"] == "m"
    assert body["messages"] == MESSAGES
    assert body["temperature"] == 0
    assert body["max_completion_tokens"] == 2048
    assert body["thinking"] == {"type": "enabled"}
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["reason", "correct"]
    assert set(body) == {"model", "messages", "temperature", "max_completion_tokens", "thinking", "response_format"}
    assert stub.log[0].path == "/v1/chat/completions"


def test_one_client_serves_one_event_loop_after_the_other() -> None:
    with StubServer() as stub:
        client = OpenAIClient("m", base_url=stub.url)
        assert [complete(client, request()).status for _ in range(2)] == [200, 200]


def test_an_error_keeps_status_headers_and_body_and_is_not_tried_again() -> None:
    def refuse(body: dict[str, Any]) -> Answer:
        return error(429, "slow down", headers={"Retry-After": "3"})

    with StubServer(refuse) as stub:
        found = complete(OpenAIClient("m", base_url=stub.url), request())
    assert (found.status, found.headers["retry-after"], len(stub.log)) == (429, "3", 1)
    assert "slow down" in found.body


def test_a_slow_server_is_a_timeout_and_a_closed_port_no_connection() -> None:
    with StubServer(latency=5) as stub:
        assert complete(OpenAIClient("m", base_url=stub.url, timeout=0.2), request()).failure == "timeout"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        assert complete(OpenAIClient("m", base_url=url), request()).failure == "connection"


def test_the_key_is_read_at_the_call_and_scrubbed_from_what_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer(key="another") as stub:
        client = OpenAIClient("m", base_url=stub.url, api_key_env="STUB_KEY")
        monkeypatch.setenv("STUB_KEY", KEY)
        found = complete(client, request())
    assert stub.log[0].authorization == f"Bearer {KEY}"
    assert found.status == 401
    assert KEY not in repr(found)
    assert "[key]" in found.body
    assert KEY not in repr(vars(client))


def test_a_local_server_needs_no_key_and_another_host_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STUB_KEY", raising=False)
    assert OpenAIClient("m", base_url="http://localhost:1/v1", api_key_env="STUB_KEY").key() == "not-needed"
    with pytest.raises(EndpointError, match=r"api\.example\.com needs a key: set the environment variable STUB_KEY"):
        OpenAIClient("m", base_url="https://api.example.com/v1", api_key_env="STUB_KEY").key()


def test_a_key_with_blanks_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "sk-one sk-two")
    with pytest.raises(EndpointError, match="STUB_KEY holds no key") as caught:
        OpenAIClient("m", api_key_env="STUB_KEY").key()
    assert "sk-one" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://user:secretpassword@host/v1",
        "https://host/v1?api_key=secretpassword",
        "https://host/v1#secretpassword",
        "ftp://host/v1",
        "host/v1",
        "",
        "http://host:port/v1",
        "http://[::1/v1",
    ],
)
def test_an_address_that_may_hold_a_secret_or_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="--base-url") as caught:
        OpenAIClient("m", base_url=url)
    assert "secretpassword" not in str(caught.value)


def test_the_host_keeps_its_port() -> None:
    assert host_of("https://api.openai.com/v1") == "api.openai.com"
    assert host_of("http://[::1]:8080/v1") == "[::1]:8080"
    assert is_loopback("http://[::1]:8080/v1")
    assert is_loopback("http://127.0.0.2/v1")
    assert not is_loopback("https://localhost.example.com/v1")


def test_a_placeholder_or_a_short_key_is_no_secret() -> None:
    assert scrub("not-needed here", "not-needed") == "not-needed here"
    assert scrub("a cat", "a") == "a cat"
    assert scrub(r"the key ab\/cd\"efgh", 'ab/cd"efgh') == "the key [key]"


def test_a_model_served_as_a_file_keeps_its_last_segment() -> None:
    assert model_name("/srv/models/qwen.gguf") == "qwen.gguf"
    assert model_name("C:\\models\\qwen") == "qwen"
    assert model_name("meta-llama/Llama-3") == "meta-llama/Llama-3"


# the probe ladder


def test_a_server_that_takes_everything_needs_one_probe() -> None:
    with StubServer() as stub:
        found = probed(stub)
    assert (found.calls, found.params) == (1, default_params({}))
    assert found.usage["prompt_tokens"] == 1000


def test_a_deepseek_like_server_takes_two_probes_and_json_object() -> None:
    with StubServer(deepseek()) as stub:
        found = probed(stub)
    assert (found.calls, len(stub.log), found.params["response_format"]) == (2, 2, "json_object")


def test_json_object_is_skipped_when_the_prompt_does_not_say_json() -> None:
    with StubServer(deepseek()) as stub:
        found = probed(stub, [{"role": "system", "content": "Say yes."}, {"role": "user", "content": "x"}])
    assert (found.calls, found.params["response_format"]) == (2, "none")


def test_an_old_server_steps_down_format_and_limit_name() -> None:
    with StubServer(old()) as stub:
        found = probed(stub)
    assert found.params == default_params({}) | {"response_format": "none", "limit_name": "max_tokens"}
    assert found.calls == 4


def test_temperature_is_dropped_only_under_the_flag() -> None:
    with StubServer(reasoning()) as stub:
        with pytest.raises(EndpointError, match="--allow-default-temperature"):
            probed(stub)
        found = probed(stub, allow_default_temperature=True)
    assert found.params == default_params({}) | {"temperature": "not accepted"}
    assert found.calls == 2
    assert "temperature" not in stub.log[-1].body


def test_a_server_that_refuses_everything_ends_after_five_probes() -> None:
    with StubServer(lambda body: error(400, "no")) as stub, pytest.raises(EndpointError, match="every form"):
        probed(stub, allow_default_temperature=True)
    assert len(stub.log) == 5


def test_a_busy_server_is_asked_again_within_the_five_probes() -> None:
    answers: list[Any] = [error(503, "busy", headers={"Retry-After": "2"}), good({"messages": [{"content": ""}]})]
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    with StubServer(lambda body: answers.pop(0)) as stub:
        assert probed(stub, sleep=sleep).calls == 2
    assert 2.0 <= waits[0] <= 2.5


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (lambda body: error(401, "bad key"), "refuses the key .*bad key.*--api-key-env"),
        (lambda body: error(404, "no model"), "knows no such model .*check the model's name"),
        (lambda body: error(429, "used up", code="insufficient_quota"), "quota is used up"),
        (lambda body: error(429, "later", headers={"Retry-After": "900"}), "gives no answer"),
    ],
)
def test_what_no_try_can_mend_is_one_clear_error(reply: Reply, message: str) -> None:
    with StubServer(reply) as stub, pytest.raises(EndpointError, match=message):
        probed(stub)
    assert len(stub.log) == 1


def test_too_small_a_call_limit_is_refused() -> None:
    with StubServer(deepseek()) as stub, pytest.raises(InputError, match="--max-calls leaves 1 calls"):
        probed(stub, max_calls=1)


def test_a_rung_found_before_is_known_again_unless_the_wish_differs() -> None:
    wanted = default_params({})
    stored = wanted | {"response_format": "none", "limit_name": "max_tokens"}
    assert same_wish(stored, wanted, allow_default_temperature=False)
    assert not same_wish(stored, default_params({"max_tokens": 9}), allow_default_temperature=False)
    dropped = stored | {"temperature": "not accepted"}
    assert not same_wish(dropped, wanted, allow_default_temperature=False)
    assert same_wish(dropped, wanted, allow_default_temperature=True)


def test_both_criteria_apply_to_the_probe_sample() -> None:
    assert [criterion.missing(SAMPLE) for criterion in BUILT_IN.values()] == [None, None]


# the request digest and the replay client


def test_the_request_digest_depends_on_what_is_sent_and_on_nothing_else() -> None:
    judge = Judge(JudgeKind.LLM, "a", "correct", prompt="p", model="m", host="h", params=default_params({}))
    renamed = Judge(JudgeKind.LLM, "b", "correct", prompt="p", model="m", host="h", params=default_params({}))
    base = request_digest(judge, "inputs")
    assert request_digest(renamed, "inputs") == base
    others = [
        request_digest(judge, "other"),
        request_digest(judge, "inputs", attempt=1),
        request_digest(judge, "inputs", repeat=1),
        request_digest(judge, "inputs", part="claim:0"),
        request_digest(Judge(JudgeKind.LLM, "a", "correct", prompt="p", model="m", host="x"), "inputs"),
    ]
    assert len({base, *others}) == 6


def test_a_missing_stored_reply_is_an_error_that_names_the_digest() -> None:
    with pytest.raises(InputError, match="no stored reply for request d1"):
        asyncio.run(ReplayClient({}).complete(request()))
