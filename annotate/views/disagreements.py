"""Disagreements: a cell of the table, and each sample with the label's note beside the judge's reason."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from annotate import session
from annotate.views import parts
from calibration import board as boards
from calibration import charts, disagreements
from calibration.gate import Standing
from calibration.pairing import Pair
from calibration.store import Store
from calibration.wording import audit_words, exclusions, judge_words, reveal_words

VALUES = ("yes", "no")


def page() -> None:
    """Choose a judge and a cell, say what looking reveals, then show."""
    project = session.project()
    store = project.store
    parts.heading(
        "Disagreements", "Where a judge and a person differ, with both reasons. This is what prompts are made of."
    )
    criteria = boards.criteria_in_use(store)
    if not criteria:
        parts.no_samples() if not store.sample_count() else parts.next_step("label samples and run a judge")
        return
    criterion = parts.choose_criterion(criteria)
    whose = session.address("whose", store.annotators())
    board = boards.board(store, criterion, annotators=[whose] if whose else None, viewer=project.annotator)
    if not board.standings:
        parts.next_step("run a judge: judge-calibration judge PROMPT --model MODEL")
        return
    standing = parts.choose_standing(board.standings, "Judge", key="judge")
    human, verdict = _cell(standing)
    pairs = disagreements.cell(standing.summary, human, verdict)
    if not pairs:
        st.text("No sample in this cell." if standing.summary.n else "No pairs: nothing to compare yet.")
        parts.next_step(judge_words(standing).next)
        return
    if _agreed_to_look(project, standing, pairs):
        _list(store, standing, pairs)
    parts.next_step(judge_words(standing).next)


def _cell(standing: Standing) -> tuple[str | None, str | None]:
    """The chosen cell, by the picture or by two controls; (None, None) means every disagreement."""
    left, right = st.columns(2, gap="large")
    with right:
        human = st.segmented_control("Human said", VALUES, key="human", bind="query-params")
        verdict = st.segmented_control(
            "Judge said", (*VALUES, disagreements.NO_VERDICT), key="verdict", bind="query-params"
        )
        table = standing.summary.confusion
        lines = [
            f"human yes: judge yes {table.a}, judge no {table.b} (too strict)",
            f"human no: judge yes {table.c} (too lenient), judge no {table.d}",
            f"n {table.n}. {exclusions(standing.summary)}",
        ]
        parts.lines(lines)
    with left:
        chosen = (human, verdict) if human and verdict else None
        st.altair_chart(
            charts.confusion_chart(standing.summary.confusion, chosen),
            key=f"matrix-{standing.summary.judge.digest[:12]}",
            on_select=session.follow_cell(f"matrix-{standing.summary.judge.digest[:12]}"),
            selection_mode=["cell"],
            alt="Human labels in rows, judge verdicts in columns; the same numbers stand beside as text",
        )
    return human, verdict


def _agreed_to_look(project: session.Project, standing: Standing, pairs: Sequence[Pair]) -> bool:
    """Say first what looking reveals; recorded before anything is shown. Asked once for each judge."""
    store, annotator, summary = project.store, project.annotator, standing.summary
    shown = store.shown(annotator)
    unseen = [pair for pair in pairs if pair.sample not in shown]
    blind = disagreements.not_labelled_by(store, annotator, summary.criterion, unseen)
    if not blind and disagreements.recorded(store, annotator, summary, summary.pairs.all):
        disagreements.reveal_cell(store, summary, pairs, annotator)
        return True
    new = disagreements.newly_revealed(summary, summary.pairs.all)
    st.text(reveal_words(new, disagreements.fresh_left(store, summary)))
    if blind:
        st.text(audit_words(blind))
    if st.button("Show them", key="show", type="primary"):
        disagreements.reveal_cell(store, summary, pairs, annotator)
        st.rerun()
    return False


def _list(store: Store, standing: Standing, pairs: Sequence[Pair]) -> None:
    samples = {sample.id: sample for sample in store.samples([pair.sample for pair in pairs])}
    rows = [
        {
            "sample": p.sample,
            "human": p.human,
            "judge": p.judge or p.verdict.error,
            "question": samples[p.sample].question,
        }
        for p in pairs
    ]
    picked = st.dataframe(
        rows, hide_index=True, on_select="rerun", selection_mode="single-row", key="list", height="content"
    )
    chosen = parts.selected_row(picked, len(pairs))
    pair = pairs[chosen]
    left, right = st.columns([3, 2], gap="large")
    with left:
        parts.sample_text(samples[pair.sample])
    with right, st.container(border=True, key="lines-reasons"):
        st.caption("Human")
        for label in pair.labels:
            st.text(f"{label.annotator}: {label.value}")
            st.text(label.note or "no note")
        st.caption("Judge")
        parts.kind_badge(standing.summary.judge.kind)
        st.text(f"{standing.summary.judge.name}: {pair.judge or f'no verdict ({pair.verdict.error})'}")
        st.text(pair.verdict.reason or "no reason given")
        if pair.verdict.reply and pair.judge is None:
            st.caption("What it sent")
            st.code(store.reply_text(pair.verdict.reply), language=None, wrap_lines=True)
