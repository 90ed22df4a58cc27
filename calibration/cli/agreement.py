"""`agreement`: every judge against the labels. Totals only, so nothing is revealed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calibration.cli.options import db_option, json_option, open_store, print_json

if TYPE_CHECKING:
    from calibration.gate import Standing


@click.command("agreement", short_help="Every judge against the labels, with what it is good for today.")
@click.option("--criterion", help="One criterion; all of them without it.")
@click.option("--judge", "judge_name", help="One judge, by name or 6 digits of its digest.")
@click.option("--labels", default="blind", type=click.Choice(["blind", "adjudicated"]), show_default=True)
@click.option("--annotator", "annotators", multiple=True, help="Only this annotator's labels; may be given again.")
@click.option("--min-kappa", default=0.6, show_default=True, help="The threshold the sentences speak of.")
@json_option
@db_option
def command(
    criterion: str | None,
    judge_name: str | None,
    labels: str,
    annotators: tuple[str, ...],
    min_kappa: float,
    as_json: bool,
    db: str,
) -> None:
    """Confusion table, kappa and the other figures of every judge, n and what was left out, in plain words."""
    from calibration.cli.choose import standings
    from calibration.gate import Rule

    found = standings(open_store(db), criterion, judge_name, Rule(min_kappa=min_kappa, labels=labels), annotators)
    if as_json:
        print_json([row(standing) for standing in found])
        return
    for standing in found:
        _show(standing)


def row(standing: Standing) -> dict[str, Any]:
    """One object of `agreement --json`."""
    from calibration.wording import judge_words

    words = judge_words(standing)
    return standing.summary.as_json() | {"sentence": words.sentence, "next": words.next}


def _show(standing: Standing) -> None:
    from calibration.phrases import figure
    from calibration.wording import exclusions, judge_words

    summary, table = standing.summary, standing.summary.confusion
    words = judge_words(standing)
    click.secho(f"{summary.criterion}: {summary.judge.name} ({summary.judge.kind})", bold=True)
    click.echo(f"  {words.sentence}")
    click.echo(f"  Next: {words.next}")
    if table.n >= 10:
        click.echo(f"  kappa (agreement beyond luck) {figure(table.kappa())}, accuracy {figure(table.accuracy())}")
    click.echo("                judge yes  judge no")
    click.echo(f"    human yes   {table.a:9}  {table.b:8}   too strict: {table.b}")
    click.echo(f"    human no    {table.c:9}  {table.d:8}   too lenient: {table.c}")
    fresh = f"{summary.fresh} fresh, {summary.seen} seen"
    click.echo(f"  n {table.n} ({fresh}; {table.questions} questions). {exclusions(summary)}\n")
