"""The frontier: throughput per kilowatt against speed a user, one panel a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from jalapeno.analysis.reproduction import OBJECTIVES, Comparison, Curve, CurvePoint, Reproduction
from jalapeno.presentation.digits import as_published
from jalapeno.presentation.names import model_title
from jalapeno.presentation.pictures import inline
from jalapeno.presentation.series import Series, colour_of, on_front, series_of

SOURCES = "Sources: InferenceX by SemiAnalysis; OpenAI, 25 August 2026. Simulated: jalapeno."
TITLE = "Throughput per kilowatt against speed a user"
SUBTITLE = (
    "8K/1K workload; mixed tokens are prompt and output; speed is 1000 / mean TBT in ms. "
    "Lines join the points that no other of their series beats.",
)
BARS = (
    "Grey bars: 90 % of what Jalapeño's published numbers leave open of its peak, its throughput "
    "at the reference's best TBT and its lowest TBT."
)
X_TITLE = "speed a user, token/s/user"
Y_TITLE = "mixed throughput, token/s/kW of package TDP"
WIDTH, HEIGHT = 400, 380
BLACK, GREY = "#111111", "#666666"
STAR, DOT = 170, 38
"""Areas of marks: what was published, and all else."""

Looks = Mapping[tuple[str, str], Series]
Points = Sequence[Mapping[str, Any]]


def frontier_chart(reproduction: Reproduction) -> alt.HConcatChart:
    """Curves and published numbers of *reproduction*, a panel a model."""
    looks = series_of(reproduction.curves)
    points = [
        _point(curve, point, front, looks)
        for curve in reproduction.curves
        for point, front in zip(curve.points, on_front(curve.points), strict=True)
    ]
    limits = [published_limits(comparison, looks) for comparison in reproduction.comparisons]
    bars = intervals(reproduction)
    rates = [point["rate"] for listed in (points, *limits) for point in listed]
    rates += [bar[end] for bar in bars for end in ("rate", "rate_to")]
    y = alt.Y(
        "rate:Q",
        title=Y_TITLE,
        # one scale for all panels, with room for the labels of what lies at its ends
        scale=alt.Scale(type="log", domain=[0.6 * min(rates), 1.6 * max(rates)], nice=False),
        axis=alt.Axis(format=",.0f", tickCount=5),
    )
    panels = [
        _panel(comparison.claim.model, points, (limit, bars), looks, y)
        for comparison, limit in zip(reproduction.comparisons, limits, strict=True)
    ]
    chart: alt.HConcatChart = (
        alt.hconcat(*panels, spacing=24)
        .resolve_scale(color="shared", fill="shared", shape="shared", strokeDash="shared")
        .properties(title=_title(bool(bars)))
        .configure_view(stroke="#bbbbbb")
        .configure_legend(symbolSize=110, symbolStrokeWidth=2, labelLimit=0, columnPadding=20)
    )
    return chart


def _title(banded: bool) -> alt.TitleParams:
    lines = [*SUBTITLE, BARS, SOURCES] if banded else [*SUBTITLE, SOURCES]
    return alt.TitleParams(TITLE, subtitle=lines, anchor="start", fontSize=16, subtitleColor=GREY)


def _point(curve: Curve, point: CurvePoint, front: bool, looks: Looks) -> dict[str, Any]:
    return {
        "model": curve.model,
        "series": looks[curve.system, curve.source].label,
        "source": curve.source,
        "speed": point.tokens_per_s_per_user,
        "rate": point.tps_per_kw,
        "name": point.label,
        "front": front and curve.source != "published",
        "label": f"{as_published(point.tps_per_kw)} published,\n{point.label}",
    }


def intervals(reproduction: Reproduction) -> list[dict[str, Any]]:
    """Bars of 90 % for three of Jalapeño's numbers of each model: from (speed, rate) to
    (speed_to, rate_to).  Peak and lowest TBT stand where the twin's runs of them are."""
    runs = {
        (comparison.claim.model, number.objective): number.outcome.report
        for comparison in reproduction.comparisons
        for number in comparison.jalapeno
    }
    reference = {
        comparison.claim.model: 1.0 / comparison.claim.reference_min_tbt
        for comparison in reproduction.comparisons
    }
    found = []
    for band in reproduction.bands:
        report = runs[band.model, band.objective]
        rate, speed = (band.low, band.high), 1000.0 / report.latency.tpot_ms.mean
        match band.objective:
            case "peak":
                ends = ((speed, speed), rate)
            case "at_reference_tbt":
                ends = ((reference[band.model],) * 2, rate)
            case "min_tbt":
                kept = report.power.package_tdp.tokens_per_s_per_kw
                ends = ((1000.0 / band.high, 1000.0 / band.low), (kept, kept))
            case _:
                continue
        (x, x_to), (y, y_to) = ends
        bar = {"model": band.model, "speed": x, "speed_to": x_to, "rate": y, "rate_to": y_to}
        found.append(bar)
    return found


