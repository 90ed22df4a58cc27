"""Finds the form of a request that an endpoint accepts, once a run, with at most 5 calls on one fixed sample."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from calibration.digest import digest
from calibration.errors import EndpointError, InputError
from calibration.judges.body import body_of, error_param, error_text, usage_of
from calibration.judges.request import FORMATS, LIMIT_NAMES, NOT_ACCEPTED, ChatClient, Request, Response
from calibration.judges.retry import FATAL, LONGEST_WAIT, Step, next_step, retry_after, wait_before
from calibration.records import Context, Sample

MAX_PROBES = 5
UNREACHABLE = "the endpoint cannot be reached; check --base-url and that the server runs"
REFUSED = frozenset({400, 422})
SAMPLE = Sample(
    id="probe",
    question="Which planet is closest to the sun?",
    contexts=(Context("Mercury is the planet closest to the sun."),),
    reference="Mercury",
    answer="Mercury is closest to the sun.",
)
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Probed:
    """The judge's parameters with the rung the endpoint accepts, and how many calls it took to find it."""

    params: Mapping[str, Any]
    calls: int
    usage: Mapping[str, int]


def same_wish(stored: Mapping[str, Any], wanted: Mapping[str, Any], *, allow_default_temperature: bool) -> bool:
    """Whether parameters with a rung are those that were asked for, so that no new probe is needed."""
    found = ("response_format", "limit_name", "temperature")
    rest = [{name: value for name, value in params.items() if name not in found} for params in (stored, wanted)]
    dropped = allow_default_temperature and stored.get("temperature") == NOT_ACCEPTED
    return rest[0] == rest[1] and (dropped or stored.get("temperature") == wanted.get("temperature"))


def probe(
    client: ChatClient,
    *,
    messages: Sequence[Mapping[str, str]],
    name: str,
    schema: Mapping[str, Any],
    params: Mapping[str, Any],
    allow_default_temperature: bool = False,
    max_calls: int | None = None,
    sleep: Sleep = asyncio.sleep,
    rng: random.Random | None = None,
) -> Probed:
    """Step `params` down until the endpoint accepts them. `messages` are the prompt on `SAMPLE`.

    Raises EndpointError when it cannot be reached, refuses the key or model, or refuses every form; InputError when
    `max_calls` are too few to find out.
    """
    limit = MAX_PROBES if max_calls is None else min(MAX_PROBES, max_calls)
    chance = rng or random.Random()  # noqa: S311 - it spreads waits

    has_json = any("json" in message["content"].lower() for message in messages)

    async def ask(form: Mapping[str, Any]) -> Response:
        return await client.complete(Request(digest({"probe": dict(form)}), messages, form, name, schema))

    async def climb() -> Probed:
        try:
            return await _climb(ask, dict(params), limit, has_json, allow_default_temperature, sleep, chance)
        finally:
            await client.close()

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="probe") as pool:
        return pool.submit(lambda: asyncio.run(climb())).result()


async def _climb(
    ask: Callable[[Mapping[str, Any]], Awaitable[Response]],
    params: dict[str, Any],
    limit: int,
    has_json: bool,
    allow: bool,
    sleep: Sleep,
    rng: random.Random,
) -> Probed:
    refused: list[Response] = []
    for calls in range(1, limit + 1):
        response = await ask(params)
        if response.status in REFUSED and next_step(response).step is Step.ERROR:
            refused.append(response)
            below = step_down(params, error_param(response), has_json=has_json, allow_default_temperature=allow)
            if below is None:
                raise EndpointError(_refusal(refused))
            params = below
        elif await _settled(response, calls, sleep, rng):
            return Probed(params, calls, usage_of(body_of(response.body)))
    if limit < MAX_PROBES:
        raise InputError(f"--max-calls leaves {limit} calls to find the form the endpoint accepts; give {MAX_PROBES}")
    raise EndpointError(_refusal(refused))


async def _settled(response: Response, calls: int, sleep: Sleep, rng: random.Random) -> bool:
    """True for an answer, False after a wait for the next try. Raises EndpointError for what no try can mend."""
    found = next_step(response)
    if found.step in (Step.READ, Step.FAILED):
        return True
    asked = retry_after(response.headers, time.time())
    if response.status is None and response.failure != "timeout":
        raise EndpointError(UNREACHABLE)
    if found.step is not Step.RETRY or calls == MAX_PROBES or (asked or 0) > LONGEST_WAIT:
        raise EndpointError(explain(found.code, response))
    await sleep(wait_before(calls, asked, rng))
    return False


def explain(code: str, response: Response) -> str:
    """What the endpoint refused, in its words, and the way out."""
    text = error_text(response)
    if code == "quota":
        return f"the account's quota is used up ({text}); raise it, then run the same command again"
    if response.status in FATAL:
        way = "check the model's name and --base-url" if response.status == 404 else "check the key and --api-key-env"
        return f"{FATAL[response.status]} ({text}); {way}"
    return f"the endpoint gives no answer ({text}); try again later, a rerun resumes"


def step_down(
    params: Mapping[str, Any], about: str, *, has_json: bool, allow_default_temperature: bool
) -> dict[str, Any] | None:
    """The next form to try, None when there is none. `about` is the parameter an error names, or its message.

    The name is a hint that orders the steps: without one the reply's format goes first.
    """
    steps = [
        ("response_format", _next_format(params, has_json)),
        ("max_tokens", _next_limit_name(params)),
        ("temperature", _no_temperature(params, allow_default_temperature)),
    ]
    open_steps = [(name, found) for name, found in steps if found is not None]
    words = {"max_tokens": ("max_tokens", "max_completion_tokens"), "temperature": ("temperature",)}
    hinted = [found for name, found in open_steps if any(word in about for word in words.get(name, ()))]
    if hinted:
        return hinted[0]
    if "temperature" in about and not allow_default_temperature:
        return None
    return open_steps[0][1] if open_steps else None


def _next_format(params: Mapping[str, Any], has_json: bool) -> dict[str, Any] | None:
    later = FORMATS[FORMATS.index(params["response_format"]) + 1 :]
    usable = [form for form in later if form != "json_object" or has_json]
    return {**params, "response_format": usable[0]} if usable else None


def _next_limit_name(params: Mapping[str, Any]) -> dict[str, Any] | None:
    return {**params, "limit_name": LIMIT_NAMES[1]} if params["limit_name"] == LIMIT_NAMES[0] else None


def _no_temperature(params: Mapping[str, Any], allowed: bool) -> dict[str, Any] | None:
    open_ = allowed and params["temperature"] != NOT_ACCEPTED
    return {**params, "temperature": NOT_ACCEPTED} if open_ else None


def _refusal(refused: Sequence[Response]) -> str:
    text = error_text(refused[-1]) if refused else "no answer"
    hint = "add --allow-default-temperature" if "temperature" in text else "check the model and every --param"
    return f"the endpoint refuses every form of the request ({text}); {hint}"
