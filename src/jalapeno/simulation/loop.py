"""The loop: from event to event until a time, resumable at any."""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.clock import elapsed
from jalapeno.simulation.finish import (
    advance_decoding,
    blocks_in_use,
    charge_chunks,
    close_prompt,
    keep_books,
    write_segment,
)
from jalapeno.simulation.form import begin_decoding, start_step
from jalapeno.simulation.heap import pop_pair, replay
from jalapeno.simulation.seat import append, dispatch, enqueue, take_first, wake
from jalapeno.simulation.state import State

FINISHED, PAUSED, FULL = range(3)
"""Nothing is left to do; the time is reached; the segment buffer must be emptied."""


@compiled
def next_event(state: State) -> tuple[int, int]:
    """(time, event) of what happens next; (NEVER, -1) when nothing will."""
    clock, workers = state.clock, state.workers
    first = state.tree[1]
    time, event = workers[first, c.W_TIME], workers[first, c.W_EVENT]
    if time == c.NEVER:
        event = -1
    if clock[c.C_TRANSFERS] > 0:
        moved = state.transfers[0, 0]
        if moved < time or (moved == time and event > c.TRANSFER_DONE):
            time, event = moved, c.TRANSFER_DONE
    if clock[c.C_ARRIVED] < clock[c.C_SENT]:
        ready = state.requests[clock[c.C_ARRIVED], c.READY]
        if ready < time or (ready == time and event > c.ARRIVE):
            time, event = ready, c.ARRIVE
    return int(time), int(event)


@compiled
def advance(state: State, until: int) -> int:
    """Let everything up to and including *until* ps happen; FINISHED, PAUSED or FULL.

    Calling it again goes on where it stopped; where it is cut makes no difference to a run.
    """
    clock = state.clock
    while True:
        time, event = next_event(state)
        if event < 0:
            return FINISHED
        if time > until:
            return PAUSED
        if event == c.STEP_END and clock[c.C_SEGMENTS] == len(state.segments):
            return FULL
        clock[c.C_NOW] = time
        if event == c.STEP_END:
            end_step(state, state.tree[1])
        elif event == c.STEP_START:
            start_step(state, state.tree[1])
        elif event == c.ARRIVE:
            arrive(state)
        else:
            end_transfer(state)


@compiled
def arrive(state: State) -> None:
    """The next request reaches the scheduler and queues at the first pool."""
    request = state.clock[c.C_ARRIVED]
    state.clock[c.C_ARRIVED] += 1
    state.requests[request, c.STATUS] = c.QUEUED
    enqueue(state, 0, request)
    dispatch(state, 0)


@compiled
def end_transfer(state: State) -> None:
    """A KV cache has moved: its blocks at the prefill rank are free, its decode rank takes it."""
    requests, ranks = state.requests, state.ranks
    request = pop_pair(state.transfers, state.clock[c.C_TRANSFERS])
    state.clock[c.C_TRANSFERS] -= 1
    requests[request, c.MOVED] = state.clock[c.C_NOW]
    source, rank = requests[request, c.RANK], requests[request, c.DECODE_RANK]
    ranks[source, c.R_FREE] += requests[request, c.BLOCKS]
    append(requests, ranks, rank, c.R_ASSIGNED_HEAD, request)
    wake(state, ranks[rank, c.R_WORKER])
    dispatch(state, state.workers[ranks[source, c.R_WORKER], c.W_POOL])


@compiled
def end_step(state: State, worker: int) -> None:
    """The running segment of *worker* ends now: tokens, finished prompts and answers, books."""
    workers, ranks, requests = state.workers, state.ranks, state.requests
    pool, first = workers[worker, c.W_POOL], workers[worker, c.W_FIRST_RANK]
    steps, prefill = workers[worker, c.W_STEPS], workers[worker, c.W_PREFILL]
    keep_books(state, worker)
    write_segment(state, worker, blocks_in_use(state, worker, state.capacity[pool]))
    spent = elapsed(workers[worker, c.W_SECONDS], workers[worker, c.W_GROWTH], steps) - elapsed(
        workers[worker, c.W_DECODE_SECONDS], workers[worker, c.W_DECODE_GROWTH], steps
    )
    handed = False
    for rank in range(first, first + state.pools[pool, c.P_RANKS_WORKER]):
        if prefill > 0:
            charge_chunks(state, rank, steps, spent, prefill)
        advance_decoding(state, rank, steps)
        while (
            ranks[rank, c.R_PREFILL_HEAD] != c.NOBODY
            and requests[ranks[rank, c.R_PREFILL_HEAD], c.LEFT] == 0
        ):
            request = take_first(requests, ranks, rank, c.R_PREFILL_HEAD)
            close_prompt(state, rank, request)
            if state.pools[pool, c.P_ROLE] == c.UNIFIED:
                begin_decoding(state, rank, request)
            else:
                ranks[rank, c.R_RUNNING] -= 1
                enqueue(state, pool + 1, request)
                handed = True
    workers[worker, c.W_TIME] = state.clock[c.C_NOW]
    workers[worker, c.W_EVENT] = c.STEP_START
    replay(state.tree, workers, worker)
    dispatch(state, pool)
    if handed:
        dispatch(state, pool + 1)
