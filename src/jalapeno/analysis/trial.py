"""Trials: fleets of one plan, simulated at a rate, and held against the limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jalapeno.analysis.demand import Demand
from jalapeno.analysis.shortlist import Prospect
from jalapeno.analysis.slo import Slo
from jalapeno.analysis.subject import Subject
from jalapeno.metrics import Saturation, saturation
from jalapeno.simulation import (
    ClosedLoop,
    Journal,
    Pool,
    Role,
    Scenario,
    Traffic,
    scenario_of,
    simulate,
)

SEED, OTHER_SEED = 0, 1
"""Of the arrivals that rates are found with, and of those that verify the answer."""

ALONE = 200
"""Requests that are sent one after the other to see how fast a lone one is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A fleet that was simulated at one rate."""

    replicas: int
    rate: float
    """Requests a second that were offered to all of them."""
    requests: int
    reached: tuple[float, ...]
    """Seconds at the percentile of each limit, in their order."""
    medians: tuple[float, ...]
    """Seconds, likewise."""
    strain: float
    """The largest of what was reached over its limit; infinite where the fleet saturated."""
    saturation: Saturation | None

    @property
    def passed(self) -> bool:
        """Whether all limits held and the fleet kept up."""
        return self.strain <= 1.0

    @property
    def saturated(self) -> bool:
        """Whether the fleet could not keep up."""
        return self.saturation is not None and self.saturation.saturated

    @property
    def per_replica(self) -> float:
        """Requests a second offered to one replica."""
        return self.rate / self.replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where fleets are tried: the subject, who asks, and what is allowed."""

    template: Scenario
    """Facts and lengths; pools and arrivals are a trial's own."""
    demand: Demand
    slo: Slo

    def scenario(
        self, prospect: Prospect, replicas: int, rate: float, seed: int = SEED
    ) -> Scenario:
        """*replicas* of the prospect's plan behind one queue at *rate* requests a second.

        The run is longer the more are in flight, which are as many more as more come.
        """
        in_flight = prospect.in_flight * rate / prospect.requests_per_s
        traffic = replace(
            self.template.traffic,
            arrivals=self.demand.arrivals(rate),
            requests=self.demand.requests(self.slo, in_flight),
        )
        return self._under(prospect, replicas, traffic, seed)

    def _under(self, prospect: Prospect, replicas: int, traffic: Traffic, seed: int) -> Scenario:
        pool = Pool(role=Role.UNIFIED, plan=prospect.plan, replicas=replicas)
        return replace(self.template, pools=(pool,), traffic=traffic, seed=seed)

    def trial(self, prospect: Prospect, replicas: int, rate: float, seed: int = SEED) -> Trial:
        """Simulate it."""
        return self.judge(simulate(self.scenario(prospect, replicas, rate, seed)), rate)

    def alone(self, prospect: Prospect) -> Trial:
        """One request after the other on one replica: nothing is faster under this plan."""
        one = ClosedLoop(concurrency=1)
        traffic = replace(self.template.traffic, arrivals=one, requests=ALONE)
        return self.judge(simulate(self._under(prospect, 1, traffic, SEED)), 0.0)

    def judge(self, journal: Journal, rate: float) -> Trial:
        """Hold a run at *rate* against the limits."""
        traffic = journal.scenario.traffic
        found = saturation(journal.requests, traffic.arrivals)
        seconds = self.slo.reached(journal.requests)
        reached = tuple(high for high, _ in seconds)
        lost = found is not None and found.saturated
        return Trial(
            replicas=journal.scenario.pools[0].replicas,
            rate=rate,
            requests=traffic.requests,
            reached=reached,
            medians=tuple(middle for _, middle in seconds),
            strain=math.inf if lost else max(self.slo.strains(reached)),
            saturation=found,
        )


def bench(subject: Subject, demand: Demand, slo: Slo, prospect: Prospect) -> Bench:
    """A bench for *subject*; *prospect* is any of its plans."""
    traffic = Traffic(lengths=subject.lengths, arrivals=ClosedLoop(concurrency=1), requests=1)
    pool = Pool(role=Role.UNIFIED, plan=prospect.plan, replicas=1)
    return Bench(
        template=scenario_of(subject.trees, (pool,), traffic, SEED), demand=demand, slo=slo
    )


TOLERANCE, COARSE = 1.02, 1.04
"""The highest rate is found when one that fails is at most so many times higher; at first it need
not be known as well."""

STEP, LEAST_STEP = 1.3, 1.04
"""How far the search goes at once while it has not seen both a rate that passes and one that does
not, the less the nearer the limit seems, and the more the oftener; a thousand times below the
first guess it gives up."""

STEEPNESS = 0.7
"""Rate goes about as this power of strain, near enough for the next guess."""

INSIDE = (0.15, 0.85)
"""Where between (logarithms of) both the next rate may lie."""


def highest(
    attempt: Callable[[float], Trial],
    guess: float,
    seen: Sequence[Trial] = (),
    tolerance: float = TOLERANCE,
) -> list[Trial]:
    """Trials around the highest rate that passes, those already *seen* first.

    Rates between one that passes and one that fails are interpolated in the logarithms of rate and
    strain.  Where no rate down to a thousandth of the *guess* passes, none of the trials did.
    """
    trials = list(seen)
    while True:
        low = best_of(trials)
        failed = [one for one in trials if not one.passed and (low is None or one.rate > low.rate)]
        high = min(failed, key=_rate, default=None)
        if low is not None and high is not None:
            if high.rate <= tolerance * low.rate:
                return trials
            rate = _between(low, high)
        elif low is not None:
            step = STEP if low.strain <= 0.0 else low.strain**-STEEPNESS
            step = min(max(step, LEAST_STEP), STEP)
            rate = low.rate * step ** sum(one.passed for one in trials)
        elif high is None:
            rate = guess
        elif high.rate < guess / 1000.0:
            return trials
        else:
            rate = high.rate / STEP ** (1 if len(trials) < 4 else 4)
        trials.append(attempt(rate))


def best_of(trials: Sequence[Trial]) -> Trial | None:
    """The highest rate of *trials* that passes."""
    return max((trial for trial in trials if trial.passed), key=_rate, default=None)


def _rate(trial: Trial) -> float:
    return trial.rate


def _between(low: Trial, high: Trial) -> float:
    share = 0.5
    if 0.0 < low.strain < 1.0 and high.strain < math.inf:
        share = math.log(1.0 / low.strain) / math.log(high.strain / low.strain)
    share = min(max(share, INSIDE[0]), INSIDE[1])
    return low.rate * math.exp(share * math.log(high.rate / low.rate))
