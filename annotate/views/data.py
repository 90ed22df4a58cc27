"""Data: what is in the project, where it came from, and how to bring more."""

from __future__ import annotations

import streamlit as st

from annotate import session
from annotate.views import parts

SHOWN = 200


def page() -> None:
    """Counts, sources, and the samples themselves."""
    project = session.project()
    store = project.store
    parts.heading("Data", "The samples of this project and the labels on them.")
    if not store.sample_count():
        parts.no_samples()
        return
    total = store.sample_count()
    st.text(f"{total} samples.")
    st.dataframe(
        [{"system": system or "not named", "samples": n} for system, n in store.systems().items()],
        hide_index=True,
        height="content",
    )
    counts = store.label_counts()
    if counts:
        st.caption("Labels by annotator")
        st.dataframe(counts, hide_index=True, height="content")
    st.caption("Imported files")
    st.dataframe(
        [{"file": s["file"], "format": s["format"], "time": s["time"][:16]} for s in store.sources()],
        hide_index=True,
        height="content",
    )
    ids = store.sample_ids()[:SHOWN]
    st.caption(f"Samples{'' if total <= SHOWN else f', the first {SHOWN}'}: choose one to read it")
    samples = store.samples(ids)
    picked = st.dataframe(
        [{"id": s.id, "system": s.system, "question": s.question} for s in samples],
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="samples",
        height=320,
    )
    parts.sample_text(samples[parts.selected_row(picked, len(samples))])
    st.divider()
    parts.own_project()
    parts.next_step("label on the Label page" if not counts else "see on the Board what the judges are worth")
