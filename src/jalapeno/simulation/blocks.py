"""KV blocks: how many a request needs where, and how many steps a rank's free ones last.

Where a pool preempts, a decoding sequence takes a block at the step that brings its context from a
whole number of blocks to one token more.  Contexts of a rank grow alike (:mod:`.speculation`), so
relative to the rank's count of tokens each keeps its *phase*, ``(context - count) mod block``, for
as long as it decodes, and how many sequences there are of each phase says how many blocks any
number of tokens will take, without a look at the sequences.
"""

from __future__ import annotations

from jalapeno.jit import compiled, inlined
from jalapeno.simulation import columns as c
from jalapeno.simulation.clock import elapsed, steps_to_reach
from jalapeno.simulation.heap import replay
from jalapeno.simulation.speculation import steps_within, tokens_of
from jalapeno.simulation.state import Seats


@inlined
def pool_of(seats: Seats, rank: int) -> int:
    """The pool that *rank* belongs to."""
    return int(seats.workers[seats.ranks[rank, c.R_WORKER], c.W_POOL])


@inlined
def preempts(seats: Seats, pool: int) -> bool:
    """Whether sequences of *pool* take blocks as they grow, and may have to give way."""
    return bool(seats.pools[pool, c.P_PREEMPTION] != c.NO_PREEMPTION)


@inlined
def blocks_for(seats: Seats, pool: int, tokens: int) -> int:
    """Blocks of a sequence of *tokens* tokens in *pool*, its windows included."""
    size = seats.pools[pool, c.P_BLOCK_TOKENS]
    return int((tokens + size - 1) // size + seats.pools[pool, c.P_FIXED_BLOCKS])


@compiled
def blocks_to_seat(seats: Seats, pool: int, request: int) -> int:
    """Blocks that a rank of *pool* must have free to admit *request*."""
    requests = seats.requests
    tokens = requests[request, c.PROMPT]
    if preempts(seats, pool):
        tokens += 1
    elif seats.pools[pool, c.P_ROLE] != c.PREFILL_ROLE:
        tokens += requests[request, c.LIMIT] + seats.pools[pool, c.P_QUERIES] - 1
    return blocks_for(seats, pool, tokens)


@compiled
def growth(seats: Seats, rank: int, steps: int) -> int:
    """Blocks that the decoding sequences of *rank* take in the next *steps* steps."""
    pool = pool_of(seats, rank)
    size = seats.pools[pool, c.P_BLOCK_TOKENS]
    tokens = tokens_of(seats.pools[pool, c.P_YIELDED], seats.ranks[rank, c.R_REST], steps)
    phases = seats.phases[rank]
    taken = tokens // size * seats.ranks[rank, c.R_DECODING]
    phase = (size - seats.ranks[rank, c.R_COUNTER] % size) % size
    for _ in range(tokens % size):
        taken += phases[phase]
        phase = phase - 1 if phase > 0 else size - 1
    return int(taken)


@compiled
def steps_left(seats: Seats, rank: int) -> int:
    """Steps that the free blocks of *rank* allow its decoding sequences."""
    decoding, free = seats.ranks[rank, c.R_DECODING], seats.ranks[rank, c.R_FREE]
    if decoding == 0:
        return c.NEVER
    pool = pool_of(seats, rank)
    size = seats.pools[pool, c.P_BLOCK_TOKENS]
    phases = seats.phases[rank]
    tokens = free // decoding * size
    free %= decoding  # a whole cycle takes a block a sequence, so less than one more is left
    phase = (size - seats.ranks[rank, c.R_COUNTER] % size) % size
    while phases[phase] <= free:
        free -= phases[phase]
        tokens += 1
        phase = phase - 1 if phase > 0 else size - 1
    return steps_within(seats.pools[pool, c.P_YIELDED], seats.ranks[rank, c.R_REST], tokens)


@compiled
def steps_begun(seats: Seats, worker: int) -> int:
    """Steps of the worker's segment in progress that have begun; 0 where there is none."""
    workers = seats.workers
    if workers[worker, c.W_TIME] == c.NEVER or workers[worker, c.W_EVENT] != c.STEP_END:
        return 0
    span = seats.clock[c.C_NOW] - workers[worker, c.W_START]
    steps = steps_to_reach(workers[worker, c.W_SECONDS], workers[worker, c.W_GROWTH], span)
    return int(min(steps, workers[worker, c.W_STEPS]))


@compiled
def has_room(seats: Seats, rank: int, blocks: int) -> bool:
    """Whether *rank* has *blocks* free, beside those that its next step takes."""
    free = seats.ranks[rank, c.R_FREE]
    if free < blocks or not preempts(seats, pool_of(seats, rank)):
        return bool(free >= blocks)
    steps = steps_begun(seats, seats.ranks[rank, c.R_WORKER]) + 1
    return bool(free - growth(seats, rank, steps) >= blocks)


@compiled
def take_blocks(seats: Seats, rank: int, blocks: int) -> None:
    """*blocks* of *rank* are taken; a segment in progress may have to end earlier."""
    seats.ranks[rank, c.R_FREE] -= blocks
    seats.ranks[rank, c.R_TAKEN] += blocks
    worker = seats.ranks[rank, c.R_WORKER]
    if preempts(seats, seats.workers[worker, c.W_POOL]) and steps_begun(seats, worker) > 0:
        shorten(seats, worker, steps_left(seats, rank))


@compiled
def shorten(seats: Seats, worker: int, steps: int) -> None:
    """Let the segment in progress of *worker* have at most *steps* steps."""
    workers = seats.workers
    if steps < workers[worker, c.W_STEPS]:
        first, grown = workers[worker, c.W_SECONDS], workers[worker, c.W_GROWTH]
        workers[worker, c.W_STEPS] = steps
        workers[worker, c.W_TIME] = workers[worker, c.W_START] + elapsed(first, grown, steps)
        replay(seats.tree, workers, worker)


@compiled
def blocks_in_use(seats: Seats, worker: int) -> int:
    """KV blocks taken on all ranks of *worker*."""
    pool, first = seats.workers[worker, c.W_POOL], seats.workers[worker, c.W_FIRST_RANK]
    many = seats.pools[pool, c.P_RANKS_WORKER]
    taken = seats.pools[pool, c.P_BLOCKS] * many
    for rank in range(first, first + many):
        taken -= seats.ranks[rank, c.R_FREE]
    return int(taken)
