"""`prompts`: versions of judge prompts, from plain text or a prompt file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibration.cli.options import db_option, json_option, open_store, print_json
from calibration.errors import InputError

if TYPE_CHECKING:
    from calibration.records import Prompt
    from calibration.store import Store


@click.group("prompts")
def command() -> None:
    """Judge prompts and their versions: add, list, show, diff."""


@command.command("add")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--criterion", help="What the prompt judges, such as correct; a prompt file says it itself.")
@click.option("--name", help="The prompt's name; the next version of it is made. A prompt file says it itself.")
@click.option("--note", help="What is new in this version.")
@click.option("--author", help="Who wrote it.")
@db_option
def add(file: str, criterion: str | None, name: str | None, note: str | None, author: str | None, db: str) -> None:
    """Register a prompt: a plain text with {question} and {answer} in it, or a finished prompt file."""
    from calibration.prompts import is_prompt_file, read_text, to_text

    text = read_text(Path(file).read_bytes(), file)
    if is_prompt_file(text):
        if note or author:
            raise InputError(f"{file}: a prompt file has its own note and author; leave --note and --author out")
        prompt = _finished(text, file, db)
        for option, given, held in (("--criterion", criterion, prompt.criterion), ("--name", name, prompt.name)):
            if given not in (None, held):
                raise InputError(f"{file}: {option} {given} differs from the file, which says {held}; leave it out")
    elif criterion is None or name is None:
        raise InputError(f"{file}: a plain text needs --criterion and --name")
    else:
        prompt = _from_text(text, file, criterion, name, note or "", author or "", db)
    click.echo(to_text(prompt), nl=not prompt.user.endswith("\n"))
    if prompt.unfenced:
        click.echo(f"warning: {prompt.label} prints answer or contexts outside the sample block (unfenced)", err=True)
    stored = open_store(db, create=True).add_prompt(prompt)
    click.echo(f"stored {stored.label} ({stored.digest[:12]})", err=True)


def _versions(db: str, name: str) -> list[Prompt]:
    """The versions of a name; none where there is no database yet, so that a refused prompt does not make one."""
    return open_store(db).prompts(name) if Path(db).exists() else []


def _finished(text: str, file: str, db: str) -> Prompt:
    """A finished file as it is. Its version is in its path, else the one with this text, else the next of its name."""
    from calibration.prompts import FILE, parse_prompt

    path = Path(file)
    if FILE.fullmatch(path.name):
        return parse_prompt(text, file if path.parent.name not in ("", "..") else str(path.resolve()))
    draft = parse_prompt(text, file, check_path=False)
    versions = _versions(db, draft.name)
    held = [version.version for version in versions if version.digest == draft.digest]
    newest = max((version.version for version in versions), default=0)
    return parse_prompt(text, file, check_path=False, version=held[0] if held else newest + 1)


def _from_text(text: str, file: str, criterion: str, name: str, note: str, author: str, db: str) -> Prompt:
    """The next version of a name, made from plain text; its parent is the version before."""
    from calibration.prompts import from_plain_text
    from calibration.store import utc_now

    last = max(_versions(db, name), key=lambda prompt: prompt.version, default=None)
    if last is not None and last.criterion != criterion:
        raise InputError(f"{last.label} judges {last.criterion}, not {criterion}; choose another --name")
    return from_plain_text(
        text,
        criterion=criterion,
        name=name,
        version=1 if last is None else last.version + 1,
        parent=None if last is None else last.digest,
        author=author,
        created=utc_now()[:10],
        note=note,
        path=file,
    )


@command.command("list")
@db_option
@json_option
def list_(db: str, as_json: bool) -> None:
    """All versions, with what is new in each."""
    prompts = open_store(db).prompts()
    if as_json:
        print_json([_as_json(prompt) for prompt in prompts])
        return
    if not prompts:
        click.echo("no prompts yet; add one with `judge-calibration prompts add FILE`", err=True)
        return
    rows = [("prompt", "criterion", "digest", "registered", "note")]
    for prompt in prompts:
        note = f"{prompt.note} [unfenced]".strip() if prompt.unfenced else prompt.note
        rows.append((prompt.label, prompt.criterion, prompt.digest[:12], (prompt.registered_at or "")[:10], note))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _as_json(prompt: Prompt) -> dict[str, Any]:
    names = ("label", "name", "version", "criterion", "digest", "parent", "note", "author", "created")
    rest = {"examples": list(prompt.examples), "unfenced": prompt.unfenced, "registered_at": prompt.registered_at}
    return {{"label": "prompt"}.get(name, name): getattr(prompt, name) for name in names} | rest


@command.command("show")
@click.argument("name")
@db_option
def show(name: str, db: str) -> None:
    """The prompt file of one version, such as correct-v2."""
    from calibration.prompts import to_text

    prompt = _named(open_store(db), name)
    click.echo(to_text(prompt), nl=not prompt.user.endswith("\n"))


@command.command("diff")
@click.argument("a")
@click.argument("b")
@db_option
def diff(a: str, b: str, db: str) -> None:
    """What changed in the text from version A to version B."""
    from difflib import unified_diff

    from calibration.prompts import body_text

    store = open_store(db)
    old, new = _named(store, a), _named(store, b)
    texts = [body_text(prompt).split("\n") for prompt in (old, new)]
    lines = list(unified_diff(texts[0], texts[1], old.label, new.label, lineterm=""))
    if not lines:
        click.echo(f"{old.label} and {new.label} have the same text", err=True)
    for line in lines:
        click.echo(line)


def _named(store: Store, name: str) -> Prompt:
    prompt = store.prompt(name)
    if prompt is None:
        known = ", ".join(prompt.label for prompt in store.prompts()) or "none yet"
        raise InputError(f"no prompt named {name!r}; known: {known}")
    return prompt
