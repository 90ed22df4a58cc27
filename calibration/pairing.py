"""Labels x verdicts -> pairs and counted exclusions: the only place that decides who is compared with whom."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from calibration.agreement import Confusion
from calibration.errors import InputError
from calibration.records import Judge, Label, LabelSet, Mode, Value, Verdict, VerdictSet, VerdictStatus


class LabelChoice(StrEnum):
    """Which labels speak: those given blind (majority, ties out), or with the ties settled by adjudication."""

    BLIND = "blind"
    ADJUDICATED = "adjudicated"


EXCLUSIONS = (
    "no_label",
    "label_unsure",
    "label_tie",
    "no_verdict",
    "verdict_unsure",
    "verdict_failed",
    "verdict_error",
    "not_applicable",
    "outdated",
)
UNANSWERED = ("verdict_unsure", "verdict_failed", "verdict_error")
"""Reasons that leave a sample out of the answered table and count as wrong in the strict one."""


@dataclass(frozen=True)
class Pair:
    """One label and one verdict on the same sample. `judge` is None when the judge gave no yes or no."""

    sample: str
    human: str
    judge: str | None
    group: str
    fresh: bool
    labels: tuple[Label, ...]
    verdict: Verdict

    @property
    def strict(self) -> str:
        """What counts for the gate: no answer is a wrong one, so that no judge passes by abstaining."""
        return self.judge or (Value.NO if self.human == Value.YES else Value.YES)

    @property
    def agrees(self) -> bool:
        """Whether the judge says what the human says; no answer never does."""
        return self.human == self.judge


@dataclass(frozen=True)
class Pairs:
    """The pairs of one judge and criterion, answered and not, and every other sample counted by reason.

    `len(answered)` plus the sum of `excluded` is the number of the project's samples.
    """

    criterion: str
    judge_record: Judge
    choice: str
    answered: tuple[Pair, ...]
    unanswered: tuple[Pair, ...]
    excluded: Mapping[str, int]
    asked: int = 0
    with_value: int = 0
    tried: tuple[frozenset[str], ...] = ()
    revealed: frozenset[str] = frozenset()

    @property
    def human(self) -> list[str]:
        """Human values of the answered pairs."""
        return [pair.human for pair in self.answered]

    @property
    def judge(self) -> list[str]:
        """The judge's values of the answered pairs."""
        return [str(pair.judge) for pair in self.answered]

    @property
    def groups(self) -> list[str]:
        """The question (or group) of each answered pair."""
        return [pair.group for pair in self.answered]

    @property
    def all(self) -> tuple[Pair, ...]:
        """Every sample with a yes/no label that the judge was asked about."""
        return (*self.answered, *self.unanswered)

    @property
    def fresh(self) -> int:
        """Answered pairs whose label is fresh for this judge."""
        return sum(pair.fresh for pair in self.answered)

    def only_fresh(self) -> Pairs:
        """The same with fresh labels only: what the gate decides on."""
        return replace(
            self,
            answered=tuple(pair for pair in self.answered if pair.fresh),
            unanswered=tuple(pair for pair in self.unanswered if pair.fresh),
        )

    def confusion(self) -> Confusion:
        """The table of answered pairs."""
        return Confusion.from_values(human=self.human, judge=self.judge, groups=self.groups)

    def strict_confusion(self) -> Confusion:
        """The table in which a sample without an answer counts as wrong."""
        pairs = self.all
        return Confusion.from_values(
            human=[pair.human for pair in pairs],
            judge=[pair.strict for pair in pairs],
            groups=[pair.group for pair in pairs],
        )


