"""The baseline `lexical-v1`: words in common, no model. Standard library only, deterministic, cost 0.

An LLM judge should beat it. Thresholds are fixed round numbers and belong to the judge's params; nothing is fitted.
Texts are compared in NFKC and casefolded, without a short list of English function words; in Chinese, Japanese and
Korean each character is a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from calibration.criteria import Criterion
from calibration.errors import InputError
from calibration.records import Judge, JudgeKind, Sample, Value, Verdict

Finding = tuple[str, float | None, str]  # value, score, reason

NAME = "lexical"
PARAMS: dict[str, dict[str, float]] = {
    "correct": {"version": 1, "f1": 0.5, "recall": 0.8},
    "faithful": {"version": 1, "gram": 3, "share": 0.5},
}
SHOWN = 12
# no yes, no, not or number: they decide an answer
STOP_WORDS = """
a an and are as at be been but by for from had has have he her his i in is it its of on or she so that the their them
then there these they this to was we were which will with would you your
"""
STOP = frozenset(STOP_WORDS.split())
CJK = (
    r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"  # kana, Han, Hangul
    r"\U00020000-\U0003ffff"
)
TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.,]\d+)+|(?:(?![{CJK}])\w)+(?:['’](?:(?![{CJK}])\w)+)*")


def lexical_judge(criterion: Criterion) -> Judge:
    """The baseline for `correct` or `faithful`; InputError for another criterion."""
    return Judge(JudgeKind.LEXICAL, NAME, criterion.name, params=dict(_params(criterion)))


def lexical_verdict(sample: Sample, criterion: Criterion) -> Verdict:
    """The baseline's verdict. `score` is token F1 (`correct`) or the share of word 3-grams found (`faithful`).

    `unsure` for `faithful` when the answer has no words: it claims nothing. An empty answer is not `correct`.
    Raises InputError when the sample lacks a field the criterion needs.
    """
    params = _params(criterion)
    missing = criterion.missing(sample)
    if missing is not None:
        raise InputError(f"sample {sample.id} has no {missing}: {criterion.name} does not apply to it")
    if criterion.name == "correct":
        finding = _correct(tokens(sample.answer), tokens(sample.reference or ""), params)
    else:
        texts = [tokens(text) for text in sample.context_texts or ()]
        finding = _faithful(tokens(sample.answer), texts, params)
    value, score, reason = finding
    return Verdict(
        sample.id, criterion.name, value, reason=reason, score=score, judge=NAME, inputs=criterion.inputs(sample)
    )


def tokens(text: str) -> list[str]:
    """The words of a text in order, function words left out unless there is nothing else."""
    found: list[str] = TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())
    return [token for token in found if token not in STOP] or found


def _params(criterion: Criterion) -> dict[str, float]:
    if criterion.name not in PARAMS:
        raise InputError(f"the lexical baseline judges {' or '.join(PARAMS)}, not {criterion.name!r}")
    return PARAMS[criterion.name]


def _correct(answer: list[str], reference: list[str], params: dict[str, float]) -> Finding:
    """Yes when token F1 or the share of the reference's tokens that the answer holds reaches its threshold."""
    left, right = Counter(answer), Counter(reference)
    common = (left & right).total()
    f1 = 2 * common / (len(answer) + len(reference)) if common else 0.0
    recall = common / len(reference) if common else 0.0
    yes = f1 >= params["f1"] or recall >= params["recall"]
    matched = [token for token in right if token in left]
    reason = f"F1 {f1:.2f}, reference recall {recall:.2f}; {_listed(matched, right - left)}"
    return (Value.YES if yes else Value.NO), round(f1, 4), reason


def _faithful(answer: list[str], contexts: list[list[str]], params: dict[str, float]) -> Finding:
    """Yes when the share of the answer's word 3-grams that stand in a context reaches the threshold."""
    if not answer:
        return Value.UNSURE, None, "the answer has no words to compare"
    size = min(int(params["gram"]), len(answer))
    grams = _grams(answer, size)
    held = {gram for text in contexts for gram in _grams(text, size)}
    found = [gram in held for gram in grams]
    share = sum(found) / len(grams)
    covered = {token for gram, hit in zip(grams, found, strict=True) if hit for token in gram}
    order = dict.fromkeys(answer)
    listed = _listed([t for t in order if t in covered], [t for t in order if t not in covered])
    reason = f"{share:.2f} of the answer's word {size}-grams stand in the contexts; {listed}"
    return (Value.YES if share >= params["share"] else Value.NO), round(share, 4), reason


def _grams(words: list[str], size: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[i:] for i in range(size)), strict=False))


def _listed(matched: Iterable[str], unmatched: Iterable[str]) -> str:
    return f"matched: {_some(list(matched))}; unmatched: {_some(list(unmatched))}"


def _some(words: list[str]) -> str:
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return (", ".join(words[:SHOWN]) or "none") + more
