"""Power: joules, and tokens for a kilowatt and a dollar, under four denominators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jalapeno.catalogue import Kind, Tariff, weakest
from jalapeno.mapping.tabled import tables_for
from jalapeno.metrics.distribution import ratio
from jalapeno.metrics.sites import SiteUse
from jalapeno.metrics.throughput import Throughput
from jalapeno.simulation import Scenario

MILLION = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Denominator:
    """Efficiency by one way to count a chip's watts; idle chips count like busy ones."""

    watts_per_chip: float
    """Mean over the chips, where they are of several sorts."""
    tokens_per_s_per_kw: float
    """Mixed tokens a second for every kilowatt."""
    joules_per_token: float
    """Joules a mixed token: the reciprocal."""
    joules_per_million_tokens: float
    """The same for a million mixed tokens: prompt and output together."""
    joules_per_million_output_tokens: float
    """All joules of the run, those for prompts included, over its output tokens alone."""
    kind: Kind
    """The weakest evidence that the watts rest on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePower:
    """What the chips of one site draw and cost."""

    site: str
    chip: str
    chips: int
    step_joules: float
    idle_joules: float
    package_watts_per_chip: float
    """Modelled draw, on the mean over chips and time."""
    tdp_watts_per_chip: float
    all_in_watts_per_chip: float
    facility_watts_per_chip: float
    """All-in power times PUE."""
    dollars_per_hour: float
    """Of all its chips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """Energy and money of a run: all chips at the tariff of their own, busy or idle.

    Dollars are for chip-hours, whether the chips are busy or not; low and high are from the least
    and the most that the price's source or another says, NaN where nobody says anything.
    """

    step_joules: float
    """Drawn by packages while a step ran."""
    idle_joules: float
    """Drawn by packages while none ran: idle watts x chips x time."""
    package_tdp: Denominator
    """The vendor's thermal design power: OpenAI's and InferenceX's denominator."""
    package: Denominator
    """What the modelled packages draw, on the mean over chips and time."""
    all_in: Denominator
    """IT power a chip: package, host, network, conversion."""
    facility: Denominator
    """All-in power times PUE."""
    dollars_per_million_tokens: float
    """Mixed tokens at the tariff's price of a chip-hour."""
    low_dollars_per_million_tokens: float
    high_dollars_per_million_tokens: float
    dollars_per_million_output_tokens: float
    """All dollars of the run, those for prompts included, over its output tokens alone."""
    low_dollars_per_million_output_tokens: float
    high_dollars_per_million_output_tokens: float
    price_kind: Kind
    sites: tuple[SitePower, ...]
    """Of each site by itself, in the order of the pools."""


def power(scenario: Scenario, uses: Sequence[SiteUse], rates: Throughput) -> Power:
    """Efficiency of a run whose sites were used so."""
    sites = tuple(_site(use, rates.duration_s) for use in uses)
    tariffs = [use.tariff for use in uses]
    drawn = ratio(
        sum(site.step_joules for site in sites) + sum(site.idle_joules for site in sites),
        rates.chips * rates.duration_s,
    )
    tdp, all_in, facility = (
        _mean((getattr(site, f"{name}_watts_per_chip"), site.chips) for site in sites)
        for name in ("tdp", "all_in", "facility")
    )
    dollars, low, high = (
        sum(use.chips * rates.duration_s / 3600.0 * price[at] for use, price in _prices(uses))
        for at in range(3)
    )
    millions, outputs = rates.tokens / MILLION, rates.output_tokens / MILLION
    return Power(
        step_joules=sum(site.step_joules for site in sites),
        idle_joules=sum(site.idle_joules for site in sites),
        package_tdp=_denominator(rates, tdp, _kind(tariffs, "tdp")),
        package=_denominator(rates, drawn, evidence(scenario)),
        all_in=_denominator(rates, all_in, _kind(tariffs, "all_in")),
        facility=_denominator(rates, facility, _kind(tariffs, "all_in", "pue")),
        dollars_per_million_tokens=ratio(dollars, millions),
        low_dollars_per_million_tokens=_known(ratio(low, millions)),
        high_dollars_per_million_tokens=_known(ratio(high, millions)),
        dollars_per_million_output_tokens=ratio(dollars, outputs),
        low_dollars_per_million_output_tokens=_known(ratio(low, outputs)),
        high_dollars_per_million_output_tokens=_known(ratio(high, outputs)),
        price_kind=_kind(tariffs, "price"),
        sites=sites,
    )


