"""The posterior as pictures: marginals, correlations, and intervals of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np

from jalapeno.analysis.posterior.infer import Posterior, Predicted
from jalapeno.analysis.posterior.scores import Interval
from jalapeno.analysis.posterior.shares import rank_correlation
from jalapeno.analysis.posterior.summary import KNOWN, answers, shares
from jalapeno.analysis.posterior.unknowns import Floats, Unknown, place_of, unknowns
from jalapeno.presentation.frontier import BLACK, GREY
from jalapeno.presentation.pictures import inline
from jalapeno.presentation.posterior.words import name_of, words_for

SOURCE = "Evidence: OpenAI, 25 August 2026. Priors: the catalogue's facts. jalapeno posterior."
COLUMNS, PANEL = 5, (150, 80)
BINS = 24
"""Steps of a histogram over the prior's range."""

Rows = list[dict[str, Any]]


def heading(text: str, *lines: str) -> alt.TitleParams:
    """A title, what is shown, and who says so."""
    return alt.TitleParams(
        text, subtitle=[*lines, SOURCE], anchor="start", fontSize=15, subtitleColor=GREY
    )


def marginals_chart(found: Posterior) -> alt.VConcatChart:
    """Each unknown that is a number: prior as a grey area, posterior as a black line."""
    panels = [
        _marginal(unknown, found.prior.values[:, place], found.kept.values[:, place])
        for place, unknown in enumerate(unknowns())
    ]
    rows = [
        alt.hconcat(*panels[start : start + COLUMNS], spacing=18)
        for start in range(0, len(panels), COLUMNS)
    ]
    chart: alt.VConcatChart = (
        alt.vconcat(*rows, spacing=14)
        .properties(
            title=heading(
                "What the published numbers say of each unknown",
                "Grey area: prior. Black line: posterior. Heights are densities.",
            )
        )
        .configure_view(stroke="#bbbbbb")
        .configure_title(fontSize=10)
    )
    return chart


SCALES = {"s": (1e6, "us"), "FLOP/s": (1e-12, "TFLOP/s"), "J/FLOP": (1e12, "pJ/FLOP")}
SCALES |= {"J/B": (1e12, "pJ/B"), "W": (1.0, "W"), "": (1.0, "")}
LONG = 0.01
"""Seconds from which on times are shown in milliseconds."""


def _marginal(unknown: Unknown, before: Floats, after: Floats) -> alt.LayerChart:
    scale, unit = SCALES[unknown.unit]
    if unknown.unit == "s" and before.max() > LONG:
        scale, unit = 1e3, "ms"
    title = name_of(unknown.path) + (f", {unit}" if unit else "")
    if unknown.choices:
        rows = [
            {"x": word, "height": float(np.mean(draws == at)), "what": what}
            for what, draws in (("prior", before), ("posterior", after))
            for at, word in enumerate(unknown.choices)
        ]
        words = alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')", labelFontSize=9)
        axis = alt.X("x:N", title=None, sort=list(unknown.choices), axis=words)
        layers = [
            alt.Chart(inline([row for row in rows if row["what"] == "prior"]))
            .mark_bar(color="#c8c8c8")
            .encode(x=axis, y=_height()),
            alt.Chart(inline([row for row in rows if row["what"] == "posterior"]))
            .mark_tick(color=BLACK, thickness=3, width=18)
            .encode(x=axis, y=_height()),
        ]
    else:
        low, high = (float(np.quantile(np.concatenate([before, after]), q)) for q in (0.005, 0.995))
        edges = np.linspace(low, high, BINS + 1)
        grey, black = (_histogram(draws, edges, scale) for draws in (before, after))
        x = alt.X("x:Q", title=None, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=False))
        layers = [
            alt.Chart(inline(grey))
            .mark_area(color="#c8c8c8", interpolate="step")
            .encode(x=x, y=_height()),
            alt.Chart(inline(black))
            .mark_line(color=BLACK, strokeWidth=1.5, interpolate="step")
            .encode(x=x, y=_height()),
        ]
    return alt.LayerChart(layer=layers, width=PANEL[0], height=PANEL[1], title=title)


def _height() -> alt.Y:
    return alt.Y("height:Q", title=None, axis=None)


