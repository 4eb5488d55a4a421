"""The pieces of the closed form: mean batches, stations, and the circulation between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.mapping import StepPrice
from jalapeno.mapping.batch import (
    DECODE,
    PREFILL,
    PREFILL_PAIRS,
    PREFILL_READS,
    SAMPLED,
    TOKENS,
    Rows,
    batch_row,
    column,
    columns,
)
from jalapeno.mapping.outputs import N_OUTPUTS
from jalapeno.mapping.steady import (
    Question,
    add_prompts,
    decode_at,
    fill_decode,
    prefill_at,
    split,
    unified,
    unified_at,
    waiting,
)
from jalapeno.mapping.step import forgetful
from tests.mapping.oracle import joules_of, seconds_of
from tests.mapping.worlds import (
    ALONE,
    FEW,
    TOGETHER,
    WORLDS,
    Sequences,
    World,
    chunk,
    compiled,
    decoding,
    rows_of,
)

CUTS = st.sampled_from(WORLDS)
PROMPTS = st.integers(200, 20_000)
EVEN = st.integers(5, 1000).map(lambda half: 2 * half)
"""Answers whose mean context is whole."""


def asked(price: StepPrice, prompt: float, output: float, budget: float = 2048.0) -> Question:
    """One plan under a load of these lengths."""
    shape = (price.plan.dp, columns(price.caps))
    rows, growth = np.zeros(shape), np.zeros(shape)
    first, slope = np.zeros(N_OUTPUTS), np.zeros(N_OUTPUTS)
    caps, memo = np.array(price.caps, dtype=np.int64), forgetful(price.plan.dp)
    return Question(price.arrays, memo, 0, caps, rows, growth, first, slope, prompt, output, budget)


def cost(price: StepPrice, rows: Rows) -> tuple[float, float]:
    """(seconds, joules) of a step."""
    first = price.price(rows)[0]
    return seconds_of(first), joules_of(first)


# ---- mean batches


@FEW
@given(CUTS, PROMPTS, EVEN, st.integers(1, 64), st.integers(1, 16))
def test_a_decode_batch_is_that_of_sequences_at_their_mean_context(
    world: World, prompt: int, output: int, each: int, busy: int
) -> None:
    price, busy = compiled(world), min(busy, world[4])
    ask = asked(price, prompt, output)
    ask.rows[:] = np.nan
    fill_decode(ask, busy, float(each))
    idle: Sequences = ((),) * (world[4] - busy)
    sequences = ((decoding(prompt + output // 2 - 1),) * each,) * busy + idle
    np.testing.assert_array_equal(ask.rows, rows_of(sequences, price.caps))


@FEW
@given(CUTS, st.integers(100, 2000), st.integers(0, 500))
def test_ranks_have_chunks_at_evenly_spread_places_of_a_prompt(
    world: World, size: int, apart: int
) -> None:
    # places apart, 3 apart, 5 apart ... of a prompt that has one place more at each end
    price, ranks = compiled(world), world[4]
    prompt = size + 2 * ranks * apart
    ask = asked(price, prompt, 100)
    fill_decode(ask, 0, 0.0)
    add_prompts(ask, ranks, float(size))
    for rank, row in enumerate(ask.rows):
        like = batch_row([chunk((2 * rank + 1) * apart, size, last=False)], price.caps)
        like[SAMPLED] = size / prompt
        # a sum is taken for an integral: half a pair a token less
        np.testing.assert_allclose(row, like, rtol=1 / size)
        assert row[TOKENS] == row[PREFILL] == size


@FEW
@given(CUTS, st.integers(100, 2000), st.integers(1, 12))
def test_together_they_are_the_mean_chunk_of_a_prompt(world: World, size: int, chunks: int) -> None:
    price = compiled(world)
    ask = asked(price, size * chunks, 100)
    fill_decode(ask, 0, 0.0)
    add_prompts(ask, world[4], float(size))
    rows = [
        batch_row([chunk(size * place, size, last=place == chunks - 1)], price.caps)
        for place in range(chunks)
    ]
    for what in (TOKENS, PREFILL, SAMPLED, column(0, PREFILL_PAIRS), column(0, PREFILL_READS)):
        mean = sum(row[what] for row in rows) / chunks
        assert ask.rows[:, what].mean() == pytest.approx(mean, rel=1 / size)


@FEW
@given(st.sampled_from(TOGETHER), st.integers(1, 16), st.integers(1, 16))
def test_prompts_go_on_top_of_the_first_ranks_and_leave_the_others(
    world: World, ranks: int, busy: int
) -> None:
    ranks, busy = min(ranks, world[4]), min(busy, world[4])
    ask = asked(compiled(world), 1000, 100)
    fill_decode(ask, busy, 3.0)
    before = ask.rows.copy()
    add_prompts(ask, ranks, 500.0)
    np.testing.assert_array_equal(ask.rows[ranks:], before[ranks:])
    np.testing.assert_array_equal(ask.rows[:ranks, TOKENS], before[:ranks, TOKENS] + 500.0)
    np.testing.assert_array_equal(ask.rows[:, DECODE], before[:, DECODE])


# ---- stations


@FEW
@given(st.floats(0.0, 5.0), st.floats(0.0, 1.0))
def test_an_arrival_finds_what_all_but_itself_leave_in_the_queue(
    load: float, others: float
) -> None:
    queue = waiting(load, others)
    if load * others < 1 - 1e-9:
        assert queue == pytest.approx(load * (1 + others * queue))
    else:
        assert queue == 1e9


@FEW
@given(st.integers(1, 4096), st.floats(0.0, 3.0))
def test_a_queue_that_all_customers_fit_in_is_not_overloaded(customers: int, load: float) -> None:
    queue = waiting(load, (customers - 1) / customers)
    assert (queue <= customers * (1 + 1e-9)) == (load <= 1 + 1e-9)


@FEW
@given(st.sampled_from(WORLDS), st.integers(1, 64), PROMPTS, EVEN)
def test_a_decode_worker_steps_as_its_price_says(
    world: World, each: int, prompt: int, output: int
) -> None:
    price = compiled(world)
    sequences: Sequences = ((decoding(prompt + output // 2 - 1),) * each,) * world[4]
    made = decode_at(asked(price, prompt, output), float(each * world[4]))
    assert made == pytest.approx(cost(price, rows_of(sequences, price.caps)), rel=1e-12)


@pytest.mark.parametrize("world", TOGETHER, ids=str)
def test_fewer_sequences_than_ranks_have_a_rank_each(world: World) -> None:
    price = compiled(world)
    for total in range(1, world[4]):
        idle: Sequences = ((),) * (world[4] - total)
        sequences = ((decoding(1049),),) * total + idle
        made = decode_at(asked(price, 1000, 100), float(total))
        assert made == pytest.approx(cost(price, rows_of(sequences, price.caps)), rel=1e-12)


@FEW
@given(st.sampled_from(ALONE), st.floats(0.0, 300.0), st.floats(0.0, 10.0))
def test_more_that_decode_never_step_faster(world: World, total: float, more: float) -> None:
    ask = asked(compiled(world), 1000, 100)
    one, two = (decode_at(ask, each) for each in (total, total + more))
    assert two[0] >= one[0] * (1 - 1e-12)
    assert two[1] >= one[1] * (1 - 1e-12)


def chunk_costs(price: StepPrice, size: int, chunks: int) -> list[tuple[float, float]]:
    """(seconds, joules) of a prompt's steps where all ranks take theirs in step."""
    return [
        cost(price, rows_of(((chunk(size * place, size, last),),) * price.plan.dp, price.caps))
        for place, last in ((place, place == chunks - 1) for place in range(chunks))
    ]


