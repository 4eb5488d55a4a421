"""The fleet: how many replicas behind one queue, verified, and where it breaks and saturates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from jalapeno.analysis.contest import Contender, at_a_time, replicas_for
from jalapeno.analysis.shortlist import Prospect
from jalapeno.analysis.threads import at_once
from jalapeno.analysis.trial import OTHER_SEED, Bench, Trial, best_of, highest
from jalapeno.metrics import Report, measure
from jalapeno.simulation import Scenario, simulate

LONG = 12_000
"""A fleet whose run needs more requests is simulated scaled down: fewer replicas behind one queue
at the same rate each.  Fewer replicas share less luck, so this errs to the safe side."""

OVERLOAD = 1.5
"""The saturation point is seen at so many times the highest rate; at the square of it if not."""

LOADS = (0.15, 0.4, 0.65, 0.85, 1.07, 1.15)
"""Shares of the rate at which a limit breaks, for the curve of latency against demand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """A number of replicas that was verified."""

    prospect: Prospect
    replicas: int
    """Spare ones not counted."""
    simulated: int
    """Replicas in the simulations of the fleet."""
    scenario: Scenario
    """Of the verifying run."""
    verified: Trial
    """At the demand, with arrivals of another seed than the search's."""
    report: Report
    """Of the verifying run."""
    trials: tuple[Trial, ...]
    """Of the search for the highest rate of the (scaled) fleet."""
    breaks_per_s: float
    """Demand at which a limit breaks."""

    def scaled(self, trial: Trial) -> float:
        """The demand on all replicas of which *trial* is the scaled-down image."""
        return trial.per_replica * self.replicas


def fleet(bench: Bench, contender: Contender) -> Fleet:
    """The fewest replicas of *contender* that hold the limits behind one queue.

    The highest rate of replicas that share a queue says how many; a run with other arrivals must
    then pass, and replicas are added until it does.
    """
    prospect = contender.prospect
    first = replicas_for(bench, contender.best.per_replica)
    many = at_a_time(bench, prospect, first, LONG)
    seen = contender.trials if many == contender.best.replicas else ()
    guess = contender.best.per_replica * many
    trials = tuple(highest(lambda rate: bench.trial(prospect, many, rate), guess, seen))
    top = best_of(trials) or contender.best
    replicas = replicas_for(bench, top.per_replica)
    while True:
        now = min(many, replicas)
        rate = bench.demand.rate * now / replicas
        scenario = bench.scenario(prospect, now, rate, OTHER_SEED)
        journal = simulate(scenario)
        verified = bench.judge(journal, rate)
        if verified.passed:
            break
        replicas += max(1, replicas // 100)
    return Fleet(
        prospect=prospect,
        replicas=replicas,
        simulated=now,
        scenario=scenario,
        verified=verified,
        report=measure(journal),
        trials=trials,
        breaks_per_s=max(top.per_replica * replicas, bench.demand.rate),
    )


def overload(bench: Bench, made: Fleet) -> Trial:
    """The fleet at a rate that it cannot sustain, which shows the most that it can."""
    rate = made.breaks_per_s / made.replicas * made.simulated
    trial = bench.trial(made.prospect, made.simulated, rate * OVERLOAD)
    while not trial.saturated and trial.rate < rate * 100.0:
        trial = bench.trial(made.prospect, made.simulated, trial.rate * OVERLOAD**2)
    return trial


def saturates_per_s(made: Fleet, overloaded: Trial) -> float:
    """Requests a second that the whole fleet sustains; NaN where no overload was seen."""
    found = overloaded.saturation
    if found is None or not found.saturated:
        return math.nan
    return found.sustained_per_s / overloaded.replicas * made.replicas


def curve(bench: Bench, made: Fleet, overloaded: Trial) -> list[Trial]:
    """Trials from little demand to beyond the limits, in the order of their rates."""
    top = made.breaks_per_s / made.replicas * made.simulated
    more = at_once(
        lambda share: bench.trial(made.prospect, made.simulated, share * top),
        LOADS,
    )
    same: Sequence[Trial] = [one for one in made.trials if one.replicas == made.simulated]
    return sorted([*same, *more, overloaded], key=lambda trial: trial.rate)
