"""Compare: two judges on the same samples, what changed in the prompt, and which verdicts flipped."""

from __future__ import annotations

import difflib

import streamlit as st

from annotate import session
from annotate.views import parts
from calibration import board as boards
from calibration import disagreements
from calibration.phrases import figure
from calibration.summary import Summary
from calibration.wording import comparison_words, reveal_words


def page() -> None:
    """Choose two judges; the difference in words, then figures, prompt diff and flips."""
    project = session.project()
    store = project.store
    parts.heading(
        "Compare", "Two judges on the same samples: the difference with its interval, not two numbers side by side."
    )
    criteria = [name for name in boards.criteria_in_use(store) if len(store.judges(name)) > 1]
    if not criteria:
        st.text("Comparing needs two judges of one criterion.")
        parts.next_step("run a second prompt version: judge-calibration judge PROMPT --model MODEL")
        return
    criterion = parts.choose_criterion(criteria)
    board = boards.board(store, criterion, viewer=project.annotator)
    left, right = st.columns(2, gap="large")
    with left:
        first = parts.choose_standing(board.standings, "First judge", key="a").summary
    with right:
        second = parts.choose_standing(board.standings, "Second judge", key="b", index=1).summary
    if first.judge.digest == second.judge.digest:
        st.text("Choose two different judges.")
        return
    _result(project, first, second)


def _result(project: session.Project, a: Summary, b: Summary) -> None:
    found = disagreements.compare(a, b)
    comparison = found.answered
    first, second = disagreements.names(a, b)
    words = comparison_words(comparison, first, second, a.people, found.strict)
    parts.sentence(words, key="comparison")
    with st.container(horizontal=True, gap="small"):
        parts.kind_badge(a.judge.kind)
        parts.kind_badge(b.judge.kind)
    left, right = st.columns(2, gap="large")
    with left:
        lines = [
            f"kappa of {first}: {figure(comparison.kappa_a())}",
            f"kappa of {second}: {figure(comparison.kappa_b())}",
            f"difference (first minus second): {figure(comparison.kappa_difference())}",
        ]
        parts.lines(lines)
    with right:
        mcnemar = comparison.mcnemar()
        lines = [
            f"only the first right: {mcnemar.only_a_right}, only the second right: {mcnemar.only_b_right}",
            f"McNemar mid-p (equal accuracy): {mcnemar.p:.3f}",
            f"accuracy difference: {figure(comparison.accuracy_difference())}",
        ]
        parts.lines(lines)
    parts.small(f"n {comparison.n}, left out {sum(found.excluded.values())}.", key="n")
    if a.prompt is not None and b.prompt is not None:
        with st.expander("What changed in the prompt"):
            before, after = (f"{p.system}\n{p.user}".splitlines() for p in (a.prompt, b.prompt))
            changed = difflib.unified_diff(before, after, a.prompt.label, b.prompt.label, lineterm="")
            st.code("\n".join(changed) or "nothing", language="diff", wrap_lines=True)
    _flips(project, a, b, found)


def _flips(project: session.Project, a: Summary, b: Summary, found: disagreements.Compared) -> None:
    """The flipped verdicts with both reasons, after saying what looking reveals."""
    shown = found.flips
    if not shown:
        st.text("No verdict changed from right to wrong or back.")
        return
    store, annotator = project.store, project.annotator
    both = [pair for pair in a.pairs.answered if pair.sample in {other.sample for other in b.pairs.answered}]
    if not all(disagreements.recorded(store, annotator, summary, both) for summary in (a, b)):
        st.text(reveal_words(disagreements.newly_revealed(a, both), disagreements.fresh_left(store, b)))
        if st.button(f"Show the {len(shown)} flips", key="show-flips", type="primary"):
            disagreements.reveal_comparison(store, a, b, found, annotator)
            st.rerun()
        return
    disagreements.reveal_comparison(store, a, b, found, annotator)
    of_a, of_b = ({pair.sample: pair for pair in summary.pairs.answered} for summary in (a, b))
    samples = {sample.id: sample for sample in store.samples(shown)}
    for kind, ids in (("repaired", found.repaired), ("broken", found.broken)):
        for sample in ids:
            with st.container(border=True):
                st.badge(kind, color="green" if kind == "repaired" else "red")
                st.text(samples[sample].question)
                st.text(f"Answer: {samples[sample].answer}")
                for label in of_a[sample].labels:
                    st.text(f"{label.annotator}: {label.value}. {label.note}")
                for summary, pairs in ((a, of_a), (b, of_b)):
                    st.text(f"{summary.short_name}: {pairs[sample].judge}. {pairs[sample].verdict.reason}")
