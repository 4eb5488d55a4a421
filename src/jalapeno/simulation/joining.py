"""Joining at a step boundary: those assigned to a worker's ranks take their seats."""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import preempts
from jalapeno.simulation.decode import begin_answer, decode_on
from jalapeno.simulation.ledger import CLOSE, OPEN, charge_prompt, charge_wait
from jalapeno.simulation.lists import append, take_first
from jalapeno.simulation.preempt import make_room, resume_prompt, take_back
from jalapeno.simulation.seat import offer
from jalapeno.simulation.state import Seats


@compiled
def seat_arrivals(seats: Seats, rank: int) -> None:
    """Those assigned to *rank* join: prompts wait for chunks, caches that came decode."""
    requests, ranks, now = seats.requests, seats.ranks, seats.clock[c.C_NOW]
    while ranks[rank, c.R_ASSIGNED_HEAD] != c.NOBODY:
        request = take_first(requests, ranks, rank, c.R_ASSIGNED_HEAD)
        status = requests[request, c.STATUS]
        if status == c.MOVING:
            begin_answer(seats, rank, request)
        elif status == c.SWAPPED_IN:
            charge_wait(seats, request, CLOSE)
            ranks[rank, c.R_LATE] += 1
            decode_on(seats, rank, request)
        else:
            requests[request, c.STATUS] = c.PREFILLING
            append(requests, ranks, rank, c.R_PREFILL_HEAD, request)
            if requests[request, c.PREEMPTIONS] > 0:
                resume_prompt(seats, rank, request)
            else:
                requests[request, c.ADMITTED] = now
                charge_prompt(seats, ranks[rank, c.R_WORKER], request, OPEN)


@compiled
def seat_all(seats: Seats, worker: int) -> None:
    """Those assigned to the ranks of *worker* join, and where blocks run short others give way."""
    pool, first = seats.workers[worker, c.W_POOL], seats.workers[worker, c.W_FIRST_RANK]
    ranks = range(first, first + seats.pools[pool, c.P_RANKS_WORKER])
    finished = seats.clock[c.C_FINISHED]
    for rank in ranks:
        seat_arrivals(seats, rank)
    if seats.clock[c.C_FINISHED] > finished:  # answers of one token
        if preempts(seats, pool):
            for rank in ranks:
                take_back(seats, rank)
                seat_arrivals(seats, rank)
        offer(seats, worker)
    if preempts(seats, pool):
        for rank in ranks:
            make_room(seats, rank)
