"""The only module that talks to models: one request, one raw response. The key never leaves it."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from calibration.errors import EndpointError, InputError
from calibration.judges.request import Request, Response

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
KEY_NAME = "OPENAI_API_KEY"
TIMEOUT = 60.0
PLACEHOLDER = "not-needed"
MASK = "[key]"
SHORTEST_SECRET = 8


class OpenAIClient:
    """Speaks the OpenAI chat protocol with `base_url`. Holds the name of the key's variable, not the key.

    Raises InputError for an address that is no plain http(s) URL.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI_URL,
        api_key_env: str = KEY_NAME,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model, self.base_url, self.api_key_env = model, base_url, api_key_env
        self.host = host_of(base_url)
        self._timeout, self._clock = timeout, clock
        self._sdk: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def key(self) -> str:
        """The key, read now. Raises EndpointError that names the variable, unless the server is on this machine."""
        key = os.environ.get(self.api_key_env, "").strip()
        if not key and is_loopback(self.base_url):
            return PLACEHOLDER
        if not key:
            raise EndpointError(
                f"{self.host} needs a key: set the environment variable {self.api_key_env}, "
                "or name another with --api-key-env"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise EndpointError(
                f"the environment variable {self.api_key_env} holds no key: it has blanks or odd letters"
            )
        return key

    async def complete(self, request: Request) -> Response:
        """Send one request, once. Raises EndpointError when there is no key."""
        import openai

        key, started = self.key(), self._clock()
        create = self._client().chat.completions.with_raw_response.create
        try:
            # the messages go with the extra fields: the SDK's walk through its types is a quarter of a call's CPU time
            raw = await create(model=self.model, messages=[], extra_body=request.fields())
            found = Response(raw.status_code, raw.text, dict(raw.headers))
        except openai.APIStatusError as error:
            found = Response(error.response.status_code, error.response.text, dict(error.response.headers))
        except openai.APITimeoutError:
            found = Response(None, failure="timeout")
        except openai.APIConnectionError:
            found = Response(None, failure="connection")
        latency = self._clock() - started
        headers = {name: scrub(value, key) for name, value in found.headers.items()}
        return Response(found.status, scrub(found.body, key), headers, latency, found.failure)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        if self._sdk is not None:
            await self._sdk.close()
        self._sdk = self._loop = None

    def _client(self) -> AsyncOpenAI:
        """The SDK's client of the running loop: its connections belong to the loop they were opened in."""
        loop = asyncio.get_running_loop()
        if self._sdk is None or self._loop is not loop:
            self._sdk, self._loop = self._new(), loop
        return self._sdk

    def _new(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        async def read_key() -> str:
            return self.key()

        sdk = AsyncOpenAI(api_key=read_key, base_url=self.base_url, max_retries=0, timeout=self._timeout)
        if self.base_url != OPENAI_URL:
            sdk.organization = sdk.project = None
        return sdk


def scrub(text: str, key: str) -> str:
    """The text without the key, as it is or as JSON escapes it. A placeholder or a very short key is no secret."""
    if len(key) < SHORTEST_SECRET or key == PLACEHOLDER:
        return text
    escaped = json.dumps(key)[1:-1]
    for spelling in (key, escaped, escaped.replace("/", "\\/")):
        text = text.replace(spelling, MASK)
    return text


def host_of(base_url: str) -> str:
    """Host and, where it is written, port. Raises InputError for an address that may hold a secret or is none."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InputError("--base-url is no address; write it as https://host/v1") from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InputError(
            "--base-url may hold no user name, password or query: the key belongs in an environment variable, "
            "named with --api-key-env"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"--base-url {base_url!r} is no address; write it as https://host/v1")
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"


def is_loopback(base_url: str) -> bool:
    """Whether the address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
