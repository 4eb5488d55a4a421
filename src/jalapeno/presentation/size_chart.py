"""Latency against demand: percentile and median, the limit, the chosen point, and saturation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from jalapeno.analysis.size import Sizing
from jalapeno.analysis.slo import Limit, render_seconds
from jalapeno.presentation.digits import number
from jalapeno.presentation.names import model_title, system_title
from jalapeno.presentation.pictures import inline
from jalapeno.presentation.series import star

WIDTH, HEIGHT = 560, 190
BLUE, RED, GREY = "#0b5fa5", "#c8501e", "#666666"
STAR, DOT = 220, 46
ROOM = 1.6
"""How far above the limit latencies are drawn; what is higher leaves the picture."""

SOURCE = "Simulated: jalapeno. Latencies of a fleet that saturates grow with the run's length."
X_TITLE = "demand on the fleet, requests/s"

Points = Sequence[Mapping[str, Any]]


def size_chart(found: Sizing) -> alt.VConcatChart:
    """A panel a limit, one above the other on the same demand."""
    rates = [found.fleet.scaled(trial) for trial in found.curve if not trial.saturated]
    top = max([*rates, found.demand.rate, found.fleet.breaks_per_s])
    if math.isfinite(found.saturates_per_s):
        top = max(top, found.saturates_per_s)
    x = alt.X(
        "demand:Q",
        title=X_TITLE,
        scale=alt.Scale(domain=[0, 1.06 * top], nice=False),
    )
    panels = [_panel(found, place, limit, x) for place, limit in enumerate(found.slo.limits)]
    chart: alt.VConcatChart = (
        alt.vconcat(*panels, spacing=14)
        .resolve_scale(color="shared", strokeDash="shared", shape="shared")
        .properties(title=_title(found))
        .configure_view(stroke="#bbbbbb")
        .configure_legend(symbolSize=110, symbolStrokeWidth=2, labelLimit=0, columnPadding=20)
    )
    return chart


def _title(found: Sizing) -> alt.TitleParams:
    fleet, subject = found.fleet, found.subject
    simulated = (
        "the whole fleet"
        if fleet.simulated == fleet.replicas
        else f"{fleet.simulated} of {fleet.replicas} replicas at the same rate each"
    )
    return alt.TitleParams(
        f"{model_title(subject.model.name)} on {system_title(subject.system.name)}: "
        f"{fleet.replicas} × {fleet.prospect.plan.label}, {found.bill.chips:,} chips",
        subtitle=[f"{subject.lengths.label}; simulated: {simulated}", SOURCE],
        anchor="start",
        fontSize=16,
        subtitleColor=GREY,
    )


def _panel(found: Sizing, place: int, limit: Limit, x: alt.X) -> alt.LayerChart:
    points = curve_points(found, place, limit)
    allowed = limit.seconds * 1e3
    y = alt.Y(
        "ms:Q",
        title=f"{limit.metric}, ms",
        scale=alt.Scale(domain=[0, ROOM * allowed], nice=False),
    )
    chosen = [
        {
            "demand": found.demand.rate,
            "ms": found.fleet.verified.reached[place] * 1e3,
            "label": f"chosen: {number(found.demand.rate)}/s",
        }
    ]
    layers = [
        *_upright(found, x),
        *_limit(limit, x, y),
        _lines(points, limit).encode(x=x, y=y),
        _dots([one for one in points if one["series"] != MEDIAN]).encode(x=x, y=y),
        alt.Chart(inline(chosen))
        .mark_point(shape=star(5), filled=True, size=STAR, color="black", opacity=1)
        .encode(x=x, y=y, tooltip=["label:N", alt.Tooltip("ms:Q", format=",.2f")]),
        *(
            text.encode(x=x, y=y, text="label:N")
            for text in _text(chosen, align="right", dx=-10, dy=-12, fontSize=11, color="black")
        ),
    ]
    return alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT)


MEDIAN = "median"
KEPT, LOST = "keeps up", "saturated"


def curve_points(found: Sizing, place: int, limit: Limit) -> list[dict[str, Any]]:
    """The points of the limit at *place*: its percentile, and the median."""
    return [
        {
            "demand": found.fleet.scaled(trial),
            "ms": seconds * 1e3,
            "series": series,
            "load": LOST if trial.saturated else KEPT,
        }
        for trial in found.curve
        for series, seconds in (
            (f"P{limit.percentile:g}", trial.reached[place]),
            (MEDIAN, trial.medians[place]),
        )
    ]


def _lines(points: Points, limit: Limit) -> alt.Chart:
    domain = [f"P{limit.percentile:g}", MEDIAN]
    legend = alt.Legend(orient="bottom", direction="horizontal", title=None)
    lines: alt.Chart = (
        alt.Chart(inline(points))
        .mark_line(strokeWidth=1.8, color=BLUE, clip=True)
        .encode(
            order="demand:Q",
            strokeDash=alt.StrokeDash(
                "series:N", scale=alt.Scale(domain=domain, range=[[1, 0], [3, 3]]), legend=legend
            ),
        )
    )
    return lines


def _dots(points: Points) -> alt.Chart:
    legend = alt.Legend(orient="bottom", direction="horizontal", title=None)
    dots: alt.Chart = (
        alt.Chart(inline(points))
        .mark_point(size=DOT, strokeWidth=1.6, color=BLUE, filled=False, opacity=1, clip=True)
        .encode(
            shape=alt.Shape(
                "load:N",
                scale=alt.Scale(domain=[KEPT, LOST], range=["circle", "cross"]),
                legend=legend,
            ),
            tooltip=[
                alt.Tooltip("demand:Q", title="requests/s", format=",.1f"),
                alt.Tooltip("ms:Q", format=",.2f"),
                alt.Tooltip("load:N", title="the fleet"),
            ],
        )
    )
    return dots


def _text(points: Points, **place: Any) -> tuple[alt.Chart, alt.Chart]:
    """Text on a white rim that keeps it apart from the lines."""
    chart = alt.Chart(inline(points))
    rim = chart.mark_text(**{**place, "stroke": "white", "strokeWidth": 4})
    return rim, chart.mark_text(**place)


def _limit(limit: Limit, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The limit as a line across, named at its left end."""
    said = [
        {
            "ms": limit.seconds * 1e3,
            "demand": 0.0,
            "label": f"limit: {limit.label} {render_seconds(limit.seconds)}",
        }
    ]
    rule = alt.Chart(inline(said)).mark_rule(color=RED, strokeWidth=1.6, strokeDash=[8, 3])
    names = _text(said, align="left", dx=6, dy=-8, color=RED, fontSize=11)
    return [rule.encode(y=y), *(name.encode(x=x, y=y, text="label:N") for name in names)]


def _upright(found: Sizing, x: alt.X) -> list[alt.Chart]:
    """Lines where a limit breaks and where the fleet saturates, named at their feet."""
    layers: list[alt.Chart] = []
    for word, rate, side in (  # one to the left of its line and one to the right
        ("a limit breaks", found.fleet.breaks_per_s, -6),
        ("saturates", found.saturates_per_s, 9),
    ):
        if not math.isfinite(rate):
            continue
        mark = [{"demand": rate, "label": f"{word} at {number(rate)}/s"}]
        rule = alt.Chart(inline(mark)).mark_rule(color=GREY, strokeDash=[2, 2], strokeWidth=1.2)
        names = _text(mark, angle=270, align="left", dx=6, dy=side, color=GREY, fontSize=10)
        layers.append(rule.encode(x=x))
        layers += [name.encode(x=x, y=alt.value(HEIGHT), text="label:N") for name in names]
    return layers
