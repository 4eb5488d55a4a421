"""Search: the plans worth trying on a number of chips, and what the closed form says of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from jalapeno.catalogue import Engine, Model, System
from jalapeno.errors import BadPlan, DoesNotFit
from jalapeno.mapping.estimate import Load, SteadyState, estimate_unified
from jalapeno.mapping.plan import Plan
from jalapeno.mapping.precision import Precision
from jalapeno.mapping.step import StepPrice, compile_price


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What a search goes through: unified replicas of so many chips."""

    chips: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    budgets: tuple[int, ...] = tuple(2**power for power in range(5, 14))
    """Token budgets of a step, a rank."""
    concurrency: tuple[int, ...] = tuple(2**power for power in range(13))
    """Requests in flight on one replica."""


REFINEMENTS = (2.0**-0.5, 2.0**-0.25, 2.0**-0.125, 2.0**0.125, 2.0**0.25, 2.0**0.5)
"""Factors on budget and concurrency that are tried around the best of the grid."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One replica of a plan under a load, and its steady state."""

    plan: Plan
    concurrency: int
    steady: SteadyState


def layouts(chips: int) -> Iterator[tuple[int, int, int]]:
    """(tp, ep, dp) of the usual ways to cut a model over *chips* chips: TP, TEP, DEP, TPxDP."""
    yield chips, 1, 1
    if chips > 1:
        yield chips, chips, 1
    for tp in (1, 2, 4, 8):
        if tp < chips and chips % tp == 0:
            yield tp, chips, chips // tp


def compiled_plans(
    model: Model, system: System, engine: Engine, precision: Precision, chips: Sequence[int]
) -> Iterator[StepPrice]:
    """Every layout on *chips* chips that divides the model and fits, compiled."""
    for count in chips:
        for tp, ep, dp in layouts(count):
            plan = Plan(tp=tp, ep=ep, dp=dp, max_running=1, max_tokens=1, precision=precision)
            try:
                yield compile_price(model, plan, system, engine)
            except (BadPlan, DoesNotFit):
                continue


def candidate(
    price: StepPrice, concurrency: int, budget: int, lengths: tuple[float, float]
) -> Candidate | None:
    """One replica of *price* under a load of mean *lengths*; None where the caches or the budget
    cannot hold it (waiting at the door would only add queueing)."""
    prompt, output = lengths
    dp = price.plan.ranks
    slots = -(-concurrency // dp)
    held = price.room.blocks // price.room.blocks_for(int(prompt + output) + 1)
    if slots > held or budget <= slots:
        return None
    plan = replace(price.plan, max_running=slots, max_tokens=budget)
    load = Load(concurrency=concurrency, prompt=prompt, output=output)
    return Candidate(plan, concurrency, estimate_unified(replace(price, plan=plan), 1, load))


def search(
    prices: Sequence[StepPrice], space: Space, lengths: tuple[float, float]
) -> list[tuple[StepPrice, Candidate]]:
    """The steady state of every plan, budget and concurrency of *space* that can be held."""
    found = []
    for price in prices:
        for concurrency in space.concurrency:
            for budget in space.budgets:
                item = candidate(price, concurrency, budget, lengths)
                if item is not None:
                    found.append((price, item))
    return found


def best(
    found: Sequence[tuple[StepPrice, Candidate]],
    score: Callable[[Candidate], float],
    lengths: tuple[float, float],
) -> Candidate:
    """The candidate with the highest *score* (minus infinity: not allowed), refined off the grid.

    Budget and concurrency are moved by :data:`REFINEMENTS` in turn while that helps.
    """
    price, top = max(found, key=lambda item: score(item[1]), default=(None, None))
    if price is None or top is None or score(top) == -math.inf:
        raise DoesNotFit("no plan of the search meets the limit: widen the space or the limit")
    while True:
        near = [
            candidate(price, round(top.concurrency * x), top.plan.max_tokens, lengths)
            for x in REFINEMENTS
        ] + [
            candidate(price, top.concurrency, round(top.plan.max_tokens * x), lengths)
            for x in REFINEMENTS
        ]
        better = max((item for item in near if item is not None), key=score, default=top)
        if score(better) <= score(top):
            return top
        top = better