def _histogram(draws: Floats, edges: Floats, scale: float) -> Rows:
    counts, _ = np.histogram(draws, edges, density=True)
    middles = 0.5 * (edges[1:] + edges[:-1])
    return [
        {"x": float(x * scale), "height": float(count)}
        for x, count in zip(middles, counts, strict=True)
    ]


def correlations_chart(found: Posterior) -> alt.VConcatChart:
    """Rank correlations of all pairs: area and sign of a mark, and the number of strong ones."""
    names = [name_of(path) for path in KNOWN]
    values = found.kept.values[:, [place_of(path) for path in KNOWN]]
    rows = []
    for i, first in enumerate(names):
        for j in range(i):
            rho = rank_correlation(values[:, i], values[:, j])
            rows.append(
                {
                    "one": first,
                    "other": names[j],
                    "size": abs(rho),
                    "sign": "together" if rho > 0.0 else "against each other",
                    "text": f"{rho:+.2f}" if abs(rho) >= 0.3 else "",
                }
            )
    x = alt.X("other:N", sort=names, title=None, axis=alt.Axis(labelAngle=-60, labelLimit=260))
    y = alt.Y("one:N", sort=names, title=None, axis=alt.Axis(labelLimit=260))
    looks = alt.Scale(domain=["together", "against each other"], range=[BLACK, "#ffffff"])
    marks = (
        alt.Chart(inline(rows))
        .mark_square(stroke=BLACK, strokeWidth=0.6, opacity=1)
        .encode(
            x=x,
            y=y,
            size=alt.Size(
                "size:Q",
                title="rank correlation",
                scale=alt.Scale(domain=[0, 1], range=[0, 320]),
                legend=alt.Legend(values=[0.1, 0.3, 0.6, 1.0]),
            ),
            fill=alt.Fill("sign:N", title="go", scale=looks),
        )
    )
    words = (
        alt.Chart(inline(rows))
        .mark_text(fontSize=8, dy=-11, color=BLACK, stroke="white", strokeWidth=2.5)
        .encode(x=x, y=y, text="text:N")
    )
    over = words.mark_text(fontSize=8, dy=-11, color=BLACK)
    panel = alt.LayerChart(layer=[marks, words, over], width=620, height=560)
    chart: alt.VConcatChart = alt.vconcat(panel).properties(
        title=heading(
            "Unknowns that the evidence cannot tell apart",
            "Rank correlation over the posterior; black goes together, white against each other.",
        )
    )
    return chart


def intervals_chart(found: Posterior) -> alt.VConcatChart:
    """Published numbers: prior and left-out intervals, as ratios to what was published."""
    listed = [*found.predicted, *found.derived]
    names = [_title(one) for one in listed]
    rows = []
    for one, name in zip(listed, names, strict=True):
        for what, each in (("prior", one.prior), ("left out", one.left_out)):
            rows.append(_interval_row(name, what, each, one.number.value))
    x = _axis(
        "predicted over published",
        alt.Scale(type="log", domain=[0.1, 10.0], clamp=True),
        alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10], format="~g"),
    )
    chart: alt.VConcatChart = (
        alt.vconcat(_intervals(rows, names, x, ["prior", "left out"], 1.0))
        .properties(
            title=heading(
                "Each published number, predicted by the prior and by all the others",
                "Thin: 90 %. Thick: 50 %. Mark: median. Rule: what was published. † no evidence.",
                "Prior intervals that go beyond the axis are cut off.",
            )
        )
        .configure_view(stroke="#bbbbbb")
    )
    return chart


def _axis(title: str, scale: alt.Scale, axis: alt.Axis) -> Callable[[str], alt.X]:
    """The same axis for any end of an interval."""
    return lambda end: alt.X(f"{end}:Q", title=title, scale=scale, axis=axis)


def _title(one: Predicted) -> str:
    mark = " †" if one.number.derived else ""
    return f"{one.number.model}, {words_for(one.number)}{mark}"


def _interval_row(name: str, what: str, each: Interval, over: float) -> dict[str, Any]:
    ends = {"low": each.low, "lower": each.lower, "median": each.median}
    ends |= {"upper": each.upper, "high": each.high}
    return {"name": name, "what": what} | {key: end / over for key, end in ends.items()}


