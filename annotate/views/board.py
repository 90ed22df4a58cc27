"""The Board: per criterion, what each judge is good for today."""

from __future__ import annotations

import streamlit as st

from annotate import session
from annotate.links import open_button
from annotate.views import parts
from calibration import board as boards
from calibration import charts, disagreements, registry
from calibration.criteria import BUILT_IN
from calibration.gate import Standing
from calibration.phrases import figure
from calibration.store import Store
from calibration.store.labels import GUEST
from calibration.wording import board_next, exclusions, first_labels_words, judge_words

TRY = 5


def page() -> None:
    """Every judge against the labels, and the invitation to label."""
    project = session.project()
    store, annotator = project.store, project.annotator
    parts.heading("Board", "What each judge is good for today, decided by its agreement with labels that people gave.")
    criteria = boards.criteria_in_use(store)
    if not store.sample_count():
        parts.no_samples()
        return
    _invitation(store, annotator)
    for name in criteria:
        board = boards.board(store, name, viewer=annotator)
        with st.container(key=f"criterion-{name}"):
            st.subheader(BUILT_IN[name].title, anchor=False)
            st.caption(BUILT_IN[name].question)
            if not board.standings:
                parts.next_step("run a judge: judge-calibration judge PROMPT --model MODEL", key=name)
                continue
            if charts.interval_rows(board.standings):
                st.altair_chart(
                    charts.interval_chart(board.standings, 0.6),
                    key=f"intervals-{name}",
                    alt="Kappa of each judge with the interval that decides, against the threshold of 0.60",
                )
            for standing in board.standings:
                _judge(standing)
    if project.role == GUEST:
        parts.own_project()
    parts.next_step(
        board_next(
            labelled=bool(store.labelled_criteria()),
            judged=bool(store.judges()),
            open_=registry.undecided(store, criteria),
        )
    )


def _invitation(store: Store, annotator: str) -> None:
    """Label five without seeing the scores; afterwards, on how many of them each judge differs."""
    own = disagreements.own_differences(store, annotator)
    with st.container(border=True, key="invitation"):
        parts.sentence(first_labels_words(own.labelled, own.judges, TRY), key="invitation")
        if own.labelled < TRY:
            open_button("Label 5 yourself, without seeing the scores", "label", primary=True)
        elif own.judges:
            judge, _, wrong = max(own.judges, key=lambda found: found[2])
            where = {"criterion": judge.criterion, "judge": judge.digest[:12], "whose": annotator}
            open_button(f"Read the {wrong}" if wrong else "See them side by side", "disagreements", where)


def _judge(standing: Standing) -> None:
    summary, table = standing.summary, standing.summary.confusion
    key = summary.judge.digest[:12]
    words = judge_words(standing)
    with st.container(border=True, key=f"judge-{key}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            parts.name(summary.judge.name, key=key)
            parts.outcome_badge(standing.assessment.outcome)
            parts.kind_badge(summary.judge.kind)
        parts.sentence(words, key=key)
        if not table.n:
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            where = {"criterion": summary.criterion, "judge": key}
            open_button(f"{table.b} too strict", "disagreements", where | {"human": "yes", "verdict": "no"})
            open_button(f"{table.c} too lenient", "disagreements", where | {"human": "no", "verdict": "yes"})
            counts = f"n {table.n} ({summary.fresh} fresh, {summary.seen} seen). {exclusions(summary)}"
            parts.small(counts, key=key)
        with st.expander("Figures"):
            _figures(standing)


def _figures(standing: Standing) -> None:
    summary, table = standing.summary, standing.summary.confusion
    if table.n < 10:
        st.text("Fewer than 10 labels: too few for a figure.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        lines = [
            f"kappa (agreement beyond luck): {figure(table.kappa())}",
            f"strict kappa, no answer counts as wrong: {figure(summary.strict.kappa())}",
            f"accuracy: {figure(table.accuracy())}",
            f"answered: {figure(summary.coverage)}",
        ]
        parts.lines(lines)
    with right:
        lines = [
            f"bad answers caught: {figure(table.tpr())}",
            f"good answers let through: {figure(table.tnr())}",
            f'right when it says "yes": {figure(table.right_when_yes())}',
            f'right when it says "no": {figure(table.right_when_no())}',
            f"questions: {table.questions}, design effect {table.design_effect:.2f}",
        ]
        parts.lines(lines)