def _bars(bars: Points, x: alt.X, y: alt.Y) -> alt.Chart:
    drawn: alt.Chart = (
        alt.Chart(inline(bars))
        .mark_rule(strokeWidth=6, opacity=0.4, color=GREY)
        .encode(x=x, x2="speed_to:Q", y=y, y2="rate_to:Q")
    )
    return drawn


def _panel(
    model: str, points: Points, beside: tuple[Points, Points], looks: Looks, y: alt.Y
) -> alt.LayerChart:
    ours = [point for point in points if point["model"] == model]
    limits, bars = beside[0], [bar for bar in beside[1] if bar["model"] == model]
    speeds = [point["speed"] for point in (*ours, *limits)] + [bar["speed_to"] for bar in bars]
    x = alt.X(
        "speed:Q",
        title=X_TITLE,
        scale=alt.Scale(domain=[0, 1.12 * max(speeds)], nice=False),
        axis=alt.Axis(format=",.0f"),
    )
    rules, names = _limits(limits, x, y)
    layers = [
        *([_bars(bars, x, y)] if bars else []),
        *rules,
        _lines([point for point in ours if point["front"]], looks).encode(x=x, y=y),
        _marks(ours, looks).encode(x=x, y=y),
        *names,
        *_names([point for point in ours if point["source"] == "published"], x, y),
    ]
    return alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT, title=model_title(model))


def _scale(looks: Looks, name: str) -> alt.Scale:
    drawn = list(looks.values())
    return alt.Scale(
        domain=[one.label for one in drawn], range=[getattr(one, name) for one in drawn]
    )


def _legend() -> alt.Legend:
    return alt.Legend(orient="bottom", columns=3, direction="horizontal", title=None)


def _lines(points: Points, looks: Looks) -> alt.Chart:
    lines: alt.Chart = (
        alt.Chart(inline(points))
        .mark_line(strokeWidth=1.8)
        .encode(
            order="speed:Q",
            color=alt.Color("series:N", scale=_scale(looks, "colour"), legend=_legend()),
            strokeDash=alt.StrokeDash("series:N", scale=_scale(looks, "dash"), legend=None),
        )
    )
    return lines


def _marks(points: Points, looks: Looks) -> alt.Chart:
    marks: alt.Chart = (
        alt.Chart(inline(points))
        .mark_point(strokeWidth=1.5, opacity=1)
        .encode(
            size=alt.condition(alt.datum.source == "published", alt.value(STAR), alt.value(DOT)),
            color=alt.Color("series:N", scale=_scale(looks, "colour"), legend=_legend()),
            fill=alt.Fill("series:N", scale=_scale(looks, "fill"), legend=_legend()),
            shape=alt.Shape("series:N", scale=_scale(looks, "shape"), legend=_legend()),
            tooltip=[
                alt.Tooltip("series:N", title="series"),
                alt.Tooltip("name:N", title="run"),
                alt.Tooltip("speed:Q", title="token/s/user", format=",.1f"),
                alt.Tooltip("rate:Q", title="token/s/kW", format=",.0f"),
            ],
        )
    )
    return marks


def _text(points: Points, **place: Any) -> tuple[alt.Chart, alt.Chart]:
    """Text on a white rim that keeps it apart from the curves."""
    chart = alt.Chart(inline(points))
    rim = chart.mark_text(stroke="white", strokeWidth=4, **place)
    return rim, chart.mark_text(**place)


def _names(points: Points, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Labels of the published points."""
    texts = _text(points, align="left", dx=12, lineBreak="\n", fontSize=10)
    return [text.encode(x=x, y=y, text="label:N") for text in texts]


def published_limits(comparison: Comparison, looks: Looks) -> list[dict[str, Any]]:
    """What was published with one coordinate: each system's peak, and its lowest TBT as a speed."""
    claim, found = comparison.claim, []
    sides = ((claim.system, comparison.jalapeno), (claim.reference, comparison.reference))
    for system, numbers in sides:
        by_name = dict(zip(OBJECTIVES, numbers, strict=True))
        peak, fastest = by_name["peak"].published, by_name["min_tbt"].published
        found.append(
            {
                "rate": peak,
                "speed": 1000.0 / fastest,
                "colour": colour_of(looks, system),
                "peak": f"published peak {as_published(peak)}",
                "fastest": f"published TBT {as_published(fastest)} ms",
            }
        )
    return found


def _limits(limits: Points, x: alt.X, y: alt.Y) -> tuple[list[alt.Chart], list[alt.Chart]]:
    """Rules and their names; the reference's upright one goes through its published point."""
    colour = alt.Color("colour:N", scale=None)
    rule = alt.Chart(inline(limits)).mark_rule(strokeWidth=0.9, strokeDash=[2, 2])
    rules = [rule.encode(y=y, color=colour), rule.encode(x=x, color=colour)]
    end, middle = alt.value(0.87 * WIDTH), alt.value(0.62 * HEIGHT)
    across = [
        text.encode(y=y, x=end, text="peak:N", color=colour)
        for text in _text(limits, align="right", dy=-6, fontSize=9)
    ]
    upright = [
        text.encode(x=x, y=middle, text="fastest:N", color=colour)
        for text in _text(limits, angle=270, dy=9, fontSize=9)
    ]
    return rules, [*across, *upright]