def pair(labels: LabelSet, verdicts: VerdictSet, *, choice: str = LabelChoice.BLIND) -> Pairs:
    """Pair the labels of a criterion with the verdicts of one judge.

    Several annotators of a sample speak by majority; a tie, and `unsure`, are left out and counted. A label or a
    verdict on an earlier revision of what the criterion reads is `outdated`. A label is fresh if the judge's prompt
    was registered before the first reveal of that sample and criterion and does not show the sample as an example;
    without a known prompt, if the verdict itself was stored before.
    """
    if choice not in list(LabelChoice):
        raise InputError(f"unknown labels {choice!r}; use {' or '.join(LabelChoice)}")
    given: dict[str, list[Label]] = defaultdict(list)
    for label in labels.labels:
        if label.sample in labels.inputs and label.part == "":
            given[label.sample].append(label)
    said = {verdict.sample: verdict for verdict in verdicts.verdicts}
    excluded = Counter(dict.fromkeys(EXCLUSIONS, 0))
    answered: list[Pair] = []
    unanswered: list[Pair] = []
    labelled = 0
    for sample, own in given.items():
        human, reason = reference_value(own, labels.inputs[sample], choice)
        if human is None and reason == "no_label":
            continue
        labelled += 1
        verdict = said.get(sample)
        if human is None or verdict is None or verdict.inputs != labels.inputs[sample]:
            excluded[reason or ("no_verdict" if verdict is None else "outdated")] += 1
            continue
        value, missing = verdict_value(verdict)
        made = Pair(
            sample=sample,
            human=human,
            judge=value,
            group=labels.samples[sample].group_key,
            fresh=_fresh(verdict, labels, verdicts),
            labels=tuple(own),
            verdict=verdict,
        )
        if missing is None:
            answered.append(made)
        else:
            excluded[missing] += 1
            unanswered.append(made)
    excluded["not_applicable"] = labels.not_applicable
    excluded["no_label"] = labels.total - labels.not_applicable - labelled
    return Pairs(
        criterion=labels.criterion,
        judge_record=verdicts.judge,
        choice=str(choice),
        answered=tuple(answered),
        unanswered=tuple(unanswered),
        excluded=dict(excluded),
        asked=verdicts.asked,
        with_value=verdicts.answered,
        tried=verdicts.tried,
        revealed=frozenset(labels.revealed),
    )


def reference_value(labels: Sequence[Label], inputs: str, choice: str) -> tuple[str | None, str | None]:
    """The human value of one sample, or None and why: no_label, outdated, label_unsure, label_tie."""
    blind = [label for label in labels if label.mode == Mode.BLIND]
    settled = [label for label in labels if label.mode == Mode.ADJUDICATED and label.inputs == inputs]
    if not blind:
        return None, "no_label"
    current = [label for label in blind if label.inputs == inputs]
    if not current:
        return None, "outdated"
    votes = Counter(label.value for label in current if label.value != Value.UNSURE)
    if choice == LabelChoice.ADJUDICATED and len(votes) > 1 and settled:
        value = settled[-1].value
        return (None, "label_unsure") if value == Value.UNSURE else (value, None)
    return majority(votes)


def majority(votes: Mapping[str | None, int]) -> tuple[str | None, str | None]:
    """The value most voted for; None with label_unsure without a vote, with label_tie when two share the lead."""
    ranked = sorted(votes.items(), key=lambda vote: -vote[1])
    if not ranked:
        return None, "label_unsure"
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        return None, "label_tie"
    return ranked[0][0], None


def verdict_value(verdict: Verdict) -> tuple[str | None, str | None]:
    """The yes or no of a verdict, or None and why it gave none."""
    if verdict.status == VerdictStatus.ERROR:
        return None, "verdict_error"
    if verdict.status == VerdictStatus.FAILED or verdict.value is None:
        return None, "verdict_failed"
    return (None, "verdict_unsure") if verdict.value == Value.UNSURE else (verdict.value, None)


def _fresh(verdict: Verdict, labels: LabelSet, verdicts: VerdictSet) -> bool:
    if verdict.sample in verdicts.examples:
        return False
    first = labels.revealed.get(verdict.sample)
    known = verdicts.arrived.get(verdict.run or 0, verdicts.registered_at)
    return first is None or known is None or known < first


def people(pairs: Iterable[Pair]) -> list[str]:
    """Who gave the labels of these pairs, in order of their name."""
    return sorted({label.annotator for pair in pairs for label in pair.labels})
