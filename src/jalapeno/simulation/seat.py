"""Seating: which worker a request waits for, and which rank takes it.

A stage (unified or prefill pools; decode pools) has one queue, or each of its workers has one of
its own, to which the router binds a request when it comes.  The head of a queue is given to the
rank with the fewest sequences that has a free slot and enough free blocks (ask, then act); where
none has, all behind it wait, too.  A rank to which someone preempted is to return takes no one
else.  A request given to a working rank joins at the next step boundary.
"""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import blocks_to_seat, has_room, shorten, steps_begun, take_blocks
from jalapeno.simulation.heap import replay
from jalapeno.simulation.lists import append, take_first
from jalapeno.simulation.ports import begin_transfer
from jalapeno.simulation.state import Seats


@compiled
def best_rank(seats: Seats, first: int, ranks: int, blocks: int, fewer: int) -> int:
    """Of *ranks* ranks from *first* on, the one that has room and the fewest sequences, *fewer*
    than these."""
    table = seats.ranks
    best, least = c.NOBODY, fewer
    for rank in range(first, first + ranks):
        if (
            table[rank, c.R_RUNNING] < least
            and table[rank, c.R_FREE] >= blocks
            and table[rank, c.R_RETURNING_HEAD] == c.NOBODY
            and has_room(seats, rank, blocks)
        ):
            best, least = rank, table[rank, c.R_RUNNING]
    return int(best)


@compiled
def best_of_worker(seats: Seats, worker: int, request: int) -> int:
    """The rank of *worker* that takes *request*; NOBODY if none can."""
    pool = seats.workers[worker, c.W_POOL]
    blocks = blocks_to_seat(seats, pool, request)
    first, ranks = seats.workers[worker, c.W_FIRST_RANK], seats.pools[pool, c.P_RANKS_WORKER]
    return best_rank(seats, first, ranks, blocks, seats.pools[pool, c.P_MAX_RUNNING])


@compiled
def best_of_stage(seats: Seats, stage: int, request: int) -> int:
    """The rank of *stage* that takes *request*; NOBODY if none can."""
    pools, ranks = seats.pools, seats.ranks
    first_pool = seats.stages[stage, c.G_FIRST_POOL]
    best, least = c.NOBODY, c.NEVER
    for pool in range(first_pool, first_pool + seats.stages[stage, c.G_POOLS]):
        blocks = blocks_to_seat(seats, pool, request)
        first, many = pools[pool, c.P_FIRST_RANK], pools[pool, c.P_RANKS]
        fewer = min(least, pools[pool, c.P_MAX_RUNNING])
        found = best_rank(seats, first, many, blocks, fewer)
        if found != c.NOBODY:
            best, least = found, ranks[found, c.R_RUNNING]
    return int(best)


@compiled
def give(seats: Seats, rank: int, request: int) -> None:
    """*rank* takes *request*: a slot, blocks, and the request itself or its cache come to it."""
    requests, ranks = seats.requests, seats.ranks
    worker = ranks[rank, c.R_WORKER]
    pool = seats.workers[worker, c.W_POOL]
    blocks = blocks_to_seat(seats, pool, request)
    if seats.clock[c.C_ROUTER] == c.SHARED:  # bound as late as now
        seats.workers[worker, c.W_BOUND] += 1
    ranks[rank, c.R_RUNNING] += 1
    take_blocks(seats, rank, blocks)
    requests[request, c.ASSIGNED] = seats.clock[c.C_NOW]
    if seats.pools[pool, c.P_ROLE] == c.DECODE_ROLE:
        requests[request, c.DECODE_RANK] = rank
        requests[request, c.DECODE_BLOCKS] = blocks
        begin_transfer(seats, request)
    else:
        requests[request, c.RANK] = rank
        requests[request, c.BLOCKS] = blocks
        requests[request, c.STATUS] = c.TAKEN
        call(seats, rank, request)


