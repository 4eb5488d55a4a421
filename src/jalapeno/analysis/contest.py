"""The contest: which plan serves a demand with the fewest chips, by simulating a replica or a few.

Replicas behind one queue share their luck, and small ones gain most by it; so as many are simulated
as a short run can show, up to the whole fleet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from jalapeno.analysis.shortlist import Prospect
from jalapeno.analysis.threads import at_once
from jalapeno.analysis.trial import COARSE, Bench, Trial, best_of, highest
from jalapeno.errors import DoesNotFit

AT_ONCE = 2
"""Plans that challenge the same best one; fixed, so that the answer is the same on any machine."""

MOST_REPLICAS, SHORT = 8, 4_000
"""Replicas that are simulated at the most, and requests of a run beyond which there are fewer."""

MOST_OPTIMISTIC = 2.0
"""A plan is not tried that would need so many times the rate that the closed form expects of it."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Contender:
    """A plan whose highest rate at the limits is known."""

    prospect: Prospect
    trials: tuple[Trial, ...]
    best: Trial
    """The highest rate that passed."""
    chips: int
    """That serve the demand, spare ones included."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A plan with its first trial, at the rate that the closed form expects of it."""

    prospect: Prospect
    first: Trial

    @property
    def hoped(self) -> float:
        """Requests a second of one replica at the limits, by the strain that was seen.

        Strain rises about as the square of the rate near the limits; a fleet that saturated was
        offered half too much, say.
        """
        return self.first.per_replica / math.sqrt(min(max(self.first.strain, 0.25), 2.25))


def contest(bench: Bench, prospects: Sequence[Prospect], on_progress: Progress) -> list[Contender]:
    """Those of *prospects* that nothing before them beats, fewest chips first.

    Each is simulated once, which puts them into order.  The first ones are then searched for their
    highest rate; a later one is simulated at the rate at which it would need no more chips than the
    best so far, and searched only if it passes.
    """
    on_progress("plans", 0, len(prospects))
    tried = at_once(partial(enter, bench), prospects)
    entrants = sorted((one for one in tried if one is not None), key=partial(_hope, bench))
    found: list[Contender] = []
    for begin in range(0, len(entrants), AT_ONCE):
        group = entrants[begin : begin + AT_ONCE]
        best = min((one.chips for one in found), default=None)
        made = at_once(partial(challenge, bench, best=best), group)
        found += [one for one in made if one is not None]
        on_progress("plans", begin + len(group), len(prospects))
    return sorted(found, key=_order)


def enter(bench: Bench, prospect: Prospect) -> Entrant | None:
    """*prospect* with its first trial; None where its KV cache cannot hold the longest request."""
    guess = prospect.requests_per_s
    many = at_a_time(bench, prospect, replicas_for(bench, guess), SHORT)
    try:
        return Entrant(prospect, bench.trial(prospect, many, guess * many))
    except DoesNotFit:
        return None


def _hope(bench: Bench, one: Entrant) -> tuple[int, float]:
    chips = one.prospect.plan.chips
    return (replicas_for(bench, one.hoped) + bench.demand.spare) * chips, chips / one.hoped


def _order(one: Contender) -> tuple[int, float]:
    return one.chips, one.prospect.plan.chips / one.best.per_replica


def challenge(bench: Bench, entrant: Entrant, *, best: int | None) -> Contender | None:
    """*entrant* with its highest rate; None where it needs over *best* chips, or never passes."""
    prospect, many, seen = entrant.prospect, entrant.first.replicas, [entrant.first]
    guess = entrant.hoped
    if best is not None:
        replicas = best // prospect.plan.chips - bench.demand.spare
        if replicas < 1 or bench.demand.rate / replicas > MOST_OPTIMISTIC * guess:
            return None
        guess = bench.demand.rate / replicas
        if replicas < many:  # fewer share a queue than were tried
            many, seen = replicas, []
        if any(not one.passed and one.per_replica <= guess for one in seen):
            return None
        if not any(one.passed and one.per_replica >= guess for one in seen):
            seen.append(bench.trial(prospect, many, guess * many))
            if not seen[-1].passed:
                return None
    trials = highest(
        lambda rate: bench.trial(prospect, many, rate), guess * many, seen, tolerance=COARSE
    )
    top = best_of(trials)
    if top is None:
        return None
    chips = (replicas_for(bench, top.per_replica) + bench.demand.spare) * prospect.plan.chips
    return Contender(prospect, tuple(trials), top, chips)


def replicas_for(bench: Bench, per_replica: float) -> int:
    """Replicas that serve the demand at *per_replica* requests/s each, spare ones not counted."""
    # a hair more than a whole number is rounding, not a replica
    return max(1, math.ceil(bench.demand.rate / per_replica * (1.0 - 1e-12)))


def at_a_time(bench: Bench, prospect: Prospect, replicas: int, requests: int) -> int:
    """How many of *replicas* are simulated together where a run may have so many *requests*."""
    most = min(replicas, MOST_REPLICAS)
    while most > 1 and bench.demand.requests(bench.slo, most * prospect.in_flight) > requests:
        most -= 1
    return most
