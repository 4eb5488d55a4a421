"""Blocks by phase against blocks counted one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.simulation import Preemption, Role, Run, scenario_of, set_fact, simulate, start
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import blocks_for, blocks_to_seat, growth, has_room, steps_left
from jalapeno.simulation.decode import join
from tests.simulation.scenes import Scene, closed, plan


def run_of(block_tokens: int, blocks: int = 500, requests: int = 12) -> Run:
    """A run of a rank that preempts, before anything has happened."""
    pools = ((Role.UNIFIED, 1, plan("TP1", max_running=16, max_tokens=64)),)
    scene = Scene(
        pools=pools,
        traffic=closed(requests, requests, 40, 200, ratio=0.01),
        block_tokens=block_tokens,
        blocks=blocks,
        preemption=Preemption.RECOMPUTE,
    )
    return start(scene.scenario())


def decoding(run: Run, counter: int, contexts: list[int]) -> None:
    """Let sequences of these *contexts* decode on the rank, which has done *counter* steps."""
    seats = run.state.seats
    seats.ranks[0, c.R_COUNTER] = counter
    for request, context in enumerate(contexts):
        seats.requests[request, c.PROMPT], seats.requests[request, c.MADE] = context - 1, 1
        seats.requests[request, c.OUTPUT] = 10**6
        join(seats, 0, request)


def counted(contexts: list[int], steps: int, block: int) -> int:
    """Blocks that the sequences take in *steps* steps, one by one."""
    return sum(-(-(context + steps) // block) - -(-context // block) for context in contexts)


sequences = st.lists(st.integers(2, 300), min_size=1, max_size=12)
sizes = st.sampled_from((1, 2, 3, 16, 64))


@given(sizes, st.integers(0, 1000), sequences, st.integers(0, 400))
def test_growth_is_what_the_sequences_take(
    block: int, counter: int, contexts: list[int], steps: int
) -> None:
    run = run_of(block)
    decoding(run, counter, contexts)
    assert growth(run.state.seats, 0, steps) == counted(contexts, steps, block)


@given(sizes, st.integers(0, 1000), sequences, st.integers(0, 60))
def test_free_blocks_last_for_so_many_steps_and_no_more(
    block: int, counter: int, contexts: list[int], free: int
) -> None:
    run = run_of(block)
    decoding(run, counter, contexts)
    run.state.seats.ranks[0, c.R_FREE] = free
    steps = steps_left(run.state.seats, 0)
    assert counted(contexts, steps, block) <= free < counted(contexts, steps + 1, block)


def test_where_nobody_decodes_blocks_last_for_ever() -> None:
    seats = run_of(16).state.seats
    assert steps_left(seats, 0) == c.NEVER
    assert growth(seats, 0, 1000) == 0


@given(sizes, sequences, st.integers(0, 60), st.integers(0, 60))
def test_who_asks_for_blocks_leaves_those_of_the_next_step(
    block: int, contexts: list[int], free: int, wanted: int
) -> None:
    run = run_of(block)
    decoding(run, 0, contexts)
    run.state.seats.ranks[0, c.R_FREE] = free
    assert has_room(run.state.seats, 0, wanted) == (counted(contexts, 1, block) + wanted <= free)


@pytest.mark.parametrize("preemption", Preemption)
def test_what_a_seat_takes_depends_on_the_pool(preemption: Preemption) -> None:
    pools = ((Role.PREFILL, 1, plan("TP1")), (Role.DECODE, 1, plan("TP2")))
    scene = Scene(pools=pools, traffic=closed(1, 1, 160, 50), preemption=preemption)
    run = start(scene.scenario())
    there = run.prices[1].room
    assert blocks_to_seat(run.state.seats, 0, 0) == run.prices[0].room.blocks_for(160)
    kept = 210 if preemption is Preemption.NONE else 161
    assert blocks_to_seat(run.state.seats, 1, 0) == there.blocks_for(kept)
    (request,) = simulate(scene.scenario()).requests.to_dicts()
    assert request["decode_blocks"] == there.blocks_for(210)


@given(st.integers(0, 5000))
def test_blocks_of_a_length_are_those_of_its_room(tokens: int) -> None:
    run = run_of(16)
    assert blocks_for(run.state.seats, 0, tokens) == run.prices[0].room.blocks_for(tokens)


def test_pools_of_other_blocks_count_by_their_own() -> None:
    # the engines of two sites have blocks of their own size, and requests move between them
    pools = (
        (Role.PREFILL, 1, plan("TP1")),
        (Role.DECODE, 1, plan("TP1", system="gb300-nvl72")),
    )
    traffic = closed(20, 8, 200, 60, ratio=0.5)
    made = Scene(pools=pools, traffic=traffic, west=(1,), preemption=Preemption.SWAP).scenario()
    trees = dict(made.trees)
    set_fact(trees, "others.west.engine.block_tokens", "64")
    run = start(scenario_of(trees, made.pools, traffic))
    assert run.advance()
    requests = run.journal().requests
    here, there = (price.room for price in run.prices)
    assert (here.block_tokens, there.block_tokens) == (16, 64)
    for row in requests.iter_rows(named=True):
        assert row["blocks"] == here.blocks_for(row["prompt"])
        assert row["decode_blocks"] == there.blocks_for(row["prompt"] + row["output"])
