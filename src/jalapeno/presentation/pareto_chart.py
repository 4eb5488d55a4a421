"""Fronts as a picture: throughput against speed a user, as InferenceX draws it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from jalapeno.analysis.frontier import Frontier
from jalapeno.analysis.objectives import UNITS, Per
from jalapeno.analysis.posterior.bands import Moved
from jalapeno.presentation.frontier import BLACK, GREY, X_TITLE
from jalapeno.presentation.frontier_tables import title, workload
from jalapeno.presentation.pictures import inline
from jalapeno.presentation.posterior.bands import band_rows
from jalapeno.presentation.series import COLOURS, SHAPES

WIDTH, HEIGHT = 560, 400
LABEL = (0.25, 0.035)
"""Room of a label, as shares of the widths of both axes."""
BETWEEN = 24
"""Places between two knots at which the curve is drawn."""
WHITE = "#ffffff"
LINES: tuple[list[float], ...] = ([1, 0], [7, 3], [2, 3], [8, 3, 2, 3])
"""Dashes of systems, in the order in which they come."""
BAND = (
    "Grey band: 90 % of what Jalapeño's published numbers leave open; dashed: its median.",
    "The band is over the plans that were simulated at the catalogue's constants.",
)
"""What a band is, in two lines."""
SOURCES = "Simulated: jalapeno. Workload and curve: as InferenceX by SemiAnalysis."

ENDS = ("low", "high")
"""Of a band."""

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A frontier and what its series is called."""

    name: str
    frontier: Frontier
    moved: Moved | None = None
    """What draws of the posterior make of it, for a band; None: no band."""


def pareto_chart(
    found: Frontier, per: Per, speeds: Sequence[float] = (), moved: Moved | None = None
) -> alt.HConcatChart:
    """All simulated points of *found*, the front's curve, its band, and rules at *speeds*."""
    drawn = [Drawn(f"front of {found.bench.subject.system.name}", found, moved)]
    chart: alt.HConcatChart = (
        alt.hconcat(panel(drawn, per, speeds, size=(WIDTH, HEIGHT), named=True))
        .properties(
            title=heading(
                f"{title(found)}: {UNITS[per]} against speed a user", found, moved is not None
            )
        )
        .configure_view(stroke="#bbbbbb")
        .configure_legend(labelLimit=0)
    )
    return chart


def heading(text: str, found: Frontier, banded: bool = False) -> alt.TitleParams:
    """Title, and below it what was done and who says so."""
    said = f"{workload(found.bench.subject)}; closed loop; mixed tokens are prompt and answer."
    lines = [said, "Filled: on the front. Hollow: simulated, but beaten.", SOURCES]
    if banded:
        lines[2:2] = BAND
    return alt.TitleParams(text, subtitle=lines, anchor="start", fontSize=15, subtitleColor=GREY)


def panel(
    drawn: Sequence[Drawn],
    per: Per,
    speeds: Sequence[float],
    *,
    size: tuple[int, int],
    named: bool = False,
    y_title: str = "",
) -> alt.LayerChart:
    """One panel: curves, points and rules.  *named*: points of the front tell their plan."""
    points, curves = point_rows(drawn, per), curve_rows(drawn, per)
    bands = [row for one in drawn for row in _band_rows(one, per)]
    rates = [row["rate"] for row in points if row["rate"] > 0.0]
    rates += [row[end] for row in bands for end in ("low", "high")]
    x = alt.X(
        "speed:Q",
        title=X_TITLE,
        scale=alt.Scale(domain=[0, 1.12 * max(row["speed"] for row in points)], nice=False),
        axis=alt.Axis(format=",.0f", tickCount=6),
    )
    shown = [speed for speed in speeds if speed <= 1.1 * max(row["speed"] for row in points)]

    def of(field: str) -> alt.Y:
        return alt.Y(
            f"{field}:Q",
            title=y_title or f"mixed throughput, {UNITS[per]}",
            scale=alt.Scale(type="log", domain=[0.7 * min(rates), 1.5 * max(rates)], nice=False),
            axis=alt.Axis(format=",.6~g", tickCount=5),
        )

    y = of("rate")
    layers = [
        *_bands(bands, x, of),
        *_rules(shown, x),
        _lines(curves, drawn, x, y),
        _marks(points, drawn, x, y),
    ]
    if named:
        layers += _names(apart([row for row in points if row["front"]]), x, y)
    return alt.LayerChart(layer=layers, width=size[0], height=size[1])


def point_rows(drawn: Sequence[Drawn], per: Per) -> Rows:
    """A row for every simulated point."""
    rows: Rows = []
    for one in drawn:
        front = {point.option.key for point in one.frontier.front(per)}
        rows += [
            {
                "series": one.name,
                "speed": point.speed,
                "rate": one.frontier.bench.rate(per, point).value,
                "front": point.option.key in front,
                "plan": f"{point.label}, {point.option.concurrency:,}",
            }
            for point in one.frontier.points
        ]
    return rows


