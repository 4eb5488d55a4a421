"""Pictures: predicted against measured, and errors by slice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from jalapeno.analysis.validation.scores import QUANTITIES, errors
from jalapeno.presentation.digits import percent
from jalapeno.presentation.names import system_title
from jalapeno.presentation.pictures import inline

SIDE, BAR_WIDTH, STEP = 280, 430, 15
GREY, BLACK = "#666666", "#111111"
BAND = 0.2
"""The dashed lines lie so far from where predicted equals measured."""

SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down"),
    *("triangle-right", "triangle-left", "stroke"),
)
COLOURS = (
    *("#0b5fa5", "#c8501e", "#1b7f4d", "#7b4fa3", "#111111", "#a8882a"),
    *("#9a1b4a", "#3f8fa0", "#777777"),
)
"""Of systems in the order of their names: shape tells them apart without colour."""

SOURCES = (
    "Measured: InferenceX by SemiAnalysis (Apache-2.0), mostly by way of NVIDIA's AIConfigurator."
)
AXES = {"by band": "in flight"}

DRAWN = ("tpot", "ttft", "throughput")


def predicted_chart(played: pl.DataFrame, title: str) -> alt.HConcatChart:
    """Predicted against measured of one contender, a panel a quantity, both axes logarithmic."""
    names = sorted(played["system"].unique())
    panels = [_panel(played, name, names) for name in DRAWN]
    chart: alt.HConcatChart = (
        alt.hconcat(*panels, spacing=26)
        .resolve_scale(color="shared", shape="shared")
        .properties(title=_title(title, ["Solid: predicted as measured. Dashed: 20 % off."]))
        .configure_view(stroke="#bbbbbb")
        .configure_legend(symbolSize=110, symbolStrokeWidth=1.6, labelLimit=0, columnPadding=18)
    )
    return chart


def _title(text: str, lines: Sequence[str]) -> alt.TitleParams:
    return alt.TitleParams(
        text, subtitle=[*lines, SOURCES], anchor="start", fontSize=15, subtitleColor=GREY
    )


def points(played: pl.DataFrame, name: str) -> list[dict[str, Any]]:
    """A row for every point of which quantity *name* is predicted."""
    found = errors(played, name).filter(pl.col("ape").is_not_null())
    return [
        {
            "measured": row["m"],
            "predicted": row["p"],
            "system": system_title(row["system"]),
            "what": f"{row['curve']}, {row['concurrency']:,} in flight",
            "error": row["ape"],
        }
        for row in found.iter_rows(named=True)
    ]


def _panel(played: pl.DataFrame, name: str, systems: Sequence[str]) -> alt.LayerChart:
    one, rows = QUANTITIES[name], points(played, name)
    values = [row[side] for row in rows for side in ("measured", "predicted")] or [1.0, 10.0]
    domain = [0.8 * min(values), 1.25 * max(values)]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    axis = alt.Axis(format="~s", tickCount=6)
    unit = f"{one.title}, {one.unit}" if one.unit == "ms" else one.title
    x = alt.X("measured:Q", title=f"measured {unit}", scale=scale, axis=axis)
    y = alt.Y("predicted:Q", title=f"predicted {unit}", scale=scale, axis=axis)
    titles = [system_title(system) for system in systems]
    legend = alt.Legend(orient="bottom", direction="horizontal", title=None, columns=6)
    marks = (
        alt.Chart(inline(rows))
        .mark_point(size=24, strokeWidth=0.9, filled=False, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "system:N",
                scale=alt.Scale(domain=titles, range=_looks(COLOURS, titles)),
                legend=legend,
            ),
            shape=alt.Shape(
                "system:N",
                scale=alt.Scale(domain=titles, range=_looks(SHAPES, titles)),
                legend=legend,
            ),
            tooltip=["what:N", alt.Tooltip("error:Q", format=".1%")],
        )
    )
    return alt.LayerChart(layer=[*_lines(domain, x, y), marks], width=SIDE, height=SIDE)


def _looks(looks: Sequence[str], names: Sequence[str]) -> list[str]:
    return [looks[place % len(looks)] for place in range(len(names))]


def _lines(domain: Sequence[float], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Where predicted is as measured, and 20 % to both sides."""
    found = []
    for factor, dash in ((1.0, [1, 0]), (1.0 + BAND, [5, 4]), (1.0 / (1.0 + BAND), [5, 4])):
        ends = [{"measured": end, "predicted": end * factor} for end in domain]
        line = alt.Chart(inline(ends)).mark_line(
            strokeWidth=1.2, strokeDash=dash, color=BLACK, clip=True
        )
        found.append(line.encode(x=x, y=y))
    return found


