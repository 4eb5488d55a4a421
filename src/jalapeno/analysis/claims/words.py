"""The sentence that a ratio is about."""

from __future__ import annotations

from jalapeno import catalogue
from jalapeno.analysis.bill import Range
from jalapeno.analysis.claims.denominators import Denominator
from jalapeno.analysis.claims.findings import Metric
from jalapeno.analysis.claims.measured import Baseline


def ratio_text(ratio: Range, *, least: bool = False) -> str:
    """``1.67x (1.65-1.69)``; a bound begins with "at least"."""
    if least:
        return f"at least {_figure(ratio.low)}x"
    value, low, high = (_figure(end) for end in (ratio.value, ratio.low, ratio.high))
    return f"{value}x" if low == value == high else f"{value}x ({low}-{high})"


def sentence_of(
    one: Baseline,
    metric: Metric,
    per: Denominator | None,
    speed: float | None,
    ratio: Range,
    *,
    least: bool,
) -> str:
    """What would be said, with the number that the data give it."""
    told = ratio_text(ratio, least=least)
    rival = f"{catalogue.system(one.system).title} ({one.precision}{', MTP' if one.mtp else ''})"
    match metric:
        case Metric.PEAK:
            return f"At its peak Jalapeño serves more per {per} than {rival} at its own: {told}."
        case Metric.SAME_SPEED:
            return (
                f"At {speed:,.0f} tokens/s a user Jalapeño serves more per {per} than {rival}: "
                f"{told}."
            )
        case Metric.OUTRIGHT:
            return (
                f"At {speed:,.0f} tokens/s a user Jalapeño serves more per {per} than {rival} at "
                f"any speed: {told}."
            )
        case Metric.E2E:
            return f"Jalapeño's lowest end-to-end latency is below that of {rival}: {told}."
        case Metric.TBT:
            return f"Jalapeño's lowest time between tokens is below that of {rival}: {told}."


def _figure(value: float) -> str:
    return f"{value:.2f}" if value < 100.0 else f"{value:,.0f}"
