"""The bundled guidelines: the written rules that annotators label by until a project has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibration.criteria import BUILT_IN
from calibration.data_files import data_path

if TYPE_CHECKING:
    from calibration.store import Store


def add_bundled(store: Store) -> None:
    """Store the bundled guideline of every criterion that has none yet."""
    for name in BUILT_IN:
        if store.guideline(name) is None:
            store.add_guideline(name, data_path("guidelines", f"{name}.md").read_text(encoding="utf-8"))
