"""Seating: who waits where, and which rank takes the next of a queue.

Every pool has one first-come first-served queue.  Its head is given to the rank with the fewest
sequences that has a free slot and enough free blocks (ask, then act); where none has, all wait.
A request given to a working rank joins at the next step boundary.
"""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.clock import elapsed, steps_to_reach
from jalapeno.simulation.heap import push_pair, replay
from jalapeno.simulation.state import Integers, State


@compiled
def append(requests: Integers, table: Integers, row: int, head: int, request: int) -> None:
    """Append *request* to the list whose head and tail are columns *head*, head + 1 of *row*."""
    requests[request, c.NEXT] = c.NOBODY
    if table[row, head] == c.NOBODY:
        table[row, head] = request
    else:
        requests[table[row, head + 1], c.NEXT] = request
    table[row, head + 1] = request


@compiled
def take_first(requests: Integers, table: Integers, row: int, head: int) -> int:
    """Remove and return the first of the list; the caller knows that there is one."""
    request = table[row, head]
    table[row, head] = requests[request, c.NEXT]
    requests[request, c.NEXT] = c.NOBODY
    return int(request)


@compiled
def best_rank(state: State, pool: int, blocks: int) -> int:
    """The rank of *pool* with a free slot, *blocks* free blocks and the fewest sequences."""
    pools, ranks = state.pools, state.ranks
    begin = pools[pool, c.P_FIRST_RANK]
    best, least = c.NOBODY, pools[pool, c.P_MAX_RUNNING]
    for rank in range(begin, begin + pools[pool, c.P_RANKS]):
        if ranks[rank, c.R_RUNNING] < least and ranks[rank, c.R_FREE] >= blocks:
            best, least = rank, ranks[rank, c.R_RUNNING]
    return int(best)


@compiled
def wake(state: State, worker: int) -> None:
    """Let *worker* look for work now: start when idle, else cut its segment at the next step."""
    workers, now = state.workers, state.clock[c.C_NOW]
    if workers[worker, c.W_TIME] == c.NEVER:
        workers[worker, c.W_TIME] = now
        workers[worker, c.W_EVENT] = c.STEP_START
        replay(state.tree, workers, worker)
    elif workers[worker, c.W_EVENT] == c.STEP_END and workers[worker, c.W_STEPS] > 1:
        first, growth = workers[worker, c.W_SECONDS], workers[worker, c.W_GROWTH]
        start = workers[worker, c.W_START]
        steps = steps_to_reach(first, growth, now - start)
        if steps < workers[worker, c.W_STEPS]:
            workers[worker, c.W_STEPS] = steps
            workers[worker, c.W_TIME] = start + elapsed(first, growth, steps)
            replay(state.tree, workers, worker)


@compiled
def enqueue(state: State, pool: int, request: int) -> None:
    """Put *request* at the end of *pool*'s queue."""
    append(state.requests, state.pools, pool, c.P_QUEUE_HEAD, request)


@compiled
def dispatch(state: State, pool: int) -> None:
    """Give the queue's head to a rank, while one can take it."""
    requests, ranks, now = state.requests, state.ranks, state.clock[c.C_NOW]
    decode = state.pools[pool, c.P_ROLE] == c.DECODE_ROLE
    while state.pools[pool, c.P_QUEUE_HEAD] != c.NOBODY:
        request = state.pools[pool, c.P_QUEUE_HEAD]
        column = c.DECODE_BLOCKS if decode else c.BLOCKS
        rank = best_rank(state, pool, requests[request, column])
        if rank == c.NOBODY:
            return
        take_first(requests, state.pools, pool, c.P_QUEUE_HEAD)
        ranks[rank, c.R_RUNNING] += 1
        ranks[rank, c.R_FREE] -= requests[request, column]
        requests[request, c.ASSIGNED] = now
        if decode:
            requests[request, c.DECODE_RANK] = rank
            requests[request, c.STATUS] = c.MOVING
            size = requests[request, c.PROMPT] * state.transfer[1] // 1000
            push_pair(
                state.transfers, state.clock[c.C_TRANSFERS], now + state.transfer[0] + size, request
            )
            state.clock[c.C_TRANSFERS] += 1
        else:
            requests[request, c.RANK] = rank
            requests[request, c.STATUS] = c.TAKEN
            append(requests, ranks, rank, c.R_ASSIGNED_HEAD, request)
            wake(state, ranks[rank, c.R_WORKER])


@compiled
def send_next(state: State) -> None:
    """Closed loop: whoever finished makes room for the next request of the list, sent now."""
    clock, requests = state.clock, state.requests
    if clock[c.C_CLOSED] and clock[c.C_SENT] < clock[c.C_REQUESTS]:
        request = clock[c.C_SENT]
        requests[request, c.ARRIVAL] = clock[c.C_NOW]
        requests[request, c.READY] = clock[c.C_NOW] + clock[c.C_DELAY]
        requests[request, c.STATUS] = c.SENT
        clock[c.C_SENT] += 1
