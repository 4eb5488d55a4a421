"""Copies of KV caches: from a prefill rank to a decode rank, or to and from the host's memory.

Every rank has four ports, each a queue: KV out and in, host out and in.  A transfer begins when it
is decided on, or as soon as the port it leaves by and the port it comes in by are free, and
keeps both until its bytes are over; the set-up that delays it besides keeps neither.
"""

from __future__ import annotations

from jalapeno.jit import compiled, inlined
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import pool_of, preempts
from jalapeno.simulation.heap import push_pair, remove_pair
from jalapeno.simulation.lists import append, take_out
from jalapeno.simulation.state import Seats


@inlined
def place_of(seats: Seats, request: int) -> int:
    """The rank that *request* sits on, or did last."""
    answer = seats.requests[request, c.DECODE_RANK]
    return int(answer if answer != c.NOBODY else seats.requests[request, c.RANK])


@inlined
def begin_copy(seats: Seats, request: int, done: int) -> None:
    """A copy of the cache of *request* is under way until *done*."""
    push_pair(seats.copies, seats.clock[c.C_COPIES], done, request)
    seats.clock[c.C_COPIES] += 1


@compiled
def begin_transfer(seats: Seats, request: int) -> None:
    """The cache of *request* begins its way from its prefill rank to its decode rank."""
    requests, ranks = seats.requests, seats.ranks
    source, rank = requests[request, c.RANK], requests[request, c.DECODE_RANK]
    pool = pool_of(seats, rank)
    path = seats.transfer[pool_of(seats, source), pool]
    begin = max(seats.clock[c.C_NOW], ranks[source, c.R_KV_OUT], ranks[rank, c.R_KV_IN])
    moved = min(begin + requests[request, c.PROMPT] * path[1] // 1000, c.LAST)
    ranks[source, c.R_KV_OUT] = moved
    ranks[rank, c.R_KV_IN] = moved
    requests[request, c.STATUS] = c.MOVING
    begin_copy(seats, request, min(moved + path[0], c.LAST))
    if preempts(seats, pool):
        append(requests, ranks, rank, c.R_COMING_HEAD, request)


@compiled
def swap_time(seats: Seats, pool: int, request: int) -> int:
    """Picoseconds that the cache of *request* takes to or from the host of a rank of *pool*."""
    tokens = seats.requests[request, c.PROMPT] + seats.requests[request, c.MADE]
    fixed, each = seats.pools[pool, c.P_SWAP_SEQUENCE], seats.pools[pool, c.P_SWAP_TOKEN]
    return int(fixed + tokens * each // 1000)


@compiled
def begin_swap(seats: Seats, rank: int, request: int, port: int) -> None:
    """The cache of *request* queues at the host *port* (a column) of *rank*."""
    time = swap_time(seats, pool_of(seats, rank), request)
    done = min(max(seats.clock[c.C_NOW], seats.ranks[rank, port]) + time, c.LAST)
    seats.ranks[rank, port] = done
    begin_copy(seats, request, done)


@compiled
def swaps_out(seats: Seats, rank: int, request: int) -> bool:
    """Begin to copy the cache of *request* to the host, if it swaps and there is room."""
    pool = pool_of(seats, rank)
    if seats.pools[pool, c.P_PREEMPTION] != c.SWAPS:
        return False
    room = swap_time(seats, pool, request)
    if room > seats.ranks[rank, c.R_HOST_ROOM]:
        return False
    seats.ranks[rank, c.R_HOST_ROOM] -= room
    seats.requests[request, c.STATUS] = c.SWAPPING_OUT
    begin_swap(seats, rank, request, c.R_HOST_OUT)
    return True


@compiled
def swap_in(seats: Seats, rank: int, request: int) -> None:
    """Begin to copy the cache of *request* from the host."""
    seats.requests[request, c.STATUS] = c.SWAPPING_IN
    begin_swap(seats, rank, request, c.R_HOST_IN)
    append(seats.requests, seats.ranks, rank, c.R_COMING_HEAD, request)


@compiled
def call_off(seats: Seats, rank: int, request: int) -> None:
    """The cache of *request* is not to come to *rank* now; what it has of ports it keeps."""
    remove_pair(seats.copies, seats.clock[c.C_COPIES], request)
    seats.clock[c.C_COPIES] -= 1
    take_out(seats.requests, seats.ranks, rank, c.R_COMING_HEAD, request)
