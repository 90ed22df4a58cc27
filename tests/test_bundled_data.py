"""The bundled samples, replies and prompts: complete, consistent, and true of httpx 0.28.1."""

from __future__ import annotations

import gzip
import json
import random
import re
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from calibration.agreement import Comparison, Confusion
from calibration.prompts import parse_prompt

DATA = Path(__file__).resolve().parents[1] / "data"
URL = "http://test/"
PROMPTS = ("correct-v1", "correct-v2", "faithful-v1", "faithful-v2")
VERDICT_KEYS = {"correct": ["reason", "correct"], "faithful": ["unsupported", "faithful"]}


def lines(name: str) -> list[dict[str, Any]]:
    text = (DATA / "samples" / name).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


DOCUMENTS = {document["id"]: document["text"] for document in lines("httpx-documents.jsonl")}
SAMPLES = {sample["id"]: sample for sample in lines("httpx.jsonl")}
REPLIES = {(reply["prompt"], reply["sample"]): reply for reply in lines("httpx-replies.jsonl")}


def asked(criterion: str) -> list[str]:
    return [id for id, sample in SAMPLES.items() if criterion == "correct" or sample["system"] == "rag"]


def label(sample: str, criterion: str) -> str:
    (found,) = [one["value"] for one in SAMPLES[sample]["labels"] if one["criterion"] == criterion]
    return str(found)


