"""`compare`: judges on the same samples. Lists flips, so it records what it reveals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from calibration.cli.options import db_option, json_option, open_store, print_json
from calibration.errors import InputError

if TYPE_CHECKING:
    from calibration.store import Store
    from calibration.summary import Summary


@click.command("compare", short_help="Two or more judges on the same samples.")
@click.argument("judges", nargs=-1, required=True)
@click.option("--criterion", help="The criterion, where a name alone does not tell.")
@json_option
@db_option
def command(judges: tuple[str, ...], criterion: str | None, as_json: bool, db: str) -> None:
    """Which of two judges agrees more with the labels: the difference of kappa with its interval, and the flips.

    A prompt version alone (correct-v1) is enough when one judge was made from it.
    """
    from calibration.board import board

    if len(judges) < 2:
        raise InputError("name two judges or more: compare A B")
    store = open_store(db)
    records = [_find(store, name, criterion) for name in judges]
    names = {record.criterion for record in records}
    if len(names) > 1:
        raise InputError(
            f"these judges judge different things ({', '.join(sorted(names))}); compare judges of one criterion"
        )
    now = board(store, names.pop())
    summaries = [now.standing(record).summary for record in records]
    results = [_one(store, a, b) for a, b in pairwise(summaries)]
    if as_json:
        print_json([result for result, _ in results] if len(results) > 1 else results[0][0])
        return
    for result, lines in results:
        click.echo(f"{result['sentence']}\nNext: {result['next']}")
        click.echo("\n".join(lines) + "\n")


def _find(store: Store, name: str, criterion: str | None) -> Any:
    """By the judge's name, or by the prompt version when that is unique."""
    versions = [judge for judge in store.judges(criterion) if judge.name.split("@")[0] == name]
    return versions[0] if len(versions) == 1 else store.find_judge(name, criterion)


def _one(store: Store, a: Summary, b: Summary) -> tuple[dict[str, Any], list[str]]:
    from calibration.disagreements import compare, reveal_comparison
    from calibration.wording import comparison_words

    comparison, excluded, flips = compare(a, b)
    words = comparison_words(comparison, a.short_name, b.short_name, a.people)
    reveal_comparison(store, a, b, flips)
    result = {
        "criterion": a.criterion,
        "a": a.judge.name,
        "b": b.judge.name,
        "n": comparison.n,
        "excluded": excluded,
        "kappa_a": comparison.kappa_a().as_json(),
        "kappa_b": comparison.kappa_b().as_json(),
        "kappa_difference": comparison.kappa_difference().as_json(),
        "accuracy_difference": comparison.accuracy_difference().as_json(),
        "mcnemar": comparison.mcnemar().as_json(),
        "flips": [*flips["repaired"], *flips["broken"]],
        "repaired": flips["repaired"],
        "broken": flips["broken"],
        "sentence": words.sentence,
        "next": words.next,
    }
    lines = [f"  {b.short_name} {kind}: {', '.join(flips[kind]) or 'none'}" for kind in ("repaired", "broken")]
    left = sum(excluded.values())
    lines.append(f"  n {comparison.n}, left out {left}. The labels behind this list count as seen for later prompts.")
    return result, lines