def slices_chart(tables: dict[str, pl.DataFrame], contenders: Sequence[str]) -> alt.VConcatChart:
    """Errors of TPOT by slice: median APE and, at the end of the line, the 90th percentile."""
    rows = [
        {
            "slice": f"{row['slice']} ({row['points']:,})",
            "contender": row["contender"],
            "median": 100.0 * row["median"],
            "p90": 100.0 * row["p90"],
            "kind": kind,
        }
        for kind, table in tables.items()
        for row in table.iter_rows(named=True)
        if row["quantity"] == "tpot" and row["contender"] in contenders and row["points"]
    ]
    top = max((row["p90"] for row in rows), default=100.0)
    panels = [
        _slice_panel([row for row in rows if row["kind"] == kind], kind, contenders, top)
        for kind in tables
    ]
    chart: alt.VConcatChart = (
        alt.vconcat(*panels, spacing=10)
        .resolve_scale(color="shared", shape="shared")
        .properties(
            title=_title(
                "Errors of TPOT by slice, whole curves held out",
                ["Mark: median APE. End of the line: 90th percentile. In brackets: points."],
            )
        )
        .configure_view(stroke="#bbbbbb")
        .configure_legend(symbolSize=110, symbolStrokeWidth=1.6, labelLimit=0)
    )
    return chart


def _slice_panel(
    rows: Sequence[dict[str, Any]], kind: str, contenders: Sequence[str], top: float
) -> alt.LayerChart:
    x = alt.X(
        "median:Q",
        title="APE of TPOT, %",
        scale=alt.Scale(type="log", domain=[1.0, 10.0 ** math.ceil(math.log10(max(top, 10.0)))]),
        axis=alt.Axis(format="~g", values=[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]),
    )
    order = sorted({row["slice"] for row in rows}, key=_place)
    y = alt.Y("slice:N", title=AXES.get(kind, kind[3:]), sort=order, axis=alt.Axis(labelLimit=0))
    shift = alt.YOffset("contender:N", scale=alt.Scale(domain=list(contenders)))
    legend = alt.Legend(orient="bottom", direction="horizontal", title=None)
    scales = {
        "color": alt.Color(
            "contender:N",
            scale=alt.Scale(domain=list(contenders), range=_looks(COLOURS, contenders)),
            legend=legend,
        ),
        "shape": alt.Shape(
            "contender:N",
            scale=alt.Scale(domain=list(contenders), range=_looks(SHAPES, contenders)),
            legend=legend,
        ),
    }
    base = alt.Chart(inline(rows)).encode(y=y, yOffset=shift)
    lines = base.mark_rule(strokeWidth=1.0).encode(x=x, x2="p90:Q", color=scales["color"])
    marks = base.mark_point(size=40, filled=False, strokeWidth=1.4, opacity=1).encode(
        x=x, tooltip=["slice:N", alt.Tooltip("median:Q", format=".1f")], **scales
    )
    height = STEP * len(contenders) * len(order)
    return alt.LayerChart(layer=[lines, marks], width=BAR_WIDTH, height=max(height, STEP))


def _place(name: str) -> tuple[int, str]:
    """Bands of concurrency in order, everything else by name."""
    begin = name.partition(" ")[0].partition("-")[0].rstrip("+")
    return (int(begin) if begin.isdigit() else 0, name)


def caption(scored: dict[str, float], title: str) -> str:
    """A title that says how good it is."""
    return f"{title}: TPOT MAPE {percent(scored['mape'])} %, median {percent(scored['median'])} %"