def apart(rows: Rows) -> Rows:
    """Those of *rows*, by speed, whose labels do not lie on one another."""
    fastest = max(row["speed"] for row in rows)
    rates = [math.log(row["rate"]) for row in rows]
    height = max(rates) - min(rates) or 1.0
    kept: Rows = []
    for row in sorted(rows, key=lambda one: -one["speed"]):
        near = (
            abs(row["speed"] - other["speed"]) < LABEL[0] * fastest
            and abs(math.log(row["rate"] / other["rate"])) < LABEL[1] * height
            for other in kept
        )
        if not any(near):
            kept.append(row)
    return kept


def curve_rows(drawn: Sequence[Drawn], per: Per) -> Rows:
    """The curve of each front as many short pieces: what ``--at`` reads off."""
    rows: Rows = []
    for one in drawn:
        line = one.frontier.curve(per)
        for left, right in zip(line.xs, line.xs[1:], strict=False):
            steps = [left + (right - left) * step / BETWEEN for step in range(BETWEEN)]
            rows += [{"series": one.name, "speed": x, "rate": line(x)} for x in steps]
        rows.append({"series": one.name, "speed": line.xs[-1], "rate": line.ys[-1]})
    return rows


def _band_rows(one: Drawn, per: Per) -> Rows:
    return [] if one.moved is None else band_rows(one.name, one.moved.band(one.frontier, per))


def _bands(rows: Rows, x: alt.X, y: Callable[[str], alt.Y]) -> list[alt.Chart]:
    """Grey areas with thin edges, below all else; none where there are no *rows*."""
    if not rows:
        return []
    base = alt.Chart(inline(rows)).encode(x=x, detail="series:N")
    edges = [base.mark_line(color=GREY, strokeWidth=0.8).encode(y=y(end)) for end in ENDS]
    middle = base.mark_line(color=GREY, strokeWidth=1.0, strokeDash=[4, 4]).encode(y=y("median"))
    area = base.mark_area(color=GREY, opacity=0.22).encode(y=y("low"), y2="high:Q")
    return [area, *edges, middle]


def _scale(drawn: Sequence[Drawn], looks: Sequence[Any]) -> alt.Scale:
    names = [one.name for one in drawn]
    return alt.Scale(domain=names, range=[looks[place % len(looks)] for place in range(len(names))])


def _legend() -> alt.Legend:
    return alt.Legend(orient="bottom", title=None, symbolSize=110)


def _lines(rows: Rows, drawn: Sequence[Drawn], x: alt.X, y: alt.Y) -> alt.Chart:
    lines: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=1.8)
        .encode(
            x=x,
            y=y,
            order="speed:Q",
            color=alt.Color("series:N", scale=_scale(drawn, COLOURS), legend=_legend()),
            strokeDash=alt.StrokeDash("series:N", scale=_scale(drawn, LINES), legend=_legend()),
        )
    )
    return lines


def _marks(rows: Rows, drawn: Sequence[Drawn], x: alt.X, y: alt.Y) -> alt.Chart:
    colour = alt.Color("series:N", scale=_scale(drawn, COLOURS), legend=_legend())
    fill: dict[str, Any] = {"condition": {"test": "datum.front", **_field(drawn)}, "value": WHITE}
    marks: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_point(strokeWidth=1.3, opacity=1, size=42)
        .encode(
            x=x,
            y=y,
            color=colour,
            fill=alt.FillValue(**fill),
            shape=alt.Shape("series:N", scale=_scale(drawn, SHAPES), legend=_legend()),
            tooltip=[
                alt.Tooltip("series:N", title="series"),
                alt.Tooltip("plan:N", title="plan, in flight"),
                alt.Tooltip("speed:Q", title="token/s/user", format=",.1f"),
                alt.Tooltip("rate:Q", title="throughput", format=",.0f"),
            ],
        )
    )
    return marks


def _field(drawn: Sequence[Drawn]) -> Mapping[str, Any]:
    return {
        "field": "series",
        "type": "nominal",
        "scale": _scale(drawn, COLOURS).to_dict(),
        "legend": None,
    }


def _rules(speeds: Sequence[float], x: alt.X) -> list[alt.Chart]:
    if not speeds:
        return []
    rows = [{"speed": speed, "text": f"{speed:g}"} for speed in speeds]
    base = alt.Chart(inline(rows)).encode(x=x)
    words = base.mark_text(dy=-6, fontSize=9, color=BLACK).encode(y=alt.value(0), text="text:N")
    return [base.mark_rule(strokeDash=[2, 2], color=GREY), words]


def _names(rows: Rows, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Plans beside the points of the front, on a white rim."""
    base = alt.Chart(inline(rows)).encode(x=x, y=y, text="plan:N")
    place: dict[str, Any] = {"align": "left", "dx": 7, "dy": -5, "fontSize": 8}
    return [
        base.mark_text(stroke="white", strokeWidth=3, **place),
        base.mark_text(color=BLACK, **place),
    ]