@FEW
@given(st.sampled_from(ALONE), st.integers(500, 4000), st.integers(1, 8))
def test_a_prefill_worker_takes_a_prompt_in_about_the_steps_of_its_chunks(
    world: World, size: int, chunks: int
) -> None:
    price = compiled(world)
    seconds, joules = prefill_at(asked(price, size * chunks, 100, budget=float(size)))
    slow = chunk_costs(price, size, chunks)
    assert seconds == pytest.approx(sum(each for each, _ in slow), rel=0.03)
    assert joules == pytest.approx(sum(each for _, each in slow), rel=0.03)


@FEW
@given(st.sampled_from(TOGETHER), st.integers(500, 4000), st.integers(1, 8))
def test_ranks_at_different_places_take_longer_than_in_step_and_less_than_all_at_the_end(
    world: World, size: int, chunks: int
) -> None:
    price = compiled(world)
    seconds, joules = prefill_at(asked(price, size * chunks, 100, budget=float(size)))
    slow = chunk_costs(price, size, chunks)
    assert 0.97 * sum(each for each, _ in slow) <= seconds <= chunks * slow[-1][0]
    assert 0.97 * sum(each for _, each in slow) <= joules <= chunks * slow[-1][1]


@FEW
@given(CUTS, st.integers(100, 8000), st.integers(1, 8192))
def test_a_smaller_budget_makes_more_chunks_and_never_a_shorter_prompt(
    world: World, prompt: int, budget: int
) -> None:
    # half the budget: twice the chunks, one at the least
    whole, halves = (
        prefill_at(asked(compiled(world), prompt, 100, budget=size))[0]
        for size in (float(budget), budget / 2)
    )
    assert halves >= whole * (1 - 1e-9)


