"""Ending a step: progress, tokens, finished prompts and answers, and the segment that was."""

from __future__ import annotations

from jalapeno.cost import PARTS
from jalapeno.jit import compiled
from jalapeno.mapping.outputs import BUSY, N_OUTPUTS
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import blocks_in_use, growth, preempts
from jalapeno.simulation.clock import elapsed
from jalapeno.simulation.decode import begin_answer, move_on
from jalapeno.simulation.heap import replay
from jalapeno.simulation.ledger import CLOSE, charge_chunks, charge_prompt, keep_books
from jalapeno.simulation.lists import take_first
from jalapeno.simulation.pauses import note_late
from jalapeno.simulation.preempt import resume_answer, take_back
from jalapeno.simulation.seat import enter, offer
from jalapeno.simulation.state import Seats, State

N_PARTS = len(PARTS)


@compiled
def end_step(state: State, worker: int) -> None:
    """The running segment of *worker* ends now: tokens, finished prompts and answers, books."""
    seats, workers = state.seats, state.seats.workers
    pool, first = workers[worker, c.W_POOL], workers[worker, c.W_FIRST_RANK]
    ranks = range(first, first + seats.pools[pool, c.P_RANKS_WORKER])
    steps, prefill = workers[worker, c.W_STEPS], workers[worker, c.W_PREFILL]
    if preempts(seats, pool):
        for rank in ranks:
            grown = growth(seats, rank, steps)
            seats.ranks[rank, c.R_FREE] -= grown
            seats.ranks[rank, c.R_TAKEN] += grown
    keep_books(seats, worker, state.parts[worker])
    written = seats.clock[c.C_SEGMENTS]
    write_segment(state, worker, blocks_in_use(seats, worker))
    spent = elapsed(workers[worker, c.W_SECONDS], workers[worker, c.W_GROWTH], steps) - elapsed(
        workers[worker, c.W_DECODE_SECONDS], workers[worker, c.W_DECODE_GROWTH], steps
    )
    workers[worker, c.W_TIME] = seats.clock[c.C_NOW]
    workers[worker, c.W_EVENT] = c.STEP_START
    replay(seats.tree, workers, worker)
    for rank in ranks:
        if prefill > 0:
            charge_chunks(seats, rank, steps, spent, prefill)
        if seats.ranks[rank, c.R_LATE] > 0:
            note_late(seats, rank)
        state.segments[written, c.S_TOKENS] += move_on(seats, rank, steps)
        if prefill > 0:
            close_prompts(seats, rank)
    if preempts(seats, pool):
        for rank in ranks:
            take_back(seats, rank)
    offer(seats, worker)


@compiled
def close_prompts(seats: Seats, rank: int) -> None:
    """Prompts of *rank* that are computed: their answers begin here, or go on, or elsewhere."""
    requests, ranks = seats.requests, seats.ranks
    worker = ranks[rank, c.R_WORKER]
    role = seats.pools[seats.workers[worker, c.W_POOL], c.P_ROLE]
    while (
        ranks[rank, c.R_PREFILL_HEAD] != c.NOBODY
        and requests[ranks[rank, c.R_PREFILL_HEAD], c.LEFT] == 0
    ):
        request = take_first(requests, ranks, rank, c.R_PREFILL_HEAD)
        if requests[request, c.FIRST] != c.NOBODY:
            resume_answer(seats, rank, request)
            continue
        requests[request, c.PREFILLED] = seats.clock[c.C_NOW]
        charge_prompt(seats, worker, request, CLOSE)
        if role == c.UNIFIED:
            begin_answer(seats, rank, request)
        else:
            ranks[rank, c.R_RUNNING] -= 1
            seats.workers[worker, c.W_BOUND] -= 1
            enter(seats, c.ANSWER, request)


@compiled
def write_segment(state: State, worker: int, blocks: int) -> None:
    """Write the segment that ends now into the buffer."""
    workers, at = state.seats.workers, state.seats.clock[c.C_SEGMENTS]
    row = state.segments[at]
    row[0], row[1], row[2] = worker, workers[worker, c.W_START], workers[worker, c.W_STEPS]
    row[3], row[4] = workers[worker, c.W_DECODING], workers[worker, c.W_PREFILL]
    row[5] = workers[worker, c.W_SAMPLED]
    row[6] = workers[worker, c.W_START] - workers[worker, c.W_IDLE_SINCE]
    reads = 0
    pool = workers[worker, c.W_POOL]
    for offset in range(state.seats.pools[pool, c.P_RANKS_WORKER]):
        reads += state.seats.ranks[workers[worker, c.W_FIRST_RANK] + offset, c.R_READS]
    row[7], row[8], row[c.S_TOKENS] = reads, blocks, 0
    row[10], row[11] = workers[worker, c.W_DECODE_SECONDS], workers[worker, c.W_DECODE_GROWTH]
    for part in range(N_PARTS):
        row[c.S_PARTS + part] = state.parts[worker, part]
        row[c.S_GROWTHS + part] = state.parts[worker, N_PARTS + part]
    energies, running = state.energies[at], state.running[worker]
    half = N_OUTPUTS - BUSY
    for index in range(half):
        energies[index] = running[BUSY + index]
        energies[half + index] = running[N_OUTPUTS + BUSY + index]
    state.seats.clock[c.C_SEGMENTS] += 1
    workers[worker, c.W_IDLE_SINCE] = state.seats.clock[c.C_NOW]
