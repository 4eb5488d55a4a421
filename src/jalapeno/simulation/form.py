"""Forming a step: who gets which chunk, what it costs, how long it holds."""

from __future__ import annotations

from jalapeno.cost import PARTS
from jalapeno.jit import compiled
from jalapeno.mapping import batch
from jalapeno.mapping.outputs import N_OUTPUTS
from jalapeno.mapping.plan import GRAIN
from jalapeno.mapping.pricing import price_rows
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import pool_of
from jalapeno.simulation.clock import beyond, elapsed, round_picoseconds
from jalapeno.simulation.decode import next_knot
from jalapeno.simulation.heap import replay
from jalapeno.simulation.joining import seat_all
from jalapeno.simulation.state import State

N_PARTS = len(PARTS)


@compiled
def share_budget(state: State, rank: int, budget: int, row: int) -> int:
    """Give prompts of *rank* chunks of the *budget*, first come first served, into the row.

    Returns the steps for which the same chunks can repeat: more than one only where a single
    prompt takes the whole budget, is past every context cap and keeps at least one token.
    """
    requests, sums, grow = state.seats.requests, state.rows[row], state.growth[row]
    request = state.seats.ranks[rank, c.R_PREFILL_HEAD]
    repeats, left = c.NEVER, budget
    while request != c.NOBODY and left > 0:
        chunk = min(requests[request, c.LEFT], left)
        whole = requests[request, c.PROMPT] + requests[request, c.MADE]
        cached = whole - requests[request, c.LEFT]
        requests[request, c.CHUNK] = chunk
        left -= chunk
        add_chunk(state, row, cached, chunk)
        repeats = 1
        if chunk == requests[request, c.LEFT]:
            sums[batch.SAMPLED] += 1.0
        elif chunk == budget and (len(state.seats.caps) == 0 or cached >= state.seats.caps[-1]):
            repeats = (requests[request, c.LEFT] - 1) // chunk
            if repeats > 1:
                grow[batch.column(0, batch.PREFILL_PAIRS)] = float(chunk) * chunk
                grow[batch.column(0, batch.PREFILL_READS)] = chunk
        request = requests[request, c.NEXT]
    return int(repeats)


@compiled
def add_chunk(state: State, row: int, cached: int, chunk: int) -> None:
    """Add *chunk* prompt tokens on *cached* ones to the sums of the row."""
    sums = state.rows[row]
    sums[batch.TOKENS] += chunk
    sums[batch.PREFILL] += chunk
    for index in range(1 + len(state.seats.caps)):
        cap = batch.UNCAPPED if index == 0 else state.seats.caps[index - 1]
        at = batch.FIRST_CAP + batch.PER_CAP * index
        sums[at + batch.PREFILL_PAIRS] += batch.capped_pairs(cached, chunk, cap)
        sums[at + batch.PREFILL_READS] += chunk + min(cached, cap)


@compiled
def add_decode(state: State, rank: int, row: int) -> None:
    """The sums of *rank*'s decode batch, and how they grow, into the row.

    Contexts are mean values: they grow evenly by what a step gives on the mean.
    """
    ranks, sums, grow = state.seats.ranks, state.rows[row], state.growth[row]
    sums[:] = 0.0
    grow[:] = 0.0
    decoding = float(ranks[rank, c.R_DECODING])
    pool = pool_of(state.seats, rank)
    queries = float(state.seats.pools[pool, c.P_QUERIES])
    each = state.seats.pools[pool, c.P_YIELDED] / GRAIN
    ahead = ranks[rank, c.R_REST] / GRAIN
    sums[batch.TOKENS] = decoding * queries
    sums[batch.DECODE] = decoding
    sums[batch.SAMPLED] = decoding * queries
    at = batch.FIRST_CAP + batch.DECODE_READS
    sums[at] = ranks[rank, c.R_READS] + decoding * (ahead + 0.5 * (queries - 1.0))
    grow[at] = decoding * each
    for cap in range(len(state.seats.caps)):
        at += batch.PER_CAP
        below = state.seats.capped[rank, cap, 1]
        sums[at] = state.seats.capped[rank, cap, 0] + below * ahead
        grow[at] = below * each
    for column in range(len(sums)):
        state.alone[row, column] = sums[column]


