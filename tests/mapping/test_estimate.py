"""Laws of a steady state, whatever the deployment and its load."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.errors import BadPlan, BadScenario
from jalapeno.mapping import Load, SteadyState, StepPrice, estimate
from jalapeno.units import render
from tests.mapping.oracle import seconds_of
from tests.mapping.worlds import (
    FEW,
    WORLDS,
    Change,
    Sequences,
    World,
    chunk,
    decoding,
    facts_of,
    rows_of,
    worker,
)

Deployment = tuple[tuple[World, int, int], ...]
"""Pools: world, replicas, slots a rank; a step takes 2,048 tokens beside them."""


def prices_of(pools: Deployment, changes: tuple[Change, ...] = ()) -> tuple[StepPrice, ...]:
    return tuple(worker(world, slots, slots + 2048, changes) for world, _, slots in pools)


def steady(pools: Deployment, load: Load, changes: tuple[Change, ...] = ()) -> SteadyState:
    return estimate(prices_of(pools, changes), tuple(count for _, count, _ in pools), load)


def benchmark(concurrency: int) -> Load:
    return Load(concurrency=concurrency, prompt=7372.5, output=921.5)


CUTS = st.sampled_from(WORLDS)
POOLS = st.tuples(CUTS, st.integers(1, 4), st.sampled_from([1, 8, 64, 256]))
UNIFIED = st.tuples(POOLS)
SPLIT = st.tuples(POOLS, POOLS).filter(lambda pools: pools[0][0][:2] == pools[1][0][:2])
DEPLOYMENTS: st.SearchStrategy[Deployment] = st.one_of(UNIFIED, SPLIT)
LOADS = st.builds(
    Load,
    concurrency=st.integers(1, 1000),
    prompt=st.sampled_from([100.0, 1024.5, 7372.5, 30_000.0]),
    output=st.sampled_from([10.0, 100.0, 921.5]),
)

# ---- definitions


@FEW
@given(DEPLOYMENTS, LOADS)
def test_requests_in_flight_are_their_rate_times_their_stay(pools: Deployment, load: Load) -> None:
    # Little's law
    state = steady(pools, load)
    assert state.requests_per_s * state.e2e == pytest.approx(load.concurrency, rel=1e-6)


@FEW
@given(DEPLOYMENTS, LOADS)
def test_a_request_takes_its_first_token_and_then_the_others(pools: Deployment, load: Load) -> None:
    state = steady(pools, load)
    assert state.e2e == pytest.approx(state.ttft + state.tpot * (load.output - 1), rel=1e-12)
    decoding_each = state.tpot * (load.output - 1)
    assert state.decoding == pytest.approx(state.requests_per_s * decoding_each, rel=1e-9)


@FEW
@given(DEPLOYMENTS, LOADS)
def test_rates_are_over_all_chips(pools: Deployment, load: Load) -> None:
    state = steady(pools, load)
    chips = sum(count * world[2] * world[4] for world, count, _ in pools)
    assert state.chips == chips
    tokens = state.requests_per_s * (load.prompt + load.output)
    assert state.tokens_per_s_per_chip == pytest.approx(tokens / chips)


@FEW
@given(CUTS, LOADS, st.integers(2, 8))
def test_replicas_do_alike_with_an_equal_share_each(world: World, load: Load, many: int) -> None:
    one = steady(((world, 1, 64),), load)
    all_of_them = replace(load, concurrency=many * load.concurrency)
    together = steady(((world, many, 64),), all_of_them)
    assert together.requests_per_s == pytest.approx(many * one.requests_per_s)
    assert (together.tpot, together.ttft) == pytest.approx((one.tpot, one.ttft))
    assert together.watts_per_chip == pytest.approx(one.watts_per_chip)


@FEW
@given(CUTS, st.integers(1, 8), st.integers(0, 8))
def test_replicas_without_a_request_add_nothing_and_idle(
    world: World, busy: int, idle: int
) -> None:
    load = benchmark(busy)
    some, more = (steady(((world, count, 64),), load) for count in (busy, busy + idle))
    assert more.requests_per_s == pytest.approx(some.requests_per_s)
    power = worker(world, 64, 2112).system.chip.power.idle
    watts = busy * some.watts_per_chip + idle * power
    assert (busy + idle) * more.watts_per_chip == pytest.approx(watts)


# ---- limits


@FEW
@given(DEPLOYMENTS, LOADS)
def test_no_more_decode_than_there_are_requests_or_slots(pools: Deployment, load: Load) -> None:
    state = steady(pools, load)
    world, count, slots = pools[-1]
    assert state.decoding <= load.concurrency * (1 + 1e-9)
    assert state.decoding <= count * world[4] * slots * (1 + 1e-9)


@FEW
@given(st.integers(2, 64), st.sampled_from([64, 512]))
def test_no_more_decode_than_the_caches_hold(blocks: int, concurrency: int) -> None:
    world: World = ("gpt-oss-120b", "jalapeno-rack", 1, 1, 1)
    price = worker(world, 256, 4096)
    held = blocks * price.room.blocks_for(7372 + 922 + 1)
    tight = replace(price, room=replace(price.room, blocks=held))
    state = estimate((tight,), (1,), benchmark(concurrency))
    assert state.decoding <= blocks * (1 + 1e-9)
    roomy = estimate((price,), (1,), benchmark(concurrency))
    assert state.requests_per_s <= roomy.requests_per_s * 1.1


@FEW
@given(SPLIT, LOADS)
def test_split_pools_do_no_more_than_prefill_or_slots_can(pools: Deployment, load: Load) -> None:
    state = steady(pools, load)
    (front, fronts, _), (back, backs, slots) = pools
    price = prices_of(pools)[0]
    alike = (chunk(0, int(load.prompt)),)
    if load.prompt <= 2048:
        whole = seconds_of(price.price(rows_of((alike,) * front[4], price.caps))[0])
        # the closed form rounds half a pair a token away
        assert state.requests_per_s * whole <= fronts * front[4] * (1 + 1 / load.prompt)
    room = backs * back[4] * slots / (state.tpot * (load.output - 1))
    assert state.requests_per_s <= room * (1 + 1e-9)


@FEW
@given(UNIFIED, LOADS)
def test_a_unified_pool_draws_between_idle_and_the_cap(pools: Deployment, load: Load) -> None:
    power = prices_of(pools)[0].system.chip.power
    assert power.idle <= steady(pools, load).watts_per_chip <= power.cap * (1 + 1e-9)


@FEW
@given(SPLIT, LOADS)
def test_split_pools_draw_no_more_than_the_cap(pools: Deployment, load: Load) -> None:
    power = prices_of(pools)[0].system.chip.power
    assert 0.0 < steady(pools, load).watts_per_chip <= power.cap * (1 + 1e-9)


def test_split_pools_that_hardly_work_draw_idle_power() -> None:
    world: World = ("gpt-oss-120b", "gb200-nvl72", 4, 4, 1)
    state = steady(((world, 3, 1), (world, 5, 8)), benchmark(1))
    assert state.watts_per_chip >= prices_of(((world, 1, 1),))[0].system.chip.power.idle


# ---- monotone


DELAYS = (
    "fabric.local.latency",
    "fabric.nvlink.latency",
    "issue_phase",
    "issue_layer_load",
    "host_step",
    "host_sequence",
    "all_reduce_latency",
    "all_to_all_latency",
    "first_token_delay",
    "transfer_latency",
)


def longer(world: World, name: str, factor: float) -> tuple[Change, ...]:
    """An override that lengthens a latency that this world has; none where it has not."""
    system, engine = facts_of(world)
    facts = {key: fact for key, fact in system.facts.items() if key.startswith("fabric.")}
    facts |= dict(engine.facts)
    if name not in facts:
        return ()
    value = facts[name].value
    assert isinstance(value, float)
    return ((name, render(value * factor + 1e-6, "s")),)


@FEW
@given(DEPLOYMENTS, LOADS, st.sampled_from(DELAYS), st.sampled_from([1.1, 2.0]))
def test_longer_latencies_never_bring_more_throughput(
    pools: Deployment, load: Load, name: str, factor: float
) -> None:
    before, after = (
        steady(pools, load, changes) for changes in ((), longer(pools[0][0], name, factor))
    )
    assert after.requests_per_s <= before.requests_per_s * (1 + 1e-5)


@FEW
@given(UNIFIED, LOADS, st.floats(1.0, 4.0))
def test_more_requests_never_lower_a_unified_pools_throughput_by_a_tenth(
    pools: Deployment, load: Load, more: float
) -> None:
    # chunks are whole: where more that decode leave less room for them there is one more a prompt
    many = replace(load, concurrency=int(load.concurrency * more) + 1)
    one, two = (steady(pools, each).requests_per_s for each in (load, many))
    assert two >= 0.9 * one


@FEW
@given(SPLIT, LOADS, st.floats(1.0, 4.0))
def test_more_requests_never_lower_split_pools_throughput(
    pools: Deployment, load: Load, more: float
) -> None:
    many = replace(load, concurrency=int(load.concurrency * more) + 1)
    one, two = (steady(pools, each).requests_per_s for each in (load, many))
    assert two >= one * (1 - 1e-3)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_beyond_the_slots_more_requests_only_wait(world: World) -> None:
    slots = 8 * world[4]
    full = [steady(((world, 1, 8),), benchmark(each * slots)) for each in (8, 16, 32)]
    for one, two in pairwise(full):
        assert two.requests_per_s == pytest.approx(one.requests_per_s, rel=0.05)
        assert two.ttft > 1.9 * one.ttft


# ---- one request alone


def alone(world: World) -> tuple[float, float]:
    """(seconds of a prompt of 2,000 tokens, of a token at the mean context of 200 after it)."""
    price = worker(world, 8, 8192)
    idle: Sequences = ((),) * (world[4] - 1)
    prompt, token = (
        seconds_of(price.price(rows_of(((item,), *idle), price.caps))[0])
        for item in (chunk(0, 2000), decoding(2000 + 100 - 1))
    )
    return prompt, token


ONE = Load(concurrency=1, prompt=2000.0, output=200.0)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_one_request_alone_waits_for_its_own_prompt(world: World) -> None:
    price = worker(world, 8, 8192)
    state = estimate((price,), (1,), ONE)
    # the closed form rounds half a pair a token away
    expected = price.engine.first_token_delay + alone(world)[0]
    assert state.ttft == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_one_request_alone_takes_its_tokens_uninterrupted(world: World) -> None:
    state = estimate((worker(world, 8, 8192),), (1,), ONE)
    assert state.tpot == pytest.approx(alone(world)[1], rel=1e-6)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_so_it_does_in_a_decode_pool(world: World) -> None:
    price = worker(world, 8, 8192)
    state = estimate((price, price), (1, 1), ONE)
    assert state.tpot == pytest.approx(alone(world)[1], rel=1e-9)
    if world[4] > 1:  # a prefill worker's ranks are taken to have a prompt each
        assert state.ttft > alone(world)[0]
        return
    engine, level = price.engine, price.system.level(2 * price.plan.chips)
    cache = 2000 * price.room.token_bytes
    moved = level.latency + cache / (level.bandwidth * engine.transfer_efficiency)
    delay = engine.first_token_delay + engine.transfer_latency + moved
    assert state.ttft == pytest.approx(delay + alone(world)[0], rel=1e-3)


def test_answers_of_one_token_have_no_steady_state_of_decode() -> None:
    with pytest.raises(BadScenario, match=r"more than one token of answer .* output=1: simulate"):
        Load(concurrency=1, prompt=2000.0, output=1.0)


# ---- what is no deployment


def test_pools_are_one_or_two() -> None:
    price = worker(WORLDS[0], 8, 64)
    for prices in ((), (price,) * 3):
        with pytest.raises(BadPlan) as caught:
            estimate(prices, (1,) * len(prices), benchmark(1))
        assert str(caught.value) == f"one unified pool or two split ones, not {len(prices)}"
