"""Split pools for a frontier: prefill workers that keep decode workers fed.

Decode plans are looked at with prefill that never is short, and prefill plans with decode that
never is; pairs of the best of both get as many prefill workers as the decode workers need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jalapeno.analysis.frontier import Space, plans
from jalapeno.analysis.frontier_points import Option, longest
from jalapeno.analysis.interpolation import pareto_front
from jalapeno.analysis.subject import Subject
from jalapeno.errors import BadPlan, DoesNotFit
from jalapeno.mapping import Load, StepPrice, check_request, compile_price, estimate
from jalapeno.mapping.explore import Grid, Work, concurrencies
from jalapeno.simulation import Pool, Role

BUDGETS = (2048, 8192, 16384)
"""Tokens of a step of a prefill rank."""
PREFILL_SLOTS = 16
"""Prompts that a prefill rank may have in hand."""
CHEAP, QUICK = 3, 2
"""Prefill plans that are paired: of the most prompts a chip, and of the shortest prompts."""
DECODE_WORKERS = (1, 2, 4)
PLENTY = 512
"""Workers of the other pool where it must never be short."""


@dataclass(frozen=True, slots=True)
class Feeder:
    """A prefill plan and the prompts a second that one worker takes."""

    price: StepPrice
    rate: float
    seconds: float
    """Mean time of a prompt."""


def split_options(subject: Subject, space: Space) -> tuple[Option, ...]:
    """Pairs of pools worth playing out, within the chips of one system."""
    prompt, output = subject.mean_lengths
    work = Work(prompt=prompt, output=output, longest=longest(subject.lengths))
    prices = _prices(subject, space, work)
    if not prices:
        return ()
    found = {}
    feeders = _feeders(prices, work)
    for price, load in _decoders(prices, work, space.grid, feeders[0]):
        for feeder in feeders:
            for workers in DECODE_WORKERS:
                if workers * load > space.grid.most:
                    continue
                option = _pair(subject, feeder, price, workers, load)
                if option is not None:
                    found[option.key] = option
    return tuple(found.values())


def _prices(subject: Subject, space: Space, work: Work) -> list[StepPrice]:
    found = []
    for plan in plans(subject, space):
        try:
            price = compile_price(subject.model, plan, subject.system, subject.engine)
            check_request(price.room, subject.model, work.longest)
        except (BadPlan, DoesNotFit):
            continue
        found.append(price)
    return found


def _feeders(prices: Sequence[StepPrice], work: Work) -> list[Feeder]:
    """Prefill plans worth pairing."""
    every = [_feeder(price, budget, prices[0], work) for price in prices for budget in BUDGETS]
    cheap = sorted(every, key=lambda one: one.rate / one.price.plan.chips, reverse=True)
    quick = sorted(every, key=lambda one: one.seconds)
    return [*cheap[:CHEAP], *quick[:QUICK]]


def _feeder(price: StepPrice, budget: int, decode: StepPrice, work: Work) -> Feeder:
    slots = min(PREFILL_SLOTS, price.room.blocks // price.room.blocks_for(work.longest))
    own = replace(price, plan=replace(price.plan, max_running=max(1, slots), max_tokens=budget))
    back = replace(decode, plan=replace(decode.plan, max_running=64, max_tokens=64))
    rate, alone = (
        estimate(
            (own, back),
            (1, PLENTY),
            Load(concurrency=count, prompt=work.prompt, output=work.output),
        )
        for count in (PLENTY * decode.plan.ranks, 1)
    )
    return Feeder(own, rate.requests_per_s, alone.ttft)


def _decoders(
    prices: Sequence[StepPrice], work: Work, grid: Grid, feeder: Feeder
) -> list[tuple[StepPrice, int]]:
    """(plan, requests that one worker decodes) on the front of decode alone."""
    seen = []
    for price in prices:
        for count in concurrencies(price, work, grid):
            slots = -(-count // price.plan.ranks)
            back = replace(price, plan=replace(price.plan, max_running=slots, max_tokens=slots))
            load = Load(concurrency=count, prompt=work.prompt, output=work.output)
            steady = estimate((feeder.price, back), (PLENTY, 1), load)
            seen.append((price, count, 1.0 / steady.tpot, steady.requests_per_s / price.plan.chips))
    front = pareto_front(seen, lambda one: one[2], lambda one: one[3])
    return [(price, count) for price, count, _, _ in front]


def _pair(
    subject: Subject, feeder: Feeder, price: StepPrice, workers: int, load: int
) -> Option | None:
    """*workers* decode workers of *load* requests each, and the prefill workers they need."""
    prompt, output = subject.mean_lengths
    slots = -(-load // price.plan.ranks)
    back = replace(price, plan=replace(price.plan, max_running=slots, max_tokens=slots))
    whole = Load(concurrency=workers * load, prompt=prompt, output=output)
    needed = estimate((feeder.price, back), (PLENTY, workers), whole).requests_per_s
    count = max(1, round(needed / feeder.rate))
    pools = (
        Pool(role=Role.PREFILL, plan=feeder.price.plan, replicas=count),
        Pool(role=Role.DECODE, plan=back.plan, replicas=workers),
    )
    if sum(pool.chips for pool in pools) > subject.system.chips:
        return None
    steady = estimate((feeder.price, back), (count, workers), whole)
    return Option(pools, workers * load, steady)
