"""The audit as a picture: ratios at each one's peak, by denominator, a panel a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from jalapeno.analysis.claims import Audit, Finding, Metric
from jalapeno.analysis.claims.denominators import Denominator
from jalapeno.presentation.audit.tables import baseline_text
from jalapeno.presentation.frontier import BLACK, GREY
from jalapeno.presentation.names import model_title, system_title
from jalapeno.presentation.pictures import inline
from jalapeno.presentation.series import COLOURS, SHAPES

TITLE = "Jalapeño over measured systems, each at its peak, by denominator"
SUBTITLE = (
    "InferenceX 8k/1k, 4-bit weights. Right of the line Jalapeño serves more; a bar is all that "
    "the sources allow.",
    "Hollow: with MTP, which Jalapeño's numbers are without. Sources: OpenAI, 25 August 2026; "
    "InferenceX by SemiAnalysis; SemiAnalysis, August 2026.",
)
WIDTH, STEP = 300, 13
DRAWN = ("gb300-nvl72", "gb200-nvl72", "b200-hgx")
"""Systems of the picture: of the generation that Jalapeño is compared with."""
TICKS = (0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24)


def audit_chart(found: Audit) -> alt.HConcatChart:
    """Ratios of peak throughput with their ranges."""
    listed = [f for f in found.findings if _is_drawn(f)]
    models = list(dict.fromkeys(f.model for f in listed))
    ends = (0.95 * min(f.ratio.low for f in listed), 1.05 * max(f.ratio.high for f in listed))
    panels = [panel([f for f in listed if f.model == model], ends) for model in models]
    heading = alt.TitleParams(TITLE, subtitle=list(SUBTITLE), anchor="start", subtitleColor=GREY)
    chart: alt.HConcatChart = (
        alt.hconcat(*panels, spacing=20)
        .resolve_scale(shape="shared", color="shared", fill="shared")
        .properties(title=heading)
        .configure_view(stroke="#bbbbbb")
        .configure_legend(labelLimit=0, symbolSize=90, orient="bottom", columns=2)
    )
    return chart


def panel(listed: Sequence[Finding], ends: tuple[float, float]) -> alt.LayerChart:
    """One model: a band a denominator, a mark and a bar a baseline; all panels have one scale."""
    rows = [_row(finding) for finding in listed]
    looks = _looks()
    names: list[str] = looks["shape"].domain
    y = alt.Y(
        "per:N",
        sort=[f"per {per.value}" for per in Denominator],
        title=None,
        axis=alt.Axis(labelLimit=0, grid=True, ticks=False),
        scale=alt.Scale(paddingInner=0.25),
    )
    base = alt.Chart(inline(rows)).encode(
        y=y, yOffset=alt.YOffset("name:N", scale=alt.Scale(domain=names))
    )
    scale = alt.Scale(type="log", domain=list(ends), nice=False)
    axis = alt.Axis(values=[tick for tick in TICKS if ends[0] <= tick <= ends[1]], format="~g")
    x = alt.X("ratio:Q", scale=scale, axis=axis, title="Jalapeño over the other")
    colour = alt.Color("name:N", scale=looks["color"], title=None)
    bars = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q", scale=scale, title="Jalapeño over the other"), x2="high:Q", color=colour
    )
    marks = base.mark_point(size=60, strokeWidth=1.8, opacity=1).encode(
        x=x,
        shape=alt.Shape("name:N", scale=looks["shape"], title=None),
        color=colour,
        fill=alt.Fill("name:N", scale=looks["fill"], title=None),
    )
    one = alt.Chart(inline([{"ratio": 1.0}])).mark_rule(color=BLACK, strokeDash=[4, 3]).encode(x=x)
    chart = alt.layer(bars, marks, one).properties(
        width=WIDTH,
        height=len(Denominator) * STEP * (len(names) + 1.5),
        title=model_title(listed[0].model),
    )
    assert isinstance(chart, alt.LayerChart)
    return chart


def _is_drawn(finding: Finding) -> bool:
    return (
        finding.metric is Metric.PEAK and finding.equal_precision and finding.precision == "fp4"
    ) and finding.system in DRAWN


def _looks() -> dict[str, alt.Scale]:
    """How each baseline is drawn, the same in all panels: shape and fill tell it without colour."""
    names: list[str] = []
    colours: list[str] = []
    shapes: list[str] = []
    fills: list[str] = []
    for place, system in enumerate(DRAWN):
        for mtp in ("", ", MTP"):
            names.append(f"{system_title(system)}, fp4{mtp}")
            colours.append(COLOURS[place])
            shapes.append(SHAPES[place])
            fills.append("#ffffff" if mtp else COLOURS[place])
    return {
        "color": alt.Scale(domain=names, range=colours),
        "shape": alt.Scale(domain=names, range=shapes),
        "fill": alt.Scale(domain=names, range=fills),
    }


def _row(finding: Finding) -> dict[str, Any]:
    assert finding.per is not None
    return {
        "per": f"per {finding.per.value}",
        "name": baseline_text(finding),
        "ratio": finding.ratio.value,
        "low": finding.ratio.low,
        "high": finding.ratio.high,
    }
