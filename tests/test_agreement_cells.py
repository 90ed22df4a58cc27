"""Several samples of one question: the design effect by hand, at its edges and on public data."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from calibration.agreement import Confusion, cohen_kappa, wilson
from calibration.agreement import formulas as f

NQ301 = Path(__file__).resolve().parents[1] / "../shared/bench/nq301.jsonl"


def test_one_sample_a_question_is_the_same_as_no_groups() -> None:
    human, judge = ["yes", "no", "no"], ["yes", "no", "yes"]
    assert Confusion.from_values(human=human, judge=judge, groups=["x", "y", "z"]) == Confusion.from_values(
        human=human, judge=judge
    )


def test_design_effect_by_hand_for_accuracy() -> None:
    # accuracy, m = 2, Q = 4: two questions both right, one half right, one both wrong; p = 5/8.
    # influence of a right sample 3/8, of a wrong one -5/8; sums of the questions in eighths: 6, 6, -2, -10, mean 0.
    # between = (36 + 36 + 4 + 100) / 64 = 2.75; within = 5 * 9/64 + 3 * 25/64 = 1.875; d = 4/3 * 2.75 / 1.875 = 1.9556
    # f = (4 * 1.9556 + 10 * 1.3) / 14 = 1.4873
    human = ["yes", "no", "yes", "no", "yes", "no", "yes", "no"]
    judge = ["yes", "no", "yes", "no", "yes", "yes", "no", "yes"]
    table = Confusion.from_values(human=human, judge=judge, groups=[1, 1, 2, 2, 3, 3, 4, 4])
    assert table.questions == 4
    effect = table.design_effect_of(f.observed_agreement)
    assert effect == pytest.approx(1.4873, abs=1e-4)
    # the Wilson interval of accuracy divides by its own f
    assert table.accuracy().interval() == wilson(5 / effect, 8 / effect)


def test_design_effect_without_disagreement_is_a_correlation_of_one_half() -> None:
    # 3 samples a question, all right: 1 + .5 * (3 - 1)
    values = ["yes"] * 12 + ["no"] * 6
    groups = [place // 3 for place in range(18)]
    assert Confusion.from_values(human=values, judge=values, groups=groups).design_effect == 2.0
    both_constant = Confusion.from_values(human=["yes"] * 18, judge=["yes"] * 18, groups=groups)
    assert (both_constant.kappa().value, both_constant.design_effect) == (None, 2.0)


def test_design_effect_of_a_single_question_is_the_prior_alone() -> None:
    # 5 samples of one question: 1 + .3 * (5 - 1); there is no spread between questions to measure
    human, judge = ["yes", "yes", "no", "no", "no"], ["yes", "no", "no", "no", "yes"]
    table = Confusion.from_values(human=human, judge=judge, groups=["q"] * 5)
    assert table.questions == 1
    assert table.design_effect == pytest.approx(2.2)


def test_design_effect_does_not_depend_on_the_order_of_the_samples() -> None:
    human = ["yes", "yes", "no", "yes", "no", "no"]
    judge = ["yes", "no", "no", "yes", "yes", "no"]
    groups = ["p", "p", "q", "q", "r", "r"]
    order = [3, 5, 0, 2, 4, 1]
    shuffled = Confusion.from_values(
        human=[human[i] for i in order], judge=[judge[i] for i in order], groups=[groups[i] for i in order]
    )
    assert shuffled == Confusion.from_values(human=human, judge=judge, groups=groups)


def test_repeated_questions_widen_the_interval() -> None:
    human = ["yes"] * 25 + ["no"] * 15
    judge = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 5 + ["no"] * 10
    alone = cohen_kappa(human=human, judge=judge).interval()
    repeated = cohen_kappa(human=human, judge=judge, groups=[i // 5 for i in range(40)]).interval()
    assert alone is not None
    assert repeated is not None
    assert repeated.low < alone.low < alone.high < repeated.high


NQ301_FIGURES = (
    ("correct-v1@gpt-4", 1.629, 0.7311, (0.677, 0.777)),
    ("correct-v1@text-davinci-003", 1.517, 0.6957, (0.642, 0.742)),
    ("bem", 1.940, 0.6302, (0.566, 0.686)),
)


@pytest.mark.skipif(not NQ301.exists(), reason="the public benchmark data is not here")
@pytest.mark.parametrize(("judge", "effect", "kappa", "interval"), NQ301_FIGURES)
def test_design_effect_on_public_data(judge: str, effect: float, kappa: float, interval: tuple[float, float]) -> None:
    samples = [json.loads(line) for line in NQ301.read_text(encoding="utf-8").splitlines()]
    human, verdicts, questions = zip(*filter(None, (_pair(sample, judge) for sample in samples)), strict=True)
    table = Confusion.from_values(human=human, judge=verdicts, groups=questions)
    found = table.kappa().interval(draws=200_000)
    assert found is not None
    assert table.questions == 239
    assert table.design_effect == pytest.approx(effect, abs=0.001)
    assert table.kappa().value == pytest.approx(kappa, abs=5e-5)
    assert (found.low, found.high) == pytest.approx(interval, abs=0.002)


def _pair(sample: dict[str, Any], judge: str) -> tuple[str, str, str] | None:
    """Majority label, verdict and question; None where people tie or the judge gave no verdict."""
    votes = Counter(label["value"] for label in sample["labels"])
    verdict = next((v["value"] for v in sample["verdicts"] if v["judge"] == judge), None)
    if votes["yes"] == votes["no"] or verdict is None:
        return None
    return ("yes" if votes["yes"] > votes["no"] else "no", verdict, sample["question"])
