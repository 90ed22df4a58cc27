"""What to do with a response: read it, try again and when, record an error, or stop the run. Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum

from calibration.judges.body import error_codes, is_provider_error
from calibration.judges.request import Response

RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
FATAL = {
    401: "the endpoint refuses the key",
    402: "the account has no credit left",
    403: "the endpoint does not allow this key or model",
    404: "the endpoint knows no such model or address",
}
MAX_TRIES = 8
LONGEST_WAIT = 120.0


class Step(StrEnum):
    """What follows a response."""

    READ = "read"
    RETRY = "retry"
    FAILED = "failed"
    ERROR = "error"
    STOP = "stop"


@dataclass(frozen=True)
class Next:
    """The step and, unless the reply is read, the code that a verdict records."""

    step: Step
    code: str = ""


def next_step(response: Response) -> Next:
    """What follows a response. Only codes and statuses decide, never the text of a message."""
    if response.status is None:
        return Next(Step.RETRY, response.failure or "connection")
    if response.status == 200:
        return _of_body(response.body)
    codes = error_codes(response.body)
    if response.status == 429 and "insufficient_quota" in codes:
        return Next(Step.STOP, "quota")
    if response.status == 400 and "content_filter" in codes:
        return Next(Step.FAILED, "content_filter")
    code = f"http_{response.status}"
    if response.status in RETRIED:
        return Next(Step.RETRY, code)
    return Next(Step.STOP if response.status in FATAL else Step.ERROR, code)


def _of_body(body: str) -> Next:
    """A provider's error that came with status 200 is tried again when its code says so."""
    if not is_provider_error(body):
        return Next(Step.READ)
    codes = error_codes(body)
    if "insufficient_quota" in codes:
        return Next(Step.STOP, "quota")
    if "content_filter" in codes:
        return Next(Step.FAILED, "content_filter")
    again = codes & {str(status) for status in (429, *range(500, 600))}
    return Next(Step.RETRY if again else Step.ERROR, "provider_error")


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds to wait that the endpoint asks for: `retry-after-ms`, `Retry-After` in seconds or as an HTTP date.

    `wall` is the time of day in seconds since 1970; None without a usable header.
    """
    low = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(low[name]) / unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(low["retry-after"]).timestamp() - wall)
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def wait_before(tries: int, asked: float | None, rng: random.Random) -> float:
    """Seconds before the next try after `tries` of them: what the endpoint asks for, at least 0.5 s doubled to 8 s."""
    return max(asked or 0.0, min(0.5 * 2.0 ** (tries - 1), 8.0)) * rng.uniform(1, 1.25)
