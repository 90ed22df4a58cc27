"""Finds the files that ship with the product, in the installed wheel or in the checkout."""

from __future__ import annotations

from pathlib import Path

from calibration.errors import OutsideError

PACKAGE = Path(__file__).resolve().parent


def data_path(*parts: str) -> Path:
    """The path of a bundled file, `data_path("prompts", "correct", "v1.md")`; OutsideError when it is missing."""
    for folder in (PACKAGE / "data", PACKAGE.parent / "data"):
        path = folder.joinpath(*parts)
        if path.exists():
            return path
    raise OutsideError(f"data/{'/'.join(parts)} is missing from this installation; install judge-calibration again")
