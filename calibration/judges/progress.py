"""How far a run is, while it runs and at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calibration.records import Judge, Verdict, VerdictStatus


@dataclass(frozen=True)
class Progress:
    """A moment of a run. `failed` and `errors` count by code; `cost` in US dollars, None is unknown."""

    planned: int
    ok: int
    failed: Mapping[str, int]
    errors: Mapping[str, int]
    cache_hits: int
    calls: int
    limited: int
    window: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float
    in_flight: int = 0
    stopping: bool = False

    @property
    def done(self) -> int:
        """Samples with an ok or failed verdict."""
        return self.ok + sum(self.failed.values())

    @property
    def error(self) -> int:
        """Samples whose last call was never answered."""
        return sum(self.errors.values())


@dataclass(frozen=True)
class RunResult:
    """A run at its end. `status` is done, stopped or paused.

    `stop` says what ended it early: `limit`, `interrupted`, `quota`, `wait`, `endpoint` or `alike`; `message` says it
    as a sentence. `left` counts samples without an ok or failed verdict, those in `progress.error` included.
    """

    run: int
    judge: Judge
    status: str
    progress: Progress
    not_applicable: int = 0
    stop: str | None = None
    message: str = ""

    @property
    def left(self) -> int:
        """Samples that a rerun will ask."""
        return self.progress.planned - self.progress.done

    def as_json(self) -> dict[str, Any]:
        """The keys of the `--json` contract."""
        found = self.progress
        return {
            "run": self.run,
            "judge": self.judge.name,
            "planned": found.planned,
            "ok": found.ok,
            "failed": dict(sorted(found.failed.items())),
            "error": found.error,
            "calls": found.calls,
            "cost": found.cost,
        }


@dataclass
class Tally:
    """The counts of a run that is under way. `cost` turns None with the first reply whose price is unknown."""

    planned: int
    standing: dict[str, Verdict] = field(default_factory=dict)
    calls: int = 0
    cache_hits: int = 0
    limited: int = 0
    usage: Counter[str] = field(default_factory=Counter)
    cost: float | None = 0.0

    def __post_init__(self) -> None:
        self.kinds = Counter((str(v.status), v.error or "") for v in self.standing.values())

    def add(self, verdict: Verdict) -> None:
        """A verdict takes the place of the sample's earlier one."""
        held = self.standing.get(verdict.sample)
        if held is not None:
            self.kinds[(str(held.status), held.error or "")] -= 1
        self.standing[verdict.sample] = verdict
        self.kinds[(str(verdict.status), verdict.error or "")] += 1

    def pay(self, usage: Mapping[str, Any], cost: float | None) -> None:
        """A reply that was paid for."""
        self.usage.update({name: count for name, count in usage.items() if isinstance(count, int)})
        self.cost = None if self.cost is None or cost is None else self.cost + cost

    def of(self, status: VerdictStatus) -> dict[str, int]:
        """Samples by code with this status."""
        return {code: n for (kind, code), n in self.kinds.items() if kind == status and n}

    def progress(self, *, window: int, seconds: float) -> Progress:
        """The counts of this moment."""
        return Progress(
            planned=self.planned,
            ok=sum(self.of(VerdictStatus.OK).values()),
            failed=self.of(VerdictStatus.FAILED),
            errors=self.of(VerdictStatus.ERROR),
            cache_hits=self.cache_hits,
            calls=self.calls,
            limited=self.limited,
            window=window,
            input_tokens=self.usage["prompt_tokens"],
            cached_tokens=self.usage["cached_tokens"],
            output_tokens=self.usage["completion_tokens"],
            cost=self.cost,
            seconds=seconds,
        )
