"""Lists of requests, linked through the request table: first come first served, or by number.

A list is a row of a table and the column of its head; its tail is the column after that.
"""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.state import Integers


@compiled
def append(requests: Integers, table: Integers, row: int, head: int, request: int) -> None:
    """Put *request* at the end of the list."""
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
def take_out(requests: Integers, table: Integers, row: int, head: int, request: int) -> None:
    """Remove *request* from the list, wherever it is in it; the caller knows that it is."""
    before, here = c.NOBODY, table[row, head]
    while here != request:
        before, here = here, requests[here, c.NEXT]
    after = requests[request, c.NEXT]
    if before == c.NOBODY:
        table[row, head] = after
    else:
        requests[before, c.NEXT] = after
    if after == c.NOBODY:
        table[row, head + 1] = before
    requests[request, c.NEXT] = c.NOBODY


@compiled
def insert(requests: Integers, table: Integers, row: int, head: int, request: int) -> None:
    """Put *request* before the first of the list that has a greater number."""
    before, here = c.NOBODY, table[row, head]
    while here != c.NOBODY and here < request:
        before, here = here, requests[here, c.NEXT]
    requests[request, c.NEXT] = here
    if before == c.NOBODY:
        table[row, head] = request
    else:
        requests[before, c.NEXT] = request
    if here == c.NOBODY:
        table[row, head + 1] = request
