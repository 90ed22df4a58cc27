"""`registry`: which judges there are, what was decided, and on what."""

from __future__ import annotations

from typing import Any

import click

from calibration.cli.options import db_option, json_option, open_store, print_json


@click.command("registry", short_help="Judges, their prompt versions and recorded decisions.")
@click.option("--criterion", help="One criterion; all of them without it.")
@json_option
@db_option
def command(criterion: str | None, as_json: bool, db: str) -> None:
    """Every judge with its status (draft until it is decided) and its decisions, oldest first."""
    from calibration.board import criteria_in_use
    from calibration.cli.gate import as_json_object
    from calibration.criteria import criterion_named
    from calibration.registry import entries

    store = open_store(db)
    names = criteria_in_use(store) if criterion is None else [criterion_named(criterion).name]
    rows: list[dict[str, Any]] = []
    for entry in (entry for name in names for entry in entries(store, name)):
        rows.append(
            {
                "judge": entry.judge.name,
                "digest": entry.judge.digest,
                "kind": str(entry.judge.kind),
                "criterion": entry.judge.criterion,
                "prompt": None if entry.prompt is None else entry.prompt.label,
                "parent": None if entry.prompt is None else entry.prompt.parent,
                "model": entry.judge.model,
                "params": dict(entry.judge.params),
                "status": entry.status,
                "stale": entry.stale,
                "decisions": [as_json_object(decision) for decision in entry.decisions],
            }
        )
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("No judge yet. Next: judge-calibration judge PROMPT --model MODEL")
    for row in rows:
        stale = f", stale: {', '.join(row['stale'])} changed since" if row["stale"] else ""
        click.secho(
            f"{row['criterion']}: {row['judge']} ({row['kind']}): {row['status'].replace('_', ' ')}{stale}", bold=True
        )
        click.echo(f"  digest {row['digest'][:12]}, prompt {row['prompt'] or 'not known'}")
        for decision in row["decisions"]:
            said = f"{decision['outcome'].replace('_', ' ')}, K {decision['k']}, {decision['fresh']} fresh"
            click.echo(f"  decision {decision['id']}, {decision['time'][:16]}: {said}")
    if rows and not any(row["decisions"] for row in rows):
        click.echo("Next: judge-calibration gate")
