"""Results -> the plain sentences and the one next step. Pure: the same text on page, command line and in JSON.

Plain words first, numbers second. `people` is who labelled: "you", or "the author" of bundled samples.
"""

from calibration.wording.comparison import comparison_words
from calibration.wording.pages import (
    audit_words,
    board_next,
    exclusions,
    first_labels_words,
    labelled_words,
    reveal_words,
)
from calibration.wording.standing import judge_words
from calibration.wording.words import Words

__all__ = [
    "Words",
    "audit_words",
    "board_next",
    "comparison_words",
    "exclusions",
    "first_labels_words",
    "judge_words",
    "labelled_words",
    "reveal_words",
]
