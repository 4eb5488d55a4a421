"""How good intervals are: weighted quantiles, coverage, and the interval score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jalapeno.analysis.posterior.unknowns import Floats

INNER, OUTER = 0.5, 0.9
"""Shares of the intervals that are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where a number lies: median and central intervals."""

    low: float
    """5 %"""
    lower: float
    """25 %"""
    median: float
    upper: float
    """75 %"""
    high: float
    """95 %"""

    @property
    def ratio(self) -> float:
        """High over low end of the 90 % interval."""
        return self.high / self.low

    def holds(self, value: float) -> bool:
        """Whether the 90 % interval holds *value*."""
        return self.low <= value <= self.high


ENDS = (0.05, 0.25, 0.5, 0.75, 0.95)


def interval(draws: Floats, log_weights: Floats | None = None) -> Interval:
    """The interval of *draws*, each counted with its weight (None: all alike)."""
    low, lower, median, upper, high = weighted_quantiles(draws, ENDS, log_weights)
    return Interval(low=low, lower=lower, median=median, upper=upper, high=high)


def weighted_quantiles(
    draws: Floats, places: Sequence[float], log_weights: Floats | None = None
) -> list[float]:
    """Quantiles of weighted *draws*: the inverse of their distribution function, interpolated
    between the middles of the draws' steps (with equal weights Hazen's definition)."""
    weights = np.ones(len(draws)) if log_weights is None else np.exp(log_weights)
    order = np.argsort(draws, kind="stable")
    steps = weights[order] / weights.sum()
    middles = np.cumsum(steps) - 0.5 * steps
    return [float(found) for found in np.interp(places, middles, draws[order])]


def interval_score(low: float, high: float, value: float, share: float = OUTER) -> float:
    """Interval score of Gneiting and Raftery (JASA 102, 2007): width, and what *value* lies outside
    times ``2 / (1 - share)``.  Less is better."""
    outside = max(low - value, 0.0) + max(value - high, 0.0)
    return high - low + 2.0 / (1.0 - share) * outside


def log_interval_score(found: Interval, value: float) -> float:
    """Interval score of the 90 % interval in logarithms, so that numbers of all units compare."""
    return interval_score(math.log(found.low), math.log(found.high), math.log(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How good the intervals of some numbers are."""

    count: int
    covered: int
    """Numbers inside their 90 % interval."""
    ratio: float
    """Median of high over low end."""
    interval_score: float
    """Mean, in logarithms."""

    @property
    def coverage(self) -> float:
        """Share of the numbers inside."""
        return self.covered / self.count


def score(intervals: Sequence[Interval], values: Sequence[float]) -> Score:
    """How good *intervals* are for *values*."""
    pairs = list(zip(intervals, values, strict=True))
    return Score(
        count=len(pairs),
        covered=sum(found.holds(value) for found, value in pairs),
        ratio=float(np.median([found.ratio for found, _ in pairs])),
        interval_score=float(np.mean([log_interval_score(*pair) for pair in pairs])),
    )
