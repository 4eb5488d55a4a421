"""What is left in blocks that were given up: prefix caching for those who come back.

Free blocks are taken in the order in which they became free, and until then keep what is in them.
Who gives way gives up his last block first, so that of what he had computed the beginning stays
longest.  A rank counts the blocks taken from the front of that queue: the *mark* of a request is
where that count stands when the first of its blocks goes.
"""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import blocks_for, pool_of
from jalapeno.simulation.state import Seats


@compiled
def find_kept(seats: Seats, rank: int, request: int) -> int:
    """Tokens of *request*, which comes back to *rank*, that are still in its old blocks.

    Whole blocks from the beginning.  He takes them out of the queue, so that whoever stands behind
    moves up.
    """
    requests, ranks, pool = seats.requests, seats.ranks, pool_of(seats, rank)
    size = seats.pools[pool, c.P_BLOCK_TOKENS]
    whole = requests[request, c.PROMPT] + requests[request, c.MADE]
    left = requests[request, c.LEFT]
    held = blocks_for(seats, pool, whole + (1 if left > 0 else 0))
    gone = max(0, ranks[rank, c.R_TAKEN] - requests[request, c.MARK])
    there = held - gone - seats.pools[pool, c.P_FIXED_BLOCKS]
    # of who decoded, the last token is not computed yet
    kept = max(0, min(there, (whole - max(left, 1)) // size))
    other = ranks[rank, c.R_RETURNING_HEAD]
    while other != c.NOBODY:
        if requests[other, c.MARK] > requests[request, c.MARK]:
            requests[other, c.MARK] -= kept
        other = requests[other, c.NEXT]
    ranks[rank, c.R_TAKEN] -= kept  # he takes that many fewer from the front
    return int(kept * size)
