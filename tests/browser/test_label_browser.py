"""The labelling screen in Chromium: keys, notes, lost connections, hostile text, blindness, phone."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from calibration.records import Context, Judge, JudgeKind, Sample, Verdict
from calibration.store import Store
from calibration.store.events import save_events
from calibration.store.prompts import ensure_judge
from calibration.store.runs import insert_run, insert_verdict

if TYPE_CHECKING:
    from browser.conftest import Server

pytestmark = pytest.mark.browser

Show = Callable[[Page, str], None]
Fill = Callable[..., list[Sample]]

# Notes at every key what is on the screen then, and how long the screen takes to draw another question.
WATCH = """() => {
  window.pressed = [];
  const question = () => document.querySelector('[data-testid=stBidiComponentIsolated]')?.shadowRoot
    .querySelector('.question .text')?.textContent ?? null;
  window.addEventListener('keydown', (event) => {
    const entry = {key: event.key, question: question(), drawn: null};
    const start = performance.now();
    window.pressed.push(entry);
    window.addEventListener('keydown', () => {
      if (question() !== entry.question) entry.drawn = performance.now() - start;
    }, {once: true});
  }, true);
}"""


def begin(server: Server, page: Page, show: Show, address: str = "/label") -> None:
    server.start()
    show(page, server.url + address)
    expect(page.get_by_text(re.compile(r"^Sample \d+ of ")).first).to_be_visible()


def saved(page: Page) -> None:
    expect(page.get_by_role("status")).to_have_text("saved")


def events(store: Store) -> list[tuple[str, str, str, str | None, str]]:
    return [(e.sample, e.criterion, str(e.status), e.value, e.note) for e in store.label_events()]


def shown(page: Page) -> str:
    return page.locator(".question .text").inner_text().removeprefix("question of ")


def pressed(page: Page) -> list[str]:
    return [str(node.get_attribute("data-id")) for node in page.locator("button[aria-pressed=true]").all()]


def accepted(page: Page) -> list[tuple[str, str]]:
    """The keys that found a sample on the screen, as (sample, value)."""
    value = {"1": "yes", "2": "no", "3": "unsure"}
    seen = [entry for entry in page.evaluate("window.pressed") if entry["question"] is not None]
    return [(entry["question"].removeprefix("question of "), value[entry["key"]]) for entry in seen]


def stored(store: Store) -> list[tuple[str, str | None]]:
    return [(sample, value) for sample, _, _, value, _ in events(store)]


def test_sixty_quick_keys_each_label_the_sample_on_the_screen(
    server: Server, page: Page, show: Show, fill: Fill
) -> None:
    fill(server.store, 70, contexts=None)
    begin(server, page, show)
    page.evaluate(WATCH)
    rng = random.Random(7)
    for _ in range(60):
        page.locator(".question").wait_for()
        page.keyboard.press(rng.choice("123"))
        page.wait_for_timeout(rng.uniform(20, 120))
    saved(page)
    assert stored(server.store) == accepted(page)
    assert len({sample for sample, _ in accepted(page)}) == 60
    times = sorted(entry["drawn"] for entry in page.evaluate("window.pressed"))
    print(f"key to next sample: median {times[30]:.1f} ms, p95 {times[56]:.1f} ms")


def test_keys_faster_than_samples_arrive_label_only_what_is_drawn(
    server: Server, page: Page, show: Show, fill: Fill
) -> None:
    fill(server.store, 40, contexts=None)
    begin(server, page, show)
    page.evaluate(WATCH)
    for n in range(30):
        page.keyboard.press("123"[n % 3])
    page.locator(".question").wait_for()
    saved(page)
    assert stored(server.store) == accepted(page)
    assert len(accepted(page)) >= 9  # one on the screen and eight ahead


def test_keys_do_nothing_while_typing_when_held_or_with_ctrl(
    server: Server, page: Page, show: Show, fill: Fill
) -> None:
    fill(server.store, 3)
    begin(server, page, show)
    first = shown(page)
    page.keyboard.press("n")
    page.keyboard.type("1n2")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("1n2")
    saved(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+1")
    page.keyboard.down("1")
    for _ in range(5):
        page.keyboard.down("1")  # a key that is held sends keydown again with `repeat`
    page.keyboard.up("1")
    saved(page)
    assert pressed(page) == ["correct-yes"]
    assert shown(page) == first
    assert events(server.store) == [
        (first, "correct", "note", None, "1n2"),
        (first, "correct", "labelled", "yes", "1n2"),
    ]
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("2")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert pressed(page) == ["correct-yes"]


def test_a_note_after_the_value_is_saved_with_it(server: Server, page: Page, show: Show, fill: Fill) -> None:
    fill(server.store, 2)
    begin(server, page, show)
    first = shown(page)
    page.keyboard.press("2")
    page.keyboard.press("n")
    page.keyboard.type("too short")
    page.keyboard.press("Escape")
    page.keyboard.press("j")  # a move flushes the note
    saved(page)
    expect(page.get_by_text("question of " + first)).to_be_hidden()
    assert events(server.store)[-1] == (first, "correct", "labelled", "no", "too short")
    page.keyboard.press("k")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("too short")


def test_unsent_events_are_sent_once_after_a_reload(server: Server, page: Page, show: Show, fill: Fill) -> None:
    blocked = [False]

    def route(socket: WebSocketRoute) -> None:
        far = socket.connect_to_server()
        socket.on_message(lambda message: None if blocked[0] else far.send(message))

    page.route_web_socket(re.compile("/_stcore/stream"), route)
    fill(server.store, 5, contexts=None)
    begin(server, page, show)
    blocked[0] = True
    page.keyboard.press("1")
    page.keyboard.press("2")
    expect(page.get_by_role("status")).to_have_text("saving 2")
    assert events(server.store) == []
    page.once("dialog", lambda dialog: dialog.accept())
    blocked[0] = False
    page.reload()
    saved(page)
    assert [value for _, _, _, value, _ in events(server.store)] == ["yes", "no"]
    assert page.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('/ana'))") == []


def test_undo_skip_and_set_aside_survive_a_restart(server: Server, page: Page, show: Show, fill: Fill) -> None:
    fill(server.store, 4, contexts=None)
    begin(server, page, show)
    first = shown(page)
    page.keyboard.press("1")
    second = shown(page)
    page.keyboard.press("s")
    third = shown(page)
    page.get_by_role("button", name="Set aside").click()
    saved(page)
    server.stop()
    server.start()
    show(page, server.url + "/label")
    progress = server.store.progress("ana")
    assert (progress.done, progress.skipped, progress.deferred) == (1, 1, 1)
    for sample in (third, second, first):  # back in the order they came
        page.keyboard.press("u")
        expect(page.get_by_text("question of " + sample)).to_be_visible()
    saved(page)
    assert pressed(page) == []
    assert [status for _, _, status, _, _ in events(server.store)[3:]] == ["withdrawn"] * 3
    page.keyboard.press("u")  # nothing is left
    page.keyboard.press("3")
    saved(page)
    assert events(server.store)[-1] == (first, "correct", "labelled", "unsure", "")


def test_hostile_text_is_shown_as_it_is(server: Server, page: Page, show: Show, fill: Fill) -> None:
    attack = (
        "<img src=https://evil.example/x onerror=alert(1)> ![x](https://evil.example/y) $x$ :material/home: "
        "<script>alert(2)</script> javascript:alert(3)"
    )
    hidden = "txt.‮live‬ zero​width tag\U000e0041 nul\0 tab\there 👩‍🔬 می‌خواهم"
    long = "word " * 11_200
    fill(
        server.store,
        [Sample(id="<b>s</b>", question=attack, answer=hidden, contexts=(Context(long, attack),), reference=attack)],
    )
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    begin(server, page, show)
    assert page.locator(".question .text").inner_text() == attack
    assert page.locator(".reference .text").inner_text() == attack
    marks = "txt.<U+202E>live<U+202C> zero<U+200B>width tag<U+E0041> nul<U+0000> tab\there 👩‍🔬 می‌خواهم"
    assert page.locator(".answer .text").text_content() == marks
    expect(page.get_by_text("5 invisible characters, shown as marks")).to_be_visible()
    context = page.locator(".contexts .text")
    assert len(str(context.text_content())) == 20_000
    page.get_by_role("button", name="show all (56,000 characters)").click()
    assert len(str(context.text_content())) == 56_000
    page.keyboard.press("1")
    page.keyboard.press("4")
    expect(page.get_by_role("heading", name="All 1 labelled")).to_be_visible()
    assert server.store.progress("ana").done == 1


def test_the_browser_gets_nothing_that_could_sway_the_annotator(
    server: Server, page: Page, show: Show, fill: Fill
) -> None:
    store = server.store
    fill(store, 3, system="SYSTEM-X", metadata={"score": "METADATA-X"})
    judge = Judge(JudgeKind.IMPORTED, "JUDGE-X", "correct")
    with store.writing() as db:
        key = ensure_judge(db, judge, store.now())
        run = insert_run(db, key, sample_set="set", planned=3, time=store.now(), code_version="test", status="done")
        for n in range(1, 4):
            insert_verdict(db, Verdict(f"s{n}", "correct", "no", reason="REASON-X"), run, store.now())
    store.ensure_order("ben", ["correct", "faithful"])
    other = store.queue("ben", 1, 3)
    made = [
        {
            "id": f"e-other-{n}",
            "assignment": entry.assignments["correct"],
            "sample": entry.sample.id,
            "criterion": "correct",
            "status": "labelled",
            "value": "unsure",
            "note": "NOTE-X",
        }
        for n, entry in enumerate(other)
    ]
    assert len(save_events(made, "ben", store).acknowledged) == 3
    received: list[str] = []

    def hear(frame: Any) -> None:
        received.append(frame if isinstance(frame, str) else frame.decode("utf-8", "replace"))

    page.on("websocket", lambda socket: socket.on("framereceived", hear))
    begin(server, page, show)
    page.keyboard.press("1")
    saved(page)
    everything = " ".join(received) + page.content()
    assert "question of s1" in everything
    for secret in ("SYSTEM-X", "METADATA-X", "JUDGE-X", "REASON-X", "NOTE-X", "blind", '"mode"', "stratum"):
        assert secret not in everything


def test_a_criterion_that_is_not_asked_says_so_and_costs_no_key(
    server: Server, page: Page, show: Show, fill: Fill
) -> None:
    fill(server.store, 2, contexts=None)
    begin(server, page, show)
    first = shown(page)
    expect(page.get_by_text("no contexts: faithful does not apply")).to_be_visible()
    page.keyboard.press("4")
    assert shown(page) == first
    page.keyboard.press("1")
    expect(page.get_by_text("question of " + first)).to_be_hidden()
    saved(page)
    assert events(server.store) == [(first, "correct", "labelled", "yes", "")]


def test_an_empty_list_of_contexts_is_asked(server: Server, page: Page, show: Show, fill: Fill) -> None:
    fill(server.store, 1, contexts=())
    begin(server, page, show)
    expect(page.get_by_text("Nothing was retrieved")).to_be_visible()
    expect(page.get_by_role("group", name="Faithful?")).to_be_visible()


def test_on_a_phone_the_bar_is_in_view_with_large_targets(
    server: Server, new_context: Callable[..., BrowserContext], show: Show, fill: Fill
) -> None:
    fill(server.store, 2, contexts=(Context("long context " * 800, "d"),))
    page = new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()
    begin(server, page, show)
    for scrolled in (0, 900):
        page.locator("[data-testid=stMain]").evaluate(f"(node) => node.scrollTo(0, {scrolled})")
        for button in page.locator(".bar button:visible").all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            assert box["width"] >= 44
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            assert box["y"] + box["height"] <= 844
    assert page.locator("details.guideline").get_attribute("open") is None
    page.get_by_role("group", name="Correct?").get_by_role("button", name="Yes").tap()
    saved(page)
    assert pressed(page) == ["correct-yes"]


def test_the_dark_theme_reaches_the_screen(
    server: Server, new_context: Callable[..., BrowserContext], show: Show, fill: Fill
) -> None:
    fill(server.store, 1)
    page = new_context(color_scheme="dark").new_page()
    begin(server, page, show)
    page.keyboard.press("1")
    color = "(node) => getComputedStyle(node).{}"
    assert page.locator(".screen").evaluate(color.format("color")) == "rgb(232, 234, 240)"
    chosen = page.locator("[data-id=correct-yes]")
    assert chosen.evaluate(color.format("backgroundColor")) == "rgb(85, 102, 214)"
    assert page.locator("[data-testid=stApp]").evaluate(color.format("backgroundColor")) == "rgb(20, 22, 27)"


def test_tab_goes_from_the_text_to_values_note_and_moves(server: Server, page: Page, show: Show, fill: Fill) -> None:
    fill(server.store, 2)
    begin(server, page, show)
    page.locator(".evidence").focus()
    order = []
    for _ in range(14):
        page.keyboard.press("Tab")
        order.append(
            page.evaluate(
                "document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot.activeElement?.dataset.id"
            )
        )
    values = [f"{criterion}-{value}" for criterion in ("correct", "faithful") for value in ("yes", "no", "unsure")]
    assert order == [*values, "note", "previous", "next", "skip", "defer", "undo", "keys", "guideline"]


def test_the_server_listens_on_this_machine_alone(server: Server, fill: Fill) -> None:
    fill(server.store, 1)
    server.start()
    port = f":{server.port:04X}"
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[1].endswith(port) and row[3] == "0A"]  # 0A: LISTEN
    assert listening == [f"0100007F{port}"]


def test_leaving_the_page_and_coming_back_does_not_double_events(
    server: Server, page: Page, show: Show, fill: Fill
) -> None:
    fill(server.store, 3)
    begin(server, page, show)
    for _ in range(2):
        page.get_by_role("link", name="Data").click()
        expect(page.get_by_role("heading", name="Data")).to_be_visible()
        page.get_by_role("link", name="Label").click()
        expect(page.get_by_text("Sample 1 of 3").first).to_be_visible()
    page.keyboard.press("1")
    saved(page)
    assert len(events(server.store)) == 1


def test_one_annotator_never_sends_what_another_left_behind(server: Server, page: Page, show: Show, fill: Fill) -> None:
    fill(server.store, 3, contexts=None)
    begin(server, page, show)
    server.stop()
    page.keyboard.press("1")
    page.on("dialog", lambda dialog: dialog.accept())
    server.annotator = "ben"
    server.start()
    show(page, server.url + "/label")
    page.keyboard.press("2")
    saved(page)
    assert [(e.annotator, e.value) for e in server.store.label_events()] == [("ben", "no")]
    server.stop()
    server.annotator = "ana"
    server.start()
    show(page, server.url + "/label")
    saved(page)
    assert [(e.annotator, e.value) for e in server.store.label_events()] == [("ben", "no"), ("ana", "yes")]


@pytest.mark.slow
def test_ten_seconds_without_a_server_lose_nothing(server: Server, page: Page, show: Show, fill: Fill) -> None:
    fill(server.store, 20, contexts=None)
    begin(server, page, show)
    page.keyboard.press("1")
    saved(page)
    server.stop()
    for key in "2312":
        page.keyboard.press(key)
        page.wait_for_timeout(300)
    expect(page.get_by_role("status")).to_have_text("not saved, trying again")
    page.wait_for_timeout(10_000)
    server.start()
    expect(page.get_by_role("status")).to_have_text("saved", timeout=30_000)
    assert [value for _, _, _, value, _ in events(server.store)] == ["yes", "no", "unsure", "yes", "no"]
