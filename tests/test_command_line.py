"""The command line as a whole: what it is called, what it loads, what README says of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from calibration import __version__
from calibration.cli import COMMANDS
from calibration.demo import make_demo
from helpers import run_command

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
HEAVY = {"streamlit", "pandas", "numpy", "scipy", "sklearn", "openai", "altair", "sqlite_utils", "rich", "jinja2"}


def test_help_lists_every_command_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom calibration.cli import main\n"
        "try:\n main(['--help'])\nexcept SystemExit:\n pass\n"
        "print('LOADED', *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    help_text, loaded = found.split("LOADED")
    assert [name for name in COMMANDS if not re.search(rf"^  {name} ", help_text, re.MULTILINE)] == []
    assert HEAVY & set(loaded.split()) == set()


def test_readme_names_every_command_and_no_other() -> None:
    table = re.findall(r"^\| `judge-calibration ([a-z]+)", README, re.MULTILINE)
    assert table == list(COMMANDS)
    assert set(re.findall(r"judge-calibration ([a-z]+)", README)) - set(COMMANDS) <= {"is"}


def test_readme_opens_with_two_commands_that_exist() -> None:
    first, second = re.findall(r"^```\n(.+?)\n```", README, re.MULTILINE | re.DOTALL)[:2]
    assert first.startswith("python3 -m venv .venv && .venv/bin/pip install . && ")
    assert first.endswith("judge-calibration demo")
    assert (ROOT / second).stat().st_mode & 0o111


def test_the_notebook_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_demo(tmp_path / "calibration.db")
    example = re.search(r"```python\n(.+?)```", README, re.DOTALL)
    assert example is not None
    names: dict[str, object] = {}
    exec(example[1].replace("@MODEL", "@scripted"), names)
    kappa = names["kappa"]
    assert kappa.value == pytest.approx(0.894, abs=0.001)  # type: ignore[attr-defined]


def test_version_and_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("--version") == 0
    assert __version__ in capsys.readouterr().out
    assert run_command("judgement") == 2
    assert "No such command" in capsys.readouterr().err


def test_python_dash_m_is_the_same_command() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "calibration", "--version"], capture_output=True, text=True, check=True
    )
    assert __version__ in found.stdout


def test_the_version_is_that_of_the_distribution() -> None:
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()
