"""Where the joules of a run went, as far as its journal says.

A segment knows the joules of its steps and what bound their time, but not which engine drew what:
dynamic energy is one number.  Static watts are drawn for as long as a step runs, so they split
exactly by what the time was spent on.  There is no energy of a request: the tokens of a step share
its weight reads and static watts, and no rule of dividing them is more than a convention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jalapeno.cost import PARTS
from jalapeno.metrics import Power
from jalapeno.metrics.distribution import exact_dot
from jalapeno.metrics.segments import batches
from jalapeno.simulation import Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Energy:
    """Joules of all packages over a run; they add up to the report's step and idle joules."""

    dynamic: float
    """Engines, memory and links at work."""
    static_by_part: Mapping[str, float]
    """Static watts while a step ran, by what bound its time."""
    idle: float
    """While no step ran."""

    @property
    def total(self) -> float:
        """All joules."""
        return self.dynamic + sum(self.static_by_part.values()) + self.idle


def energy(journal: Journal, power: Power) -> Energy:
    """The joules of *journal*, whose report has this *power*."""
    chips, scenario = journal.workers["chips"].to_numpy(), journal.scenario
    static = dict.fromkeys(PARTS, 0.0)
    for pool, batch in batches(journal):
        if len(batch.steps):
            many = chips[batch.integers("worker")]
            watts = scenario.site(scenario.pools[pool]).system.chip.power.static
            for part in PARTS:
                first, growth = batch.integers(f"{part}_first"), batch.integers(f"{part}_growth")
                time = exact_dot(many, batch.steps * first + batch.pairs * growth)
                static[part] += watts * time / 1e12
    return Energy(
        dynamic=power.step_joules - sum(static.values()),
        static_by_part=static,
        idle=power.idle_joules,
    )
