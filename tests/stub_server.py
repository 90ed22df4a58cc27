"""A small server on 127.0.0.1 that speaks the OpenAI chat protocol, for tests.

In a test: `with StubServer(reply=..., latency=0.01) as stub: ... stub.url, stub.log`. As a program:
`python tests/stub_server.py --port 0 --latency 0.4 --requests FILE` prints its address and
appends each request to the file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

Body = dict[str, Any]


@dataclass
class Answer:
    """What the server sends: a status, a body (JSON, or text as it is) and headers."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Seen:
    """One request with its times in seconds of one clock; `in_flight` counts it too."""

    start: float
    end: float
    status: int
    in_flight: int
    latency: float
    body: Body
    authorization: str
    path: str

    @property
    def text(self) -> str:
        """The user's message."""
        return str(self.body["messages"][-1]["content"])


Reply = Callable[[Body], "Answer | str | Body"]


def completion(content: str | None, *, model: str = "stub-model", finish: str = "stop", **message: Any) -> Body:
    """The body of a chat completion with this text."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "system_fingerprint": "fp_stub",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 50,
            "total_tokens": 1050,
            "prompt_tokens_details": {"cached_tokens": 400},
        },
    }


def verdict(value: bool = True, key: str = "correct", reason: str = "as the reference says") -> str:
    """The text of a good reply."""
    return json.dumps({"unsupported" if key == "faithful" else "reason": reason, key: value})


def good(body: Body) -> str:
    """A good reply for the criterion that the system message asks for."""
    key = "faithful" if '"faithful"' in body["messages"][0]["content"] else "correct"
    return verdict(True, key)


def error(status: int, message: str, **more: Any) -> Answer:
    """An error in the provider's form."""
    headers = more.pop("headers", {})
    return Answer(status, {"error": {"message": message, "type": "error", **more}}, headers)


def deepseek(reply: Reply = good) -> Reply:
    """Refuses json_schema, and json_object when no message contains the word json."""

    def answer(body: Body) -> Answer | str | Body:
        form = (body.get("response_format") or {}).get("type")
        if form == "json_schema":
            return error(400, "This response_format type is unavailable now", type="invalid_request_error")
        if form == "json_object" and not any("json" in m["content"].lower() for m in body["messages"]):
            return error(400, "Prompt must contain the word 'json' in some form to use response_format json_object")
        return reply(body)

    return answer


def reasoning(reply: Reply = good) -> Reply:
    """Refuses max_tokens and every temperature but 1, as reasoning models do."""

    def answer(body: Body) -> Answer | str | Body:
        if "max_tokens" in body:
            return error(400, "Unsupported parameter: use max_completion_tokens", param="max_tokens")
        if body.get("temperature", 1) != 1:
            return error(400, "temperature does not support 0, only the default (1)", param="temperature")
        return reply(body)

    return answer


def old(reply: Reply = good) -> Reply:
    """Knows neither max_completion_tokens nor any response_format."""

    def answer(body: Body) -> Answer | str | Body:
        if "response_format" in body:
            return error(422, "unknown field response_format")
        if "max_completion_tokens" in body:
            return error(422, "unknown field max_completion_tokens", param="max_completion_tokens")
        return reply(body)

    return answer


MODES: dict[str, Callable[[Reply], Reply]] = {"plain": lambda reply: reply, "deepseek": deepseek, "old": old}


class StubServer:
    """The server, running in a thread of its own while the block lasts.

    `reply` makes the answer to a request body: a text for a completion, a dict for a whole body, or an Answer.
    `latency` in seconds, or a function that draws it. `key`: any other one is refused with a 401 that echoes it.
    `cap`: more requests in flight than this get a 429.
    """

    def __init__(
        self,
        reply: Reply = good,
        *,
        latency: float | Callable[[], float] = 0.0,
        key: str | None = None,
        cap: int | None = None,
        port: int = 0,
        on_seen: Callable[[Seen], None] | None = None,
    ) -> None:
        self.reply, self.key, self.cap, self.port = reply, key, cap, port
        self.draw = latency if callable(latency) else lambda: latency
        self.log: list[Seen] = []
        self.in_flight = 0
        self._on_seen = on_seen
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> StubServer:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the stub server did not start")
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self.port, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                raw = await reader.readexactly(int(headers.get("content-length", "0")))
                answer = await self._answer(head[0].split()[1], headers, json.loads(raw or b"{}"))
                writer.write(_wire(answer))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, headers: Mapping[str, str], body: Body) -> Answer:
        start, latency = time.monotonic(), self.draw()
        self.in_flight += 1
        in_flight = self.in_flight
        try:
            answer = self._decide(headers, body, in_flight)
            await asyncio.sleep(latency if answer.status == 200 else latency / 10)
        finally:
            self.in_flight -= 1
        authorization = headers.get("authorization", "")
        seen = Seen(start, time.monotonic(), answer.status, in_flight, latency, body, authorization, path)
        self.log.append(seen)
        if self._on_seen is not None:
            self._on_seen(seen)
        return answer

    def _decide(self, headers: Mapping[str, str], body: Body, in_flight: int) -> Answer:
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if self.key is not None and given != self.key:
            return error(401, f"Incorrect API key provided: {given}", code="invalid_api_key")
        if self.cap is not None and in_flight > self.cap:
            return error(429, "too many requests", headers={"Retry-After": "0"})
        found = self.reply(body)
        if isinstance(found, str):
            return Answer(200, completion(found, model=str(body.get("model"))))
        return found if isinstance(found, Answer) else Answer(200, found)


def _wire(answer: Answer) -> bytes:
    content = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
    data = content.encode()
    lines = {"Content-Type": "application/json", "Content-Length": str(len(data)), **answer.headers}
    head = f"HTTP/1.1 {answer.status} Stub\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return head.encode() + b"\r\n" + data


def lognormal(median: float, sigma: float = 0.3, seed: int = 0) -> Callable[[], float]:
    """Latencies around a median, the same for the same seed."""
    rng = random.Random(seed)
    return lambda: rng.lognormvariate(math.log(median), sigma)


def main() -> None:
    """Serve until killed; every finished request is appended to the file as a line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--spread", type=float, default=0.0, help="sigma of a lognormal latency")
    parser.add_argument("--mode", choices=sorted(MODES), default="plain")
    parser.add_argument("--key")
    parser.add_argument("--cap", type=int)
    parser.add_argument("--requests", type=Path)
    chosen = parser.parse_args()

    def note(seen: Seen) -> None:
        if chosen.requests is not None:
            with chosen.requests.open("a") as file:
                file.write(json.dumps(asdict(seen)) + "\n")

    latency = lognormal(chosen.latency, chosen.spread) if chosen.spread else chosen.latency
    reply = MODES[chosen.mode](good)
    with StubServer(reply, latency=latency, key=chosen.key, cap=chosen.cap, port=chosen.port, on_seen=note) as stub:
        print(stub.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
