"""The demo as a newcomer meets it: the Board first, then labelling everything by keyboard, then the differences."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from browser.conftest import Server, wait_until_drawn
from calibration.store import Store

pytestmark = pytest.mark.browser

VALUES = {"1": "yes", "2": "no", "3": "unsure"}

# At every digit: what was on the screen, question and answer together name the sample.
WATCH = """() => {
  window.pressed = [];
  window.addEventListener('keydown', (event) => {
    const root = document.querySelector('[data-testid=stBidiComponentIsolated]')?.shadowRoot;
    const text = (part) => root?.querySelector(part + ' .text')?.textContent ?? null;
    window.pressed.push({key: event.key, question: text('.question'), answer: text('.answer')});
  }, true);
}"""


class DemoServer(Server):
    """`judge-calibration demo` in a folder of its own."""

    def start(self) -> None:
        self.path.parent.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "calibration", "demo", "--no-browser", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, cwd=self.path.parent.parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        assert self.url in self.process.stdout.readline()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[DemoServer]:
    served = DemoServer(tmp_path / "judge-calibration-demo" / "demo.db")
    served.start()
    yield served
    served.stop()


def test_the_board_opens_first_and_leads_to_the_disagreements_of_a_cell(
    demo: DemoServer, page: Page, show: Callable[[Page, str], None]
) -> None:
    show(page, demo.url)
    expect(page.get_by_role("heading", name="Board")).to_be_visible()
    expect(page.get_by_text("You can use correct-v2 to score `correct`")).to_be_visible()
    expect(page.get_by_text("scripted replies, no model was asked").first).to_be_visible()
    assert demo.store.reveals() == []
    # a judge that is not the first of its list, of a criterion that is not the first: the link must choose both
    page.get_by_role("button", name="12 too strict").click()
    expect(page.get_by_role("heading", name="Disagreements")).to_be_visible()
    expect(page.get_by_text("human yes: judge yes 0, judge no 12 (too strict)")).to_be_visible()
    assert demo.store.reveals() == []
    show(page, demo.url)
    page.get_by_role("button", name="6 too strict").click()
    expect(page.get_by_role("heading", name="Disagreements")).to_be_visible()
    assert "human=yes" in page.url
    expect(page.get_by_text("This list reveals 40 labels.")).to_be_visible()
    assert demo.store.reveals() == []
    page.get_by_role("button", name="Show them").click()
    expect(page.get_by_text("Human", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile("^author: yes"))).to_be_visible()
    assert len(demo.store.reveals()) == 40
    # a click on the lower left cell of the picture chooses the one too lenient verdict
    picture = page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first
    box = picture.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.35 * box["width"], box["y"] + 0.75 * box["height"])
    expect(page).to_have_url(re.compile("human=no&verdict=yes"))
    expect(page.get_by_text("1 of these is not labelled by you yet")).to_be_visible()
    page.get_by_role("button", name="Show them").click()
    expect(page.get_by_text(re.compile("^author: no"))).to_be_visible()


def test_all_demo_samples_are_labelled_by_keyboard_and_survive_reload_and_restart(
    demo: DemoServer, new_context: Callable[..., BrowserContext], show: Callable[[Page, str], None]
) -> None:
    page = new_context().new_page()
    show(page, demo.url)
    page.get_by_role("button", name="Label 5 yourself, without seeing the scores").click()
    expect(page.get_by_text(re.compile(r"^Sample 1 of 40")).first).to_be_visible()
    page.evaluate(WATCH)
    rng = random.Random(11)
    done = page.get_by_text(re.compile("All 40 labelled"))
    for _ in range(200):
        if done.count():
            break
        page.keyboard.press(rng.choice("123"))
        page.wait_for_timeout(rng.uniform(20, 120))
        page.keyboard.press(rng.choice("456"))
        page.wait_for_timeout(rng.uniform(20, 120))
    expect(page.get_by_role("status")).to_have_text("saved")
    check(page, demo.store)
    before = [(e.event_id, e.value) for e in demo.store.label_events()]
    page.reload()
    wait_until_drawn(page)
    demo.stop()
    demo.start()
    show(page, f"{demo.url}/label")
    expect(page.get_by_text(re.compile("All 40 labelled")).first).to_be_visible()
    assert [(e.event_id, e.value) for e in demo.store.label_events()] == before
    show(page, demo.url)
    expect(
        page.get_by_text(re.compile(r"You labelled 40: you differ from correct-v1@scripted on \d+ of"))
    ).to_be_visible()


def check(page: Page, store: Store) -> None:
    """Each stored value is the one given to the text that was on the screen at that moment."""
    samples = {(sample.question, sample.answer): sample for sample in store.samples()}
    wanted: list[tuple[str, str, str]] = []
    for entry in page.evaluate("window.pressed"):
        sample = samples.get((entry["question"], entry["answer"]))
        if sample is None:
            continue
        criterion = "correct" if entry["key"] in VALUES else "faithful"
        if criterion == "faithful" and sample.contexts is None:
            continue
        wanted.append((sample.id, criterion, VALUES[str((int(entry["key"]) - 1) % 3 + 1)]))
    stored = [(e.sample, e.criterion, str(e.value)) for e in store.label_events() if e.annotator == "you"]
    assert stored == wanted
    # 40 samples, 20 of them with contexts: 40 + 20 labels, all blind
    current = [label for criterion in ("correct", "faithful") for label in store.current_labels(criterion, "you")]
    assert len(current) == 60
    assert {label.mode for label in current} == {"blind"}