@compiled
def start_step(state: State, worker: int) -> None:
    """Form the next segment of *worker* and schedule its end, or let it idle."""
    workers, pools, ranks = state.seats.workers, state.seats.pools, state.seats.ranks
    pool = workers[worker, c.W_POOL]
    many, first_rank = pools[pool, c.P_RANKS_WORKER], workers[worker, c.W_FIRST_RANK]
    seat_all(state.seats, worker)
    steps, decoding, prefill, sampled = c.NEVER, 0, 0, 0
    for row in range(many):
        rank = first_rank + row
        add_decode(state, rank, row)
        brought = ranks[rank, c.R_DECODING] * pools[pool, c.P_QUERIES]
        budget = pools[pool, c.P_MAX_TOKENS] - brought
        steps = min(steps, share_budget(state, rank, budget, row), next_knot(state.seats, rank))
        decoding += ranks[rank, c.R_DECODING]
        prefill += int(state.rows[row, batch.PREFILL])
        sampled += int(state.rows[row, batch.SAMPLED]) - (brought - ranks[rank, c.R_DECODING])
    workers[worker, c.W_DECODING], workers[worker, c.W_PREFILL] = decoding, prefill
    workers[worker, c.W_SAMPLED] = sampled
    if decoding + prefill == 0:
        workers[worker, c.W_TIME] = c.NEVER
        replay(state.seats.tree, workers, worker)
        return
    price_step(state, worker, steps)


@compiled
def price_step(state: State, worker: int, steps: int) -> None:
    """Price the formed step with and without its prefill; schedule the end of the segment.

    Each part is rounded to picoseconds once; a step lasts the sum of its parts.
    """
    workers, values = state.seats.workers, state.values
    pool = workers[worker, c.W_POOL]
    which, many = state.seats.pools[pool, c.P_PRICE], state.seats.pools[pool, c.P_RANKS_WORKER]
    rows, growth = state.rows[:many], state.growth[:many]
    hold = price_rows(state.prices, state.memo, which, rows, growth, values[0], values[1])
    parts = state.parts[worker]
    seconds, grown = 0, 0
    first, growing = values[0, :N_PARTS].sum(), values[1, :N_PARTS].sum()
    if beyond(state.seats.clock[c.C_NOW], first, growing, min(steps, hold)):
        now = state.seats.clock[c.C_NOW]
        workers[worker, c.W_START], workers[worker, c.W_STEPS] = now, 1
        workers[worker, c.W_SECONDS], workers[worker, c.W_GROWTH] = c.LAST - now, 0
        end_at(state, worker, c.LAST)
        return
    for part in range(N_PARTS):
        parts[part] = round_picoseconds(values[0, part])
        parts[N_PARTS + part] = round_picoseconds(values[1, part])
        seconds += parts[part]
        grown += parts[N_PARTS + part]
    alone, alone_growth = seconds, grown
    if workers[worker, c.W_PREFILL] > 0:
        alone, alone_growth = 0, 0
        if workers[worker, c.W_DECODING] > 0:
            clear_prefill_growth(state, many)
            also = price_rows(
                state.prices, state.memo, which, state.alone[:many], growth, values[2], values[3]
            )
            hold = min(hold, also)
            alone = round_picoseconds(values[2, :N_PARTS].sum())
            alone_growth = round_picoseconds(values[3, :N_PARTS].sum())
    steps = min(steps, hold)
    workers[worker, c.W_START] = state.seats.clock[c.C_NOW]
    workers[worker, c.W_STEPS] = steps
    workers[worker, c.W_SECONDS], workers[worker, c.W_GROWTH] = seconds, grown
    workers[worker, c.W_DECODE_SECONDS] = alone
    workers[worker, c.W_DECODE_GROWTH] = alone_growth
    for output in range(N_OUTPUTS):
        state.running[worker, output] = values[0, output]
        state.running[worker, N_OUTPUTS + output] = values[1, output]
    end_at(state, worker, state.seats.clock[c.C_NOW] + elapsed(seconds, grown, steps))


@compiled
def end_at(state: State, worker: int, time: int) -> None:
    """The segment of *worker* ends at *time*."""
    workers = state.seats.workers
    workers[worker, c.W_TIME] = time
    workers[worker, c.W_EVENT] = c.STEP_END
    replay(state.seats.tree, workers, worker)


@compiled
def clear_prefill_growth(state: State, many: int) -> None:
    """Keep the growth of decode alone (the price with prefill has been taken)."""
    for row in range(many):
        state.growth[row, batch.FIRST_CAP + batch.PREFILL_PAIRS] = 0.0
        state.growth[row, batch.FIRST_CAP + batch.PREFILL_READS] = 0.0
