"""Imports point down: a module imports its own layer or a lower one, and pure modules do no I/O."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# From the bottom up; a module belongs to the first entry that names it or its package.
LAYERS = [
    ("records", "errors", "digest", "criteria", "data_files", "person", "__init__"),
    ("prompts", "prompt_text", "plain_text", "agreement"),
    ("pairing", "store"),
    ("summary", "guidelines"),
    ("gate", "phrases"),
    ("wording", "board", "charts"),
    ("registry", "disagreements", "judges", "formats"),
    ("demo",),
    ("cli", "__main__"),
]
PURE = (
    "agreement",
    "pairing",
    "summary",
    "gate",
    "wording",
    "phrases",
    "prompts",
    "prompt_text",
    "plain_text",
    "charts",
)
FORBIDDEN = {"os", "sqlite3", "sqlite_utils", "socket", "urllib", "subprocess", "tempfile", "time"}
MODULES = sorted((ROOT / "calibration").rglob("*.py"))


def layer_of(dotted: str) -> int:
    """The height of `calibration.x.y`."""
    name = dotted.split(".")[1] if "." in dotted else "__init__"
    return next(height for height, names in enumerate(LAYERS) if name in names)


def dotted_name(path: Path) -> str:
    """calibration/store/rows.py -> calibration.store.rows."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> set[str]:
    """What a file imports, lazily or not, as dotted names; not what only type checkers see."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= (
                {f"{node.module}.{alias.name}" for alias in node.names}
                if node.module == "calibration"
                else {node.module}
            )
    return found


@pytest.mark.parametrize("path", MODULES, ids=dotted_name)
def test_a_module_imports_only_its_own_layer_or_a_lower_one(path: Path) -> None:
    own = layer_of(dotted_name(path))
    names = {name for name in imports(path) if name.startswith("calibration.")}
    too_high = {name for name in names if name != "calibration.__version__" and layer_of(name) > own}
    assert too_high == set()


@pytest.mark.parametrize(
    "path", [p for p in MODULES if dotted_name(p).split(".")[1:2] in [[n] for n in PURE]], ids=dotted_name
)
def test_a_pure_module_does_no_io(path: Path) -> None:
    assert {name.split(".")[0] for name in imports(path)} & FORBIDDEN == set()


def test_nothing_in_the_library_imports_the_app() -> None:
    assert not [path for path in MODULES if any(name.split(".")[0] == "annotate" for name in imports(path))]


def test_only_the_client_imports_openai_and_only_the_store_sqlite() -> None:
    for path in MODULES:
        roots = {name.split(".")[0] for name in imports(path)}
        assert "openai" not in roots or dotted_name(path) == "calibration.judges.client"
        assert not roots & {"sqlite3", "sqlite_utils"} or dotted_name(path).startswith("calibration.store")