def verdict(prompt: str, sample: str) -> str | None:
    """What the parser makes of the reply: the value, or None for the two that are no verdict."""
    text = REPLIES[prompt, sample]["message"]["content"]
    text = re.sub(r"\A<think>.*?</think>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"\A```json\n(.*)\n```\Z", r"\1", text, flags=re.DOTALL)
    try:
        value = json.loads(text)[prompt.split("-")[0]]
    except json.JSONDecodeError:
        return None
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else None


# the files


def test_there_are_thirty_documents_of_40_to_120_words() -> None:
    assert len(lines("httpx-documents.jsonl")) == len(DOCUMENTS) == 30
    assert all(40 <= len(text.split()) <= 120 for text in DOCUMENTS.values())


def test_twenty_questions_are_answered_by_two_systems() -> None:
    assert len(lines("httpx.jsonl")) == len(SAMPLES) == 40
    systems = Counter((sample["question"], sample["system"]) for sample in SAMPLES.values())
    assert len({question for question, _ in systems}) == 20
    assert set(systems.values()) == {1}
    assert {system for _, system in systems} == {"closed-book", "rag"}


def test_three_questions_are_not_english() -> None:
    languages = Counter(sample["metadata"]["language"] for sample in SAMPLES.values())
    assert languages == {"en": 34, "de": 4, "zh": 2}


@pytest.mark.parametrize("id", SAMPLES)
def test_a_sample_has_the_fields_of_its_system_and_labels_with_notes(id: str) -> None:
    sample = SAMPLES[id]
    fields = {"id", "question", "reference", "answer", "system", "labels", "metadata"}
    assert set(sample) == fields | ({"contexts"} if sample["system"] == "rag" else set())
    assert re.fullmatch(r"httpx-\d\d-" + sample["system"], id)
    assert set(sample["metadata"]) == {"topic", "language"}
    assert all(point.startswith("- ") for point in sample["reference"].split("\n"))
    criteria = ["correct", "faithful"] if sample["system"] == "rag" else ["correct"]
    assert [one["criterion"] for one in sample["labels"]] == criteria
    for one in sample["labels"]:
        assert set(one) == {"annotator", "criterion", "value", "note"}
        assert one["annotator"] == "author"
        assert one["value"] in ("yes", "no")
        assert one["note"].strip()


@pytest.mark.parametrize("id", asked("faithful"))
def test_contexts_are_documents_word_for_word(id: str) -> None:
    contexts = SAMPLES[id]["contexts"]
    assert 1 <= len(contexts) <= 4
    for context in contexts:
        assert context == {"id": context["id"], "text": DOCUMENTS[context["id"]]}


def test_labels_fill_all_four_cells_of_correct_by_faithful() -> None:
    cells = Counter((label(id, "correct"), label(id, "faithful")) for id in asked("faithful"))
    assert cells == {("yes", "yes"): 8, ("yes", "no"): 6, ("no", "yes"): 4, ("no", "no"): 2}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_has_one_reply_for_each_sample_it_is_asked_about(prompt: str) -> None:
    replies = [reply for reply in lines("httpx-replies.jsonl") if reply["prompt"] == prompt]
    assert [reply["sample"] for reply in replies] == asked(prompt.split("-")[0])
    for reply in replies:
        assert set(reply) == {"prompt", "sample", "message", "finish_reason"}
        assert set(reply["message"]) == {"content"}
        assert reply["finish_reason"] == "stop"


def test_replies_name_only_the_bundled_prompts_and_two_are_no_verdict() -> None:
    assert {prompt for prompt, _ in REPLIES} == set(PROMPTS)
    silent = [key for key in REPLIES if verdict(*key) is None]
    assert silent == [("correct-v1", "httpx-16-rag"), ("faithful-v1", "httpx-19-rag")]


@pytest.mark.parametrize(("prompt", "sample"), [key for key in REPLIES if REPLIES[key]["message"]["content"][0] == "{"])
def test_a_plain_reply_gives_its_reason_before_the_verdict(prompt: str, sample: str) -> None:
    reply = json.loads(REPLIES[prompt, sample]["message"]["content"])
    assert list(reply) == VERDICT_KEYS[prompt.split("-")[0]]
    assert next(iter(reply.values())).strip()


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_file_has_its_front_matter_and_both_parts(prompt: str) -> None:
    name, version = prompt.split("-v")
    _, front, body = (DATA / "prompts" / name / f"v{version}.md").read_text(encoding="utf-8").split("---\n", 2)
    meta = yaml.safe_load(front)
    assert list(meta) == ["format", "name", "criterion", "parent", "note", "author", "created", "examples"]
    assert (meta["name"], meta["criterion"], meta["examples"]) == (name, name, [])
    assert meta["parent"] is None if version == "1" else re.fullmatch(r"[0-9a-f]{64}", meta["parent"])
    system, user = body.removeprefix("# system\n").split("# user\n")
    assert user == "{{ sample }}\n"
    assert "{{" not in system
    assert "JSON" in system
    first, second = (f'"{key}":' for key in VERDICT_KEYS[name])
    assert system.index(first) < system.index(second)


@pytest.mark.parametrize("name", ["correct", "faithful"])
def test_the_parent_of_version_2_is_the_digest_of_version_1(name: str) -> None:
    paths = [DATA / "prompts" / name / f"v{version}.md" for version in (1, 2)]
    first, second = (parse_prompt(path.read_text(encoding="utf-8"), str(path)) for path in paths)
    assert second.parent == first.digest != second.digest


@pytest.mark.parametrize("criterion", ["correct", "faithful"])
def test_a_guideline_is_short(criterion: str) -> None:
    text = (DATA / "guidelines" / f"{criterion}.md").read_text(encoding="utf-8")
    assert 80 <= len(text.split()) <= 150


def test_the_price_file_is_dated_and_says_how_far_to_trust_it() -> None:
    prices = yaml.safe_load((DATA / "prices.yaml").read_text(encoding="utf-8"))
    assert str(prices["date"]) == "2026-11-30"
    assert "check before relying on it" in prices["note"]
    for price in prices["models"].values():
        assert list(price) == ["input", "cached_input", "output"]
        assert 0 < price["cached_input"] <= price["input"] <= price["output"]


# the arithmetic: a reply that is no verdict counts as wrong


OTHER = {"yes": "no", "no": "yes"}


def strict(prompt: str) -> dict[str, str]:
    criterion = prompt.split("-")[0]
    return {id: verdict(prompt, id) or OTHER[label(id, criterion)] for id in asked(criterion)}


@pytest.mark.parametrize(
    ("prompt", "table", "kappa"),
    [
        # po = 32/40, pe = (25*19 + 15*21)/1600 = .49375, kappa = (.8 - .49375)/.50625
        ("correct-v1", (18, 7, 1, 14), 0.6049),
        # po = 39/40, pe = (25*24 + 15*16)/1600 = .525
        ("correct-v2", (24, 1, 0, 15), 0.9474),
        # po = 13/20, pe = (12*13 + 8*7)/400 = .53
        ("faithful-v1", (9, 3, 4, 4), 0.2553),
        # po = 19/20, pe = (12*13 + 8*7)/400 = .53
        ("faithful-v2", (12, 0, 1, 7), 0.8936),
    ],
)
def test_the_replies_give_these_tables(prompt: str, table: tuple[int, ...], kappa: float) -> None:
    verdicts = strict(prompt)
    human = [label(id, prompt.split("-")[0]) for id in verdicts]
    questions = [SAMPLES[id]["question"] for id in verdicts]
    confusion = Confusion.from_values(human=human, judge=list(verdicts.values()), groups=questions)
    assert (confusion.a, confusion.b, confusion.c, confusion.d) == table
    assert confusion.kappa().value == pytest.approx(kappa, abs=1e-4)


@pytest.mark.parametrize(("criterion", "repaired"), [("correct", 6), ("faithful", 5)])
def test_the_second_version_repairs_verdicts_and_breaks_none(criterion: str, repaired: int) -> None:
    both = [id for id in asked(criterion) if verdict(f"{criterion}-v1", id)]
    comparison = Comparison.from_values(
        human=[label(id, criterion) for id in both],
        a=[strict(f"{criterion}-v2")[id] for id in both],
        b=[strict(f"{criterion}-v1")[id] for id in both],
        groups=[SAMPLES[id]["question"] for id in both],
    )
    assert (comparison.mcnemar().only_a_right, comparison.mcnemar().only_b_right) == (repaired, 0)
    interval = comparison.kappa_difference().interval(0.95)
    assert interval is not None
    assert interval.low > 0


# the facts, against the package itself


def client(answer: Callable[[httpx.Request], httpx.Response] | httpx.Response, **options: Any) -> httpx.Client:
    handler = answer if callable(answer) else lambda _: answer
    return httpx.Client(transport=httpx.MockTransport(handler), **options)


def text_answer(body: bytes, charset: str = "") -> httpx.Response:
    return httpx.Response(200, content=body, headers={"content-type": f"text/plain{charset}"})


def hops(count: int) -> Callable[[httpx.Request], httpx.Response]:
    """A server that redirects `count` times, from /0 to /1 and so on."""

    def answer(request: httpx.Request) -> httpx.Response:
        k = int(request.url.path[1:])
        return httpx.Response(302, headers={"location": f"/{k + 1}"}) if k < count else httpx.Response(200)

    return answer


@pytest.fixture
def zipped() -> Iterator[tuple[httpx.Response, int, int]]:
    """A streamed gzip response that is not read yet, its size on the wire and its size unpacked."""
    body = random.Random(0).randbytes(100) + b"a" * 100_000
    wire = gzip.compress(body)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(wire), headers={"content-encoding": "gzip"})

    with client(answer) as one, one.stream("GET", URL) as response:
        yield response, len(wire), len(body)


