"""explain(journal): what the time of a run, of a percentile or of one request went to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from jalapeno.analysis.explain import (
    MEDIAN_BAND,
    Metric,
    Split,
    around,
    percentile_of,
    split,
    values,
)
from jalapeno.analysis.explain_energy import Energy, energy
from jalapeno.analysis.explain_request import Life, life
from jalapeno.analysis.explain_waits import Shortage, shortages
from jalapeno.errors import UsageError
from jalapeno.metrics import Report, band
from jalapeno.metrics.audit import finished
from jalapeno.simulation import Journal

BANDS = ((0.0, 50.0), (50.0, 90.0), (90.0, 99.0), (99.0, 100.0))
"""Percentiles of the bars of a picture; who lies on an edge is in both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which requests are asked about: all, or those of one of these."""

    percentile: float | None = None
    band: tuple[float, float] | None = None
    request: int | None = None

    def __post_init__(self) -> None:
        given = [each for each in (self.percentile, self.band, self.request) if each is not None]
        if len(given) > 1:
            raise UsageError("ask about a percentile, a band or a request: one of the three")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The answer, beside the requests about the median for contrast."""

    metric: Metric
    scope: Scope
    value: float
    """What is explained, ps: the percentile, the request's, or the mean over requests."""
    chosen: Split
    median: Split
    waits: tuple[Shortage, ...]
    """What the chosen requests waited for, in the waits that belong to the metric."""
    life: Life | None
    """Of the one request."""
    energy: Energy | None
    """Of the run, where all of it is asked about."""
    bands: tuple[Split, ...]
    """Of each of :data:`BANDS`."""


def explain(journal: Journal, report: Report, metric: Metric, scope: Scope) -> Explanation:
    """Explain the *metric* of the requests in *scope* of *journal*, whose report is *report*.

    Raises :class:`UsageError` for a percentile, band or request that the run does not have.
    """
    done = finished(journal.requests)
    percentile_of(done, metric, 50.0)  # refuses where there is nothing to explain
    chosen = _chosen(journal, done, metric, scope)
    found = split(chosen, metric)
    if not found.requests:
        raise UsageError(f"no request of {_asked(scope)} has a {metric.value.upper()}")
    everything = scope == Scope()
    return Explanation(
        metric=metric,
        scope=scope,
        value=_value(done, chosen, metric, scope),
        chosen=found,
        median=split(band(done, metric.column, *MEDIAN_BAND), metric),
        waits=() if metric is Metric.TBT else shortages(journal, chosen),
        life=None if scope.request is None else life(journal, scope.request),
        energy=energy(journal, report.power) if everything else None,
        bands=tuple(split(band(done, metric.column, *ends), metric) for ends in BANDS),
    )


def _asked(scope: Scope) -> str:
    return "the band" if scope.request is None else f"request {scope.request}"


def _chosen(journal: Journal, done: pl.DataFrame, metric: Metric, scope: Scope) -> pl.DataFrame:
    if scope.percentile is not None:
        return around(done, metric, scope.percentile)
    if scope.band is not None:
        return band(done, metric.column, *scope.band)
    if scope.request is not None:
        life(journal, scope.request)  # refuses one that is not there or not done
        return journal.requests[scope.request : scope.request + 1]
    return done


def _value(done: pl.DataFrame, chosen: pl.DataFrame, metric: Metric, scope: Scope) -> float:
    if scope.percentile is not None:
        return percentile_of(done, metric, scope.percentile)
    return float(np.nanmean(values(chosen, metric)))
