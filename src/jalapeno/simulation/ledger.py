"""What a request is charged: differences of its worker's ledger between two moments.

Each phase of a request is opened and closed once for every stretch that it sits through; most have
one.  In the books of a worker stand the picoseconds of every part, then those of decode alone, then
what prefill adds to them.
"""

from __future__ import annotations

from jalapeno.cost import PARTS
from jalapeno.jit import compiled
from jalapeno.simulation import columns as c
from jalapeno.simulation.clock import elapsed
from jalapeno.simulation.state import Integers, Seats

N_PARTS = len(PARTS)
OPEN, CLOSE = -1, 1


@compiled
def keep_books(seats: Seats, worker: int, parts: Integers) -> None:
    """Enter the segment that ends now, with these *parts*, into the ledger of the worker."""
    workers, ledger = seats.workers, seats.ledger[worker]
    steps = workers[worker, c.W_STEPS]
    total = 0
    for part in range(N_PARTS):
        spent = elapsed(parts[part], parts[N_PARTS + part], steps)
        ledger[part] += spent
        total += spent
    alone = elapsed(workers[worker, c.W_DECODE_SECONDS], workers[worker, c.W_DECODE_GROWTH], steps)
    ledger[N_PARTS] += alone
    ledger[N_PARTS + 1] += total - alone


@compiled
def charge_prompt(seats: Seats, worker: int, request: int, sign: int) -> None:
    """OPEN or CLOSE a stretch of the prompt of *request*."""
    requests, ledger = seats.requests, seats.ledger[worker]
    requests[request, c.OTHERS_DECODE] += sign * ledger[N_PARTS]
    requests[request, c.OTHERS_PREFILL] += sign * (
        ledger[N_PARTS + 1] - requests[request, c.OWN_PREFILL]
    )
    for part in range(N_PARTS):
        requests[request, c.PREFILL_PARTS + part] += sign * ledger[part]


@compiled
def charge_answer(seats: Seats, worker: int, request: int, sign: int) -> None:
    """OPEN or CLOSE a stretch in which *request* decodes."""
    requests, ledger = seats.requests, seats.ledger[worker]
    requests[request, c.OWN_DECODE] += sign * ledger[N_PARTS]
    requests[request, c.INTERFERENCE] += sign * ledger[N_PARTS + 1]
    for part in range(N_PARTS):
        requests[request, c.DECODE_PARTS + part] += sign * ledger[part]


@compiled
def charge_again(seats: Seats, worker: int, request: int, sign: int) -> None:
    """OPEN or CLOSE a stretch in which what *request* had is prefilled again."""
    requests, ledger = seats.requests, seats.ledger[worker]
    requests[request, c.RECOMPUTE] += sign * seats.clock[c.C_NOW]
    for part in range(N_PARTS):
        requests[request, c.DECODE_PARTS + part] += sign * ledger[part]


@compiled
def charge_wait(seats: Seats, request: int, sign: int) -> None:
    """OPEN or CLOSE the time in which *request* has lost its seat."""
    requests, time = seats.requests, sign * seats.clock[c.C_NOW]
    requests[request, c.PREEMPTED] += time
    if requests[request, c.FIRST] == c.NOBODY:
        requests[request, c.PREEMPTED_FIRST] += time


@compiled
def charge_chunks(seats: Seats, rank: int, steps: int, spent: int, prefill: int) -> None:
    """Charge the prompts of *rank* with their share of the *spent* prefill time, and move on."""
    requests = seats.requests
    request = seats.ranks[rank, c.R_PREFILL_HEAD]
    while request != c.NOBODY and requests[request, c.CHUNK] > 0:
        chunk = requests[request, c.CHUNK]
        if requests[request, c.FIRST] == c.NOBODY:
            requests[request, c.OWN_PREFILL] += spent * chunk // prefill
        requests[request, c.LEFT] -= chunk * steps
        requests[request, c.CHUNK] = 0
        request = requests[request, c.NEXT]