def test_the_facts_are_those_of_the_version_named() -> None:
    assert httpx.__version__ == "0.28.1"


@pytest.mark.parametrize("status", [103, 301, 404, 500])
def test_q01_raise_for_status_raises_for_everything_outside_2xx(status: int) -> None:
    with pytest.raises(httpx.HTTPStatusError):
        httpx.Response(status, request=httpx.Request("GET", URL)).raise_for_status()


def test_q02_redirects_are_not_followed_by_default() -> None:
    response = client(hops(1)).get(URL + "0")
    assert (response.status_code, response.history) == (302, [])


@pytest.mark.parametrize("place", ["client", "call"])
def test_q02_redirects_are_followed_when_asked_for_on_client_or_call(place: str) -> None:
    if place == "client":
        response = client(hops(1), follow_redirects=True).get(URL + "0")
    else:
        response = client(hops(1)).get(URL + "0", follow_redirects=True)
    assert (response.status_code, len(response.history)) == (200, 1)


def test_q03_a_client_without_limits_has_100_connections_20_kept_alive_for_5_seconds() -> None:
    from httpx._config import DEFAULT_LIMITS

    expected = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5)
    assert expected == DEFAULT_LIMITS


def test_q04_adding_up_decoded_pieces_is_not_what_came_over_the_network(
    zipped: tuple[httpx.Response, int, int],
) -> None:
    response, wire, unpacked = zipped
    assert sum(len(piece) for piece in response.iter_bytes()) == unpacked
    assert response.num_bytes_downloaded == wire < unpacked


def test_q04_adding_up_raw_pieces_equals_the_byte_counter(zipped: tuple[httpx.Response, int, int]) -> None:
    response, wire, _ = zipped
    assert sum(len(piece) for piece in response.iter_raw()) == response.num_bytes_downloaded == wire


def test_q04_a_response_has_no_iter_content() -> None:
    assert not hasattr(httpx.Response(200), "iter_content")


def test_q05_default_encoding_on_the_client_decodes_pages_without_a_charset() -> None:
    assert client(text_answer(b"caf\xe9"), default_encoding="latin-1").get(URL).text == "café"


def test_q05_encoding_set_on_the_response_before_text_is_read_works_as_well() -> None:
    response = client(text_answer(b"caf\xe9")).get(URL)
    response.encoding = "latin-1"
    assert response.text == "café"


def test_q06_the_next_hop_is_in_next_request_and_there_is_no_next() -> None:
    one = client(hops(1))
    response = one.get(URL + "0")
    assert response.next_request is not None
    assert response.next_request.url == URL + "1"
    assert one.send(response.next_request).status_code == 200
    assert not hasattr(response, "next")
    assert not hasattr(response, "anext")


def test_q07_the_default_timeout_is_5_seconds_for_each_phase() -> None:
    assert httpx.Client().timeout == httpx.Timeout(connect=5, read=5, write=5, pool=5)


def test_q08_a_field_left_out_of_limits_means_no_limit() -> None:
    assert httpx.Limits(max_keepalive_connections=5).max_connections is None


