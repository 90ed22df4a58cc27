"""`demo`: a project with bundled samples, opened in the browser. No key, no network, no account."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

FOLDER = Path("judge-calibration-demo")


@click.command("demo", short_help="A ready project in the browser: no key, no network.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the page; a free one without it.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--reset", is_flag=True, help="Start from scratch; labels you gave in the demo are lost.")
def command(port: int | None, no_browser: bool, reset: bool) -> None:
    """Make ./judge-calibration-demo/ (or reuse it) and open it on the Board.

    The replies of its judges are scripted: written by hand, in the shape a model sends. All figures are computed.
    """
    from calibration.cli.serve import launch
    from calibration.demo import make_demo

    if reset and FOLDER.exists():
        shutil.rmtree(FOLDER)
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    db = FOLDER / "demo.db"
    make_demo(db)
    click.echo(f"Demo project in {FOLDER}/; its judges are scripted. Stop with Ctrl-C.", err=True)
    launch(str(db), port=port, open_browser=not no_browser, annotator="you", role="guest")
