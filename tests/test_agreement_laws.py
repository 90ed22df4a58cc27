"""Laws that hold for every table, not for chosen ones only."""

from itertools import chain, repeat

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calibration.agreement import Comparison, Confusion, Interval, Statistic, wilson
from calibration.agreement import formulas as f

counts = st.integers(0, 200)
tables = st.tuples(counts, counts, counts, counts)
levels = st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.995])
eight = st.tuples(*[st.integers(0, 30)] * 8)
samples = st.lists(
    st.tuples(st.sampled_from(["yes", "no"]), st.sampled_from(["yes", "no"]), st.integers(0, 6)), max_size=40
)
Table = tuple[int, int, int, int]


def kappa(table: Table) -> Statistic:
    return Confusion.from_counts(*table).kappa()


def with_interval(statistic: Statistic, level: float = 0.95) -> Interval:
    interval = statistic.interval(level, draws=2000)
    assume(interval is not None)
    assert interval is not None
    return interval


def every_figure(table: Confusion) -> list[Statistic]:
    return [
        table.kappa(),
        table.accuracy(),
        table.tpr(),
        table.tnr(),
        table.right_when_yes(),
        table.right_when_no(),
        table.precision(),
        table.f1(),
        table.balanced_accuracy(),
        table.mcc(),
        table.pabak(),
        table.ac1(),
        table.prevalence_index(),
        table.bias_index(),
        table.kappa_max(),
    ]


@given(tables)
def test_kappa_is_the_same_when_human_and_judge_change_places(table: Table) -> None:
    a, b, c, d = table
    assert kappa((a, c, b, d)).value == kappa(table).value


@given(tables)
def test_kappa_is_the_same_when_yes_and_no_change_names(table: Table) -> None:
    a, b, c, d = table
    assert kappa((d, c, b, a)).value == kappa(table).value


@given(tables)
def test_kappa_is_1_exactly_when_all_agree_and_both_values_occur(table: Table) -> None:
    a, b, c, d = table
    assert (kappa(table).value == 1) == (b == c == 0 and a > 0 and d > 0)


@given(tables)
def test_kappa_is_undefined_exactly_when_both_sides_gave_one_and_the_same_value(table: Table) -> None:
    assert (kappa(table).value is None) == (max(table[0], table[3]) == sum(table))


@given(tables)
def test_kappa_never_exceeds_its_maximum_and_has_the_sign_of_mcc(table: Table) -> None:
    confusion = Confusion.from_counts(*table)
    mcc, value, most = confusion.mcc().value, confusion.kappa().value, confusion.kappa_max().value
    assume(value is not None and most is not None)
    assert value is not None
    assert most is not None
    assert -1 <= value <= most + 1e-12 <= 1 + 1e-12
    assert mcc is None or (mcc > 0) == (value > 0)


@given(tables)
def test_every_figure_has_a_value_or_a_reason_and_an_interval_or_a_reason(table: Table) -> None:
    for figure in every_figure(Confusion.from_counts(*table)):
        found = figure.as_json(draws=50)
        assert (found["value"] is None) == (found["undefined"] is not None)
        assert (found["low"] is None) == (found["high"] is None)
        assert (found["low"] is None) == (found["undefined"] is not None or found["no_interval"] is not None)
        assert not (found["undefined"] and (found["no_interval"] or found["flags"]))


@settings(deadline=None)
@given(tables, levels)
def test_every_interval_holds_its_value_and_stays_within_the_range_of_the_figure(table: Table, level: float) -> None:
    for figure in every_figure(Confusion.from_counts(*table)):
        interval = figure.interval(level, draws=500)
        if interval is not None:
            assert figure.value is not None
            assert -1 <= interval.low <= figure.value <= interval.high <= 1


@settings(deadline=None)
@given(tables)
def test_the_interval_of_kappa_shrinks_when_all_counts_are_doubled(table: Table) -> None:
    once = with_interval(kappa(table))
    a, b, c, d = (2 * count for count in table)
    twice = with_interval(kappa((a, b, c, d)))
    assert twice.high - twice.low < once.high - once.low


@settings(deadline=None)
@given(tables)
def test_a_higher_level_gives_a_wider_interval(table: Table) -> None:
    narrow, wide = with_interval(kappa(table), 0.9), with_interval(kappa(table), 0.99)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(st.integers(1, 500), st.integers(0, 500), levels)
def test_wilson_is_symmetric_and_shrinks_with_n(n: int, k: int, level: float) -> None:
    assume(k <= n)
    one, mirrored, more = wilson(k, n, level), wilson(n - k, n, level), wilson(2 * k, 2 * n, level)
    assert abs(one.low - (1 - mirrored.high)) < 1e-12
    assert one.low <= k / n <= one.high
    assert more.high - more.low < one.high - one.low


@given(samples)
def test_counting_values_equals_counting_by_hand(rows: list[tuple[str, str, int]]) -> None:
    pairs = [(human, judge) for human, judge, _ in rows]
    both = [pairs.count((human, judge)) for human in ("yes", "no") for judge in ("yes", "no")]
    found = Confusion.from_values(
        human=[h for h, _ in pairs], judge=[j for _, j in pairs], groups=[q for *_, q in rows]
    )
    assert list(found.cells.counts) == both
    assert found.questions == len({q for *_, q in rows})


@given(samples)
def test_design_effect_is_at_least_1_and_exactly_1_without_repeated_questions(rows: list[tuple[str, str, int]]) -> None:
    human, judge, groups = [h for h, _, _ in rows], [j for _, j, _ in rows], [q for *_, q in rows]
    together = Confusion.from_values(human=human, judge=judge, groups=groups)
    apart = Confusion.from_values(human=human, judge=judge, groups=list(range(len(rows))))
    for formula in (f.kappa, f.observed_agreement, f.fails_caught, f.right_when_yes):
        assert together.design_effect_of(formula) >= 1
        assert apart.design_effect_of(formula) == 1


@settings(deadline=None)
@given(eight)
def test_a_comparison_is_the_difference_of_its_two_tables(cells: tuple[int, ...]) -> None:
    both = Comparison.from_counts(cells)
    a, b, difference = both.kappa_a().value, both.kappa_b().value, both.kappa_difference().value
    if a is None or b is None:
        assert difference is None
    else:
        assert difference is not None
        assert abs(difference - (a - b)) < 1e-12
    flips = both.mcnemar()
    assert 0 <= flips.p <= flips.p_exact <= 1
    assert both.confusion_a.a + both.confusion_a.d - both.confusion_b.a - both.confusion_b.d == (
        flips.only_a_right - flips.only_b_right
    )


@given(eight)
def test_cells_and_values_give_the_same_comparison(cells: tuple[int, ...]) -> None:
    triples = [(h, a, b) for h in ("yes", "no") for a in ("yes", "no") for b in ("yes", "no")]
    rows = list(chain.from_iterable(repeat(triple, k) for triple, k in zip(triples, cells, strict=True)))
    human, a, b = ([row[side] for row in rows] for side in range(3))
    assert Comparison.from_values(human=human, a=a, b=b) == Comparison.from_counts(cells)
