"""The one seam from the command line to the app: `demo` and `annotate` start it, nothing else knows it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def launch(db: str, **options: Any) -> None:
    """Serve the app for the project in `db` until it is stopped; options as in `annotate.server.launch`.

    Imports point down and the app lies above, so it is found by name, and only when somebody asks for it: no other
    command loads Streamlit.
    """
    import_module("annotate.server").launch(db, **options)
