"""Pairs of one judge -> the figures that a page, a report or the command line shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from calibration.agreement import Cells, Confusion, Statistic
from calibration.agreement.interval import ByWilson
from calibration.agreement.statistic import undefined
from calibration.pairing import Pair, Pairs
from calibration.records import Judge, Prompt

FIGURES: dict[str, Callable[[Confusion], Statistic]] = {
    "kappa": Confusion.kappa,
    "tpr": Confusion.tpr,
    "tnr": Confusion.tnr,
    "right_when_yes": Confusion.right_when_yes,
    "right_when_no": Confusion.right_when_no,
    "precision": Confusion.precision,
    "accuracy": Confusion.accuracy,
    "ac1": Confusion.ac1,
    "pabak": Confusion.pabak,
    "mcc": Confusion.mcc,
    "f1": Confusion.f1,
    "balanced_accuracy": Confusion.balanced_accuracy,
}


@dataclass(frozen=True)
class Summary:
    """One judge against the labels of one criterion. `people` is who labelled, as sentences call them."""

    pairs: Pairs
    prompt: Prompt | None = None
    people: str = "you"

    @property
    def judge(self) -> Judge:
        """The judge."""
        return self.pairs.judge_record

    @property
    def criterion(self) -> str:
        """The criterion."""
        return self.pairs.criterion

    @property
    def short_name(self) -> str:
        """The prompt version where there is one, else the judge's own name."""
        return self.judge.name.rsplit("@", 1)[0] if self.prompt is not None else self.judge.name

    @cached_property
    def confusion(self) -> Confusion:
        """The table of answered pairs."""
        return self.pairs.confusion()

    @cached_property
    def fresh_confusion(self) -> Confusion:
        """The table of answered pairs whose label is fresh: what sentences name as rejected and let through."""
        return self.pairs.only_fresh().confusion()

    @cached_property
    def strict(self) -> Confusion:
        """The table in which no answer counts as wrong."""
        return self.pairs.strict_confusion()

    @property
    def n(self) -> int:
        """Answered pairs."""
        return len(self.pairs.answered)

    @property
    def fresh(self) -> int:
        """Answered pairs whose label is fresh for this judge."""
        return self.pairs.fresh

    @property
    def seen(self) -> int:
        """Answered pairs whose label had been compared with a judge before this prompt was registered."""
        return self.n - self.fresh

    @property
    def coverage(self) -> Statistic:
        """Share of the samples asked that got a yes or a no; None with `no_verdicts`."""
        cells = Cells((self.pairs.with_value, self.pairs.asked - self.pairs.with_value))
        if self.pairs.asked == 0:
            return undefined(cells, "no_verdicts")
        method = ByWilson(self.pairs.with_value, self.pairs.asked)
        return Statistic(cells, self.pairs.with_value / self.pairs.asked, method=method)

    @property
    def disagreements(self) -> list[Pair]:
        """Pairs on which the two differ, the too strict first."""
        return sorted((pair for pair in self.pairs.answered if not pair.agrees), key=lambda pair: pair.human != "yes")

    def statistics(self) -> dict[str, Statistic]:
        """Every figure of the contract by its name, `kappa_strict` beside `kappa`."""
        figures = {name: figure(self.confusion) for name, figure in FIGURES.items()}
        return {"kappa": figures.pop("kappa"), "kappa_strict": self.strict.kappa(), **figures}

    def as_json(self) -> dict[str, Any]:
        """The object of `agreement --json` without its sentences."""
        table = self.confusion
        return {
            "judge": self.judge.name,
            "digest": self.judge.digest,
            "kind": str(self.judge.kind),
            "prompt": None if self.prompt is None else self.prompt.label,
            "model": self.judge.model,
            "criterion": self.criterion,
            "labels": self.pairs.choice,
            "n": self.n,
            "questions": table.questions,
            "design_effect": table.design_effect,
            "fresh": self.fresh,
            "seen": self.seen,
            "excluded": dict(self.pairs.excluded),
            "confusion": {"yes": {"yes": table.a, "no": table.b}, "no": {"yes": table.c, "no": table.d}},
            "too_strict": table.too_strict,
            "too_lenient": table.too_lenient,
            "coverage": self.coverage.as_json(),
            **{name: statistic.as_json() for name, statistic in self.statistics().items()},
        }
