"""Power: joules, and tokens for a kilowatt and a dollar, under four denominators."""

from __future__ import annotations

from dataclasses import dataclass

from jalapeno.catalogue import Kind, Tariff, weakest
from jalapeno.errors import UsageError
from jalapeno.metrics.distribution import ratio
from jalapeno.metrics.throughput import Throughput
from jalapeno.metrics.totals import Totals
from jalapeno.simulation import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Denominator:
    """Efficiency by one way to count a chip's watts."""

    watts_per_chip: float
    tokens_per_s_per_kw: float
    """Mixed tokens a second for every kilowatt."""
    joules_per_token: float
    """Joules a mixed token: the reciprocal."""
    kind: Kind
    """The weakest evidence that the watts rest on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """Energy and money of a run."""

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
    price_kind: Kind


def power(scenario: Scenario, sums: Totals, rates: Throughput, tariff: Tariff) -> Power:
    """Efficiency of a run at *tariff*; :class:`UsageError` where that is another chip's."""
    chip = scenario.system.chip
    if tariff.system != chip.name:
        raise UsageError(
            f"tariff {tariff.name!r} is for {tariff.system!r}, the journal is of {chip.name!r}: "
            f"name a tariff of that chip, such as {chip.name!r}"
        )
    idle_seconds = rates.chips * rates.duration_s - sums.running / 1e12
    idle = chip.power.idle * idle_seconds
    drawn = ratio(sums.joules + idle, rates.chips * rates.duration_s)
    hours = rates.chips * rates.duration_s / 3600.0
    return Power(
        step_joules=sums.joules,
        idle_joules=idle,
        package_tdp=_denominator(rates, tariff.tdp, _kind(tariff, "tdp")),
        package=_denominator(rates, drawn, evidence(scenario)),
        all_in=_denominator(rates, tariff.all_in, _kind(tariff, "all_in")),
        facility=_denominator(rates, tariff.all_in * tariff.pue, _kind(tariff, "all_in", "pue")),
        dollars_per_million_tokens=ratio(hours * tariff.price, rates.tokens / 1e6),
        price_kind=_kind(tariff, "price"),
    )


def evidence(scenario: Scenario) -> Kind:
    """The weakest kind among the facts that a scenario's times and joules rest on."""
    return max(
        weakest(facts)
        for facts in (scenario.system.facts, scenario.model.facts, scenario.engine.facts)
    )


def _kind(tariff: Tariff, *names: str) -> Kind:
    """The weakest kind of these facts; a tariff made by hand, without facts, is assumed."""
    return max(tariff.facts[name].kind if name in tariff.facts else Kind.ASSUMED for name in names)


def _denominator(rates: Throughput, watts: float, kind: Kind) -> Denominator:
    per_kilowatt = ratio(rates.tokens_per_s_per_chip, watts / 1000.0)
    return Denominator(
        watts_per_chip=watts,
        tokens_per_s_per_kw=per_kilowatt,
        joules_per_token=ratio(1000.0, per_kilowatt),
        kind=kind,
    )