@compiled
def call(seats: Seats, rank: int, request: int) -> None:
    """*request*, which has all that it needs on *rank*, is to join there at the next step."""
    append(seats.requests, seats.ranks, rank, c.R_ASSIGNED_HEAD, request)
    wake(seats, seats.ranks[rank, c.R_WORKER])


@compiled
def wake(seats: Seats, worker: int) -> None:
    """Let *worker* look for work now: start when idle, else cut its segment at the next step."""
    workers = seats.workers
    if workers[worker, c.W_TIME] == c.NEVER:
        workers[worker, c.W_TIME] = seats.clock[c.C_NOW]
        workers[worker, c.W_EVENT] = c.STEP_START
        replay(seats.tree, workers, worker)
    elif workers[worker, c.W_EVENT] == c.STEP_END and workers[worker, c.W_STEPS] > 1:
        shorten(seats, worker, steps_begun(seats, worker))


@compiled
def choose(seats: Seats, stage: int) -> int:
    """The worker to which the router binds the next request of *stage*."""
    stages, workers = seats.stages, seats.workers
    first, many = stages[stage, c.G_FIRST_WORKER], stages[stage, c.G_WORKERS]
    if seats.clock[c.C_ROUTER] == c.ROUND_ROBIN:
        turn = stages[stage, c.G_TURN]
        stages[stage, c.G_TURN] = (turn + 1) % many
        return int(first + turn)
    best = first
    for worker in range(first + 1, first + many):
        if workers[worker, c.W_BOUND] < workers[best, c.W_BOUND]:
            best = worker
    return int(best)


@compiled
def enter(seats: Seats, stage: int, request: int) -> None:
    """*request* comes to *stage*: it queues, and is seated if nobody waits before it."""
    requests, stages, workers = seats.requests, seats.stages, seats.workers
    if seats.clock[c.C_ROUTER] == c.SHARED:
        append(requests, stages, stage, c.G_QUEUE_HEAD, request)
        if stages[stage, c.G_QUEUE_HEAD] == request:
            seat_stage(seats, stage)
    else:
        worker = choose(seats, stage)
        workers[worker, c.W_BOUND] += 1
        append(requests, workers, worker, c.W_QUEUE_HEAD, request)
        if workers[worker, c.W_QUEUE_HEAD] == request:
            seat_worker(seats, worker)


@compiled
def seat_stage(seats: Seats, stage: int) -> None:
    """Give the head of the shared queue to a rank, while one can take it."""
    stages = seats.stages
    while stages[stage, c.G_QUEUE_HEAD] != c.NOBODY:
        rank = best_of_stage(seats, stage, stages[stage, c.G_QUEUE_HEAD])
        if rank == c.NOBODY:
            return
        give(seats, rank, take_first(seats.requests, stages, stage, c.G_QUEUE_HEAD))


@compiled
def seat_worker(seats: Seats, worker: int) -> None:
    """Give the head of the worker's own queue to one of its ranks, while one can take it."""
    workers = seats.workers
    while workers[worker, c.W_QUEUE_HEAD] != c.NOBODY:
        rank = best_of_worker(seats, worker, workers[worker, c.W_QUEUE_HEAD])
        if rank == c.NOBODY:
            return
        give(seats, rank, take_first(seats.requests, workers, worker, c.W_QUEUE_HEAD))


@compiled
def offer(seats: Seats, worker: int) -> None:
    """Something has become free at *worker*: seat those who wait for it.

    No other worker can take the head of a shared queue, or it had done so: only *worker* is asked;
    but whoever stands behind the head may need less, and fit elsewhere.
    """
    if seats.clock[c.C_ROUTER] != c.SHARED:
        seat_worker(seats, worker)
        return
    stages, stage = seats.stages, seats.pools[seats.workers[worker, c.W_POOL], c.P_STAGE]
    if stages[stage, c.G_QUEUE_HEAD] == c.NOBODY:
        return
    rank = best_of_worker(seats, worker, stages[stage, c.G_QUEUE_HEAD])
    if rank != c.NOBODY:
        give(seats, rank, take_first(seats.requests, stages, stage, c.G_QUEUE_HEAD))
        seat_stage(seats, stage)
