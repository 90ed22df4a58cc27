"""The pages around labelling: what they show, what they record, and that text of files stays text."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from calibration.records import Context, Reveal, Sample
from calibration.store import Store
from helpers import add_labels, add_samples, add_verdicts, table_store

HOSTILE = "![x](http://evil.example/p.png) <img src=http://evil.example/q.png> :material/home: $x$"
MARKDOWN = ("markdown", "caption", "header", "subheader", "info", "error", "warning", "success", "title")


def draw(page: str, store: Store, monkeypatch: pytest.MonkeyPatch, **query: str) -> AppTest:
    """One page on a store, as ana."""
    monkeypatch.setenv("JUDGE_CALIBRATION_DB", str(store.path))
    monkeypatch.setenv("JUDGE_CALIBRATION_ANNOTATOR", "ana")
    app = AppTest.from_string(f"from annotate.views import {page}\n{page}.page()", default_timeout=15)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def text(app: AppTest) -> str:
    """All st.text of a page."""
    return "\n".join(str(element.value) for element in app.text)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = table_store(tmp_path / "a.db", (26, 6, 1, 13))
    add_verdicts(made, {f"s{i}": "yes" if i <= 32 else "no" for i in range(1, 47)}, judge="better")
    return made


def test_the_board_says_what_each_judge_is_good_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    said = text(draw("board", store, monkeypatch))
    assert "You can use better to score `correct`" in said
    assert "n 46 (46 fresh, 0 seen)." in said
    assert store.reveals() == []


def test_the_board_without_samples_says_how_to_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = draw("board", Store(tmp_path / "a.db"), monkeypatch)
    assert "judge-calibration import" in str(app.code[0].value)
    assert "Next: judge-calibration import FILE" in text(app)


def test_disagreements_are_shown_only_after_saying_what_that_reveals(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = draw("disagreements", store, monkeypatch)
    assert "This list reveals 46 labels." in text(app)
    assert "reason for s27" not in text(app)
    assert store.reveals() == []
    app.button(key="show").click().run()
    assert not app.exception
    # the first disagreement: s27, human yes and judge no, with both reasons
    assert "note on s27" in text(app)
    assert "reason for s27" in text(app)
    reveals = store.reveals()
    assert len(reveals) == 46
    assert sum(reveal.how == "disagreements" for reveal in reveals) == 7


def test_a_cell_of_the_address_narrows_the_list(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app = draw("disagreements", store, monkeypatch, human="no", verdict="yes")
    app.button(key="show").click().run()
    shown = app.dataframe[0].value
    assert list(shown["sample"]) == ["s33"]
    assert sum(reveal.how == "disagreements" for reveal in store.reveals()) == 1


def test_a_judge_written_after_looking_has_only_the_other_labels(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app = draw("disagreements", store, monkeypatch)
    app.button(key="show").click().run()
    add_verdicts(store, {f"s{i}": "yes" if i <= 32 else "no" for i in range(1, 47)}, judge="late")
    said = text(draw("board", store, monkeypatch))
    assert "late was imported after all 46 of its labels had been compared with a judge; none counts for it." in said


def test_compare_says_the_difference_and_lists_flips_after_asking(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = draw("compare", store, monkeypatch)
    assert "better agrees with you more than bem" in text(app)
    assert store.reveals() == []
    app.button(key="show-flips").click().run()
    assert not app.exception
    assert "question 27" in text(app)
    assert len(store.reveals()) == 2 * 46


@pytest.mark.parametrize(("page", "button"), [("compare", "show-flips"), ("disagreements", "show")])
def test_a_look_at_another_criterion_does_not_show_this_one_unasked(
    page: str, button: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.reveal(Reveal(f"s{i}", "faithful", "ana", None, "disagreements") for i in range(1, 47))
    app = draw(page, store, monkeypatch)
    assert "reason for s27" not in text(app)
    assert [one for one in store.reveals() if one.criterion == "correct"] == []
    app.button(key=button).click().run()
    assert not app.exception
    assert {one.sample for one in store.reveals() if one.criterion == "correct"} == {f"s{i}" for i in range(1, 47)}


def test_compare_says_how_many_labels_its_list_is_picked_from(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    # a third judge without a verdict on s46: 45 samples stand in both
    add_verdicts(store, {f"s{i}": "yes" if i <= 20 else "no" for i in range(1, 47)} | {"s46": None}, judge="other")
    other = store.find_judge("other").digest[:12]
    app = draw("compare", store, monkeypatch, b=other)
    assert "This list reveals 45 labels." in text(app)
    app.button(key="show-flips").click().run()
    assert len({one.sample for one in store.reveals()}) == 45


def test_deciding_in_the_registry_records_one_decision_a_judge(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app = draw("registry", store, monkeypatch)
    assert store.decisions() == []
    app.button(key="decide").click().run()
    assert not app.exception
    assert [decision.outcome for decision in store.decisions()] == ["not_enough_evidence", "passed"]
    assert "decision 2" in text(app)


def test_data_counts_samples_and_labels_without_a_verdict(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app = draw("data", store, monkeypatch)
    assert "46 samples." in text(app)
    assert "reason for" not in text(app)


@pytest.mark.parametrize("page", ["board", "disagreements", "compare", "registry", "data"])
def test_text_of_files_never_becomes_markdown(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Store(tmp_path / "a.db")
    contexts = (Context(HOSTILE, HOSTILE),)
    add_samples(made, [Sample(f"s{i}", f"{HOSTILE}{i}", HOSTILE, contexts, HOSTILE, HOSTILE) for i in range(1, 13)])
    add_labels(made, {f"s{i}": "yes" if i < 9 else "no" for i in range(1, 13)}, annotator=HOSTILE)
    for judge in (HOSTILE, f"second {HOSTILE}"):
        add_verdicts(made, {f"s{i}": "no" if i < 3 else "yes" for i in range(1, 13)}, judge=judge)
    app = draw(page, made, monkeypatch)
    for key in ("show", "show-flips", "decide"):
        if key in [button.key for button in app.button]:
            app.button(key=key).click().run()
    assert not app.exception
    shown = [str(element.value) for kind in MARKDOWN for element in getattr(app, kind)]
    labels = [button.label for button in app.button] + [o for box in app.selectbox for o in box.options]
    assert not [one for one in [*shown, *labels] if "evil" in one and ("](" in one or "<img" in one)]
