"""Preemption: who gives way where the blocks of a rank run out, and how he comes back.

The youngest (the highest number) of those that hold blocks of the rank gives way: he decodes, has
his prompt computed, or his cache is on its way.  So the oldest goes on, and since he fits alone, in
the end all do.  Who gave way goes before all that wait in queues, oldest first.
"""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import blocks_for, growth, has_room, pool_of, take_blocks
from jalapeno.simulation.decode import decode_on, leave_unfinished
from jalapeno.simulation.kept import find_kept
from jalapeno.simulation.ledger import CLOSE, OPEN, charge_again, charge_prompt, charge_wait
from jalapeno.simulation.lists import insert, take_first, take_out
from jalapeno.simulation.pauses import note_pause
from jalapeno.simulation.ports import begin_transfer, call_off, swap_in, swaps_out
from jalapeno.simulation.seat import call
from jalapeno.simulation.state import REQUEST_MASK, Seats


@compiled
def make_room(seats: Seats, rank: int) -> None:
    """Preempt until the free blocks of *rank* last for one step."""
    while growth(seats, rank, 1) > seats.ranks[rank, c.R_FREE]:
        preempt(seats, rank, youngest(seats, rank))


@compiled
def youngest(seats: Seats, rank: int) -> int:
    """The youngest of those that hold blocks of *rank*."""
    requests, ranks = seats.requests, seats.ranks
    found = c.NOBODY
    for at in range(ranks[rank, c.R_HEAP]):
        found = max(found, seats.finish[rank, at] & REQUEST_MASK)
    for head in (c.R_PREFILL_HEAD, c.R_COMING_HEAD):
        request = ranks[rank, head]
        while request != c.NOBODY:
            found = max(found, request)
            request = requests[request, c.NEXT]
    return int(found)


@compiled
def preempt(seats: Seats, rank: int, request: int) -> None:
    """*request* gives up its slot and blocks on *rank*, and waits for its return."""
    requests, ranks, pool = seats.requests, seats.ranks, pool_of(seats, rank)
    status, more = requests[request, c.STATUS], 0
    if status == c.DECODING:
        leave_unfinished(seats, rank, request)
        if requests[request, c.PAUSED] == c.NOBODY:
            requests[request, c.PAUSED] = seats.clock[c.C_NOW]
        else:  # it has been swapped in, and no token has come since
            ranks[rank, c.R_LATE] -= 1
        charge_wait(seats, request, OPEN)
        if not swaps_out(seats, rank, request):
            requests[request, c.STATUS] = c.LOST
    elif status == c.PREFILLING:
        more = 1
        drop_prompt(seats, rank, request)
        requests[request, c.STATUS] = c.LOST
    else:
        more = 1 if status == c.MOVING else 0
        call_off(seats, rank, request)
        requests[request, c.STATUS] = c.UNMOVED if status == c.MOVING else c.SWAPPED_OUT
    requests[request, c.PREEMPTIONS] += 1
    held = requests[request, c.PROMPT] + requests[request, c.MADE] + more
    requests[request, c.MARK] = ranks[rank, c.R_TAKEN] + ranks[rank, c.R_FREE]
    ranks[rank, c.R_RUNNING] -= 1
    ranks[rank, c.R_FREE] += blocks_for(seats, pool, held)
    insert(requests, ranks, rank, c.R_RETURNING_HEAD, request)


@compiled
def drop_prompt(seats: Seats, rank: int, request: int) -> None:
    """What is computed of the prompt of *request* is lost."""
    requests, worker = seats.requests, seats.ranks[rank, c.R_WORKER]
    take_out(requests, seats.ranks, rank, c.R_PREFILL_HEAD, request)
    if requests[request, c.FIRST] == c.NOBODY:
        charge_prompt(seats, worker, request, CLOSE)
    else:
        charge_again(seats, worker, request, CLOSE)
    charge_wait(seats, request, OPEN)
    whole = requests[request, c.PROMPT] + requests[request, c.MADE]
    requests[request, c.RECOMPUTED] += whole - requests[request, c.LEFT] - requests[request, c.KEPT]


@compiled
def take_back(seats: Seats, rank: int) -> None:
    """Those who wait to return to *rank* do, oldest first, while there are blocks for them and
    for one token more."""
    requests, ranks, pool = seats.requests, seats.ranks, pool_of(seats, rank)
    while ranks[rank, c.R_RETURNING_HEAD] != c.NOBODY:
        request = ranks[rank, c.R_RETURNING_HEAD]
        status = requests[request, c.STATUS]
        tokens = requests[request, c.PROMPT] + requests[request, c.MADE]
        blocks = blocks_for(seats, pool, tokens + 1)
        if status == c.SWAPPING_OUT or not has_room(seats, rank, blocks):
            return
        take_first(requests, ranks, rank, c.R_RETURNING_HEAD)
        ranks[rank, c.R_RUNNING] += 1
        if status == c.SWAPPED_OUT:
            take_blocks(seats, rank, blocks_for(seats, pool, tokens))
            swap_in(seats, rank, request)
            continue
        before, requests[request, c.KEPT] = requests[request, c.KEPT], 0
        if status == c.LOST and seats.pools[pool, c.P_KEEPS] == 1:
            requests[request, c.KEPT] = find_kept(seats, rank, request)
        if status == c.LOST and requests[request, c.FIRST] == c.NOBODY:
            # its prompt now begins elsewhere than it did
            requests[request, c.RECOMPUTED] += before - requests[request, c.KEPT]
        take_blocks(seats, rank, blocks)
        if status == c.UNMOVED:
            requests[request, c.ASSIGNED] = seats.clock[c.C_NOW]
            begin_transfer(seats, request)
        else:
            requests[request, c.STATUS] = c.TAKEN
            call(seats, rank, request)


@compiled
def resume_prompt(seats: Seats, rank: int, request: int) -> None:
    """*request*, back on *rank*, begins to prefill what it had."""
    requests, worker = seats.requests, seats.ranks[rank, c.R_WORKER]
    charge_wait(seats, request, CLOSE)
    whole = requests[request, c.PROMPT] + requests[request, c.MADE]
    requests[request, c.LEFT] = whole - requests[request, c.KEPT]
    if requests[request, c.FIRST] == c.NOBODY:
        charge_prompt(seats, worker, request, OPEN)
    else:
        charge_again(seats, worker, request, OPEN)


@compiled
def resume_answer(seats: Seats, rank: int, request: int) -> None:
    """All that *request* had is prefilled again, which gives its next token: it goes on."""
    requests = seats.requests
    charge_again(seats, seats.ranks[rank, c.R_WORKER], request, CLOSE)
    whole = requests[request, c.PROMPT] + requests[request, c.MADE]
    requests[request, c.RECOMPUTED] += whole - requests[request, c.KEPT]
    requests[request, c.RESUMED] += 1
    note_pause(seats, request, seats.clock[c.C_NOW] - requests[request, c.PAUSED], 0)
    requests[request, c.MADE] += 1
    decode_on(seats, rank, request)
