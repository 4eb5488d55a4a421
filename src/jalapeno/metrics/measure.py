"""measure(journal) -> Report."""

from __future__ import annotations

import polars as pl

from jalapeno import catalogue
from jalapeno.metrics.attribution import attribute
from jalapeno.metrics.audit import audit, finished
from jalapeno.metrics.latency import latency
from jalapeno.metrics.power import evidence, power
from jalapeno.metrics.report import Report
from jalapeno.metrics.survey import Survey, span, survey
from jalapeno.metrics.throughput import throughput
from jalapeno.metrics.utilisation import Utilisation, utilisation
from jalapeno.simulation import Journal


def measure(journal: Journal, tariff: catalogue.Tariff | None = None) -> Report:
    """Measure *journal* at *tariff*; without one, at the catalogue's for the scenario's chip.

    The journal of a run that was stopped is measured over the requests that are done and the
    segments that have ended; its checks say that it is not whole.  Raises :class:`UnknownName`
    where the catalogue has no tariff for the chip, :class:`UsageError` where *tariff* is another
    chip's.
    """
    scenario = journal.scenario
    if tariff is None:
        tariff = catalogue.tariff(scenario.system.chip.name)
    done, found = finished(journal.requests), survey(journal)
    window = span(journal.requests, found.last_end)
    rates = throughput(done, journal.workers, window)
    return Report(
        layout=scenario.label,
        digest=scenario.digest,
        kind=evidence(scenario),
        requests=len(journal.requests),
        requests_done=len(done),
        latency=latency(done, found.gaps_ms),
        throughput=rates,
        power=power(scenario, found.together, rates, tariff),
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
