"""Two judges on the same samples, in words. Pure."""

from __future__ import annotations

from calibration.agreement import Comparison
from calibration.phrases import counted, number, signed
from calibration.wording.words import Words


def comparison_words(
    comparison: Comparison, a: str, b: str, people: str = "you", strict: Comparison | None = None
) -> Words:
    """Which of two judges agrees more with the labels, or that these labels cannot tell.

    `strict` is the comparison in which no answer counts as wrong; where it names another winner, that is said, so
    that no judge wins by abstaining.
    """
    words = _words(comparison, a, b, people)
    if strict is None or strict.n == comparison.n or ahead(strict) == ahead(comparison):
        return words
    winner = {1: f"{a} is ahead", -1: f"{b} is ahead", 0: "neither is shown to be ahead"}[ahead(strict)]
    missing = strict.n - comparison.n
    sentence = f"{words.sentence} With {counted(missing, 'missing answer')} counted as wrong, {winner}."
    return Words(sentence, "read the replies that were no verdict before choosing.")


def ahead(comparison: Comparison) -> int:
    """1 when the first judge is shown to agree more, -1 when the second is, 0 when neither."""
    found = comparison.kappa_difference().interval()
    if found is None:
        return 0
    return 1 if found.low > 0 else -1 if found.high < 0 else 0


def _words(comparison: Comparison, a: str, b: str, people: str) -> Words:
    if comparison.n == 0:
        return Words(f"{a} and {b} share no labelled sample that both answered.", "run both on the same samples.")
    difference = comparison.kappa_difference()
    found = difference.interval()
    counts_of = comparison.mcnemar()
    flips = counts_of.only_a_right + counts_of.only_b_right
    if difference.value is None or found is None:
        sentence = f"No kappa for one of {a} and {b} on these {comparison.n} samples, so they cannot be compared by it."
        missing = "good" if comparison.confusion_a.human_yes == 0 else "bad"
        return Words(sentence, f"label {missing} answers too.")
    first_ahead = ahead(comparison) == 1
    if ahead(comparison) == 0:
        repaired, broken = counts_of.only_b_right, counts_of.only_a_right
        sentence = (
            f"These {comparison.n} labels cannot tell {a} and {b} apart: {signed(0 - difference.value)} "
            f"({signed(-found.high)} to {signed(-found.low)}). {b} repaired {repaired} and broke {broken}."
        )
        needed = comparison.labels_to_tell_apart().labels
        if needed is not None:
            sentence += f" About {counted(needed, 'more label')} might tell them apart."
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
