"""The tornado: the answer at both ends of each fact's range, widest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from jalapeno.analysis.sensitivity import Swing
from jalapeno.errors import UsageError
from jalapeno.presentation.digits import number
from jalapeno.presentation.frontier import BLACK, GREY
from jalapeno.presentation.pictures import inline
from jalapeno.presentation.sensitivity_tables import Found, end_text, shown_swings
from jalapeno.presentation.tables import MARKS, kind_word

WIDTH, BAR = 560, 26
FILLS: Mapping[str, str] = {"at the low end": "#ffffff", "at the high end": "#9a9a9a"}
"""White and grey tell the ends apart without colour."""

MARGIN = 0.16
"""Of the width, on either side, for the texts of the ends."""


def tornado_chart(found: Found, top: int) -> alt.VConcatChart:
    """A bar a fact.  Raises :class:`UsageError` where no range moves the answer."""
    swings = shown_swings(found.sensitivity.swings, top)
    if not swings:
        raise UsageError(
            f"no fact with a range changes {found.answer.name}: there is nothing to draw"
        )
    base = found.sensitivity.base
    bars = [bar for swing in swings for bar in ends(swing)]
    title = alt.TitleParams(
        f"What {found.answer.name} rests on",
        subtitle=[
            f"{found.run}; by {found.by}: {number(base, 4)} {found.answer.unit}",
            "One fact at a time at the ends of its range, as the catalogue has it. jalapeno.",
            f"{MARKS}.",
        ],
        anchor="start",
        fontSize=16,
        subtitleColor=GREY,
    )
    names = [bar_name(swing) for swing in swings]
    panel = alt.LayerChart(
        layer=_layers(bars, base, names, f"{found.answer.name}, {found.answer.unit}"),
        width=WIDTH,
        height=BAR * len(names),
    )
    chart: alt.VConcatChart = (
        alt.vconcat(panel)
        .properties(title=title)
        .configure_view(stroke=None)
        .configure_axisY(labelLimit=0)
    )
    return chart


def bar_name(swing: Swing) -> str:
    """``engine.imbalance = 1.15 (~ estimated)``, and which end has no answer."""
    ends = {"low": swing.low, "high": swing.high}
    refused = [name for name, end in ends.items() if isinstance(end, str)]
    said = "".join(f", {name} end refused" for name in refused)
    return f"{swing.path} = {swing.fact.text} ({kind_word(swing.fact.kind)}{said})"


def ends(swing: Swing) -> list[dict[str, Any]]:
    """The pieces of one bar: from the answer as it is to the answer at each end that moves it.

    The longer one comes first, so that the shorter is drawn over it where both go one way.
    """
    each = (
        ("at the low end", swing.low, swing.fact.low),
        ("at the high end", swing.high, swing.fact.high),
    )
    pieces = [
        {
            "bar": bar_name(swing),
            "end": name,
            "base": swing.base,
            "answer": answer,
            "text": f"{end_text(end, swing.fact)}: {number(answer, 3)}",
            "side": "left" if answer < swing.base else "right",
        }
        for name, answer, end in each
        if isinstance(answer, float) and answer != swing.base
    ]
    return sorted(pieces, key=lambda piece: -abs(float(str(piece["answer"])) - swing.base))


def _layers(
    bars: list[dict[str, Any]], base: float, names: list[str], title: str
) -> list[alt.Chart]:
    every = [base, *(bar["answer"] for bar in bars)]
    room = MARGIN / (1.0 - 2.0 * MARGIN) * (max(every) - min(every))
    scale = alt.Scale(domain=[min(every) - room, max(every) + room], zero=False, nice=False)
    x = alt.X("answer:Q", title=title, scale=scale)
    y = alt.Y("bar:N", sort=names, title=None, scale=alt.Scale(paddingInner=0.3))
    fill = alt.Color(
        "end:N",
        title="fact",
        scale=alt.Scale(domain=list(FILLS), range=list(FILLS.values())),
        legend=alt.Legend(orient="bottom", symbolStrokeColor=BLACK, symbolStrokeWidth=1.0),
    )
    layers = [
        alt.Chart(inline(bars))
        .mark_bar(stroke=BLACK, strokeWidth=0.8)
        .encode(y=y, x=x, x2="base:Q", color=fill, tooltip=["bar:N", "end:N", "text:N"]),
        alt.Chart(inline([{"answer": base}])).mark_rule(color=BLACK, strokeWidth=1.5).encode(x=x),
    ]
    texts = {side: [bar for bar in bars if bar["side"] == side] for side in ("left", "right")}
    outer = {
        side: alt.Chart(inline([bar for bar in those if outermost(bar, bars)]))
        for side, those in texts.items()
    }
    return [
        *layers,
        outer["left"]
        .mark_text(align="right", dx=-4, fontSize=10, color=BLACK)
        .encode(y=y, x=x, text="text:N"),
        outer["right"]
        .mark_text(align="left", dx=4, fontSize=10, color=BLACK)
        .encode(y=y, x=x, text="text:N"),
    ]


def outermost(bar: Mapping[str, Any], bars: list[dict[str, Any]]) -> bool:
    """Whether no other piece of its fact reaches further to its side: so that no texts collide."""
    rest = [
        other["answer"]
        for other in bars
        if other["bar"] == bar["bar"] and other["side"] == bar["side"] and other is not bar
    ]
    sign = -1.0 if bar["side"] == "left" else 1.0
    return all(sign * bar["answer"] >= sign * answer for answer in rest)
