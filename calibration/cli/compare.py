"""`compare`: judges on the same samples. Lists flips, so it records what it reveals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from calibration.cli.options import db_option, json_option, open_store, print_json
from calibration.errors import InputError
from calibration.person import login_name

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
    from calibration.criteria import criterion_named

    if len(judges) < 2:
        raise InputError("name two judges or more: compare A B")
    if criterion is not None:
        criterion_named(criterion)
    store = open_store(db)
    records = [store.find_judge(name, criterion) for name in judges]
    for number, record in enumerate(records):
        if record in records[:number]:
            raise InputError(f"{judges[number]!r} is named twice: it is {record.name}; compare it with another judge")
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


def _one(store: Store, a: Summary, b: Summary) -> tuple[dict[str, Any], list[str]]:
    from calibration.disagreements import compare, names, reveal_comparison
    from calibration.wording import comparison_words

    found = compare(a, b)
    comparison, (first, second) = found.answered, names(a, b)
    words = comparison_words(comparison, first, second, a.people, found.strict)
    reveal_comparison(store, a, b, found, login_name())
    result = {
        "criterion": a.criterion,
        "a": a.judge.name,
        "b": b.judge.name,
        "n": comparison.n,
        "excluded": found.excluded,
        "kappa_a": comparison.kappa_a().as_json(),
        "kappa_b": comparison.kappa_b().as_json(),
        "kappa_difference": comparison.kappa_difference().as_json(),
        "accuracy_difference": comparison.accuracy_difference().as_json(),
        "mcnemar": comparison.mcnemar().as_json(),
        "strict": {"n": found.strict.n, "kappa_difference": found.strict.kappa_difference().as_json()},
        "labels_to_tell_apart": comparison.labels_to_tell_apart().labels,
        "flips": found.flips,
        "repaired": found.repaired,
        "broken": found.broken,
        "sentence": words.sentence,
        "next": words.next,
    }
    flips = {"repaired": found.repaired, "broken": found.broken}
    lines = [f"  {second} {kind}: {', '.join(samples) or 'none'}" for kind, samples in flips.items()]
    left = sum(found.excluded.values())
    lines.append(f"  n {comparison.n}, left out {left}. The labels behind this list count as seen for later prompts.")
    return result, lines
