"""The window of calls in flight, the tries and the waits: pure arithmetic, checked by hand."""

from __future__ import annotations

import random
from email.utils import formatdate

import pytest

from calibration.judges.concurrency import Window
from calibration.judges.request import Response
from calibration.judges.retry import Next, Step, next_step, retry_after, wait_before


class Highest(random.Random):
    """Draws the upper end, so that a wait is known."""

    def uniform(self, a: float, b: float) -> float:
        return b


def one_call(window: Window, status: int | None, *, started: float = 0.0, now: float = 1.0) -> None:
    window.begin()
    window.end(started, now, status)


def test_the_window_grows_by_one_for_each_answer_until_the_limit() -> None:
    window = Window(limit=10, start=8)
    for expected in (9.0, 10.0, 10.0):
        one_call(window, 200)
        assert window.size == expected


def test_the_window_starts_no_larger_than_the_limit() -> None:
    assert Window(limit=3, start=8).size == 3


def test_a_call_waits_while_the_window_is_full() -> None:
    window = Window(limit=2, start=2)
    window.begin()
    assert window.wait(0.0) == 0
    window.begin()
    assert window.wait(0.0) is None


def test_one_stray_429_cuts_nothing() -> None:
    window = Window(limit=64, start=8)
    one_call(window, 429)
    assert window.size == 8.0
    assert window.share == pytest.approx(0.1)


def test_the_second_429_in_a_row_cuts_to_four_fifths() -> None:
    # share: 0.1, then 0.9 * 0.1 + 0.1 = 0.19 > 0.15
    window = Window(limit=64, start=10)
    one_call(window, 429)
    one_call(window, 429, now=2.0)
    assert (window.size, window.size_at_cut, window.cut_at) == (8.0, 10.0, 2.0)


def test_calls_that_started_before_the_cut_do_not_cut_again() -> None:
    window = Window(limit=64, start=10)
    for now in (1.0, 2.0, 3.0):
        one_call(window, 429, started=0.0, now=now)
    assert window.size == 8.0
    one_call(window, 429, started=2.5, now=4.0)
    assert window.size == pytest.approx(6.4)


def test_after_a_cut_it_grows_by_two_over_the_window_and_slower_near_the_old_size() -> None:
    window = Window(limit=64, start=10)
    one_call(window, 429)
    one_call(window, 503)
    one_call(window, 200)
    assert window.size == 8 + 2 / 8
    window.size = 9.6  # above 0.95 * 10
    one_call(window, 200)
    assert window.size == pytest.approx(9.6 + 0.5 / 9.6)


def test_other_errors_leave_the_window_alone() -> None:
    window = Window(limit=64, start=8)
    for status in (500, 400, None, 401):
        one_call(window, status)
    assert (window.size, window.in_flight) == (8.0, 0)


def test_a_window_of_one_pauses_as_long_as_the_endpoint_asks() -> None:
    window = Window(limit=1, start=1, rng=Highest())
    one_call(window, 429)
    window.begin()
    window.end(1.5, 2.0, 429, retry_after=4.0)
    # 4 s x 1.1 from second 2
    assert window.wait(2.0) == pytest.approx(4.4)
    assert window.wait(7.0) == 0


def test_a_pause_is_never_longer_than_two_minutes_and_never_shortened() -> None:
    window = Window(limit=1, start=1, rng=Highest())
    one_call(window, 429)
    window.begin()
    window.end(1.0, 2.0, 529, retry_after=9999.0)
    assert window.pause_until == pytest.approx(2 + 132)
    window.begin()
    window.end(2.5, 3.0, 429)
    assert window.pause_until == pytest.approx(2 + 132)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After-Ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": formatdate(1030.0, usegmt=True)}, 30.0),
        ({"Retry-After": formatdate(10.0, usegmt=True)}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "-1"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_spelling(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, wall=1000.0) == seconds


def test_waits_double_up_to_eight_seconds_and_heed_the_endpoint() -> None:
    waits = [wait_before(tries, None, Highest()) for tries in range(1, 8)]
    assert waits == [1.25 * base for base in (0.5, 1, 2, 4, 8, 8, 8)]
    assert wait_before(1, 60.0, Highest()) == 75.0
    assert wait_before(5, 1.0, Highest()) == 10.0


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, '{"choices": []}', Next(Step.READ)),
        (200, "no json", Next(Step.READ)),
        (200, '{"choices": null, "error": {"code": 502}}', Next(Step.RETRY, "provider_error")),
        (200, '{"choices": null, "error": {"code": 400}}', Next(Step.ERROR, "provider_error")),
        (200, '{"error": "overloaded"}', Next(Step.ERROR, "provider_error")),
        (400, '{"error": {"code": "content_filter"}}', Next(Step.FAILED, "content_filter")),
        (400, '{"error": {"message": "content_filter"}}', Next(Step.ERROR, "http_400")),
        (429, '{"error": {"code": "insufficient_quota"}}', Next(Step.STOP, "quota")),
        (429, '{"error": {"type": "insufficient_quota"}}', Next(Step.STOP, "quota")),
        (429, '{"error": {"code": "rate", "message": "per-minute quota: insufficient_quota"}}', None),
        (401, "", Next(Step.STOP, "http_401")),
        (404, "", Next(Step.STOP, "http_404")),
        (413, "", Next(Step.ERROR, "http_413")),
        *[(status, "", None) for status in (408, 409, 429, 500, 502, 503, 504, 529)],
    ],
)
def test_only_codes_and_statuses_decide_what_follows(status: int, body: str, expected: Next | None) -> None:
    assert next_step(Response(status, body)) == (expected or Next(Step.RETRY, f"http_{status}"))


def test_no_answer_at_all_is_tried_again() -> None:
    assert next_step(Response(None, failure="timeout")) == Next(Step.RETRY, "timeout")
    assert next_step(Response(None, failure="connection")) == Next(Step.RETRY, "connection")
