"""`gate`: decide on fresh labels and record the decision. The exit code is the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from calibration.cli.options import db_option, json_option, open_store, print_json
from calibration.errors import InputError
from calibration.person import login_name
from calibration.records import Outcome

if TYPE_CHECKING:
    from calibration.gate import Standing
    from calibration.records import Decision
    from calibration.store import Store

EXITS = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.NOT_ENOUGH_EVIDENCE: 3}
CHANGED = 4
WORST = (1, 3, 0)


@click.command("gate", short_help="Decide which judges pass, on fresh labels, and record it.")
@click.argument("judge_name", metavar="[JUDGE]", required=False)
@click.option("--criterion", help="All judges of one criterion.")
@click.option("--min-kappa", default=0.6, show_default=True, help="The threshold.")
@click.option("--min-tpr", type=float, help="Floor on the share of bad answers caught.")
@click.option("--min-tnr", type=float, help="Floor on the share of good answers let through.")
@click.option("--labels", default="blind", type=click.Choice(["blind", "adjudicated"]), show_default=True)
@click.option("--verify", is_flag=True, help="Compute the newest decision again; records nothing.")
@json_option
@db_option
@click.pass_context
def command(
    ctx: click.Context,
    judge_name: str | None,
    criterion: str | None,
    min_kappa: float,
    min_tpr: float | None,
    min_tnr: float | None,
    labels: str,
    verify: bool,
    as_json: bool,
    db: str,
) -> None:
    """Exit 0 passed, 1 failed, 3 not enough evidence; without JUDGE all of the criterion, worst of 1 > 3 > 0.

    --verify exits 4 when the inputs of the newest decision changed, else as that decision.
    """
    from calibration.cli.choose import standings
    from calibration.gate import Rule

    store = open_store(db)
    if verify:
        ctx.exit(_verify(store, judge_name, criterion, as_json))
    found = standings(store, criterion, judge_name, Rule(min_kappa, min_tpr, min_tnr, labels))
    results = [_decide(store, standing) for standing in found]
    if as_json:
        print_json(results[0] if judge_name is not None else results)
    else:
        for result in results:
            _show(result)
    codes = {EXITS[Outcome(result["outcome"])] for result in results}
    ctx.exit(next(code for code in WORST if code in codes))


def _decide(store: Store, standing: Standing) -> dict[str, Any]:
    from calibration.registry import decide, settled
    from calibration.wording import judge_words

    standing = settled(standing)
    decision = decide(store, standing, who=login_name())
    words = judge_words(standing)
    return as_json_object(decision) | {"sentence": words.sentence, "next": words.next}


def as_json_object(decision: Decision) -> dict[str, Any]:
    """A decision as `gate --json` prints it."""
    record = decision.record
    return {
        "id": decision.id,
        "judge": record["judge"]["name"],
        "criterion": decision.criterion,
        "outcome": decision.outcome,
        "reasons": record["reasons"],
        "rule": record["rule"],
        "labels": record["data"]["labels_choice"],
        "k": record["k"],
        "r": record["r"],
        "fresh": record["data"]["fresh"],
        "seen": record["data"]["seen"],
        "kappa_strict": record["statistic"],
        "flags": record["flags"],
        "labels_needed": record["labels_needed"]["labels"],
        "fails_needed": record["labels_needed"]["fails"],
        "no_labels_needed": record["labels_needed"]["reason"],
        "time": decision.time,
    }


def _show(result: dict[str, Any]) -> None:
    outcome = result["outcome"].replace("_", " ")
    click.secho(f"{result['criterion']}: {result['judge']}: {outcome} (decision {result['id']})", bold=True)
    click.echo(f"  {result['sentence']}\n  Next: {result['next']}")
    if result["reasons"]:
        click.echo(f"  Reasons: {', '.join(result['reasons']).replace('_', ' ')}.")


def _verify(store: Store, judge_name: str | None, criterion: str | None, as_json: bool) -> int:
    from calibration.criteria import criterion_named
    from calibration.registry import verify

    if criterion is not None:
        criterion_named(criterion)
    key = store.find_judge(judge_name, criterion).digest if judge_name else None
    decisions = store.decisions(judge=key, criterion=criterion)
    if not decisions:
        raise InputError("no decision to verify; run `judge-calibration gate` first")
    newest = decisions[-1]
    same, changed = verify(store, newest)
    if as_json:
        print_json(as_json_object(newest) | {"verified": same, "changed": changed})
    elif same:
        click.echo(f"Decision {newest.id} computed again: identical, {newest.outcome.replace('_', ' ')}.")
    else:
        click.echo(
            f"Decision {newest.id} can no longer be computed from what is stored. Changed: {', '.join(changed)}."
        )
        click.echo("Next: judge-calibration gate, which decides on the present labels and verdicts.")
    return EXITS[Outcome(newest.outcome)] if same else CHANGED
