"""Where the time of some requests went, exactly: the labels of a band and of the median's.

Times stay whole picoseconds and are added as whole numbers, so labels add up to latencies and
percentages to a hundred, however many requests there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal

import numpy as np
import polars as pl

from jalapeno.errors import UsageError
from jalapeno.metrics import band
from jalapeno.metrics.attribution import CAUSES, PARTS_AND_WAITS, causes, parts
from jalapeno.metrics.distribution import Floats, exact_dot

MEDIAN_BAND = (40.0, 60.0)
"""Percentiles of the requests that the slow ones are held against."""

WIDEST = 2.5
"""Percentiles on either side of the one asked for, at the most."""

FEWEST = 5
"""Requests that a band around a percentile holds at least, where the run has as many."""

View = Literal["cause", "part"]


class Metric(StrEnum):
    """Which latency is explained."""

    TTFT = "ttft"
    TBT = "tbt"
    E2E = "e2e"

    @property
    def column(self) -> Literal["ttft", "tpot", "e2e"]:
        """What :func:`jalapeno.metrics.band` calls it."""
        match self:
            case Metric.TTFT:
                return "ttft"
            case Metric.TBT:
                return "tpot"
            case Metric.E2E:
                return "e2e"


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The time of some requests by label, whole picoseconds; both views have the same sum."""

    requests: int
    units: int
    """What the mean is over: requests, or for TBT the tokens after first ones."""
    by_cause: Mapping[str, int]
    by_part: Mapping[str, int]

    @property
    def total(self) -> int:
        """Picoseconds in all."""
        return sum(self.by_cause.values())

    def view(self, by: View) -> Mapping[str, int]:
        """Picoseconds by label of one view."""
        return self.by_cause if by == "cause" else self.by_part

    def mean(self, picoseconds: int) -> Fraction:
        """*picoseconds* of it a unit, ps; zero where there is no unit."""
        return Fraction(picoseconds, self.units) if self.units else Fraction(0)


def split(done: pl.DataFrame, metric: Metric) -> Split:
    """Where the *metric* of these requests, which are done, went.

    TTFT is what happened until the first token, E2E until the last, TBT between the two.
    """
    units = len(done)
    if metric is Metric.TBT:
        done = done.filter(pl.col("output") > 1)
        units = int((done["output"] - 1).sum())
    return Split(
        requests=len(done),
        units=units,
        by_cause=_sums(causes(done), causes(done, "first"), metric, CAUSES),
        by_part=_sums(parts(done), parts(done, "first"), metric, PARTS_AND_WAITS),
    )


def _sums(
    whole: pl.DataFrame, first: pl.DataFrame, metric: Metric, labels: Sequence[str]
) -> dict[str, int]:
    one = np.ones(len(whole), dtype=np.int64)

    def of(table: pl.DataFrame, label: str) -> int:
        return exact_dot(one, table[label].to_numpy()) if label in table.columns else 0

    ends = {label: of(whole, label) for label in labels}
    starts = {label: of(first, label) for label in labels}
    match metric:
        case Metric.E2E:
            return ends
        case Metric.TTFT:
            return starts
        case Metric.TBT:
            return {label: ends[label] - starts[label] for label in labels}


def apportion(amounts: Mapping[str, int], whole: int = 100) -> dict[str, int]:
    """*whole* shared out in proportion to *amounts*, in whole numbers that add up to it.

    Largest remainder (Hamilton's method), in integers; the earlier label wins a tie.  All are
    zero where there is nothing to share.
    """
    total = sum(amounts.values())
    if not total:
        return dict.fromkeys(amounts, 0)
    shares = {label: whole * amount // total for label, amount in amounts.items()}
    rest = sorted(amounts, key=lambda label: -(whole * amounts[label] % total))
    for label in rest[: whole - sum(shares.values())]:
        shares[label] += 1
    return shares


def values(done: pl.DataFrame, metric: Metric) -> Floats:
    """The *metric* of each request in ps, NaN for the TBT of one token."""
    match metric:
        case Metric.TTFT:
            found = done["first"] - done["arrival"]
        case Metric.E2E:
            found = done["end"] - done["arrival"]
        case Metric.TBT:
            tokens = (done["output"] - 1).to_numpy().astype(np.float64)
            tokens[tokens == 0.0] = np.nan
            tbt: Floats = (done["end"] - done["first"]).to_numpy() / tokens
            return tbt
    return found.to_numpy().astype(np.float64)


def percentile_of(done: pl.DataFrame, metric: Metric, percentile: float) -> float:
    """The *percentile* of the *metric*, ps, as reports have it.

    Raises :class:`UsageError` for a percentile that is none, or where no request has the metric.
    """
    if not 0.0 <= percentile <= 100.0:
        raise UsageError(f"a percentile is between 0 and 100, got {percentile:g}")
    found = values(done, metric)
    found = found[~np.isnan(found)]
    if not len(found):
        raise UsageError(
            f"no request that is done has a {metric.value.upper()}: nothing to explain"
        )
    return float(np.percentile(found, percentile))


def around(done: pl.DataFrame, metric: Metric, percentile: float) -> pl.DataFrame:
    """The requests around a *percentile* of the *metric*.

    Those within :data:`WIDEST` percentiles of it, or half the way to the nearer end if that is
    less; where these are fewer than :data:`FEWEST`, the :data:`FEWEST` nearest to its value.
    """
    middle = percentile_of(done, metric, percentile)
    reach = min(WIDEST, percentile / 2.0, (100.0 - percentile) / 2.0)
    found = band(done, metric.column, percentile - reach, percentile + reach)
    if len(found) >= FEWEST:
        return found
    distance = np.abs(values(done, metric) - middle)
    order = np.argsort(distance, kind="stable")  # NaN comes last
    nearest = order[: min(FEWEST, int((~np.isnan(distance)).sum()))]
    return done.filter(pl.Series(np.isin(np.arange(len(done)), nearest)))
