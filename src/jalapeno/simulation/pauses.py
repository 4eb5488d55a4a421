"""Pauses: tokens that came late because their sequence had given way.

The gaps between tokens are the steps of segments but for these, which are written down one by one.
"""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.state import REQUEST_MASK, Seats


@compiled
def note_pause(seats: Seats, request: int, gap: int, instead: int) -> None:
    """*request* has its next token at now, a *gap* after its last, *instead* of a step."""
    row = seats.pauses[seats.clock[c.C_PAUSES]]
    row[c.U_REQUEST], row[c.U_GAP], row[c.U_INSTEAD] = request, gap, instead
    seats.requests[request, c.PAUSED] = c.NOBODY
    seats.clock[c.C_PAUSES] += 1


@compiled
def note_late(seats: Seats, rank: int) -> None:
    """Those swapped in when the segment that ends now began had a token in its first step."""
    worker = seats.ranks[rank, c.R_WORKER]
    begin, step = seats.workers[worker, c.W_START], seats.workers[worker, c.W_SECONDS]
    for at in range(seats.ranks[rank, c.R_HEAP]):
        request = seats.finish[rank, at] & REQUEST_MASK
        last = seats.requests[request, c.PAUSED]
        if last != c.NOBODY:
            note_pause(seats, request, begin + step - last, step)
    seats.ranks[rank, c.R_LATE] = 0
