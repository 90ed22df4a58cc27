"""How long reading one reply takes. All times are printed; the best one is held under 50 microseconds."""

import json
from typing import Any

import pytest

from calibration.criteria import BUILT_IN
from calibration.judges.parse import parse_reply

REASON = "The reference names 24 months and the answer says two years, which is the same span of time. " * 4
TEXT = json.dumps({"reason": REASON, "correct": True})


@pytest.mark.parametrize("content", [TEXT, f"<think>{REASON}</think>\n```json\n{TEXT}\n```"], ids=["plain", "repaired"])
def test_a_reply_is_read_in_less_than_50_microseconds(benchmark: Any, content: str) -> None:
    message = {"role": "assistant", "content": content}
    body = {"choices": [{"finish_reason": "stop", "message": message}], "usage": {"prompt_tokens": 300}}
    parsed = benchmark(parse_reply, body, BUILT_IN["correct"], min_prompt_tokens=100)
    assert parsed.value == "yes"
    if benchmark.stats is not None:
        assert benchmark.stats.stats.min < 50e-6
