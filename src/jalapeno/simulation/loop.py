"""The loop: from event to event until a time, resumable at any."""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import pool_of, preempts
from jalapeno.simulation.finish import end_step
from jalapeno.simulation.form import start_step
from jalapeno.simulation.heap import pop_pair
from jalapeno.simulation.lists import take_out
from jalapeno.simulation.ports import place_of, swap_time
from jalapeno.simulation.preempt import take_back
from jalapeno.simulation.seat import call, enter, offer
from jalapeno.simulation.state import BUFFER_PAUSES, Seats, State

FINISHED, PAUSED, FULL, OVER = range(4)
"""Nothing is left to do; the time is reached; a buffer must be emptied; the clock ends."""


@compiled
def next_event(seats: Seats) -> tuple[int, int]:
    """(time, event) of what happens next; (NEVER, -1) when nothing will."""
    clock, workers = seats.clock, seats.workers
    first = seats.tree[1]
    time, event = workers[first, c.W_TIME], workers[first, c.W_EVENT]
    if time == c.NEVER:
        event = -1
    if clock[c.C_COPIES] > 0:
        done = seats.copies[0, 0]
        if done < time or (done == time and event > c.COPY_DONE):
            time, event = done, c.COPY_DONE
    if clock[c.C_ARRIVED] < clock[c.C_SENT]:
        ready = seats.requests[clock[c.C_ARRIVED], c.READY]
        if ready < time or (ready == time and event > c.ARRIVE):
            time, event = ready, c.ARRIVE
    return int(time), int(event)


@compiled
def advance(state: State, until: int) -> int:
    """Let everything up to and including *until* ps happen; FINISHED, PAUSED, FULL or OVER.

    Calling it again goes on where it stopped; where it is cut makes no difference to a run.
    """
    clock = state.seats.clock
    while True:
        time, event = next_event(state.seats)
        if event < 0:
            return FINISHED
        if time > until:
            return PAUSED
        if time >= c.LAST:
            return OVER
        if event == c.STEP_END and (
            clock[c.C_SEGMENTS] == len(state.segments) or clock[c.C_PAUSES] >= BUFFER_PAUSES
        ):
            return FULL
        clock[c.C_NOW] = time
        if event == c.STEP_END:
            end_step(state, state.seats.tree[1])
        elif event == c.STEP_START:
            start_step(state, state.seats.tree[1])
        elif event == c.ARRIVE:
            arrive(state.seats)
        else:
            end_copy(state.seats)


@compiled
def arrive(seats: Seats) -> None:
    """The next request reaches the scheduler and comes to the first stage."""
    request = seats.clock[c.C_ARRIVED]
    seats.clock[c.C_ARRIVED] += 1
    seats.requests[request, c.STATUS] = c.QUEUED
    enter(seats, c.ENTRY, request)


@compiled
def end_copy(seats: Seats) -> None:
    """A KV cache has been copied: between ranks, or to or from the host of its own."""
    requests, ranks = seats.requests, seats.ranks
    request = pop_pair(seats.copies, seats.clock[c.C_COPIES])
    seats.clock[c.C_COPIES] -= 1
    rank, status = place_of(seats, request), requests[request, c.STATUS]
    if status == c.SWAPPING_OUT:
        requests[request, c.STATUS] = c.SWAPPED_OUT
        take_back(seats, rank)
        offer(seats, ranks[rank, c.R_WORKER])
        return
    pool = pool_of(seats, rank)
    if preempts(seats, pool):
        take_out(requests, ranks, rank, c.R_COMING_HEAD, request)
    call(seats, rank, request)
    if status == c.SWAPPING_IN:
        requests[request, c.STATUS] = c.SWAPPED_IN
        ranks[rank, c.R_HOST_ROOM] += swap_time(seats, pool, request)
    else:  # its blocks at the prefill rank are free
        requests[request, c.MOVED] = seats.clock[c.C_NOW]
        source = requests[request, c.RANK]
        ranks[source, c.R_FREE] += requests[request, c.BLOCKS]
        offer(seats, ranks[source, c.R_WORKER])
