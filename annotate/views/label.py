"""The page Label: one sample after the other, blind."""

from __future__ import annotations

import streamlit as st

from annotate import session
from annotate.labeller import answer, labeller, screen_data
from calibration import guidelines
from calibration.criteria import BUILT_IN

KEY = "labeller"
REPLY = "labeller-reply"


def page() -> None:
    """The annotator's queue, or where samples come from when there are none."""
    here = session.project()
    reply = session.take(REPLY)
    if reply is None:
        prepare(here)
    data = screen_data(here.store, here.annotator, sample=session.address("s"), reply=reply)
    if not data["total"]:
        st.subheader("Nothing to label yet")
        st.text("No sample here has a reference or contexts to judge by. Next: import samples.")
        st.code("judge-calibration import FILE", language=None)
        return
    labeller(data, key=KEY, on_message=save)


def prepare(here: session.Project) -> None:
    """Give every sample its place in the annotator's order, and every criterion a guideline to label by."""
    here.store.ensure_order(here.annotator, list(BUILT_IN), role=here.role)
    guidelines.add_bundled(here.store)


def save() -> None:
    """Store the events that arrived, before the page is drawn again."""
    here = session.project()
    session.keep(REPLY, answer(session.message(KEY), here.annotator, here.store))
