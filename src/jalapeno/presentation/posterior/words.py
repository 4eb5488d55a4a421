"""Words and numbers of the posterior as people read them."""

from __future__ import annotations

from collections.abc import Mapping

from jalapeno.analysis.posterior.evidence import Published
from jalapeno.analysis.posterior.options import Try
from jalapeno.analysis.posterior.scores import Interval
from jalapeno.analysis.posterior.unknowns import GQA, MLA, Unknown
from jalapeno.presentation.digits import number
from jalapeno.presentation.names import SHORT
from jalapeno.units import render

NAMES: Mapping[str, str] = {
    MLA: "attention of the MLA models",
    GQA: "attention of gpt-oss-120b",
    "discrepancy.alone": "error of the twin, one request alone",
    "discrepancy.loaded": "error of the twin, under load",
    "regret": "what the vendor left on the table",
}


def name_of(path: str) -> str:
    """What an unknown is called: its path, or words where it is no fact."""
    return NAMES.get(path, path)


def in_unit(value: float, unknown: Unknown) -> str:
    """A value of an unknown; of a choice, its word."""
    if unknown.choices:
        return unknown.choices[int(value)]
    if unknown.unit:
        return render(value, unknown.unit, 3)
    return number(value)


def unit_of(published: Published) -> str:
    """Unit in which a published number is shown."""
    if published.objective == "min_tbt":
        return "ms"
    return "s" if published.is_latency else "token/s/kW"


def shown(published: Published, value: float) -> float:
    """A value of a published number in the unit in which it is shown."""
    return value * 1e3 if published.objective == "min_tbt" else value


def words_for(published: Published) -> str:
    """The objective in short, with the TBT that is kept."""
    if published.limit < float("inf"):
        return f"at {published.limit * 1e3:.2f} ms TBT"
    return SHORT[published.objective]


def layout_of(one: Try) -> str:
    """Layout in the field's short hand."""
    tp, ep, dp = one.layout
    if dp == 1:
        return f"TP{tp}" if ep == 1 else f"TEP{tp}"
    return f"DEP{dp}" if tp == 1 else f"TP{tp}DP{dp}EP{ep}"


def range_of(found: Interval, scale: float = 1.0) -> str:
    """The 90 % interval."""
    return f"{number(found.low * scale)} – {number(found.high * scale)}"


def inner_of(found: Interval, scale: float = 1.0) -> str:
    """The 50 % interval."""
    return f"{number(found.lower * scale)} – {number(found.upper * scale)}"
