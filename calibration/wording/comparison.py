"""Two judges on the same samples, in words. Pure."""

from __future__ import annotations

from calibration.agreement import Comparison
from calibration.phrases import counted, number, signed
from calibration.wording.words import Words


def comparison_words(comparison: Comparison, a: str, b: str, people: str = "you") -> Words:
    """Which of two judges agrees more with the labels, or that these labels cannot tell."""
    if comparison.n == 0:
        return Words(f"{a} and {b} share no labelled sample that both answered.", "run both on the same samples.")
    difference = comparison.kappa_difference()
    found = difference.interval()
    counts_of = comparison.mcnemar()
    flips = counts_of.only_a_right + counts_of.only_b_right
    if difference.value is None or found is None:
        sentence = f"No kappa for one of {a} and {b} on these {comparison.n} samples, so they cannot be compared by it."
        return Words(sentence, "label bad answers too.")
    first_ahead = found.low > 0
    if not first_ahead and found.high >= 0:
        repaired, broken = counts_of.only_b_right, counts_of.only_a_right
        sentence = (
            f"These {comparison.n} labels cannot tell {a} and {b} apart: {signed(0 - difference.value)} "
            f"({signed(-found.high)} to {signed(-found.low)}). {b} repaired {repaired} and broke {broken}."
        )
        then = f"keep the simpler or cheaper one, or read the {flips} flips." if flips else "keep the cheaper one."
        return Words(sentence, then)
    better, worse = (a, b) if first_ahead else (b, a)
    kappas = (comparison.kappa_a().value, comparison.kappa_b().value)
    high, low = kappas if first_ahead else kappas[::-1]
    ends = (found.low, found.high) if first_ahead else (-found.high, -found.low)
    repaired, broken = counts_of.only_a_right, counts_of.only_b_right
    if not first_ahead:
        repaired, broken = broken, repaired
    sentence = (
        f"{better} agrees with {people} more than {worse}: kappa {number(high)} against {number(low)}, "
        f"{signed(abs(difference.value))} ({number(ends[0])} to {number(ends[1])}) on the same {comparison.n} samples. "
        f"It repaired {counted(repaired, 'verdict')} and broke {broken or 'none'}. Better is not yet good enough: see "
        "the decision."
    )
    return Words(sentence, f"decide on {better} (gate).")
