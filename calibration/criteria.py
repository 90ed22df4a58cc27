"""What is judged: the built-in criteria, the fields each reads, and the question put to annotators."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.digest import digest
from calibration.errors import InputError
from calibration.records import Sample


@dataclass(frozen=True)
class Criterion:
    """A thing that is judged. `reads` are the sample fields it looks at; a sample without one is not asked."""

    name: str
    title: str
    question: str
    reads: tuple[str, ...]
    reply_keys: tuple[tuple[str, type], ...]
    scale: tuple[str, ...] = ("yes", "no")

    @property
    def values(self) -> tuple[str, ...]:
        """What an annotator can say."""
        return (*self.scale, "unsure")

    @property
    def optional_reads(self) -> tuple[str, ...]:
        """The fields it reads that a sample may lack."""
        return tuple(name for name in self.reads if name in ("contexts", "reference"))

    def missing(self, sample: Sample) -> str | None:
        """The field the sample lacks, or None when the criterion applies to it."""
        return next((name for name in self.optional_reads if getattr(sample, name) is None), None)

    def inputs(self, sample: Sample) -> str:
        """Digest of the fields this criterion reads: a label and a verdict pair only when theirs are equal."""
        return digest(sample.fields(self.reads))


BUILT_IN = {
    criterion.name: criterion
    for criterion in (
        Criterion(
            name="correct",
            title="Correct",
            question="Does the answer get what was asked right?",
            reads=("question", "reference", "answer"),
            reply_keys=(("reason", str), ("correct", bool)),
        ),
        Criterion(
            name="faithful",
            title="Faithful",
            question="Does every claim of the answer stand in the contexts?",
            reads=("question", "contexts", "answer"),
            reply_keys=(("unsupported", str), ("faithful", bool)),
        ),
    )
}


def criterion_named(name: str) -> Criterion:
    """The criterion of that name; InputError names the known ones."""
    if name not in BUILT_IN:
        raise InputError(f"unknown criterion {name!r}; use {' or '.join(BUILT_IN)}")
    return BUILT_IN[name]
