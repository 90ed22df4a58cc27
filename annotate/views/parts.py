"""Pieces that several pages show. Text of samples, judges and people goes through st.text alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from annotate import session
from annotate.plain import plain
from calibration.gate import Standing
from calibration.records import Context, JudgeKind, Outcome, Sample
from calibration.wording import Words

OUTCOMES = {
    Outcome.PASSED: ("passed", "green", ":material/check:"),
    Outcome.FAILED: ("failed", "red", ":material/close:"),
    Outcome.NOT_ENOUGH_EVIDENCE: ("not enough evidence", "violet", ":material/hourglass_empty:"),
}
START = """judge-calibration import answers.csv
judge-calibration annotate
judge-calibration judge my-prompt.txt --criterion correct --name correct --model MODEL
judge-calibration gate"""


def heading(title: str, caption: str) -> None:
    """A page's title and one line on what it is for: both constant."""
    st.header(title, anchor=False)
    st.caption(caption)


def outcome_badge(outcome: str) -> None:
    """The outcome in words and color."""
    word, color, icon = OUTCOMES[Outcome(outcome)]
    st.badge(word, color=color, icon=icon)  # type: ignore[arg-type]


def kind_badge(kind: str) -> None:
    """What kind of judge it is; scripted ones say so."""
    said = {
        JudgeKind.SCRIPTED: "scripted replies, no model was asked",
        JudgeKind.LEXICAL: "baseline: counts shared words",
        JudgeKind.IMPORTED: "imported, prompt not known",
        JudgeKind.LLM: "model",
    }
    st.badge(said[JudgeKind(kind)], color="gray")


def name(text: str, *, key: str) -> None:
    """The name of a judge."""
    with st.container(key=f"name-{key}", width="content"):
        st.text(text, width="content")


def small(text: str, *, key: str) -> None:
    """Small print: n, and what was left out."""
    with st.container(key=f"small-{key}", width="content"):
        st.text(text)


def lines(texts: Sequence[str]) -> None:
    """Lines of text that belong together, as one element: a page with many is drawn faster."""
    st.text("\n".join(texts))


def sentence(words: Words, *, key: str) -> None:
    """What is said, and the next step below it."""
    with st.container(key=f"sentence-{key}", gap="small"):
        st.text(words.sentence)
        next_step(words.next, key=key)


def next_step(step: str, *, key: str = "page") -> None:
    """The one next step."""
    with st.container(key=f"next-{key}"):
        st.text(f"Next: {step}")


def choose_criterion(names: Sequence[str]) -> str:
    """One of the criteria in use, kept in the address; Streamlit binds what an option shows, so it shows its name."""
    if len(names) == 1:
        return names[0]
    return st.segmented_control("Criterion", names, default=names[0], key="criterion", bind="query-params") or names[0]


def choose_standing(standings: Sequence[Standing], label: str, *, key: str, index: int = 0) -> Standing:
    """One of the judges, kept in the address by the first digits of its digest: two may share a name."""
    by_digest = {standing.summary.judge.digest[:12]: standing for standing in standings}
    digests = list(by_digest)
    asked = session.address(key, digests)
    widget = f"{key}-{standings[0].summary.criterion}"
    chosen = st.selectbox(
        label,
        digests,
        index=digests.index(asked) if asked else min(index, len(digests) - 1),
        format_func=lambda digits: plain(by_digest[digits].summary.judge.name),
        key=widget,
        on_change=session.follow_choice(key, widget),
    )
    return by_digest[chosen]


def sample_text(sample: Sample) -> None:
    """A sample as it is: question, answer, reference, contexts."""
    _block("Question", sample.question)
    _block("Answer", sample.answer or "(empty)")
    _block("Reference", "no reference was given" if sample.reference is None else sample.reference or "(empty)")
    if sample.contexts is None:
        _block("Contexts", "no contexts were given to the answering system")
    elif not sample.contexts:
        _block("Contexts", "retrieved, and nothing was found")
    for rank, context in enumerate(sample.contexts or (), start=1):
        _context(rank, context)


def _context(rank: int, context: Context) -> None:
    with st.container(border=True, key=f"lines-context-{rank}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"Context {rank}", width="content")
            if context.id is not None:
                small(context.id, key=f"context-{rank}")
        st.text(context.text)


def _block(title: str, text: str) -> None:
    with st.container(key=f"lines-{title.lower()}"):
        st.caption(title)
        st.text(text)


def own_project() -> None:
    """How to start a project of one's own."""
    st.text("Your own answers in four commands, each says what comes next:")
    st.code(START, language="bash")


def no_samples() -> None:
    """The empty state of every page."""
    st.text("There is nothing here yet. Bring a file of questions and answers, CSV or JSON Lines.")
    own_project()
    next_step("judge-calibration import FILE")


def selected_row(event: Any, rows: int) -> int:
    """The row chosen in a table, the first without a choice or when the choice no longer exists."""
    chosen = dict(event.selection).get("rows") or [0]
    return int(chosen[0]) if chosen[0] < rows else 0
