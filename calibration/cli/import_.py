"""`import`: samples with their labels and verdicts from files; all of it or nothing."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibration.cli.options import db_option, json_option, open_store, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from calibration.store import Store
    from calibration.store.batch import Batch
    from calibration.store.imports import ImportRefused, ImportResult

SHOWN_EVERY = 5_000
MEANING = {
    "bom": "byte-order mark removed",
    "utf16": "read as UTF-16",
    "utf32": "read as UTF-32",
    "delimiter": "cells are not separated by commas; read all the same",
    "wrapped": "the samples stand in a list inside an object",
    "hidden_marks": "invisible characters in texts, kept and shown marked",
    "mojibake": "texts that look wrongly decoded, kept as they are",
    "empty_answer": "empty answers, kept: an empty answer is a result",
    "ideal_context": "ideal contexts, which nobody retrieved, went to metadata",
    "unmapped_label": "a field that may be a label but names no criterion went to metadata; "
    "--map human_correct=FIELD makes it one",
    "assumed_human": "fields named like a criterion were read as labels by people",
    "ignored_keys": "unknown keys of labels or verdicts were left out",
    "unknown_guideline": "labels name a guideline that is not in this project; the name was left out",
    "same_file": "imported before; nothing to add",
    "same_sample": "samples that were there already, taken once",
    "same_content": "samples with the content of another id; both kept",
}


@click.command("import", short_help="Bring samples, labels and verdicts from JSON Lines, JSON or CSV.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option("--map", "maps", multiple=True, metavar="WORD=FIELD", help="Which field is meant: --map answer=response.")
@click.option("--dry-run", is_flag=True, help="Check and show everything, store nothing.")
@click.option("--encoding", help="Encoding of files that are not UTF-8: windows-1252.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    maps: tuple[str, ...],
    dry_run: bool,
    encoding: str | None,
    db: str,
    as_json: bool,
) -> None:
    """Store what FILEs hold: samples, and labels and verdicts where they have them.

    One problem anywhere and nothing is stored; every problem is listed as file:line:field.
    """
    from calibration.formats.read import read_files
    from calibration.store.imports import ImportRefused, import_batch

    batch = read_files(files, _mapping(maps), encoding=encoding, progress=_progress)
    try:
        with _project(Path(db), keep=not dry_run and not batch.problems) as store:
            result = import_batch(store, batch, dry_run=dry_run)
    except ImportRefused as refused:
        _refuse(refused, as_json=as_json)
        ctx.exit(refused.exit_code)
    if as_json:
        print_json(result.as_json())
        return
    _show(batch, result, dry_run=dry_run)
    click.echo(f"Next: {'the same command without --dry-run' if dry_run else _next(open_store(db))}")


def _mapping(maps: tuple[str, ...]) -> dict[str, str]:
    mapping: dict[str, str] = {}
    for pair in maps:
        word, mark, name = pair.partition("=")
        if not mark or not word or not name:
            raise click.UsageError(f"--map {pair}: write WORD=FIELD, for example --map answer=response")
        if mapping.setdefault(word.strip(), name) != name:
            raise click.UsageError(f"--map {word}: given twice, as {mapping[word]} and as {name}")
    return mapping


def _progress(name: str, count: int) -> None:
    if count % SHOWN_EVERY == 0:
        click.echo(f"{name}: {count} entries read", err=True)


@contextmanager
def _project(path: Path, *, keep: bool) -> Iterator[Store]:
    """The project's store, made if it is not there; what is refused or only tried leaves no new file behind."""
    from calibration.store import Store

    if path.exists():
        yield Store(path)
        return
    if not keep:
        with tempfile.TemporaryDirectory() as folder:
            yield Store(Path(folder) / path.name)
        return
    try:
        yield Store(path)
    except BaseException:
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        raise


def _refuse(refused: ImportRefused, *, as_json: bool) -> None:
    if as_json:
        print_json(refused.result.as_json())
        return
    for line in refused.lines():
        click.echo(line, err=True)
    click.echo("Nothing was stored.", err=True)


def _show(batch: Batch, result: ImportResult, *, dry_run: bool) -> None:
    if batch.mapping:
        pairs = [name if name == word else f"{name} -> {word}" for name, word in batch.mapping.items()]
        click.echo(f"Fields: {', '.join(pairs)}")
    if dry_run:
        for sample in batch.samples[:3]:
            click.echo(f"  {sample.id}: {_short(sample.question)} | {_short(sample.answer)}")
    verb = "Would add" if dry_run else "Added"
    counts = (("sample", result.samples), ("label", result.labels), ("verdict", result.verdicts))
    click.echo(f"{verb} {', '.join(number_of(n, noun) for noun, n in counts)}.")
    for warned in result.warnings:
        lines = f" (line {', '.join(map(str, warned.lines))}{' ...' if warned.count > len(warned.lines) else ''})"
        times = f", {warned.count} times" if warned.count > 1 else ""
        click.echo(f"{warned.file}: {warned.code}{times}{lines if warned.lines else ''}: {MEANING[warned.code]}")


def number_of(n: int, noun: str) -> str:
    """`1 label`, `2 labels`."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _short(text: str, length: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 3]}..."


def _next(store: Store) -> str:
    """The one command that comes next, from what the project holds now."""
    if not store.labelled_criteria():
        return "judge-calibration annotate"
    if not store.judges():
        return "judge-calibration judge PROMPT --model MODEL"
    return "judge-calibration agreement"
