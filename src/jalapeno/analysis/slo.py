"""Service-level objectives: what a percentile of the requests must not exceed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.errors import UsageError
from jalapeno.simulation.columns import PICOSECONDS

Floats = npt.NDArray[np.float64]

WARM, CLOSING = 0.2, 0.9
"""Shares of the time in which requests come: those that come in between are judged.  Earlier ones
find an empty system, and later ones an ever emptier one."""


class Metric(StrEnum):
    """A latency of one request."""

    TTFT = "TTFT"
    """From the send to the first token."""
    TBT = "TBT"
    """Mean time between its tokens, ``(E2E - TTFT) / (tokens - 1)``: TPOT, as InferenceX has it."""
    E2E = "E2E"
    """From the send to the last token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The most that *percentile* percent of the requests may take."""

    metric: Metric
    seconds: float
    percentile: float = 99.0

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds < math.inf:
            raise UsageError(f"{self.metric} limit must be positive, got {self.seconds:g} s")
        if not 0.0 < self.percentile < 100.0:
            raise UsageError(
                f"a percentile lies between 0 and 100, got {self.percentile:g}: 99 leaves one "
                "request in a hundred above the limit"
            )

    @property
    def label(self) -> str:
        """Such as ``P99 TTFT``."""
        return f"P{self.percentile:g} {self.metric}"

    def of(self, seconds: Floats) -> tuple[float, float]:
        """(percentile, median) of *seconds*; NaN where there are none."""
        if not len(seconds):
            return math.nan, math.nan
        high, middle = np.percentile(seconds, [self.percentile, 50.0])
        return float(high), float(middle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """Limits that hold together."""

    limits: tuple[Limit, ...]

    def __post_init__(self) -> None:
        if not self.limits:
            raise UsageError("give a limit at least: on TTFT, TBT or E2E")
        metrics = [limit.metric for limit in self.limits]
        if len(set(metrics)) < len(metrics):
            raise UsageError(f"one limit a metric; got {', '.join(metrics)}")

    @property
    def label(self) -> str:
        """All limits in words."""
        said = (f"{limit.label} ≤ {render_seconds(limit.seconds)}" for limit in self.limits)
        return ", ".join(said)

    @property
    def percentile(self) -> float:
        """The highest one, which takes the most requests to see."""
        return max(limit.percentile for limit in self.limits)

    def reached(self, requests: pl.DataFrame) -> tuple[tuple[float, float], ...]:
        """(percentile, median) of every limit's metric among the *requests* of a journal, s."""
        found = latencies(requests)
        return tuple(limit.of(found[limit.metric]) for limit in self.limits)

    def strains(self, reached: Sequence[float]) -> tuple[float, ...]:
        """What is *reached* over each limit: above 1 it is broken."""
        return tuple(
            value / limit.seconds for value, limit in zip(reached, self.limits, strict=True)
        )


def latencies(requests: pl.DataFrame) -> Mapping[Metric, Floats]:
    """Seconds of every metric over the requests judged; those of one token have no TBT."""
    came, first, end = (requests[name].to_numpy() for name in ("arrival", "first", "end"))
    start, last = int(came.min()), int(came.max())
    since = came - start
    judged = (since >= WARM * (last - start)) & (since <= CLOSING * (last - start))
    came, first, end = came[judged], first[judged], end[judged]
    after = requests["output"].to_numpy()[judged] - 1
    more = after > 0
    return {
        Metric.TTFT: (first - came) / PICOSECONDS,
        Metric.TBT: (end - first)[more] / after[more] / PICOSECONDS,
        Metric.E2E: (end - came) / PICOSECONDS,
    }


def render_seconds(seconds: float) -> str:
    """Seconds or milliseconds, three digits or more: ``16.7 ms``, ``2000 ms``, ``12.5 s``."""
    return f"{seconds * 1e3:.4g} ms" if seconds < 10.0 else f"{seconds:.4g} s"
