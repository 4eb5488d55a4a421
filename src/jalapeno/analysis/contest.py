"""The contest: which plan serves a demand with the fewest chips, by simulating a replica or a few.

Replicas behind one queue share their luck, and small ones gain most by it; so as many are simulated
as a short run can show, up to the whole fleet.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from jalapeno.analysis.shortlist import Prospect
from jalapeno.analysis.trial import COARSE, Bench, Trial, best_of, highest

AT_ONCE = 2
"""Plans that challenge the same best one; fixed, so that the answer is the same on any machine."""

MOST_REPLICAS, SHORT = 8, 4_000
"""Replicas that are simulated at the most, and requests of a run beyond which there are fewer."""

MOST_OPTIMISTIC = 2.0
"""A plan is not tried that would need so many times the rate that the closed form expects of it."""

Progress = Callable[[str, int, int], None]
Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Contender:
    """A plan whose highest rate at the limits is known."""

    prospect: Prospect
    trials: tuple[Trial, ...]
    best: Trial
    """The highest rate that passed."""
    chips: int
    """That serve the demand, spare ones included."""


def at_once(work: Callable[[Given], Made], given: Iterable[Given]) -> list[Made]:
    """*work* on everything *given*, in its order, on all cores: compiled loops run side by side."""
    with ThreadPoolExecutor(max(1, min(8, os.cpu_count() or 1))) as threads:
        return list(threads.map(work, given))


def contest(
    bench: Bench, prospects: Sequence[Prospect], on_progress: Progress
) -> list[Contender]:
    """Those of *prospects* that nothing before them beats, fewest chips first.

    The first ones are searched for their highest rate.  A later one is simulated once, at the rate
    at which it would need no more chips than the best so far, and searched only if it passes.
    """
    found: list[Contender] = []
    for begin in range(0, len(prospects), AT_ONCE):
        group = prospects[begin : begin + AT_ONCE]
        best = min((one.chips for one in found), default=None)
        made = at_once(partial(challenge, bench, best=best), group)
        found += [one for one in made if one is not None]
        on_progress("plans", begin + len(group), len(prospects))
    return sorted(found, key=_order)


def _order(one: Contender) -> tuple[int, float]:
    return one.chips, one.prospect.plan.chips / one.best.per_replica


def challenge(bench: Bench, prospect: Prospect, *, best: int | None) -> Contender | None:
    """*prospect* with its highest rate; None where it needs more than *best* chips or never passes."""
    guess, seen = prospect.requests_per_s, []
    many = at_a_time(bench, prospect, replicas_for(bench, guess), SHORT)
    if best is not None:
        replicas = best // prospect.plan.chips - bench.demand.spare
        if replicas < 1 or bench.demand.rate / replicas > MOST_OPTIMISTIC * guess:
            return None
        guess, many = bench.demand.rate / replicas, min(many, replicas)
        seen = [bench.trial(prospect, many, guess * many)]
        if not seen[0].passed:
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
