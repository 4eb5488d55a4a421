"""Where the time goes: a stacked bar a quoted run, Jalapeño beside its reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from jalapeno.analysis.reproduction import Comparison, Number, Reproduction
from jalapeno.metrics import PARTS_AND_WAITS
from jalapeno.presentation.digits import number
from jalapeno.presentation.frontier import BLACK, GREY
from jalapeno.presentation.names import SHORT, model_title, system_title
from jalapeno.presentation.pictures import inline
from jalapeno.presentation.report_tables import label_word

TITLE = "Where the mean end-to-end time goes, by part"
SUBTITLE = "Simulated runs behind every published number; at the right the mean end-to-end latency"
SOURCE = "Workload: InferenceX by SemiAnalysis, 8K/1K. Plans and times: jalapeno."
X_TITLE = "share of the mean end-to-end latency, %"
WIDTH, BAR = 560, 22

COLOURS = (
    *("#9ecae1", "#dadaeb", "#fdd0a2", "#c7e9c0", "#f2b6c6", "#fff2a8", "#dfb2e8"),
    *("#c0c0c0", "#efefef", "#d9c3a5", "#8fd3c0", "#f4a582"),
)
"""Of parts and waits: all light, so that a black name inside can be read."""

NAMED = 7.0
"""A share of this many percent has room for its name."""

WIDE_LETTER = 0.85
"""Percent of the bar that a letter of a name takes."""


def time_bars(reproduction: Reproduction) -> alt.VConcatChart:
    """A panel a model, two bars a published number."""
    panels = [_panel(comparison) for comparison in reproduction.comparisons]
    title = alt.TitleParams(
        TITLE, subtitle=[SUBTITLE, SOURCE], anchor="start", fontSize=16, subtitleColor=GREY
    )
    chart: alt.VConcatChart = (
        alt.vconcat(*panels, spacing=12)
        .resolve_scale(color="shared")
        .properties(title=title)
        .configure_view(stroke=None)
        .configure_axisY(labelLimit=0)
    )
    return chart


def bars(comparison: Comparison) -> list[tuple[str, Number]]:
    """(name of the bar, number) from top to bottom."""
    found = []
    for ours, theirs in zip(comparison.jalapeno, comparison.reference, strict=True):
        for system, one in ((comparison.claim.system, ours), (comparison.claim.reference, theirs)):
            found.append((f"{SHORT[one.objective]} · {system_title(system)}", one))
    return found


def pieces(bar: str, found: Number) -> list[dict[str, Any]]:
    """The pieces of one bar, in percent of its whole."""
    parts = found.outcome.report.attribution.e2e_by_part_ms
    whole, start = sum(parts.values()), 0.0
    drawn = []
    for part in PARTS_AND_WAITS:
        share = 100.0 * parts[part] / whole if whole else 0.0
        if share > 0.0:
            word = label_word(part)
            room = share >= max(NAMED, WIDE_LETTER * len(word) + 1.0)
            drawn.append(
                {
                    "bar": bar,
                    "part": word,
                    "start": start,
                    "end": start + share,
                    "middle": start + share / 2.0,
                    "ms": parts[part],
                    "name": word if room else "",
                }
            )
        start += share
    return drawn


def _panel(comparison: Comparison) -> alt.LayerChart:
    named = bars(comparison)
    order = [name for name, _ in named]
    drawn = [piece for name, found in named for piece in pieces(name, found)]
    wholes = [
        {"bar": name, "text": f"{number(found.outcome.report.latency.e2e_ms.mean, 4)} ms"}
        for name, found in named
    ]
    y = alt.Y("bar:N", sort=order, title=None, scale=alt.Scale(paddingInner=0.18))
    title = model_title(comparison.claim.model)
    layers = _layers(drawn, wholes, y)
    return alt.LayerChart(layer=layers, width=WIDTH, height=BAR * len(order), title=title)


def _layers(
    drawn: Sequence[dict[str, Any]], wholes: Sequence[dict[str, Any]], y: alt.Y
) -> list[alt.Chart]:
    scale = alt.Scale(domain=[label_word(part) for part in PARTS_AND_WAITS], range=list(COLOURS))
    x = alt.X("start:Q", title=X_TITLE, scale=alt.Scale(domain=[0, 100]))
    data = inline(drawn)
    return [
        alt.Chart(data)
        .mark_bar(stroke=BLACK, strokeWidth=0.6)
        .encode(
            y=y,
            x=x,
            x2="end:Q",
            color=alt.Color(
                "part:N",
                title="part",
                scale=scale,
                legend=alt.Legend(orient="right", symbolStrokeColor=BLACK),
            ),
            tooltip=["bar:N", "part:N", alt.Tooltip("ms:Q", format=",.3f", title="ms")],
        ),
        alt.Chart(data)
        .mark_text(fontSize=9, color=BLACK)
        .encode(y=y, x=alt.X("middle:Q", title=X_TITLE), text="name:N"),
        alt.Chart(inline(wholes))
        .mark_text(align="left", dx=4, fontSize=10, color=BLACK)
        .encode(y=y, x=alt.value(WIDTH), text="text:N"),
    ]
