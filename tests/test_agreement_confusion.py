"""The yes/no table: every figure, every undefined case, every flag."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from calibration.agreement import Confusion, Statistic, cohen_kappa
from calibration.errors import CalibrationError, InputError

FIGURES: dict[str, Callable[[Confusion], Statistic]] = {
    "kappa": Confusion.kappa,
    "accuracy": Confusion.accuracy,
    "tpr": Confusion.tpr,
    "tnr": Confusion.tnr,
    "right_when_yes": Confusion.right_when_yes,
    "right_when_no": Confusion.right_when_no,
    "precision": Confusion.precision,
    "f1": Confusion.f1,
    "balanced_accuracy": Confusion.balanced_accuracy,
    "mcc": Confusion.mcc,
    "pabak": Confusion.pabak,
    "ac1": Confusion.ac1,
    "prevalence_index": Confusion.prevalence_index,
    "bias_index": Confusion.bias_index,
    "kappa_max": Confusion.kappa_max,
}
WITHOUT_INTERVAL = {"prevalence_index", "bias_index", "kappa_max"}


class Edge(NamedTuple):
    table: tuple[int, int, int, int]
    value: float | None
    interval: tuple[float, float] | None
    flags: tuple[str, ...] = ()
    undefined: str | None = None


# the draws of 2,0,0,1 end at .98 and those of 0,10,10,0 at -.99: the interval is stretched to its value
EDGES = (
    Edge((45, 0, 0, 5), 1.0, (0.64, 1.00)),
    Edge((30, 0, 0, 10), 1.0, (0.77, 1.00)),
    Edge((50, 0, 0, 0), None, None, undefined="both_constant"),
    Edge((0, 0, 0, 50), None, None, undefined="both_constant"),
    Edge((48, 2, 0, 0), 0.0, (-0.03, 0.73), ("human_constant",)),
    Edge((48, 0, 2, 0), 0.0, (-0.03, 0.73), ("judge_constant",)),
    Edge((34, 0, 6, 0), 0.0, (-0.06, 0.42), ("judge_constant",)),
    Edge((90, 0, 10, 0), 0.0, (-0.03, 0.32), ("judge_constant",)),
    Edge((2, 0, 0, 1), 1.0, (-0.10, 1.00), ("very_few_labels",)),
    Edge((0, 10, 10, 0), -1.0, (-1.00, -0.56), ("labels_may_be_swapped",)),
    Edge((38, 1, 1, 0), -0.026, (-0.05, 0.73), ("low_prevalence",)),
    Edge((90, 5, 4, 1), 0.135, (-0.04, 0.50), ("low_prevalence",)),
    Edge((25, 3, 4, 8), 0.573, (0.25, 0.78)),
    Edge((40, 9, 6, 45), 0.70, (0.53, 0.81)),
    Edge((80, 10, 5, 5), 0.32, (0.08, 0.56)),
    Edge((26, 1, 0, 13), 0.944, (0.71, 0.99)),
    Edge((0, 0, 0, 0), None, None, undefined="no_pairs"),
)


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: ",".join(map(str, edge.table)))
def test_kappa_in_every_edge_case(edge: Edge) -> None:
    kappa = Confusion.from_counts(*edge.table).kappa()
    interval = kappa.interval(draws=400_000)
    assert kappa.value == (None if edge.value is None else pytest.approx(edge.value, abs=0.005))
    assert (kappa.flags, kappa.undefined) == (edge.flags, edge.undefined)
    # two printed digits, half a unit of the last and the Monte Carlo error
    assert (interval and (interval.low, interval.high)) == (edge.interval and pytest.approx(edge.interval, abs=0.007))


def test_two_constant_sides_that_contradict_each_other_have_a_kappa_of_0() -> None:
    # luck = (10*0 + 0*10) / 100 = 0 and they never agree: (0 - 0) / 1
    kappa = Confusion.from_counts(0, 10, 0, 0).kappa()
    assert (kappa.value, kappa.flags) == (0.0, ("human_constant", "judge_constant"))


def test_equal_accuracy_can_hide_unequal_kappa() -> None:
    # 85 of 100 both times; luck .50 and .78 (Feinstein & Cicchetti 1990)
    even, rare = Confusion.from_counts(40, 9, 6, 45), Confusion.from_counts(80, 10, 5, 5)
    assert even.accuracy().value == rare.accuracy().value == 0.85
    assert even.kappa().value == pytest.approx(0.70, abs=0.005)
    assert rare.kappa().value == pytest.approx(0.32, abs=0.005)


def test_figures_of_a_table_by_hand() -> None:
    # a 25, b 3, c 4, d 8: luck = (28*29 + 12*11) / 1600 = .59; kappa = (.825 - .59) / .41
    want = {
        "kappa": (0.825 - 0.59) / 0.41,
        "accuracy": 33 / 40,
        "tpr": 8 / 12,
        "tnr": 25 / 28,
        "right_when_yes": 25 / 29,
        "right_when_no": 8 / 11,
        "precision": 8 / 11,
        "f1": 16 / 23,  # 2*8 / (2*8 + 3 + 4)
        "balanced_accuracy": (8 / 12 + 25 / 28) / 2,
        "mcc": (25 * 8 - 3 * 4) / (28 * 12 * 29 * 11) ** 0.5,
        "pabak": 2 * 33 / 40 - 1,
        "ac1": (0.825 - 2 * 0.2875 * 0.7125) / (1 - 2 * 0.2875 * 0.7125),  # share of no = (12 + 11) / 80 = .2875
        "prevalence_index": (25 - 8) / 40,
        "bias_index": (3 - 4) / 40,
        "kappa_max": ((28 + 11) / 40 - 0.59) / 0.41,  # most agreement = (min(28, 29) + min(12, 11)) / 40
    }
    table = Confusion.from_counts(25, 3, 4, 8)
    assert {name: figure(table).value for name, figure in FIGURES.items()} == pytest.approx(want)


def test_a_table_names_its_sides() -> None:
    table = Confusion.from_counts(25, 3, 4, 8)
    assert (table.a, table.b, table.c, table.d, table.n) == (25, 3, 4, 8, 40)
    assert (table.too_strict, table.too_lenient) == (3, 4)
    assert (table.human_yes, table.human_no, table.judge_yes, table.judge_no) == (28, 12, 29, 11)
    assert (table.questions, table.design_effect) == (40, 1.0)
    assert table.kappa().counts == (25, 3, 4, 8)


@pytest.mark.parametrize("seed", range(5))
def test_figures_equal_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human = rng.random(80) < 0.7
    judge = np.where(rng.random(80) < 0.8, human, rng.random(80) < 0.5)
    table = Confusion.from_values(
        human=np.where(human, "yes", "no").tolist(), judge=np.where(judge, "yes", "no").tolist()
    )
    want = {
        "kappa": cohen_kappa_score(human, judge),
        "accuracy": accuracy_score(human, judge),
        "tpr": recall_score(~human, ~judge),
        "tnr": recall_score(human, judge),
        "right_when_yes": precision_score(human, judge),
        "right_when_no": precision_score(~human, ~judge),
        "f1": f1_score(~human, ~judge),
        "balanced_accuracy": balanced_accuracy_score(human, judge),
        "mcc": matthews_corrcoef(human, judge),
    }
    assert {name: FIGURES[name](table).value for name in want} == pytest.approx(want)


UNDEFINED: tuple[tuple[tuple[int, int, int, int], dict[str, str]], ...] = (
    ((48, 2, 0, 0), {"tpr": "no_human_no", "balanced_accuracy": "no_human_no", "mcc": "human_constant"}),
    ((0, 0, 2, 48), {"tnr": "no_human_yes", "balanced_accuracy": "no_human_yes", "mcc": "human_constant"}),
    ((34, 0, 6, 0), {"right_when_no": "no_judge_no", "precision": "no_judge_no", "mcc": "judge_constant"}),
    ((0, 6, 0, 34), {"right_when_yes": "no_judge_yes", "mcc": "judge_constant"}),
    (
        (40, 0, 0, 0),
        {
            "kappa": "both_constant",
            "kappa_max": "both_constant",
            "mcc": "both_constant",
            "tpr": "no_human_no",
            "balanced_accuracy": "no_human_no",
            "right_when_no": "no_judge_no",
            "precision": "no_judge_no",
            "f1": "no_fails",
        },
    ),
    ((0, 0, 0, 0), dict.fromkeys(FIGURES, "no_pairs")),
    ((1, 1, 1, 1), {}),
)


@pytest.mark.parametrize(("table", "reasons"), UNDEFINED)
def test_a_figure_without_a_denominator_has_a_reason_and_every_other_a_value(
    table: tuple[int, int, int, int], reasons: dict[str, str]
) -> None:
    figures = {name: figure(Confusion.from_counts(*table)) for name, figure in FIGURES.items()}
    assert {name: got.undefined for name, got in figures.items() if got.undefined} == reasons
    for name, got in figures.items():
        assert (got.value is None) == (name in reasons)
        assert (got.interval() is None) == (name in reasons or name in WITHOUT_INTERVAL)
        assert (got.no_interval == "not_computed") == (name in WITHOUT_INTERVAL and name not in reasons)


def test_low_prevalence_starts_below_one_in_ten() -> None:
    # 9 of 100 labels are no, then 10 of 100; the same for yes
    assert "low_prevalence" in Confusion.from_counts(90, 1, 1, 8).flags
    assert "low_prevalence" not in Confusion.from_counts(89, 1, 1, 9).flags
    assert "low_prevalence" in Confusion.from_counts(8, 1, 1, 90).flags


def test_very_few_labels_are_fewer_than_ten() -> None:
    assert "very_few_labels" in Confusion.from_counts(5, 1, 1, 2).flags
    assert "very_few_labels" not in Confusion.from_counts(5, 1, 1, 3).flags


def test_swapped_labels_are_flagged_on_kappa_alone_and_only_when_the_interval_is_below_0() -> None:
    table = Confusion.from_counts(2, 20, 18, 3)
    assert "labels_may_be_swapped" in table.kappa().flags
    assert "labels_may_be_swapped" not in table.accuracy().flags
    assert Confusion.from_counts(10, 6, 6, 3).kappa().flags == ()


class Value(StrEnum):
    YES = "yes"
    NO = "no"


def test_values_may_be_text_or_members_of_an_enum() -> None:
    # yes-yes, yes-no, no-yes, no-no, no-no
    human = [Value.YES, "yes", Value.NO, "no", "no"]
    judge = ["yes", Value.NO, "yes", "no", Value.NO]
    assert Confusion.from_values(human=human, judge=judge) == Confusion.from_counts(1, 1, 1, 2)


def test_cohen_kappa_is_the_kappa_of_the_table() -> None:
    human, judge = ["yes"] * 25 + ["no"] * 15, ["yes"] * 20 + ["no"] * 5 + ["yes"] * 5 + ["no"] * 10
    assert cohen_kappa(human=human, judge=judge) == Confusion.from_counts(20, 5, 5, 10).kappa()
    assert cohen_kappa(human=[], judge=[]).undefined == "no_pairs"


@pytest.mark.parametrize(
    ("human", "judge", "groups", "said"),
    [
        (["yes"], ["yes", "no"], None, "human has 1, judge has 2 values"),
        (["yes", "unsure"], ["yes", "no"], None, r"human\[1\] is 'unsure'"),
        (["yes"], [None], None, r"judge\[0\] is None"),
        (["yes"], [True], None, r"judge\[0\] is True"),
        (["yes"], [["yes"]], None, r"judge\[0\] is \['yes'\]"),
        (["yes", "no"], ["yes", "no"], ["q1"], "groups: 1 values for 2 samples"),
        (["yes"], ["yes"], [["q1"]], "groups: .*unhashable"),
    ],
)
def test_bad_values_are_refused_by_name_and_place(human: Any, judge: Any, groups: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        Confusion.from_values(human=human, judge=judge, groups=groups)
    assert isinstance(caught.value, CalibrationError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("count", [-1, 2.5, "3", None, float("nan")])
def test_bad_counts_are_refused_by_name(count: Any) -> None:
    with pytest.raises(InputError, match=r"c = .*whole number"):
        Confusion.from_counts(1, 2, count, 4)