@pytest.mark.parametrize(("given", "sent"), [(None, None), (0, 0)])
def test_q09_none_switches_the_timeout_off_and_zero_does_not(given: int | None, sent: int | None) -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.extensions["timeout"])
        return httpx.Response(200)

    one = client(answer)
    one.get(URL, timeout=given)
    one.get(URL)
    assert seen[0] == dict.fromkeys(("connect", "read", "write", "pool"), sent)
    assert set(seen[1].values()) == {5.0}


def test_q10_text_without_a_charset_is_utf_8_and_nothing_is_guessed() -> None:
    assert client(text_answer("café".encode())).get(URL).text == "café"
    response = client(text_answer(b"caf\xe9")).get(URL)
    assert (response.encoding, response.text) == ("utf-8", "caf\ufffd")


def test_q11_proxy_variables_are_read_unless_trust_env_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with httpx.Client() as trusting, httpx.Client(trust_env=False) as other:
        assert "http://" in [pattern.pattern for pattern in trusting._mounts]
        assert other._mounts == {}


@pytest.mark.parametrize("argument", ["trust_env", "verify"])
def test_q11_q16_the_request_methods_of_a_client_take_neither_trust_env_nor_verify(argument: str) -> None:
    with pytest.raises(TypeError, match=argument):
        client(httpx.Response(200)).get(URL, **{argument: False})  # type: ignore[arg-type]


@pytest.mark.parametrize("argument", ["trust_env", "verify"])
def test_q11_q16_httpx_get_takes_both(argument: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {}

    class Spy(httpx.Client):
        def __init__(self, **options: Any) -> None:
            made.update(options)
            super().__init__(transport=httpx.MockTransport(lambda _: httpx.Response(200)))

    monkeypatch.setattr("httpx._api.Client", Spy)
    assert httpx.get(URL, **{argument: False}).status_code == 200  # type: ignore[arg-type]
    assert made[argument] is False


@pytest.mark.parametrize(
    ("status", "success", "error"),
    [(200, True, False), (204, True, False), (301, False, False), (404, False, True), (500, False, True)],
)
def test_q12_is_success_is_true_for_2xx_and_is_error_for_4xx_and_5xx(status: int, success: bool, error: bool) -> None:
    response = httpx.Response(status)
    assert (response.is_success, response.is_error) == (success, error)
    assert not hasattr(response, "ok")
    assert not hasattr(response, "is_ok")


@pytest.mark.parametrize(
    ("params", "query"),
    [({"a": None}, b"a="), ([("k", 1), ("k", 2)], b"k=1&k=2"), ({"k": [1, 2]}, b"k=1&k=2"), ({"b": True}, b"b=true")],
)
def test_q13_q14_params_are_sent_like_this(params: Any, query: bytes) -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.query)
        return httpx.Response(200)

    client(answer).get(URL, params=params)
    assert seen == [query]


def test_q15_setting_the_encoding_after_text_was_read_raises() -> None:
    response = client(text_answer(b"abc")).get(URL)
    assert response.text == "abc"
    with pytest.raises(ValueError, match="after `text` has been accessed"):
        response.encoding = "latin-1"


def test_q16_verify_false_on_a_client_switches_the_check_off() -> None:
    assert httpx.create_ssl_context(verify=False).verify_mode is ssl.CERT_NONE
    with httpx.Client(verify=False) as unchecked:
        assert unchecked._transport._pool._ssl_context.verify_mode is ssl.CERT_NONE  # type: ignore[attr-defined]


def test_q17_raise_for_status_returns_the_response() -> None:
    response = client(httpx.Response(200, json={"a": 1})).get(URL)
    assert response.raise_for_status() is response
    assert response.raise_for_status().json() == {"a": 1}


def test_q18_the_header_beats_default_encoding_and_an_assignment_beats_both() -> None:
    one = client(lambda _: text_answer("é".encode(), "; charset=utf-8"), default_encoding="latin-1")
    assert one.get(URL).text == "é"
    response = one.get(URL)
    response.encoding = "cp1251"
    assert response.text == "é".encode().decode("cp1251")


def test_q19_default_encoding_may_be_a_function_of_the_bytes() -> None:
    given = []

    def detect(content: bytes) -> str:
        given.append(content)
        return "latin-1"

    assert client(text_answer(b"caf\xe9"), default_encoding=detect).get(URL).text == "café"
    assert given == [b"caf\xe9"]


def test_q20_twenty_redirects_are_followed_and_one_more_raises() -> None:
    assert len(client(hops(20), follow_redirects=True).get(URL + "0").history) == 20
    with pytest.raises(httpx.TooManyRedirects):
        client(hops(21), follow_redirects=True).get(URL + "0")
