"""Whose project a page shows. The only module that touches st.session_state and st.query_params."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import streamlit as st

from annotate.server import ANNOTATOR, DATABASE, ROLE
from calibration.person import login_name
from calibration.store import Store

LONGEST = 200


@dataclass(frozen=True)
class Project:
    """The store a page works on and the person in front of it. Both come from the server, never from the browser."""

    store: Store
    annotator: str
    role: str


def project() -> Project:
    """The project the server was started for. Raises StoreError when there is no database."""
    store = Store(os.environ.get(DATABASE) or "calibration.db", create=False)
    return Project(store, os.environ.get(ANNOTATOR) or login_name(), os.environ.get(ROLE) or "annotator")


def address(name: str, allowed: Collection[str] | None = None) -> str | None:
    """A parameter of the address; None when it is missing, too long or not among `allowed`."""
    value = st.query_params.get(name)
    if value is None or not 0 < len(value) <= LONGEST or (allowed is not None and value not in allowed):
        return None
    return value


def message(key: str) -> Any:
    """What the component of that key sent with its last trigger `message`; to be called in its callback."""
    return getattr(st.session_state.get(key), "message", None)


def keep(name: str, value: Any) -> None:
    """Hand something from a callback to the page; never a label, for those are in the store alone."""
    st.session_state[name] = value


def take(name: str) -> Any:
    """What was kept under that name, once; None without it."""
    return st.session_state.pop(name, None)


def follow_cell(chart: str) -> Callable[[], None]:
    """A callback that moves the controls `human` and `verdict` to the cell clicked in the chart of that key."""

    def follow() -> None:
        from calibration.charts import chosen_cell  # charts load Altair, which the labelling page does not need

        found = chosen_cell(dict(st.session_state[chart].selection))
        if found is not None:
            st.session_state["human"], st.session_state["verdict"] = found

    return follow


def follow_choice(name: str, widget: str) -> Callable[[], None]:
    """A callback that writes what was chosen in the widget of that key into the address."""

    def follow() -> None:
        st.query_params[name] = st.session_state[widget]

    return follow
