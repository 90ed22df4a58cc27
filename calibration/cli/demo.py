"""`demo`: a project with bundled samples, opened in the browser. No key, no network, no account."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click

from calibration.errors import StoreError

FOLDER = Path("judge-calibration-demo")


@click.command("demo", short_help="A ready project in the browser: no key, no network.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the page; a free one without it.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--reset", is_flag=True, help="Start from scratch; labels you gave in the demo are lost.")
def command(port: int | None, no_browser: bool, reset: bool) -> None:
    """Make ./judge-calibration-demo/ (or reuse it) and open it on the Board.

    The replies of its judges are scripted: written by hand, in the shape a model sends. All figures are computed.
    """
    from calibration.cli import serve

    if reset and FOLDER.exists():
        shutil.rmtree(FOLDER)
    db = FOLDER / "demo.db"
    # A process of its own makes the project while this one loads the app and the browser its files.
    maker = None if db.exists() else subprocess.Popen([sys.executable, "-m", "calibration.demo", str(db)])

    def wait() -> None:
        if maker is not None and maker.wait() != 0:
            raise StoreError(f"{db}: the demo project could not be made; see the lines above")

    click.echo(f"Demo project in {FOLDER}/; its judges are scripted. Stop with Ctrl-C.", err=True)
    serve.launch(str(db), port=port, open_browser=not no_browser, annotator="you", role="guest", prepare=wait)
