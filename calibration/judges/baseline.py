"""The lexical baseline over samples: verdicts without a model, a call or a cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from calibration import __version__
from calibration.criteria import Criterion
from calibration.judges.lexical import lexical_judge, lexical_verdict
from calibration.judges.plan import make_plan
from calibration.judges.progress import RunResult, Tally
from calibration.records import Sample

if TYPE_CHECKING:
    from calibration.store import Store


def run_lexical(samples: Iterable[Sample], criterion: Criterion, store: Store) -> RunResult:
    """A verdict of the baseline on every sample the criterion applies to; those that stand are left as they are."""
    judge = lexical_judge(criterion)
    plan = make_plan(judge, samples, criterion, store)
    tally = Tally(len(plan.samples), dict(plan.standing))
    opened = store.open_run(judge, sample_set=plan.sample_set, planned=len(plan.samples), code_version=__version__)
    with store.run_writer(opened.id) as writer:
        written = []
        for job in plan.jobs:
            for sample in job.samples:
                verdict = lexical_verdict(sample, criterion)
                found = replace(verdict, sample=sample.id, attempt=job.attempt, inputs=criterion.inputs(sample))
                written.append(writer.commit(None, found))
                tally.add(found)
        for future in written:
            future.result()
    store.finish_run(opened.id, "done")
    return RunResult(opened.id, judge, "done", tally.progress(window=0, seconds=0.0), plan.not_applicable)
