"""Registry: every judge, its prompt, and the decisions that were recorded."""

from __future__ import annotations

import streamlit as st

from annotate import session
from annotate.views import parts
from calibration import board as boards
from calibration import registry
from calibration.wording import judge_words


def page() -> None:
    """Judges with their status; deciding records."""
    project = session.project()
    store = project.store
    parts.heading(
        "Registry", "Which judges passed, which failed, which have not enough evidence yet, and on what that rests."
    )
    criteria = boards.criteria_in_use(store)
    criterion = parts.choose_criterion(criteria) if criteria else ""
    entries = registry.entries(store, criterion, viewer=project.annotator) if criteria else []
    if not entries:
        st.text("No judge yet.")
        parts.next_step("run a judge: judge-calibration judge PROMPT --model MODEL")
        return
    if st.button("Decide now", type="primary", key="decide", help="Decides on fresh labels and records it."):
        for entry in entries:
            registry.decide(store, entry.standing, who=project.annotator)
        st.rerun()
    for entry in entries:
        _entry(entry)
    undecided = [entry for entry in entries if not entry.decisions or entry.stale]
    parts.next_step("decide now" if undecided else "read the Board for what each judge is good for today")


def _entry(entry: registry.Entry) -> None:
    with st.container(border=True, key=f"entry-{entry.judge.digest[:12]}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            parts.name(entry.judge.name, key=entry.judge.digest[:12])
            if entry.decisions:
                parts.outcome_badge(entry.status)
            else:
                st.badge("draft: not decided yet", color="gray")
            if entry.stale:
                st.badge(f"stale: {', '.join(entry.stale)} changed", color="orange")
            parts.kind_badge(entry.judge.kind)
        if entry.decisions:
            parts.sentence(judge_words(entry.standing), key=f"entry-{entry.judge.digest[:12]}")
        st.text(f"digest {entry.judge.digest[:12]}, model {entry.judge.model or 'none'}")
        _decisions(entry)
        if entry.prompt is not None:
            with st.expander("Prompt"):
                st.text(f"{entry.prompt.label}, parent {(entry.prompt.parent or 'none')[:12]}: {entry.prompt.note}")
                if entry.prompt.unfenced:
                    st.text("unfenced: this prompt prints answer or contexts outside the sample block")
                st.code(f"# system\n{entry.prompt.system}\n# user\n{entry.prompt.user}", language=None, wrap_lines=True)


def _decisions(entry: registry.Entry) -> None:
    for decision in reversed(entry.decisions):
        record, found = decision.record, decision.record["statistic"]
        value = (
            "undefined"
            if found["value"] is None
            else f"{found['value']:.2f}, {found['low']:.2f} to {found['high']:.2f}"
        )
        st.text(
            f"decision {decision.id}, {decision.time[:16].replace('T', ' ')}: {decision.outcome.replace('_', ' ')}; "
            f"kappa {value} at {100 * found['level']:.1f} %, threshold {record['rule']['min_kappa']:.2f}, "
            f"K {record['k']}, {record['data']['fresh']} fresh labels"
        )
