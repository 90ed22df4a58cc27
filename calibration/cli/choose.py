"""Which judges a command speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from calibration.errors import InputError

if TYPE_CHECKING:
    from calibration.gate import Rule, Standing
    from calibration.store import Store


def standings(
    store: Store, criterion: str | None, judge_name: str | None, rule: Rule, annotators: Sequence[str] = ()
) -> list[Standing]:
    """The standings of one judge, of one criterion or of all; InputError with the way out when there are none."""
    from calibration.board import board, criteria_in_use
    from calibration.criteria import criterion_named

    if criterion is not None:
        criterion_named(criterion)
    chosen = None if not annotators else list(annotators)
    unknown = [name for name in annotators if name not in store.annotators()]
    if unknown:
        raise InputError(f"nobody named {unknown[0]!r} has labelled here; known: {', '.join(store.annotators())}")
    judge = None if judge_name is None else store.find_judge(judge_name, criterion)
    names = [criterion] if criterion else [judge.criterion] if judge else criteria_in_use(store)
    found = [s for name in names for s in board(store, name, rule, annotators=chosen).standings]
    if judge is not None:
        found = [standing for standing in found if standing.summary.judge.digest == judge.digest]
    if not found:
        raise InputError(_nothing(store, criterion))
    return found


def _nothing(store: Store, criterion: str | None) -> str:
    if not store.sample_count():
        return "no samples yet; run `judge-calibration import FILE`"
    on = "" if criterion is None else f" on `{criterion}`"
    return f"no judge has given a verdict{on} yet; run `judge-calibration judge PROMPT --model MODEL`"
