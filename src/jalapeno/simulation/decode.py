"""Decoding: how a sequence joins those of its rank, moves on with them, and leaves."""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import blocks_for, pool_of, preempts, steps_left
from jalapeno.simulation.heap import find, pop, push, remove
from jalapeno.simulation.ledger import CLOSE, OPEN, charge_answer
from jalapeno.simulation.speculation import rest_after, steps_for, tokens_of
from jalapeno.simulation.state import REQUEST_BITS, REQUEST_MASK, Seats


@compiled
def begin_answer(seats: Seats, rank: int, request: int) -> None:
    """*request* has its first token at now."""
    seats.requests[request, c.FIRST] = seats.clock[c.C_NOW]
    seats.requests[request, c.MADE] = 1
    decode_on(seats, rank, request)


@compiled
def decode_on(seats: Seats, rank: int, request: int) -> None:
    """*request*, with the tokens it has, decodes on *rank*, or is done if these are all."""
    requests = seats.requests
    requests[request, c.STATUS] = c.DECODING
    charge_answer(seats, seats.ranks[rank, c.R_WORKER], request, OPEN)
    if requests[request, c.MADE] == requests[request, c.OUTPUT]:
        complete(seats, rank, request, 0)
    else:
        join(seats, rank, request)


@compiled
def join(seats: Seats, rank: int, request: int) -> None:
    """Count *request* among the decoding sequences of *rank*."""
    requests, ranks = seats.requests, seats.ranks
    counter = ranks[rank, c.R_COUNTER]
    done = counter + requests[request, c.OUTPUT] - requests[request, c.MADE]
    push(seats.finish[rank], ranks[rank, c.R_HEAP], (done << REQUEST_BITS) | request)
    ranks[rank, c.R_HEAP] += 1
    reads = requests[request, c.PROMPT] + requests[request, c.MADE]
    count(seats, rank, reads, 0, 1)
    for cap in range(len(seats.caps)):
        if reads < seats.caps[cap]:
            capped = seats.capped[rank, cap]
            full = counter + seats.caps[cap] - reads
            if full <= done:  # it fills the window before it is done
                push(seats.short[rank, cap], capped[2], (full << REQUEST_BITS) | request)
                capped[2] += 1


@compiled
def count(seats: Seats, rank: int, reads: int, over: int, one: int) -> None:
    """Add *one* (or minus one) sequence of *reads* tokens to the sums over those decoding.

    *over*: tokens that its last step gave beyond its answer, which the sums have counted.
    """
    ranks = seats.ranks
    ranks[rank, c.R_DECODING] += one
    ranks[rank, c.R_READS] += one * (reads + over)
    if ranks[rank, c.R_DECODING] == 0:  # whoever comes next begins with a whole token
        ranks[rank, c.R_REST] = 0
    for cap in range(len(seats.caps)):
        capped = seats.capped[rank, cap]
        if reads < seats.caps[cap]:
            capped[0] += one * (reads + over)
            capped[1] += one
        else:
            capped[0] += one * seats.caps[cap]
    pool = pool_of(seats, rank)
    if preempts(seats, pool):
        size = seats.pools[pool, c.P_BLOCK_TOKENS]
        phase = ((reads + over - ranks[rank, c.R_COUNTER]) % size + size) % size
        seats.phases[rank, phase] += one


@compiled
def leave_unfinished(seats: Seats, rank: int, request: int) -> None:
    """*request* no longer decodes on *rank*; how far it came is noted."""
    requests, ranks, finish = seats.requests, seats.ranks, seats.finish[rank]
    at = find(finish, ranks[rank, c.R_HEAP], REQUEST_BITS, request)
    left = (finish[at] >> REQUEST_BITS) - ranks[rank, c.R_COUNTER]
    remove(finish, ranks[rank, c.R_HEAP], at)
    ranks[rank, c.R_HEAP] -= 1
    requests[request, c.MADE] = requests[request, c.OUTPUT] - left
    count(seats, rank, requests[request, c.PROMPT] + requests[request, c.MADE], 0, -1)
    for cap in range(len(seats.caps)):
        short, capped = seats.short[rank, cap], seats.capped[rank, cap]
        at = find(short, capped[2], REQUEST_BITS, request)
        if at >= 0:
            remove(short, capped[2], at)
            capped[2] -= 1
    charge_answer(seats, ranks[rank, c.R_WORKER], request, CLOSE)


