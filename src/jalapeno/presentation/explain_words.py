"""An explanation in sentences: what took the time, and what makes the slow ones slow."""

from __future__ import annotations

from jalapeno.analysis.explain import MEDIAN_BAND, Metric, Split, View, apportion
from jalapeno.analysis.explanation import Explanation
from jalapeno.presentation.digits import counted
from jalapeno.presentation.report_tables import label_word
from jalapeno.units import render

TELLING = 0.05
"""Shares of a difference below this are not worth a word in one line."""

SPOKEN = {Metric.TTFT: "TTFT", Metric.TBT: "TBT", Metric.E2E: "E2E"}


def duration(picoseconds: float) -> str:
    """A time as people say it: ``4.2 s``, ``352 ms``; a negative one with its sign."""
    text = render(abs(picoseconds) / 1e12, "s", 3)
    return f"-{text}" if picoseconds < 0 else text


def sentence(found: Explanation) -> str:
    """What people want to know: ``P99 TTFT 4.2 s: 61 % queue, 39 % own prefill``."""
    return f"{headline(found)} {duration(found.value)}: {shares(found.chosen, 'cause')}"


def headline(found: Explanation) -> str:
    """What is explained: ``P99 TTFT``."""
    metric = SPOKEN[found.metric]
    scope = found.scope
    if scope.percentile is not None:
        return f"P{scope.percentile:g} {metric}"
    if scope.band is not None:
        return f"mean {metric} of P{scope.band[0]:g} to P{scope.band[1]:g}"
    if scope.request is not None:
        return f"{metric} of request {scope.request}"
    return f"mean {metric}"


def shares(of: Split, by: View) -> str:
    """Whole percentages that add up to 100, the largest first."""
    percents = apportion(of.view(by))
    order = sorted(percents, key=lambda label: -percents[label])
    said = [f"{percents[label]} % {label_word(label)}" for label in order if percents[label]]
    return ", ".join(said) or "no time at all"


def who(found: Explanation) -> str:
    """Which requests that is said of."""
    many = counted(found.chosen.requests, "request")
    if found.scope.percentile is not None:
        return f"over the {many} around that percentile"
    return f"over {many}"


def contrast(found: Explanation) -> str:
    """What makes these slower than those about the median, largest first."""
    chosen, median = found.chosen, found.median
    more = float(chosen.mean(chosen.total) - median.mean(median.total))
    bands = f"P{MEDIAN_BAND[0]:g} to P{MEDIAN_BAND[1]:g}"
    many = counted(median.requests, "request")
    if more <= 0.0:
        return f"not slower than the {many} of {bands}"
    gaps = differences(found, "cause")
    order = sorted(gaps, key=lambda label: -abs(gaps[label]))
    said = [
        f"{label_word(label)} {signed(gaps[label])}"
        for label in order
        if abs(gaps[label]) >= TELLING * more
    ]
    return f"{duration(more)} slower than the {many} of {bands}: {', '.join(said)}"


def signed(picoseconds: float) -> str:
    """A difference of times with its sign."""
    return duration(picoseconds) if picoseconds < 0 else f"+{duration(picoseconds)}"


def differences(found: Explanation, by: View) -> dict[str, float]:
    """Mean of the chosen requests less the mean about the median, ps, by label."""
    chosen, median = found.chosen, found.median
    other = median.view(by)
    return {
        label: float(chosen.mean(time) - median.mean(other[label]))
        for label, time in chosen.view(by).items()
    }
