"""What throughput is divided by: chips, four sorts of watts, dollars; each with its range."""

from __future__ import annotations

from enum import StrEnum

from jalapeno import catalogue
from jalapeno.analysis.bill import Range, product, said_of
from jalapeno.analysis.claims.measured import spreads
from jalapeno.catalogue import Chip, Kind, System, Tariff

JALAPENO = "jalapeno"


class Denominator(StrEnum):
    """What a throughput is divided by."""

    CHIP = "chip"
    TDP = "kW of TDP"
    DRAW = "kW drawn"
    ALL_IN = "kW all-in"
    FACILITY = "kW of facility"
    DOLLAR = "dollar"


CERTAIN = Range(1.0, 1.0, 1.0, Kind.MEASURED)


def divisor(system: System, per: Denominator, *, busy: bool) -> Range:
    """Of one chip of *system*: 1, kW, or dollars an hour.  *busy*: under its highest throughput.

    Draw: Jalapeño's is at most 550 W by what was published, and at least its static watts; of a
    reference only TDP is published, so it is that at most, and at least the least share of TDP
    that InferenceX measured on another GPU.  PUE is any of a liquid-cooled hall, each system's own.
    """
    chip, tariff = system.chip, catalogue.tariff(system.chip.name)
    match per:
        case Denominator.CHIP:
            return CERTAIN
        case Denominator.TDP:
            return _spread(tariff, "tdp").times(1e-3)
        case Denominator.DRAW:
            return _draw(chip, tariff, busy).times(1e-3)
        case Denominator.ALL_IN:
            return _spread(tariff, "all_in").times(1e-3)
        case Denominator.FACILITY:
            return product(_spread(tariff, "all_in"), _pue(tariff)).times(1e-3)
        case Denominator.DOLLAR:
            return _spread(tariff, "price")


def _spread(tariff: Tariff, name: str) -> Range:
    return said_of(tariff.facts, name, getattr(tariff, name))


def _pue(tariff: Tariff) -> Range:
    """PUE of a hall like the one that is meant; other sorts of halls are no alternative to it."""
    fact = tariff.facts["pue"]
    low, high = fact.low or tariff.pue, fact.high or tariff.pue
    return Range(tariff.pue, low, high, fact.kind)


def _draw(chip: Chip, tariff: Tariff, busy: bool) -> Range:
    if chip.name == JALAPENO:
        static = chip.facts["power.static"]
        least = static.low if static.low is not None else chip.power.static
        return Range(chip.power.cap, least, chip.power.cap, Kind.PUBLISHED)
    draw = spreads().draw
    share = draw.busy_share if busy else draw.light_share
    return Range(tariff.tdp, share * tariff.tdp, tariff.tdp, Kind.ESTIMATED)
