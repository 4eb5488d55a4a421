"""The plans that are worth simulating: what the closed form makes of limits on percentiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from jalapeno.analysis.demand import Demand
from jalapeno.analysis.slo import Metric, Slo
from jalapeno.analysis.subject import Subject
from jalapeno.analysis.threads import at_once
from jalapeno.errors import DoesNotFit
from jalapeno.mapping import Plan, StepPrice
from jalapeno.mapping.search import Candidate, candidate, compiled_plans

CHIPS = (1, 2, 4, 8, 16, 32, 64)
BUDGETS = (256, 512, 1024, 2048, 4096, 8192)
"""Chips of a replica, and tokens of a rank's step, that are looked at."""

FINE = 1.15
"""How closely the load of a replica is searched."""

QUEUE_TAIL = 2.2
"""P99 wait over the closed form's mean one: an M/D/1 queue waits longer than x with probability
about ``rho exp(-x / mean)``, and the closed form waits as M/M/1 does, twice as long."""

SLACK = 2
"""Slots over what a replica runs in the mean, so that bursts decode and do not queue."""

Tails = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """A plan, and what the closed form expects of one replica at the limits."""

    plan: Plan
    in_flight: int
    """Requests in flight."""
    requests_per_s: float
    strain: float
    """Expected at that load: at most 1, or of a lone request where even that is above."""

    @property
    def label(self) -> str:
        """Layout and token budget of a step."""
        return f"{self.plan.label}, {self.plan.max_tokens} tokens a step"

    def chips_for(self, demand: Demand, rate: float) -> int:
        """Chips that serve *demand*, spare ones included, at *rate* requests/s a replica."""
        return (math.ceil(demand.rate / rate) + demand.spare) * self.plan.chips


def prospects(
    subject: Subject, slo: Slo, chips: Sequence[int] = CHIPS
) -> tuple[list[Prospect], list[Prospect]]:
    """(those that the closed form expects to meet *slo*, the others), one a layout and budget."""
    prices = list(
        compiled_plans(subject.model, subject.system, subject.engine, subject.precision, chips)
    )
    if not prices:
        raise DoesNotFit(
            f"{subject.model.name} does not fit {subject.system.name} with a replica of "
            f"{', '.join(map(str, chips))} chips: allow more chips a replica, or a narrower format"
        )
    judge = _Judge(subject, slo)
    listed = at_once(judge.of, prices)
    found = [one for of_price in listed for one in of_price]
    return [one for one in found if one.strain <= 1.0], [one for one in found if one.strain > 1.0]


class _Judge:
    """Tails from means, for one subject and one set of limits."""

    def __init__(self, subject: Subject, slo: Slo) -> None:
        self.lengths, self.slo = subject.mean_lengths, slo
        prompts, outputs = subject.lengths.draw(2000)
        share = slo.percentile
        self.longer: Tails = (
            float(np.percentile(prompts, share)) / self.lengths[0],
            float(np.percentile(outputs, share)) / self.lengths[1],
        )
        self.deviations = NormalDist().inv_cdf(slo.percentile / 100.0)

    def of(self, price: StepPrice) -> list[Prospect]:
        """The prospects of one layout."""
        found = [self.prospect(price, budget) for budget in BUDGETS]
        return [one for one in found if one is not None]

    def strain(self, item: Candidate, lone: Candidate) -> float:
        """Expected percentiles over the limits, the worst.

        TBT follows the requests in flight, which vary as a Poisson count does; a prompt's queue
        has an exponential tail, and the rest of TTFT is longer for longer prompts.
        """
        steady, alone = item.steady, lone.steady.ttft
        spread = max(0.0, self.deviations / math.sqrt(item.concurrency))
        loaded = 1.0 - min(1.0, lone.steady.tpot / steady.tpot)
        tbt = steady.tpot * (1.0 + loaded * spread)
        ttft = alone * self.longer[0] + QUEUE_TAIL * max(0.0, steady.ttft - alone)
        e2e = ttft + tbt * (self.lengths[1] * self.longer[1] - 1.0)
        said = {Metric.TTFT: ttft, Metric.TBT: tbt, Metric.E2E: e2e}
        return max(said[limit.metric] / limit.seconds for limit in self.slo.limits)

    def prospect(self, price: StepPrice, budget: int) -> Prospect | None:
        """The heaviest load of one replica that is expected to meet the limits, or a lone one."""
        lone = candidate(price, 1, budget, self.lengths)
        if lone is None:
            return None
        best, strain = lone, self.strain(lone, lone)
        low, high = 1, 2 * price.room.blocks * price.plan.ranks
        while strain <= 1.0 and high > FINE * low and high > low + 1:
            middle = min(4 * low, round(math.sqrt(low * high)))
            middle = min(max(middle, low + 1), high - 1)
            item = candidate(price, middle, budget, self.lengths)
            seen = math.inf if item is None else self.strain(item, lone)
            if item is not None and seen <= 1.0:
                low, best, strain = middle, item, seen
            else:
                high = middle
        held = price.room.blocks // price.room.blocks_for(int(sum(self.lengths)) + 1)
        slots = min(SLACK * best.plan.max_running, held, budget - 1)
        return Prospect(
            plan=replace(best.plan, max_running=max(slots, best.plan.max_running)),
            in_flight=best.concurrency,
            requests_per_s=best.steady.requests_per_s,
            strain=strain,
        )


def ranked(found: Sequence[Prospect], demand: Demand, most: int, each: int) -> list[Prospect]:
    """The *most* promising of *found*, fewest chips first, at most *each* of a layout."""

    def order(one: Prospect) -> tuple[int, float]:
        return one.chips_for(demand, one.requests_per_s), one.plan.chips / one.requests_per_s

    chosen: list[Prospect] = []
    for one in sorted(found, key=order):
        if sum(other.plan.label == one.plan.label for other in chosen) < each:
            chosen.append(one)
    return chosen[:most]
