"""Names of fields: one row a tool, and the words of the product they stand for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from calibration.criteria import BUILT_IN
from calibration.errors import InputError


@dataclass(frozen=True)
class Row:
    """What one tool calls the four fields of a sample. A dot is one level down."""

    tool: str
    question: tuple[str, ...]
    contexts: tuple[str, ...]
    answer: tuple[str, ...]
    reference: tuple[str, ...]


ROWS = (
    Row(
        "own",
        ("question",),
        ("contexts", "sources"),
        ("answer",),
        ("reference", "reference_answer", "expected_answer", "expected"),
    ),
    Row("ragas from 0.2", ("user_input",), ("retrieved_contexts",), ("response",), ("reference",)),
    Row("ragas before 0.2", ("question",), ("contexts",), ("answer",), ("ground_truth", "ground_truths")),
    Row("DeepEval", ("input",), ("retrieval_context",), ("actual_output",), ("expected_output",)),
    Row(
        "Hugging Face style",
        ("question", "query", "instruction", "prompt"),
        ("context", "passages", "documents"),
        ("prediction", "prediction_text", "generation", "completion"),
        ("answers", "answers.text", "target"),
    ),
)
FIELDS = ("question", "contexts", "answer", "reference")
ALIASES = {
    "id": "id sample_id original_id _id uuid example_id item_id dataset_item_id test_case_id case_id qid question_id "
    "query_id",
    "group": "group conversation_id thread_id",
    "relevant_ids": "relevant_ids relevant_docs relevant_contexts gold_ids",
}
OWN = (
    "system",
    "retrieved_ids",
    "generator",
    "failure",
    "labels",
    "verdicts",
    "reveals",
    "metadata",
    "annotator",
    "judge",
)
HUMAN = {f"human_{name}": name for name in BUILT_IN}
JUDGED = {f"judge_{name}": name for name in BUILT_IN}
ASSUMED = {spelled: f"human_{name}" for name in BUILT_IN for spelled in (name, f"is_{name}")}
"""Bare names of a criterion: read as labels, with a warning."""
UNMAPPED = ("label", "human_label", "grade", "verdict", "judge_label", "hallucinated")
"""Names that say neither criterion nor direction: never mapped by themselves."""
IDEAL = ("reference_contexts", "expected_chunks", "expected_retrieved_context")
"""Ideal contexts, which nobody retrieved."""
WORDS = (*FIELDS, *ALIASES, *OWN, *HUMAN, *JUDGED)
ZERO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


@lru_cache(maxsize=10_000)
def normalised(name: str) -> str:
    """A name as names are compared: NFKC, without zero-width marks, case, spaces, `_`, `-` and a final `?` or `:`."""
    text = ZERO_WIDTH.sub("", unicodedata.normalize("NFKC", name))
    return re.sub(r"[\s_-]", "", text).rstrip("?:").casefold()


def _table() -> dict[str, str]:
    words = {word: word for word in (*OWN, *HUMAN, *JUDGED)}
    words |= {name: word for word, names in ALIASES.items() for name in names.split()}
    words |= {name: word for row in ROWS for word in FIELDS for name in getattr(row, word)}
    return {normalised(name): word for name, word in (words | ASSUMED).items()}


TABLE = _table()
NESTED: dict[str, list[tuple[str, str]]] = {}
for _path, _word in TABLE.items():
    if "." in _path:
        NESTED.setdefault(_path.split(".")[0], []).append((_path.split(".", 1)[1], _word))
ASSUMED_NAMES = frozenset(normalised(name) for name in ASSUMED)
UNMAPPED_NAMES = frozenset(normalised(name) for name in UNMAPPED)
IDEAL_NAMES = frozenset(normalised(name) for name in IDEAL)


def known_name(name: str) -> bool:
    """Whether a name stands for a word of the product."""
    return normalised(name) in TABLE


def is_record(value: Mapping[str, Any]) -> bool:
    """Whether an object is an entry itself, so that a list inside it is no list of entries."""
    names = {normalised(key) for key in value}
    return "sample" in names or any(TABLE.get(name) in ("question", "answer") for name in names)


@dataclass(frozen=True)
class Found:
    """A field of an entry that stands for a word; `field` as spelled, `key` in comparable form."""

    field: str
    key: str
    value: Any


@dataclass
class Match:
    """The fields of an entry by word; `rest` is what stands for nothing and goes to metadata."""

    words: dict[str, list[Found]] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)

    def has(self, key: str) -> bool:
        """Whether a name, in comparable form, is among the fields found."""
        return any(found.key == key for several in self.words.values() for found in several)

    def drop(self, found: Found) -> None:
        """Give a field back to the rest: it does not stand for its word here."""
        for several in self.words.values():
            if found in several:
                several.remove(found)
        self.rest[found.field] = found.value


def check_mapping(mapping: Mapping[str, str]) -> None:
    """Raises InputError for a word that nothing can be mapped to."""
    for word in mapping:
        if word not in WORDS:
            raise InputError(f"--map {word}={mapping[word]}: unknown word {word!r}; use one of {', '.join(WORDS)}")


def match(fields: Mapping[str, Any], mapping: Mapping[str, str]) -> Match:
    """Sort the fields of one entry by the word they stand for. A mapped word takes its field and no other."""
    result = Match(rest=dict(fields))
    for mapped, path in mapping.items():
        _take(result, fields, path, mapped)
    seen: set[str] = set()
    for name, value in list(result.rest.items()):
        key = normalised(name)
        word = TABLE.get(key)
        if key in seen:
            result.twice.append(name)
        if word is not None and word not in mapping and not (isinstance(value, dict) and key in NESTED):
            seen.add(key)
            del result.rest[name]
            result.words.setdefault(word, []).append(Found(name, key, value))
        elif isinstance(value, dict):
            for path, inner in NESTED.get(key, ()):
                if inner not in mapping:
                    _take(result, fields, f"{name}.{path}", inner)
    return result


def _take(result: Match, fields: Mapping[str, Any], path: str, word: str) -> None:
    """Move the field at a path to its word; what stands beside a nested one stays in the rest."""
    wanted = normalised(path)
    whole = path if path in fields else next((name for name in fields if normalised(name) == wanted), "")
    found = ([whole], fields[whole]) if whole in fields else _walk(fields, path)
    if found is None:
        return
    names, value = found
    spelled = ".".join(names)
    result.words.setdefault(word, []).append(Found(spelled, normalised(spelled), value))
    if names[0] in result.rest:
        left = _without(result.rest, names)
        result.rest.clear()
        result.rest.update(left)


def _walk(fields: Any, path: str) -> tuple[list[str], Any] | None:
    """The spelled names and the value at a dotted path, None where it leads nowhere."""
    names: list[str] = []
    for part in path.split("."):
        inner: Mapping[str, Any] = fields if isinstance(fields, Mapping) else {}
        name = next((key for key in inner if normalised(key) == normalised(part)), None)
        if name is None:
            return None
        names.append(name)
        fields = inner[name]
    return names, fields


def _without(value: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """A copy of a nested object without the value at a path."""
    copy = dict(value)
    if len(path) == 1:
        copy.pop(path[0], None)
    elif isinstance(copy.get(path[0]), dict):
        inner = _without(copy[path[0]], path[1:])
        copy = copy | {path[0]: inner} if inner else {k: v for k, v in copy.items() if k != path[0]}
    return copy