def _site(use: SiteUse, seconds: float) -> SitePower:
    idle = use.chip.power.idle * (use.chips * seconds - use.sums.running / 1e12)
    return SitePower(
        site=use.name,
        chip=use.chip.name,
        chips=use.chips,
        step_joules=use.sums.joules,
        idle_joules=idle,
        package_watts_per_chip=ratio(use.sums.joules + idle, use.chips * seconds),
        tdp_watts_per_chip=use.tariff.tdp,
        all_in_watts_per_chip=use.tariff.all_in,
        facility_watts_per_chip=use.tariff.all_in * use.tariff.pue,
        dollars_per_hour=use.chips * use.tariff.price,
    )


def _prices(uses: Iterable[SiteUse]) -> list[tuple[SiteUse, tuple[float, float, float]]]:
    return [(use, (use.tariff.price, *price_range(use.tariff))) for use in uses]


def price_range(tariff: Tariff) -> tuple[float, float]:
    """The least and the most that anybody says the price is, $/h; NaN where nobody else does."""
    fact = tariff.facts.get("price")
    if fact is None:
        return math.nan, math.nan
    said = [end for end in (fact.low, fact.high) if end is not None]
    said += [other.value for other in fact.alternatives]
    if not said:
        return math.nan, math.nan
    return min(tariff.price, *said), max(tariff.price, *said)


def _mean(weighted: Iterable[tuple[float, int]]) -> float:
    """Mean of (value, weight); exactly the value where all are equal."""
    (first, weight), *rest = weighted
    whole = weight + sum(each for _, each in rest)
    return first + sum(each / whole * (value - first) for value, each in rest)


def _known(value: float) -> float:
    """The value, or the one NaN, which equals itself in a comparison of reports."""
    return math.nan if math.isnan(value) else value


def evidence(scenario: Scenario) -> Kind:
    """The weakest kind among the facts that a scenario's times and joules rest on."""
    sites = [scenario.site(pool) for pool in scenario.pools]
    return max(
        weakest(scenario.model.facts),
        *(weakest(facts) for site in sites for facts in (site.system.facts, site.engine.facts)),
    )


def tables_evidence(scenario: Scenario) -> Kind | None:
    """The weakest kind among the tables that price the pools of *scenario*; None without any."""
    sites = ((scenario.site(pool), pool.plan) for pool in scenario.pools)
    found = [
        tables.kind
        for site, plan in sites
        if (tables := tables_for(site.engine, scenario.model, plan, site.system)) is not None
    ]
    return max(found, default=None)


def _kind(tariffs: Iterable[Tariff], *names: str) -> Kind:
    """The weakest kind of these facts; a tariff made by hand, without facts, is assumed."""
    return max(
        tariff.facts[name].kind if name in tariff.facts else Kind.ASSUMED
        for tariff in tariffs
        for name in names
    )


def _denominator(rates: Throughput, watts: float, kind: Kind) -> Denominator:
    per_kilowatt = ratio(rates.tokens_per_s_per_chip, watts / 1000.0)
    joules = watts * rates.chips * rates.duration_s
    return Denominator(
        watts_per_chip=watts,
        tokens_per_s_per_kw=per_kilowatt,
        joules_per_token=ratio(1000.0, per_kilowatt),
        joules_per_million_tokens=ratio(joules, rates.tokens / MILLION),
        joules_per_million_output_tokens=ratio(joules, rates.output_tokens / MILLION),
        kind=kind,
    )
