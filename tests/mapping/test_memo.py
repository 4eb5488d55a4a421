"""What a price remembers, and several prices in one set of arrays, change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from jalapeno.mapping import Memo, StepArrays, StepPrice, memo_for, stack
from jalapeno.mapping.outputs import ATTENTION, N_OUTPUTS, WORKER_TOKENS, Array
from jalapeno.mapping.pricing import price_rows
from tests.mapping.worlds import (
    FEW,
    TOGETHER,
    WORLDS,
    Sequences,
    World,
    chunk,
    compiled,
    decoding,
    growth_of,
    rows_of,
    steps,
)

MEMOS = {world: memo_for([compiled(world)], running=256) for world in WORLDS}
"""Kept through all examples, so that later ones meet what earlier ones left."""

Priced = tuple[Array, Array, int]


def priced(
    arrays: StepArrays, memo: Memo, which: int, sequences: Sequences, price: StepPrice
) -> Priced:
    """What the simulator's call makes of a batch."""
    first, slope = np.full(N_OUTPUTS, np.nan), np.full(N_OUTPUTS, np.nan)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    hold = price_rows(arrays, memo, which, rows, growth, first, slope)
    return first, slope, hold


def fresh(world: World) -> Memo:
    return memo_for([compiled(world)], running=256)


def same(a: Priced, b: Priced) -> bool:
    return np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) and a[2] == b[2]


# ---- memory


@settings(max_examples=60)
@given(steps())
def test_what_is_remembered_is_what_was_priced(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    old = priced(price.arrays, MEMOS[world], 0, sequences, price)
    new = priced(price.arrays, fresh(world), 0, sequences, price)
    assert same(old, new)
    assert same(old, priced(price.arrays, MEMOS[world], 0, sequences, price))


@FEW
@given(steps())
def test_with_and_without_memory_a_step_costs_the_same(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    remembered = priced(price.arrays, MEMOS[world], 0, sequences, price)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    assert same(remembered, price.price(rows, growth))


def test_with_and_without_memory_a_step_costs_the_same_to_the_last_digit() -> None:
    world = ("gpt-oss-120b", "jalapeno-rack", 8, 1, 1)
    price, memo = compiled(world), fresh(("gpt-oss-120b", "jalapeno-rack", 8, 1, 1))
    for many in range(1, 257):
        sequences: Sequences = ((decoding(3000),) * many,)
        remembered = priced(price.arrays, memo, 0, sequences, price)
        rows = rows_of(sequences, price.caps)
        assert same(remembered, price.price(rows, growth_of(sequences, price.caps)))


def test_counts_beyond_the_memory_are_priced_all_the_same() -> None:
    world = WORLDS[0]
    price = compiled(world)
    small = memo_for([price], running=2)
    for sequences in (((decoding(900),) * 7,), ((chunk(0, 8192), chunk(50, 8192)),)):
        beyond = priced(price.arrays, small, 0, sequences, price)
        assert same(beyond, priced(price.arrays, MEMOS[world], 0, sequences, price))


def test_a_memo_has_a_line_for_every_count_a_rank_may_have() -> None:
    price = compiled(("gpt-oss-120b", "gb200-nvl72", 1, 2, 2))
    memo = memo_for([price], running=256)
    tokens, decode, sampled, worker, together = memo.length[0]
    assert tokens == price.plan.max_tokens + 1
    assert decode == sampled == 257
    assert worker == 2 * price.plan.max_tokens + 1
    assert together == 2 * 256 + 1
    assert memo.length.shape == (1, ATTENTION)
    assert len(memo.values) == memo.length.sum()
    assert memo.ranks.shape == (2, 2)
    assert np.isnan(memo.values).all()


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_only_experts_of_several_ranks_are_the_workers(world: World) -> None:
    start = compiled(world).arrays.start[0]
    shared = start[ATTENTION] - start[WORKER_TOKENS]
    assert shared == (1 if world[4] > 1 else 0)
    assert start[ATTENTION + 1] == len(compiled(world).arrays.ops)


def test_lines_of_several_prices_do_not_overlap() -> None:
    prices = [compiled(world) for world in WORLDS[:3]]
    memo = memo_for(prices, running=64)
    ends = (memo.start + memo.length).ravel()
    assert memo.start.ravel()[0] == 0
    assert np.array_equal(memo.start.ravel()[1:], ends[:-1])
    assert ends[-1] == len(memo.values)
    assert len(memo.ranks) == 1


# ---- stacked


@settings(max_examples=60)
@given(steps())
def test_stacked_prices_are_what_each_is_alone(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    alone = priced(price.arrays, MEMOS[world], 0, sequences, price)
    together = priced(STACKED, SHARED, WORLDS.index(world), sequences, price)
    assert same(alone, together)


STACKED = stack([compiled(world) for world in WORLDS])
SHARED = memo_for([compiled(world) for world in WORLDS], running=256)


def test_a_stack_holds_every_operator_once() -> None:
    prices = [compiled(world) for world in WORLDS]
    assert len(STACKED.ops) == len(STACKED.places) == sum(len(p.arrays.ops) for p in prices)
    assert STACKED.start.shape == (len(WORLDS), ATTENTION + 2)
    for which, price in enumerate(prices):
        begin, end = STACKED.start[which, 0], STACKED.start[which, -1]
        assert np.array_equal(STACKED.ops[begin:end], price.arrays.ops)
        assert np.array_equal(STACKED.scalars[which], price.arrays.scalars[0])


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_a_stack_of_one_is_the_price_itself(world: World) -> None:
    for mine, stacked in zip(compiled(world).arrays, stack([compiled(world)]), strict=True):
        assert np.array_equal(mine, stacked)


def test_the_widest_worker_sets_the_scratch() -> None:
    widest = max(world[4] for world in TOGETHER)
    assert SHARED.ranks.shape == (widest, 2)


# ---- nothing is written but the answer


@FEW
@given(steps())
def test_pricing_changes_neither_the_batch_nor_the_price(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    kept = [rows.copy(), growth.copy(), *(each.copy() for each in price.arrays)]
    price.price(rows, growth)
    for before, after in zip(kept, [rows, growth, *price.arrays], strict=True):
        assert np.array_equal(before, after)
