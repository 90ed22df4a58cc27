"""`annotate`: opens the app on a project."""

from __future__ import annotations

import click

from calibration.cli.options import db_option, open_store
from calibration.cli.serve import launch


@click.command("annotate", short_help="Label samples in the browser and see what the judges are worth.")
@db_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; this machine only.")
@click.option("--port", type=click.IntRange(1, 65535), help="The port; without it a free one from 8501 on.")
@click.option("--annotator", help="Your name on labels; without it the name you are logged in with.")
@click.option("--no-browser", is_flag=True, help="Print the address, open nothing.")
def command(db: str, host: str, port: int | None, annotator: str | None, no_browser: bool) -> None:
    """Open the app: label samples, read disagreements, decide. Ctrl+C stops it."""
    open_store(db)
    launch(db, host=host, port=port, annotator=annotator, open_browser=not no_browser)
