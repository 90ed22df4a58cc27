"""Which prompt version a word on the command line means: a file, a registered name, or a bundled one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.data_files import data_path
from calibration.errors import InputError, OutsideError
from calibration.prompts import from_plain_text, is_prompt_file, parse_prompt, read_text
from calibration.records import Prompt

if TYPE_CHECKING:
    from calibration.store import Store

LABEL = re.compile(r"([a-z][a-z0-9-]*)-v([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class Chosen:
    """A prompt version and what must be registered for it, in order; nothing is stored before its run starts."""

    prompt: Prompt
    missing: tuple[Prompt, ...] = ()

    def register(self, store: Store) -> Prompt:
        """Store what is missing; the prompt as it is registered."""
        stored = [store.add_prompt(prompt) for prompt in self.missing]
        return stored[-1] if stored else self.prompt


def choose_prompt(word: str, store: Store, *, criterion: str | None, name: str | None) -> Chosen:
    """The prompt version meant by a word. Raises InputError that names what would do."""
    path = Path(word)
    if path.is_file():
        text = read_text(path.read_bytes(), word)
        if is_prompt_file(text):
            return _finished(text, path, store)
        return _plain(text, word, store, criterion, name)
    held = store.prompt(word)
    if held is not None:
        return Chosen(held)
    bundled = _bundled(word)
    if bundled is not None:
        return _finished(bundled.read_text(encoding="utf-8"), bundled, store)
    known = ", ".join([prompt.label for prompt in store.prompts()] or ["none yet"])
    raise InputError(f"{word}: no such file and no prompt of that name; registered: {known}; bundled: {_all_bundled()}")


def _bundled(word: str) -> Path | None:
    match = LABEL.fullmatch(word)
    try:
        return data_path("prompts", match[1], f"v{match[2]}.md") if match else None
    except OutsideError:
        return None


def _all_bundled() -> str:
    found = sorted(data_path("prompts").glob("*/v*.md"))
    return ", ".join([f"{path.parent.name}-{path.stem}" for path in found] + ["lexical"])


def _finished(text: str, path: Path, store: Store) -> Chosen:
    """A finished prompt file. Earlier versions that are not registered come from the files beside it."""
    prompt = parse_prompt(text, str(path if path.parent.name else path.resolve()))
    registered = store.prompts(prompt.name)
    if any(held.version == prompt.version or held.digest == prompt.digest for held in registered):
        return Chosen(store.add_prompt(prompt))
    earlier = []
    for version in range(len(registered) + 1, prompt.version):
        sibling = path.with_name(f"v{version}.md")
        if not sibling.is_file():
            raise InputError(
                f"{path}: version {version} of {prompt.name} is not registered and {sibling} does not exist; "
                f"register it first with `judge-calibration prompts add`"
            )
        earlier.append(parse_prompt(read_text(sibling.read_bytes(), str(sibling)), str(sibling.resolve())))
    return Chosen(prompt, (*earlier, prompt))


def _plain(text: str, word: str, store: Store, criterion: str | None, name: str | None) -> Chosen:
    """A plain text becomes the next version of `name`, unless exactly this text is registered already."""
    if criterion is None or name is None:
        raise InputError(f"{word} is a plain text: say what it judges and what to call it with --criterion and --name")
    registered = store.prompts(name)
    prompt = from_plain_text(
        text,
        criterion=criterion,
        name=name,
        version=len(registered) + 1,
        parent=registered[-1].digest if registered else None,
        author="",
        created=store.now()[:10],
    )
    twin = next((held for held in registered if held.digest == prompt.digest), None)
    return Chosen(twin) if twin is not None else Chosen(prompt, (prompt,))
