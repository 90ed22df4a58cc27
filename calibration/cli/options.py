"""Options and output that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from calibration.store import Store

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_DB = "calibration.db"


def db_option(function: F) -> F:
    """`--db PATH`, else the variable JUDGE_CALIBRATION_DB, else ./calibration.db."""
    return click.option(
        "--db",
        envvar="JUDGE_CALIBRATION_DB",
        default=DEFAULT_DB,
        show_default=True,
        type=click.Path(dir_okay=False),
        help="The project's database; also JUDGE_CALIBRATION_DB.",
    )(function)


def json_option(function: F) -> F:
    """`--json`: the result as JSON on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(function)


def open_store(path: str, *, create: bool = False) -> Store:
    """The project's store; a clear error when there is none and the command does not make one."""
    from calibration.store import Store

    return Store(path, create=create)


def print_json(value: Any) -> None:
    """JSON for people and programs: UTF-8, indented, no NaN."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False))
