"""What makes the slow ones slow: stacked bars by percentile, in both views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from jalapeno.analysis.explain import Split, View, apportion
from jalapeno.analysis.explanation import BANDS, Explanation
from jalapeno.metrics import CAUSES, PARTS_AND_WAITS
from jalapeno.presentation.digits import counted
from jalapeno.presentation.explain_tables import VIEWS
from jalapeno.presentation.explain_words import SPOKEN, duration
from jalapeno.presentation.frontier import BLACK, GREY
from jalapeno.presentation.pictures import inline
from jalapeno.presentation.report_tables import label_word

WIDTH, BAR, ROOM = 640, 34, 64
"""Of a panel, of a bar, and of the mean between bar and legend, in units of the picture."""

MILLE = 1000

COLOURS = (
    *("#9ecae1", "#fdd0a2", "#c7e9c0", "#f2b6c6", "#fff2a8", "#dfb2e8", "#c0c0c0", "#d9c3a5"),
    *("#8fd3c0", "#efefef", "#c5b8f0", "#ffc4b8", "#cfe8ff", "#e0e39a", "#b8f0dc", "#e8d5c4"),
    *("#f7d7ee", "#d4f2a7", "#b5cde8", "#f0e0b0"),
)
"""All light, so that black words inside can be read."""

NUMBERED = 1.4
"""A share of this many percent has room for its number."""

WIDE_LETTER = 0.95
"""Percent of the bar that a letter of a name takes."""

LABELS: dict[View, tuple[str, ...]] = {"cause": CAUSES, "part": PARTS_AND_WAITS}


def explain_chart(found: Explanation, system: str) -> alt.VConcatChart:
    """A panel a view, a bar a band of percentiles; *system* says what ran."""
    metric = SPOKEN[found.metric]
    title = alt.TitleParams(
        f"Where {metric} goes, by percentile of {metric}",
        subtitle=[system, "Simulated: jalapeno. At the right the mean of the band's requests."],
        anchor="start",
        fontSize=16,
        subtitleColor=GREY,
    )
    chart: alt.VConcatChart = (
        alt.vconcat(*(_panel(found, by) for by in VIEWS), spacing=14)
        .resolve_scale(color="independent")
        .properties(title=title)
        .configure_view(stroke=None)
        .configure_axisY(labelLimit=0)
    )
    return chart


def bar_name(ends: tuple[float, float], of: Split) -> str:
    """``P90 to P99 (27 requests)``."""
    return f"P{ends[0]:g} to P{ends[1]:g} ({counted(of.requests, 'request')})"


def numbered(bands: Sequence[Split], by: View) -> dict[str, str]:
    """Each label that took any time, with its number in the legend: ``2 queue``."""
    shown = [label for label in LABELS[by] if any(of.view(by)[label] for of in bands)]
    return {label: f"{place} {label_word(label)}" for place, label in enumerate(shown, 1)}


def colour_of(label: str) -> str:
    """The colour of *label*, the same in both views."""
    every = list(dict.fromkeys(label for labels in LABELS.values() for label in labels))
    return COLOURS[every.index(label)]


def pieces(bar: str, of: Split, by: View, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The pieces of one bar, in percent of its whole, in the order of the legend's *names*."""
    shares = apportion(of.view(by), MILLE)
    drawn, start = [], 0.0
    for place, (label, name) in enumerate(names.items(), 1):
        share = shares[label] / 10.0
        if share > 0.0:
            word = label_word(label)
            inside = word if share >= WIDE_LETTER * len(word) + 1.0 else f"{place}"
            drawn.append(
                {
                    "bar": bar,
                    "label": name,
                    "start": start,
                    "end": start + share,
                    "middle": start + share / 2.0,
                    "ms": float(of.mean(of.view(by)[label])) / 1e9,
                    "inside": inside if share >= NUMBERED * len(inside) or inside == word else "",
                }
            )
        start += share
    return drawn


def _panel(found: Explanation, by: View) -> alt.LayerChart:
    bars = [(bar_name(ends, of), of) for ends, of in zip(BANDS, found.bands, strict=True)]
    names = numbered(found.bands, by)
    drawn = [piece for name, of in bars for piece in pieces(name, of, by, names)]
    wholes = [{"bar": name, "text": duration(float(of.mean(of.total)))} for name, of in bars]
    y = alt.Y("bar:N", sort=[name for name, _ in bars], title=None)
    title = f"share of the mean {SPOKEN[found.metric]} of the band, %"
    return alt.LayerChart(
        layer=_layers(drawn, wholes, (y, title), names),
        width=WIDTH,
        height=BAR * len(bars),
        title=VIEWS[by],
    )


def _layers(
    drawn: Sequence[dict[str, Any]],
    wholes: Sequence[dict[str, Any]],
    axes: tuple[alt.Y, str],
    names: Mapping[str, str],
) -> list[alt.Chart]:
    y, title = axes
    x = alt.X("start:Q", title=title, scale=alt.Scale(domain=[0, 100]))
    data = inline(drawn)
    colour = alt.Color(
        "label:N",
        title=None,
        scale=alt.Scale(domain=list(names.values()), range=[colour_of(name) for name in names]),
        legend=alt.Legend(orient="right", offset=ROOM, symbolStrokeColor=BLACK),
    )
    return [
        alt.Chart(data)
        .mark_bar(stroke=BLACK, strokeWidth=0.6)
        .encode(
            y=y,
            x=x,
            x2="end:Q",
            color=colour,
            tooltip=["bar:N", "label:N", alt.Tooltip("ms:Q", format=",.3f", title="ms")],
        ),
        alt.Chart(data)
        .mark_text(fontSize=10, color=BLACK)
        .encode(y=y, x=alt.X("middle:Q", title=title), text="inside:N"),
        alt.Chart(inline(wholes))
        .mark_text(align="left", dx=4, fontSize=10, color=BLACK)
        .encode(y=y, x=alt.value(WIDTH), text="text:N"),
    ]
