"""Published and independently computed values. `LEFT_OUT` is the one list of what is not compared, with the reason."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.agreement import Confusion, McNemar, kappa_variance, labels_for_gate, wilson
from calibration.agreement import formulas as f

GOLDEN = Path(__file__).parent / "golden"
FILES = ("kappa", "proportions_confusion", "comparison", "sample_size")
SCORE_DISTANCE = 0.08  # how far the interval may lie from the score interval at n >= 40

# (kind, answer or * for all, reason)
LEFT_OUT = (
    ("kappa_labels", "*", "three and more values: not part of the yes/no table"),
    ("kappa_kxk", "*", "three and more values: not part of the yes/no table"),
    ("agreement_kxk", "*", "three and more values: not part of the yes/no table"),
    ("multiple_testing", "*", "p-values of a family decide nothing here: the gate pays for many judges by its level"),
    ("kappa_ci", "kappa_ci_lr", "the likelihood-ratio interval is not computed"),
    ("proportion", "clopper_pearson95", "the exact interval is not computed"),
    ("mcnemar", "p_asymptotic", "only exact p and mid-p are computed"),
    ("mcnemar", "p_asymptotic_cc", "only exact p and mid-p are computed"),
)

Case = dict[str, Any]
Answers = dict[str, Any]


def table_figures(given: Case) -> Answers:
    (a, b), (c, d) = given["table"]
    table = Confusion.from_counts(a, b, c, d)
    luck = f.expected_agreement(np.array([a, b, c, d], dtype=float))
    kappa = table.kappa().value
    return {
        "kappa": kappa,
        "kappa_se": None if kappa is None else kappa_variance(a, b, c, d) ** 0.5,
        "po": table.accuracy().value,
        "pe": float(luck),
        "pabak": table.pabak().value,
        "ac1": table.ac1().value,
        "prevalence_index": table.prevalence_index().value,
        "bias_index": table.bias_index().value,
        "kappa_max": table.kappa_max().value,
    }


def kappa_interval(given: Case) -> Answers:
    (a, b), (c, d) = given["table"]
    interval = Confusion.from_counts(a, b, c, d).kappa().interval(given["level"], draws=20_000)
    assert interval is not None
    return {"kappa_ci_score": [interval.low, interval.high]}


def proportion(given: Case) -> Answers:
    interval = wilson(given["successes"], given["n"])
    return {"wilson95": [interval.low, interval.high]}


def detection_figures(table: Confusion) -> Answers:
    return {
        "accuracy": table.accuracy().value,
        "f1": table.f1().value,
        "mcc": table.mcc().value,
        "balanced_accuracy": table.balanced_accuracy().value,
    }


def confusion(given: Case) -> Answers:
    # the source's positive class is what is to be detected: `no`
    return detection_figures(Confusion.from_counts(given["tn"], given["fp"], given["fn"], given["tp"]))


def labels(given: Case) -> Answers:
    human, judge = (["no" if v == 1 else "yes" for v in given[side]] for side in ("y_true", "y_pred"))
    return detection_figures(Confusion.from_values(human=human, judge=judge))


def mcnemar(given: Case) -> Answers:
    test = McNemar(given["b"], given["c"])
    return {"p_exact": test.p_exact, "p_midp": test.p}


def sample_size(given: Case) -> Answers:
    alpha = given["alpha"] / 2 if given["two_sided"] else given["alpha"]
    shares = {"human_no": given["rate1"], "judge_no": given["rate2"]}
    return {
        "n": labels_for_gate(
            kappa=given["kappa1"], threshold=given["kappa0"], alpha=alpha, power=given["power"], **shares
        )
    }


COMPUTED: dict[str, Callable[[Case], Answers]] = {
    "kappa_2x2": table_figures,
    "agreement_2x2": table_figures,
    "kappa_ci": kappa_interval,
    "proportion": proportion,
    "confusion": confusion,
    "labels": labels,
    "mcnemar": mcnemar,
    "sample_size": sample_size,
}
CASES = [case for file in FILES for case in json.loads((GOLDEN / f"{file}.json").read_text("utf-8"))["cases"]]
SKIPPED_KINDS = {kind for kind, answer, _ in LEFT_OUT if answer == "*"}
SKIPPED_ANSWERS = {(kind, answer) for kind, answer, _ in LEFT_OUT}


def test_every_case_is_compared_or_left_out_with_a_reason() -> None:
    assert all(reason for *_, reason in LEFT_OUT)
    assert {case["kind"] for case in CASES} == set(COMPUTED) | SKIPPED_KINDS
    assert not set(COMPUTED) & SKIPPED_KINDS
    for case in CASES:
        if case["kind"] in COMPUTED:
            compared = set(COMPUTED[case["kind"]](case["input"]))
            assert all(key in compared or (case["kind"], key) in SKIPPED_ANSWERS for key in case["expected"])


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] in COMPUTED], ids=lambda case: case["name"])
def test_values_equal_the_published_ones(case: Case) -> None:
    found = COMPUTED[case["kind"]](case["input"])
    for key in found.keys() & case["expected"].keys():
        tolerance = case["tolerance"][key] if isinstance(case["tolerance"], dict) else case["tolerance"]
        if key == "kappa_ci_score":
            tolerance = SCORE_DISTANCE
        want = case["expected"][key]
        assert found[key] == (None if want is None else pytest.approx(want, abs=tolerance)), key