@compiled
def next_knot(seats: Seats, rank: int) -> int:
    """Steps until a sequence of *rank* finishes or fills a window, or blocks run out."""
    ranks, pool = seats.ranks, pool_of(seats, rank)
    if ranks[rank, c.R_HEAP] == 0:
        return int(c.NEVER)
    knot = seats.finish[rank, 0] >> REQUEST_BITS
    for cap in range(len(seats.caps)):
        heap, capped = seats.short[rank, cap], seats.capped[rank, cap]
        if capped[2] > 0:
            knot = min(knot, heap[0] >> REQUEST_BITS)
    tokens = knot - ranks[rank, c.R_COUNTER]
    steps = steps_for(seats.pools[pool, c.P_YIELDED], ranks[rank, c.R_REST], tokens)
    if preempts(seats, pool):
        steps = min(steps, steps_left(seats, rank))
    return int(steps)


@compiled
def move_on(seats: Seats, rank: int, steps: int) -> int:
    """Decoding sequences of *rank* are *steps* steps on; the done ones leave.

    Returns the answer tokens that they got, together: of its last step a sequence takes what it
    still needs.
    """
    requests, ranks, pool = seats.requests, seats.ranks, pool_of(seats, rank)
    yielded, rest = seats.pools[pool, c.P_YIELDED], ranks[rank, c.R_REST]
    tokens = tokens_of(yielded, rest, steps)
    if ranks[rank, c.R_DECODING] > 0:
        ranks[rank, c.R_REST] = rest_after(yielded, rest, steps)
    ranks[rank, c.R_COUNTER] += tokens
    counter = ranks[rank, c.R_COUNTER]
    given = tokens * ranks[rank, c.R_DECODING]
    ranks[rank, c.R_READS] += given
    for cap in range(len(seats.caps)):
        heap, capped = seats.short[rank, cap], seats.capped[rank, cap]
        capped[0] += tokens * capped[1]
        while capped[2] > 0 and heap[0] >> REQUEST_BITS <= counter:
            full = pop(heap, capped[2]) >> REQUEST_BITS
            capped[0] -= counter - full
            capped[2] -= 1
            capped[1] -= 1
    finish = seats.finish[rank]
    while ranks[rank, c.R_HEAP] > 0 and finish[0] >> REQUEST_BITS <= counter:
        last = pop(finish, ranks[rank, c.R_HEAP])
        request, over = last & REQUEST_MASK, counter - (last >> REQUEST_BITS)
        ranks[rank, c.R_HEAP] -= 1
        given -= over
        whole = requests[request, c.PROMPT] + requests[request, c.OUTPUT]
        count(seats, rank, whole, over, -1)
        complete(seats, rank, request, over)
    return int(given)


@compiled
def complete(seats: Seats, rank: int, request: int, over: int) -> None:
    """*request* has its last token at now: it leaves *rank*, and the loop sends the next.

    *over*: tokens that its last step gave beyond, for which it may hold blocks.
    """
    requests, ranks, clock = seats.requests, seats.ranks, seats.clock
    worker = ranks[rank, c.R_WORKER]
    pool = seats.workers[worker, c.W_POOL]
    requests[request, c.END] = clock[c.C_NOW]
    requests[request, c.STATUS] = c.DONE
    charge_answer(seats, worker, request, CLOSE)
    ranks[rank, c.R_RUNNING] -= 1
    held = c.BLOCKS if requests[request, c.DECODE_RANK] == c.NOBODY else c.DECODE_BLOCKS
    if preempts(seats, pool):
        tokens = requests[request, c.PROMPT] + requests[request, c.OUTPUT] + over
        requests[request, held] = blocks_for(seats, pool, tokens)
    ranks[rank, c.R_FREE] += requests[request, held]
    seats.workers[worker, c.W_BOUND] -= 1
    clock[c.C_FINISHED] += 1
    if clock[c.C_CLOSED] and clock[c.C_SENT] < clock[c.C_REQUESTS]:
        send_next(seats)


@compiled
def send_next(seats: Seats) -> None:
    """Closed loop: whoever finished makes room for the next request of the list, sent now."""
    clock, requests = seats.clock, seats.requests
    request = clock[c.C_SENT]
    requests[request, c.ARRIVAL] = clock[c.C_NOW]
    requests[request, c.READY] = clock[c.C_NOW] + clock[c.C_DELAY]
    requests[request, c.STATUS] = c.SENT
    clock[c.C_SENT] += 1