def _intervals(
    rows: Rows,
    names: Sequence[str],
    x: Callable[[str], alt.X],
    series: Sequence[str],
    rule: float | None,
) -> alt.LayerChart:
    y = alt.Y("name:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=420))
    offset = alt.YOffset("what:N", sort=list(series), scale=alt.Scale(paddingOuter=0.3))
    looks = alt.Scale(domain=list(series), range=["#9a9a9a", BLACK][-len(series) :])
    colour = alt.Color("what:N", title=None, scale=looks, legend=alt.Legend(orient="bottom"))
    if len(series) == 1:
        colour = alt.Color("what:N", scale=looks, legend=None)
    shape = alt.Shape(
        "what:N", title=None, scale=alt.Scale(domain=list(series), range=["square", "circle"])
    )
    base = alt.Chart(inline(rows)).encode(y=y, yOffset=offset, color=colour)
    layers: list[alt.Chart] = [
        base.mark_rule(strokeWidth=1.2).encode(x=x("low"), x2="high:Q"),
        base.mark_rule(strokeWidth=4.5).encode(x=x("lower"), x2="upper:Q"),
        base.mark_point(size=55, filled=True, stroke="white", strokeWidth=1, opacity=1).encode(
            x=x("median"), shape=shape
        ),
    ]
    if rule is not None:
        layers.append(
            alt.Chart(inline([{"at": rule}]))
            .mark_rule(color=BLACK, strokeDash=[5, 3])
            .encode(x="at:Q")
        )
    return alt.LayerChart(layer=layers, width=560, height=22 * len(series) * len(names))


def unpublished_chart(found: Posterior) -> alt.VConcatChart:
    """What was never published: intervals, a panel a number."""
    told = answers(found)
    panels = []
    for metric in dict.fromkeys(one.metric.name for one in told):
        those = [one for one in told if one.metric.name == metric]
        names = [one.name.rpartition(": ")[0] for one in those]
        rows = [
            _interval_row(name, "posterior", one.value, 1.0)
            for name, one in zip(names, those, strict=True)
        ]
        x = _axis(
            f"{metric}, {those[0].metric.unit}",
            alt.Scale(
                type="log",
                domain=[
                    0.95 * min(one.value.low for one in those),
                    1.05 * max(one.value.high for one in those),
                ],
                nice=False,
            ),
            alt.Axis(format="~s", tickCount=6),
        )
        panels.append(_intervals(rows, names, x, ["posterior"], None))
    chart: alt.VConcatChart = (
        alt.vconcat(*panels, spacing=16)
        .resolve_scale(x="independent")
        .properties(
            title=heading(
                "What was never published",
                "Thin: 90 %. Thick: 50 %. Mark: median. Eight chips on A0 silicon.",
            )
        )
        .configure_view(stroke="#bbbbbb")
    )
    return chart


def shares_chart(found: Posterior) -> alt.VConcatChart:
    """Which unknown matters for which answer: a mark whose area is its share of the variance."""
    each = shares(found)
    telling = [path for path in KNOWN if max(row[path] for row in each.values()) >= 0.1]
    rows = [
        {
            "answer": name,
            "unknown": name_of(path),
            "share": 100.0 * row[path],
            "text": f"{100.0 * row[path]:.0f}" if row[path] >= 0.1 else "",
        }
        for name, row in each.items()
        for path in telling
    ]
    x = alt.X(
        "unknown:N",
        sort=[name_of(path) for path in telling],
        title=None,
        axis=alt.Axis(labelAngle=-60, labelLimit=260),
    )
    y = alt.Y("answer:N", sort=list(each), title=None, axis=alt.Axis(labelLimit=420))
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    cells = base.mark_rect(stroke="#dddddd").encode(
        color=alt.Color(
            "share:Q",
            title="share of variance, %",
            scale=alt.Scale(domain=[0, 100], range=["#ffffff", "#303030"]),
        )
    )
    words = base.mark_text(fontSize=9).encode(
        text="text:N",
        color=alt.condition("datum.share > 50", alt.value("white"), alt.value(BLACK)),
    )
    panel = alt.LayerChart(layer=[cells, words], width=30 * len(telling), height=17 * len(each))
    chart: alt.VConcatChart = alt.vconcat(panel).properties(
        title=heading(
            "Which unknown matters most for which answer",
            "Share of the answer's variance that knowing the unknown takes away.",
        )
    )
    return chart
