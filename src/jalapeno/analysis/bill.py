"""The bill: what a fleet takes in racks, megawatts and dollars, and from how much to how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jalapeno.catalogue import Fact, Kind, System, Tariff
from jalapeno.mapping import Plan

HOURS, MILLION = 3600.0, 1e6


@dataclass(frozen=True, slots=True)
class Range:
    """A number, and the least and the most that anybody says it is."""

    value: float
    low: float
    high: float
    kind: Kind
    """The weakest evidence for the value."""

    def times(self, factor: float) -> Range:
        """All three of them *factor* times as large."""
        return Range(self.value * factor, self.low * factor, self.high * factor, self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a fleet takes, spare replicas included."""

    chips: int
    racks: int
    """Whole replicas to a rack where one fits into it."""
    systems: int
    """Whole replicas to a system."""
    chips_per_rack: int
    package_tdp_kw: Range
    package_kw: float
    """Packages' modelled draw under the demand; spare replicas idle."""
    all_in_kw: Range
    """Package, host, network, conversion."""
    facility_kw: Range
    """All-in times PUE."""
    dollars_per_hour: Range
    """Chip-hours at the tariff."""
    dollars_per_million_tokens: Range
    """Over prompts and answers of the demand."""
    dollars_per_million_output_tokens: Range


def said_of(facts: Mapping[str, Fact], name: str, value: float) -> Range:
    """*value* with the ends of its fact's range and of what other sources say."""
    fact = facts.get(name)
    if fact is None:  # a tariff made by hand
        return Range(value, value, value, Kind.ASSUMED)
    said = [end for end in (fact.low, fact.high) if end is not None]
    said += [other.value for other in fact.alternatives]
    return Range(value, min(value, *said, value), max(value, *said, value), fact.kind)


def product(one: Range, other: Range) -> Range:
    """The range of a product of positive numbers."""
    return Range(
        one.value * other.value,
        one.low * other.low,
        one.high * other.high,
        max(one.kind, other.kind),
    )


def whole(replicas: int, plan: Plan, chips: int) -> int:
    """Racks, or systems, of *chips* chips that hold *replicas*; a larger one spans several."""
    if plan.chips > chips:
        return -(-replicas * plan.chips // chips)
    return -(-replicas // (chips // plan.chips))


def bill(
    system: System,
    tariff: Tariff,
    plan: Plan,
    replicas: int,
    *,
    tokens_per_s: tuple[float, float],
    package_watts: float,
) -> Bill:
    """The bill of *replicas* of *plan*, spare ones included.

    *tokens_per_s*: (prompt and answer, answer alone) of the demand; *package_watts*: what all
    packages draw.
    """
    chips = replicas * plan.chips
    price = said_of(tariff.facts, "price", tariff.price).times(chips)
    all_in = said_of(tariff.facts, "all_in", tariff.all_in).times(chips / 1e3)
    mixed, output = (price.times(MILLION / (HOURS * rate)) for rate in tokens_per_s)
    return Bill(
        chips=chips,
        racks=whole(replicas, plan, system.chips_per_rack),
        systems=whole(replicas, plan, system.chips),
        chips_per_rack=system.chips_per_rack,
        package_tdp_kw=said_of(tariff.facts, "tdp", tariff.tdp).times(chips / 1e3),
        package_kw=package_watts / 1e3,
        all_in_kw=all_in,
        facility_kw=product(all_in, said_of(tariff.facts, "pue", tariff.pue)),
        dollars_per_hour=price,
        dollars_per_million_tokens=mixed,
        dollars_per_million_output_tokens=output,
    )
