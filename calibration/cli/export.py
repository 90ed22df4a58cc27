"""`export`: samples, labels, verdicts or decisions as a file that `import` or a spreadsheet reads."""

from __future__ import annotations

import click

from calibration.cli.import_ import number_of
from calibration.cli.options import db_option, open_store

KINDS = ("samples", "labels", "verdicts", "decisions", "all")


@click.command("export", short_help="Write samples, labels, verdicts, decisions or all of it to a file.")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("file", type=click.Path())
@click.option("--force", is_flag=True, help="Replace FILE when it is there.")
@db_option
def command(kind: str, file: str, force: bool, db: str) -> None:
    """Write KIND to FILE, as .jsonl (byte-faithful, `import` reads it back) or .csv (for spreadsheets).

    `all` holds the samples with their labels, verdicts and reveals inside.
    """
    from calibration.formats.write import export

    count = export(open_store(db), kind, file, force=force)
    noun = "sample" if kind == "all" else kind.removesuffix("s")
    click.echo(f"Wrote {number_of(count, noun)}{' with everything on them' if kind == 'all' else ''} to {file}.")
    if file.lower().endswith(".csv"):
        click.echo(
            "CSV is for spreadsheets: cells that a spreadsheet would run got a leading '. Use .jsonl to import again."
        )
