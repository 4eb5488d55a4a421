"""Charts as files that need nothing from the network."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

Chart = alt.HConcatChart | alt.VConcatChart

SHARPNESS = 2.0
"""Pixels of a PNG for each unit of the picture."""


def html(chart: Chart, title: str) -> str:
    """Return *chart* as a page of its own, with all of the code that draws it inside."""
    page = io.StringIO()
    chart.save(page, format="html", inline=True, embed_options={"actions": False})
    return page.getvalue().replace("<head>", f"<head>\n<title>{title}</title>", 1)


def svg(chart: Chart) -> str:
    """Return *chart* as a scalable picture."""
    picture = io.StringIO()
    chart.save(picture, format="svg")
    return picture.getvalue()


def png(chart: Chart) -> bytes:
    """Return *chart* as pixels."""
    picture = io.BytesIO()
    chart.save(picture, format="png", scale_factor=SHARPNESS)
    return picture.getvalue()


def inline(values: Iterable[Mapping[str, Any]]) -> alt.Data:
    """Return *values* as data that lie in the chart itself."""
    return alt.Data(values=list(values))  # type: ignore[no-untyped-call]
