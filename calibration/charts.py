"""Altair charts as functions of results. Pure: no store, no page. Text stays text, nothing is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from calibration.agreement import Confusion
from calibration.gate import Standing
from calibration.phrases import number

PASSED, FAILED, OPEN = "#2e8b57", "#c0504d", "#7a82c9"
COLORS = {"passed": PASSED, "failed": FAILED, "not_enough_evidence": OPEN}
ROW_HEIGHT = 34
AXIS_HEIGHT = 64  # the picture's height includes the axis and its title
CELL_WORDS = {
    ("yes", "yes"): "let through",
    ("yes", "no"): "too strict",
    ("no", "yes"): "too lenient",
    ("no", "no"): "caught",
}


def interval_rows(standings: Sequence[Standing]) -> list[dict[str, Any]]:
    """One row a judge that has a kappa on fresh labels: its value, both ends and the outcome."""
    rows = []
    for standing in standings:
        found = standing.assessment
        if found.kappa.value is None or found.interval is None or found.evidence.strict.n < 10:
            continue
        rows.append(
            {
                "judge": _label(standing, standings),
                "kappa": found.kappa.value,
                "low": found.interval.low,
                "high": found.interval.high,
                "outcome": found.outcome,
                "said": f"{number(found.kappa.value)} ({number(found.interval.low)} to {number(found.interval.high)})",
                "color": COLORS[found.outcome],
            }
        )
    return rows


def _label(standing: Standing, standings: Sequence[Standing]) -> str:
    """The judge's name, with its digest where another one has the same."""
    judge = standing.summary.judge
    same = sum(other.summary.judge.name == judge.name for other in standings)
    return judge.name if same == 1 else f"{judge.name} {judge.digest[:6]}"


def interval_chart(standings: Sequence[Standing], threshold: float) -> alt.LayerChart | alt.FacetChart:
    """Kappa of every judge with the interval that decides, against the threshold. Shape and color say the outcome."""
    rows = pd.DataFrame(interval_rows(standings), columns=["judge", "kappa", "low", "high", "outcome", "said", "color"])
    order = list(rows["judge"])
    y = alt.Y("judge:N", sort=order, title=None, axis=alt.Axis(labelLimit=220, ticks=False, domain=False))
    scale = alt.Scale(domain=[min(-0.2, float(rows["low"].min()) if len(rows) else 0), 1], nice=False)
    base = alt.Chart(rows)
    tooltip = [alt.Tooltip("said:N", title="kappa"), alt.Tooltip("outcome:N")]
    bar = base.mark_rule(strokeWidth=3).encode(
        y=y,
        x=alt.X("low:Q", scale=scale, title="kappa (agreement beyond luck)"),
        x2="high:Q",
        color=alt.Color("color:N", scale=None),
        tooltip=tooltip,
    )
    shapes = alt.Scale(domain=list(COLORS), range=["circle", "cross", "diamond"])
    point = base.mark_point(filled=True, size=110, opacity=1).encode(
        y=y,
        x=alt.X("kappa:Q", scale=scale),
        color=alt.Color("color:N", scale=None),
        shape=alt.Shape("outcome:N", scale=shapes, legend=None),
        tooltip=tooltip,
    )
    line = alt.Chart(pd.DataFrame({"threshold": [threshold], "said": [f"threshold {number(threshold)}"]}))
    at = alt.X("threshold:Q", scale=scale)
    rule = line.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color="#888888").encode(x=at)
    text = line.mark_text(align="left", dx=5, dy=-6, baseline="top", color="#888888").encode(
        x=at, y=alt.value(0), text="said:N"
    )
    return alt.layer(rule, text, bar, point).properties(height=len(rows) * ROW_HEIGHT + AXIS_HEIGHT)


def confusion_chart(table: Confusion, chosen: tuple[str, str] | None = None) -> alt.LayerChart | alt.FacetChart:
    """The table as a heatmap, human rows and judge columns; a cell can be clicked (selection `cell`)."""
    cells = {("yes", "yes"): table.a, ("yes", "no"): table.b, ("no", "yes"): table.c, ("no", "no"): table.d}
    rows = pd.DataFrame(
        [
            {"human": f"human {h}", "judge": f"judge {j}", "n": n, "said": CELL_WORDS[h, j], "chosen": (h, j) == chosen}
            for (h, j), n in cells.items()
        ]
    )
    pick = alt.selection_point(name="cell", fields=["human", "judge"], empty=False)
    base = alt.Chart(rows).encode(
        x=alt.X("judge:N", sort=["judge yes", "judge no"], title=None, axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("human:N", sort=["human yes", "human no"], title=None),
    )
    highest = max(1, *cells.values())
    heat = base.mark_rect(cornerRadius=4, cursor="pointer").encode(
        color=alt.Color("n:Q", scale=alt.Scale(domain=[0, highest], range=["#eef0fb", "#4353b3"]), legend=None),
        stroke=alt.condition("datum.chosen", alt.value("#1c1e26"), alt.value("#00000000")),
        strokeWidth=alt.value(3),
        tooltip=["human:N", "judge:N", "n:Q", "said:N"],
    )
    dark = f"datum.n > {highest / 2}"
    ink = alt.condition(dark, alt.value("white"), alt.value("#1c1e26"))
    count = base.mark_text(fontSize=22, fontWeight="bold", dy=-6).encode(text="n:Q", color=ink)
    word = base.mark_text(fontSize=12, dy=16).encode(text="said:N", color=ink)
    return alt.layer(heat.add_params(pick), count, word).properties(height=190)


def chosen_cell(selection: Mapping[str, Any]) -> tuple[str, str] | None:
    """The cell a click chose, as (human, judge), from the selection of `confusion_chart`; None when it was cleared."""
    points = selection.get("cell") or []
    if not points:
        return None
    human, judge = str(points[0].get("human", "")), str(points[0].get("judge", ""))
    found = (human.removeprefix("human "), judge.removeprefix("judge "))
    return found if found in CELL_WORDS else None
