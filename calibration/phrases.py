"""Numbers, plurals and tables as sentences say them. Pure."""

from __future__ import annotations

from calibration.agreement import Confusion, Interval, Statistic


def number(value: float | None) -> str:
    """Two decimals with a true minus sign, a dash for none."""
    return "-" if value is None else f"{value + 0.0:.2f}"


def signed(value: float) -> str:
    """Two decimals with its sign."""
    return f"{value + 0.0:+.2f}"


def percent(interval: Interval | None) -> str:
    """An interval of a share, 77-100 %."""
    return "no interval" if interval is None else f"{100 * interval.low:.0f}-{100 * interval.high:.0f} %"


def figure(statistic: Statistic) -> str:
    """A value with its interval, or the reason why there is none."""
    if statistic.value is None:
        return f"undefined ({(statistic.undefined or '').replace('_', ' ')})"
    found = statistic.interval()
    return (
        number(statistic.value)
        if found is None
        else f"{number(statistic.value)} ({number(found.low)} to {number(found.high)})"
    )


def plural(n: int, word: str) -> str:
    """The word as its number wants it."""
    return word if n == 1 else f"{word}s"


def counted(n: int, word: str) -> str:
    """3 labels, 1 label."""
    return f"{n} {plural(n, word)}"


def all_of(n: int) -> str:
    """All 6; the only; none of the."""
    return f"all {n}" if n != 1 else "the only"


def was(n: int) -> str:
    """Was or were."""
    return "was" if n == 1 else "were"


def counts(n: int) -> str:
    """Counts or count."""
    return "counts" if n == 1 else "count"


def usable(strict: Confusion) -> str:
    """What a yes and a no are worth today."""
    parts = []
    for said, right, n, statistic in (
        ("no", strict.d, strict.judge_no, strict.right_when_no()),
        ("yes", strict.a, strict.judge_yes, strict.right_when_yes()),
    ):
        if n:
            parts.append(f'its "{said}" was right {right} of {n} times ({percent(statistic.interval())})')
    return f'Usable today: {", ".join(parts)}; so read every "no" yourself and spot-check the "yes".'


def leaning(strict: Confusion) -> str:
    """Too strict or too lenient, with both counts."""
    if strict.b == strict.c:
        return f"{strict.b} good answers rejected, {strict.c} bad ones let through."
    if strict.b > strict.c:
        good = counted(strict.b, "good answer")
        return f"It is mostly too strict: {good} rejected, {strict.c} bad let through."
    bad = counted(strict.c, "bad answer")
    return f"It is mostly too lenient: {bad} let through, {strict.b} good rejected."


def differences(strict: Confusion) -> str:
    """The 7 disagreements (3 too strict, 4 too lenient)."""
    wrong = strict.b + strict.c
    return f"the {counted(wrong, 'disagreement')} ({strict.b} too strict, {strict.c} too lenient)"
