"""Ratios with their ranges, and what they support."""

from __future__ import annotations

from enum import StrEnum

from jalapeno.analysis.bill import Range


class Verdict(StrEnum):
    """What a ratio says of "more than a threshold"."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    UNDECIDED = "undecided"


def quotient(one: Range, other: Range) -> Range:
    """The range of a quotient of positive numbers, as if their errors had nothing in common."""
    return Range(
        one.value / other.value,
        one.low / other.high,
        one.high / other.low,
        max(one.kind, other.kind),
    )


def judge(ratio: Range, threshold: float = 1.0, *, least: bool = False) -> Verdict:
    """Supported where all of *ratio* is above *threshold*, not supported where none is.

    *least* says that *ratio* is a lower bound of the true one: then nothing but support follows.
    """
    if ratio.low > threshold:
        return Verdict.SUPPORTED
    if ratio.high < threshold and not least:
        return Verdict.NOT_SUPPORTED
    return Verdict.UNDECIDED
