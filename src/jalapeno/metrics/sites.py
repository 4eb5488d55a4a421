"""Sites: whose chips a run used, how much, and at which tariff they are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

import polars as pl

from jalapeno import catalogue
from jalapeno.catalogue import Chip, Tariff
from jalapeno.errors import UsageError
from jalapeno.metrics.survey import Survey
from jalapeno.metrics.totals import Totals
from jalapeno.simulation import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteUse:
    """The chips of one site and what their segments add up to."""

    name: str
    chip: Chip
    chips: int
    sums: Totals
    tariff: Tariff


def site_uses(
    scenario: Scenario, workers: pl.DataFrame, found: Survey, tariffs: Mapping[str, Tariff]
) -> tuple[SiteUse, ...]:
    """How the sites were used, in the order in which pools name them; *tariffs* by chip name."""
    uses = []
    for name in dict.fromkeys(pool.site for pool in scenario.pools):
        pools = [number for number, pool in enumerate(scenario.pools) if pool.site == name]
        chip = scenario.site(scenario.pools[pools[0]]).system.chip
        uses.append(
            SiteUse(
                name=name,
                chip=chip,
                chips=int(workers.filter(pl.col("pool").is_in(pools))["chips"].sum()),
                sums=reduce(add, (found.pools[number] for number in pools)),
                tariff=tariffs[chip.name],
            )
        )
    return tuple(uses)


def tariffs_for(
    scenario: Scenario, tariff: Tariff | None, tariffs: Mapping[str, Tariff] | None
) -> dict[str, Tariff]:
    """The tariff of every chip of *scenario*: as given for it, or the catalogue's.

    *tariff* alone is for a scenario of one chip; *tariffs*, by chip name, for any.  Raises
    :class:`UsageError` for a tariff of another chip, :class:`UnknownName` where the catalogue has
    none for a chip.
    """
    chips = list(dict.fromkeys(scenario.site(pool).system.chip.name for pool in scenario.pools))
    if tariff is not None:
        if tariffs is not None:
            raise UsageError("a tariff and tariffs by chip: give one or the other")
        if len(chips) > 1:
            raise UsageError(
                f"tariff {tariff.name!r} is for one chip, the journal is of {', '.join(chips)}: "
                "name tariffs by chip"
            )
        tariffs = {chips[0]: tariff}
    found = {}
    for name in chips:
        found[name] = (tariffs or {}).get(name) or catalogue.tariff(name)
        if found[name].system != name:
            raise UsageError(
                f"tariff {found[name].name!r} is for {found[name].system!r}, the journal is of "
                f"{name!r}: name a tariff of that chip, such as {name!r}"
            )
    return found
