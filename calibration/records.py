"""The nouns of the product as frozen records. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from calibration.digest import digest, nfc


class Value(StrEnum):
    """A value of a yes/no criterion."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


class LabelStatus(StrEnum):
    """State of a sample for one annotator and criterion. Only `labelled` has a value."""

    LABELLED = "labelled"
    WITHDRAWN = "withdrawn"
    SKIPPED = "skipped"
    DEFERRED = "deferred"
    NOTE = "note"


class VerdictStatus(StrEnum):
    """`ok` has a value; `failed` is a reply that is no verdict; `error` is a call that was never answered."""

    OK = "ok"
    FAILED = "failed"
    ERROR = "error"


class Mode(StrEnum):
    """How a label was given. Blind agreement and audited truth are never merged."""

    BLIND = "blind"
    AUDIT = "audit"
    REPEAT = "repeat"
    ADJUDICATED = "adjudicated"


class JudgeKind(StrEnum):
    """What stands behind a judge's verdicts."""

    LLM = "llm"
    LEXICAL = "lexical"
    IMPORTED = "imported"
    SCRIPTED = "scripted"


class Outcome(StrEnum):
    """The recorded outcome of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"


@dataclass(frozen=True)
class Context:
    """One retrieved text and, where known, its id in the document store."""

    text: str
    id: str | None = None


@dataclass(frozen=True)
class Sample:
    """One question with what was retrieved and answered. `contexts` None: none were given; (): retrieved, empty."""

    id: str
    question: str
    answer: str
    contexts: tuple[Context, ...] | None = None
    reference: str | None = None
    system: str | None = None
    group: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    relevant_ids: tuple[str, ...] = ()
    retrieved_ids: tuple[str | None, ...] | None = None
    generator: str | None = None
    failure: str | None = None
    revision: int = 1
    reason: str | None = None

    @property
    def group_key(self) -> str:
        """The unit that belongs together: the group, else the question."""
        return self.group if self.group is not None else self.question

    @property
    def context_texts(self) -> tuple[str, ...] | None:
        """The texts of the contexts in order."""
        return None if self.contexts is None else tuple(context.text for context in self.contexts)

    def fields(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The named content fields, texts in NFC, contexts as texts: what a digest of inputs is made of."""
        contexts = None if self.contexts is None else [nfc(context.text) for context in self.contexts]
        content = {
            "question": nfc(self.question),
            "contexts": contexts,
            "reference": nfc(self.reference),
            "answer": nfc(self.answer),
            "system": nfc(self.system),
        }
        return {name: content[name] for name in names}

    @property
    def digest(self) -> str:
        """Identity of the content: question, contexts (texts), reference, answer, system."""
        return digest(self.fields(("question", "contexts", "reference", "answer", "system")))


@dataclass(frozen=True)
class Label:
    """A human's value for one sample and criterion: one event. `inputs` is the digest of what was looked at."""

    sample: str
    criterion: str
    annotator: str
    value: str | None
    status: str = LabelStatus.LABELLED
    mode: str = Mode.BLIND
    part: str = ""
    note: str = ""
    guideline: str | None = None
    seconds: float | None = None
    evidence: str | None = None
    time: str | None = None
    event_id: str = ""
    assignment: int | None = None
    inputs: str = ""
    seq: int = 0


@dataclass(frozen=True)
class Verdict:
    """A machine's value for one sample and criterion. `value` is None unless `status` is `ok`."""

    sample: str
    criterion: str
    value: str | None
    status: str = VerdictStatus.OK
    reason: str = ""
    score: float | None = None
    error: str | None = None
    repair: tuple[str, ...] = ()
    part: str = ""
    repeat: int = 0
    attempt: int = 0
    judge: str = ""
    run: int | None = None
    inputs: str = ""
    reply: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class Prompt:
    """One version of a judge prompt. The digest over what is sent is its identity; the rest is about it."""

    name: str
    version: int
    criterion: str
    system: str
    user: str
    parent: str | None = None
    note: str = ""
    author: str = ""
    created: str = ""
    examples: tuple[str, ...] = ()
    unfenced: bool = False
    digest: str = ""
    registered_at: str | None = None

    @property
    def label(self) -> str:
        """The name people use, `correct-v2`."""
        return f"{self.name}-v{self.version}"


@dataclass(frozen=True)
class Judge:
    """Prompt version + model + parameters. `host` is the host of the base URL; `time` when it was first stored."""

    kind: str
    name: str
    criterion: str
    prompt: str | None = None
    model: str | None = None
    host: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    time: str | None = None

    @property
    def digest(self) -> str:
        """Identity. Without a prompt the name and the criterion belong to it, for nothing else tells judges apart."""
        identity: dict[str, Any] = {
            "kind": str(self.kind),
            "prompt": self.prompt,
            "model": self.model,
            "host": self.host,
            "params": dict(self.params),
        }
        if self.prompt is None:
            identity |= {"name": self.name, "criterion": self.criterion}
        return digest(identity)


@dataclass(frozen=True)
class Reply:
    """What came back for one request: the raw body and what it cost. `digest` is that of the request."""

    digest: str
    body: str
    usage: Mapping[str, Any] = field(default_factory=dict)
    latency: float | None = None
    tries: int = 1
    model_served: str | None = None
    fingerprint: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class Reveal:
    """Somebody saw a label beside a verdict on a sample, or a list picked by comparing the two."""

    sample: str
    criterion: str
    annotator: str | None
    judge: str | None
    how: str
    time: str | None = None


@dataclass(frozen=True)
class LabelSet:
    """The labels of one criterion with what pairing needs to know about their samples.

    `labels` are the current labels; `samples` the current revision of each labelled sample; `total` all samples of
    the project; `not_applicable` those the criterion is not asked for; `revealed` the time of the first reveal.
    """

    criterion: str
    labels: tuple[Label, ...]
    samples: Mapping[str, Sample]
    inputs: Mapping[str, str]
    total: int
    not_applicable: int
    revealed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class VerdictSet:
    """The current verdicts of one judge on labelled samples.

    `registered_at` is when its prompt was first stored, None for a judge that nothing is fitted in. A judge without a
    known prompt may be another one at every import: `arrived` is when each of its runs was stored, and `tried` the
    labelled samples of each. `examples` are samples its prompt shows; `asked` counts its verdicts on all samples,
    labelled or not, and `answered` those with a value.
    """

    judge: Judge
    verdicts: tuple[Verdict, ...]
    registered_at: str | None = None
    examples: tuple[str, ...] = ()
    arrived: Mapping[int, str] = field(default_factory=dict)
    tried: tuple[frozenset[str], ...] = ()
    asked: int = 0
    answered: int = 0


@dataclass(frozen=True)
class Decision:
    """A recorded outcome of the gate; `record` holds everything needed to compute it again."""

    id: int
    judge: str
    criterion: str
    outcome: str
    record: Mapping[str, Any]
    time: str
