"""A comparison as small multiples: one panel a denominator, one curve a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from jalapeno.analysis.compare import Comparison
from jalapeno.analysis.objectives import UNITS, Per
from jalapeno.analysis.posterior.bands import Moved
from jalapeno.presentation.compare_tables import WORDS, side_title
from jalapeno.presentation.frontier import GREY
from jalapeno.presentation.frontier_tables import workload
from jalapeno.presentation.names import model_title
from jalapeno.presentation.pareto_chart import BAND, SOURCES, Drawn, panel

ROWS = ((Per.CHIP, Per.TDP, Per.PACKAGE), (Per.ALL_IN, Per.FACILITY, Per.DOLLAR))
SIZE = (330, 240)
TITLE = "Throughput against speed a user, by denominator"


def compare_chart(
    found: Comparison,
    speeds: Sequence[float] = (),
    moved: Mapping[str, Moved | None] | None = None,
) -> alt.VConcatChart:
    """Six panels in two rows, with the bands of those sides that are *moved* by draws."""
    own = moved or {}
    drawn = [
        Drawn(side_title(one), one.frontier, own.get(one.name))
        for one in found.sides
        if one.frontier is not None
    ]
    rows = [
        alt.hconcat(
            *(
                panel(
                    drawn, per, speeds, size=SIZE, y_title=UNITS[per].partition(" of ")[0]
                ).properties(title=f"mixed throughput per {WORDS[per]}")
                for per in row
            ),
            spacing=18,
        )
        for row in ROWS
    ]
    first = found.sides[0]
    lines = [
        f"{model_title(first.subject.model.name)}; {workload(first.subject)}; closed loop; mixed "
        "tokens are prompt and answer.",
        "Filled: on the front of its system. Hollow: simulated, but beaten.",
        SOURCES,
    ]
    if any(one.moved is not None for one in drawn):
        lines[2:2] = BAND
    heading = alt.TitleParams(TITLE, subtitle=lines, anchor="start", subtitleColor=GREY)
    chart: alt.VConcatChart = (
        alt.vconcat(*rows, spacing=18)
        .resolve_scale(color="shared", shape="shared", strokeDash="shared")
        .properties(title=heading)
        .configure_view(stroke="#bbbbbb")
        .configure_legend(labelLimit=0, symbolSize=110, columnPadding=20)
    )
    return chart
