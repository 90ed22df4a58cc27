"""A request to a model, its digest, what comes back, and the seam that a client fits into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from calibration.digest import digest
from calibration.records import Judge

FORMAT = 1
MAX_TOKENS = 2048
NOT_ACCEPTED = "not accepted"
FORMATS = ("json_schema", "json_object", "none")
LIMIT_NAMES = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True)
class Request:
    """What one call sends. `params` are those of the judge; `schema` is the criterion's reply as a JSON schema."""

    digest: str
    messages: Sequence[Mapping[str, str]]
    params: Mapping[str, Any]
    name: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text_bytes(self) -> int:
        """Length of the messages in UTF-8."""
        return sum(len(message["content"].encode("utf-8", "replace")) for message in self.messages)

    @property
    def characters(self) -> int:
        """Length of the messages in characters."""
        return sum(len(message["content"]) for message in self.messages)

    @property
    def max_tokens(self) -> int:
        """The most tokens a reply may have."""
        return int(self.params.get("max_tokens", MAX_TOKENS))

    def fields(self) -> dict[str, Any]:
        """The fields of the HTTP body, all but the model's name."""
        body: dict[str, Any] = {"messages": [dict(message) for message in self.messages]}
        body[self.params["limit_name"]] = self.params["max_tokens"]
        if self.params["temperature"] != NOT_ACCEPTED:
            body["temperature"] = self.params["temperature"]
        form = self.params["response_format"]
        if form == "json_schema":
            schema = {"name": self.name, "strict": True, "schema": dict(self.schema)}
            body["response_format"] = {"type": form, "json_schema": schema}
        elif form == "json_object":
            body["response_format"] = {"type": form}
        return body | dict(self.params.get("extra", {}))


@dataclass(frozen=True)
class Response:
    """What one call brought: an HTTP status, or None and the `failure` `timeout` or `connection`.

    `latency` in seconds. Neither the body nor a text holds the key.
    """

    status: int | None
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float = 0.0
    failure: str | None = None


class ChatClient(Protocol):
    """Sends a request once, without tries of its own. Raises CalibrationError when nothing could be sent."""

    async def complete(self, request: Request) -> Response:
        """Send one request."""

    async def close(self) -> None:
        """Give back what belongs to the running event loop; the client can be used again."""


def default_params(extra: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters a judge is asked for before the endpoint was probed; `max_tokens`, `temperature` may be given."""
    given = dict(extra)
    params = {
        "response_format": FORMATS[0],
        "limit_name": LIMIT_NAMES[0],
        "max_tokens": given.pop("max_tokens", MAX_TOKENS),
        "temperature": given.pop("temperature", 0),
    }
    return params | ({"extra": given} if given else {})


def request_digest(judge: Judge, inputs: str, *, part: str = "", repeat: int = 0, attempt: int = 0) -> str:
    """The key under which a reply is stored: what was sent and to whom, never who labelled what.

    `inputs` is `criterion.inputs(sample)`, the digest of the fields the criterion reads.
    """
    return digest(
        {
            "format": FORMAT,
            "prompt": judge.prompt,
            "model": judge.model,
            "host": judge.host,
            "params": dict(judge.params),
            "inputs": inputs,
            "part": part,
            "repeat": repeat,
            "attempt": attempt,
        }
    )


def is_path(model: str) -> bool:
    """Whether a model is served under the path of its file."""
    return model.startswith(("/", "./", "../", "~", "\\")) or model[1:3] in (":\\", ":/") or model.endswith(".gguf")


def model_name(model: str) -> str:
    """The name a model is known by: a model served as a file path keeps its last segment."""
    return model.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] if is_path(model) else model
