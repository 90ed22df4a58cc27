"""What was clicked in a chart or a table, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from calibration.charts import chosen_cell


def follow_cell(chart: str) -> Callable[[], None]:
    """A callback that moves the two controls to the cell clicked in the chart of that key."""

    def follow() -> None:
        found = chosen_cell(dict(st.session_state[chart].selection))
        if found is not None:
            st.session_state["human"], st.session_state["verdict"] = found

    return follow


def selected_row(event: Any, rows: int) -> int:
    """The row chosen in a table, the first without a choice or when the choice no longer exists."""
    selection: Mapping[str, Any] = event.selection
    chosen = selection.get("rows") or [0]
    return int(chosen[0]) if chosen[0] < rows else 0
