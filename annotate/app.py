"""Page config and navigation, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from calibration.errors import CalibrationError

PAGES = ("board", "label", "disagreements", "compare", "registry", "data")


def shown(name: str) -> Callable[[], None]:
    """A page that is imported when it is opened; what went wrong is said as text."""

    def run() -> None:
        try:
            import_module(f"annotate.views.{name}").page()
        except CalibrationError as error:
            st.error("This did not work.")
            st.text(str(error))

    return run


st.set_page_config(page_title="judge-calibration", page_icon="⚖️", layout="wide")
st.html(Path(__file__).with_name("style.css"))
known = [name for name in PAGES if find_spec(f"annotate.views.{name}")]
st.navigation(
    [st.Page(shown(name), title=name.capitalize(), url_path=name, default=n == 0) for n, name in enumerate(known)],
    position="top",
).run()
