"""measure(journal) -> Report."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from jalapeno.catalogue import Tariff
from jalapeno.metrics.attribution import attribute
from jalapeno.metrics.audit import audit, finished
from jalapeno.metrics.latency import latency
from jalapeno.metrics.power import evidence, power, tables_evidence
from jalapeno.metrics.report import Report
from jalapeno.metrics.saturation import saturation
from jalapeno.metrics.sites import site_uses, tariffs_for
from jalapeno.metrics.survey import Survey, span, survey
from jalapeno.metrics.throughput import offered_rate, throughput
from jalapeno.metrics.utilisation import Utilisation, utilisation
from jalapeno.simulation import ClosedLoop, Journal


def measure(
    journal: Journal,
    tariff: Tariff | None = None,
    tariffs: Mapping[str, Tariff] | None = None,
) -> Report:
    """Measure *journal* at *tariff*, or *tariffs* by chip name; else at the catalogue's.

    Each chip is counted at a tariff of its own.

    The journal of a run that was stopped is measured over the requests that are done and the
    segments that have ended; its checks say that it is not whole.  Raises :class:`UnknownName`
    where the catalogue has no tariff for a chip, :class:`UsageError` where a tariff is another
    chip's.
    """
    scenario = journal.scenario
    prices = tariffs_for(scenario, tariff, tariffs)
    done, found = finished(journal.requests), survey(journal)
    window = span(journal.requests, found.last_end)
    arrivals = scenario.traffic.arrivals
    offered = math.nan if isinstance(arrivals, ClosedLoop) else offered_rate(journal.requests)
    rates = throughput(done, journal.workers, window, offered)
    uses = site_uses(scenario, journal.workers, found, prices)
    return Report(
        layout=scenario.label,
        load=arrivals.label,
        digest=scenario.digest,
        kind=evidence(scenario),
        tables_kind=tables_evidence(scenario),
        requests=len(journal.requests),
        requests_done=len(done),
        latency=latency(done, found.gaps_ms),
        throughput=rates,
        saturation=saturation(journal.requests, arrivals),
        power=power(scenario, uses, rates),
        utilisation=utilisation(found.together, rates.chips, rates.duration_s),
        pools=_by_pool(found, journal.workers, rates.duration_s),
        attribution=attribute(done),
        checks=audit(journal.requests, found),
    )


def _by_pool(found: Survey, workers: pl.DataFrame, seconds: float) -> tuple[Utilisation, ...]:
    return tuple(
        utilisation(sums, int(workers.filter(pl.col("pool") == pool)["chips"].sum()), seconds)
        for pool, sums in enumerate(found.pools)
    )