# ---- circulation


@FEW
@given(CUTS, st.floats(1.0, 100.0), st.sampled_from([64.0, 512.0, 8192.0]))
def test_prompts_beside_them_never_make_others_decode_faster(
    world: World, each: float, room: float
) -> None:
    price = compiled(world)
    ask = asked(price, 3000, 300, each + room)
    rate, tpot, service, joules, share = unified_at(ask, each, world[4], 1.0)
    fill_decode(ask, world[4], each)
    alone = cost(price, ask.rows)
    assert tpot >= alone[0] * (1 - 1e-12)
    assert joules >= alone[1] * (1 - 1e-12)
    assert rate == pytest.approx(each / (299 * tpot))
    assert service > 0.0
    assert 0.0 < share <= 1.0


@FEW
@given(CUTS, st.floats(1.0, 200.0), st.floats(1.0, 200.0), st.floats(0.0, 1.0))
def test_a_unified_worker_accounts_for_every_request_in_flight(
    world: World, each: float, slots: float, delay: float
) -> None:
    ask = asked(compiled(world), 2000, 200, 1024.0)
    rate, tpot, ttft, _, decoding_now = unified(ask, each, world[4], slots, delay)
    assert 0.0 < decoding_now <= min(each, slots)
    assert rate * (ttft + 199 * tpot) == pytest.approx(each, rel=1e-9)
    assert ttft >= delay


PAIRS = st.tuples(CUTS, CUTS).filter(lambda pair: pair[0][0] == pair[1][0])
"""A prefill and a decode worker of one model."""


@FEW
@given(
    PAIRS,
    st.integers(1, 500),
    st.tuples(st.integers(1, 8), st.integers(1, 8), st.integers(1, 300)),
    st.floats(0.0, 1.0),
)
def test_split_pools_account_for_every_request_and_exceed_neither_pool(
    pair: tuple[World, World], flight: int, pools: tuple[int, int, int], delay: float
) -> None:
    front, back = (asked(compiled(world), 2000, 200) for world in pair)
    servers, workers, slots = (float(count) for count in pools)
    service = prefill_at(front)[0]
    rate, tpot, ttft, watts, decoding_now, busy = split(
        front, back, float(flight), servers, workers, slots, delay
    )
    assert busy == pytest.approx(rate * service / servers)
    assert rate * (ttft + 199 * tpot) == pytest.approx(flight, rel=1e-9)
    assert rate * service <= servers * (1 + 1e-6)
    assert rate * 199 * tpot == pytest.approx(decoding_now, rel=1e-9)
    assert decoding_now <= slots
    assert ttft >= (delay + service) * (1 - 1e-6)
    assert watts > 0.0
