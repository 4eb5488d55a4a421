"""Ending a step: progress, tokens, finished requests, and the books."""

from __future__ import annotations

from jalapeno.cost import PARTS
from jalapeno.jit import compiled
from jalapeno.mapping.pricing import BUSY, N_OUTPUTS
from jalapeno.simulation import columns as c
from jalapeno.simulation.clock import elapsed
from jalapeno.simulation.heap import pop
from jalapeno.simulation.seat import send_next
from jalapeno.simulation.state import REQUEST_BITS, State

N_PARTS = len(PARTS)
REQUEST_MASK = (1 << REQUEST_BITS) - 1


@compiled
def complete(state: State, rank: int, request: int) -> None:
    """*request* has its last token at now: it leaves *rank*, and the loop sends the next."""
    requests, ranks = state.requests, state.ranks
    worker = ranks[rank, c.R_WORKER]
    requests[request, c.END] = state.clock[c.C_NOW]
    requests[request, c.STATUS] = c.DONE
    requests[request, c.OWN_DECODE] += state.ledger[worker, N_PARTS]
    requests[request, c.INTERFERENCE] += state.ledger[worker, N_PARTS + 1]
    for part in range(N_PARTS):
        requests[request, c.DECODE_PARTS + part] += state.ledger[worker, part]
    ranks[rank, c.R_RUNNING] -= 1
    moved = requests[request, c.DECODE_RANK] != c.NOBODY
    ranks[rank, c.R_FREE] += requests[request, c.DECODE_BLOCKS if moved else c.BLOCKS]
    state.clock[c.C_FINISHED] += 1
    send_next(state)


@compiled
def keep_books(state: State, worker: int) -> None:
    """Enter the segment that ends now into the ledger of the worker."""
    workers, ledger = state.workers, state.ledger[worker]
    steps = workers[worker, c.W_STEPS]
    parts = state.parts[worker]
    total = 0
    for part in range(N_PARTS):
        spent = elapsed(parts[part], parts[N_PARTS + part], steps)
        ledger[part] += spent
        total += spent
    alone = elapsed(workers[worker, c.W_DECODE_SECONDS], workers[worker, c.W_DECODE_GROWTH], steps)
    ledger[N_PARTS] += alone
    ledger[N_PARTS + 1] += total - alone


@compiled
def write_segment(state: State, worker: int, blocks: int) -> None:
    """Write the segment that ends now into the buffer."""
    workers, at = state.workers, state.clock[c.C_SEGMENTS]
    row = state.segments[at]
    row[0], row[1], row[2] = worker, workers[worker, c.W_START], workers[worker, c.W_STEPS]
    row[3], row[4] = workers[worker, c.W_DECODING], workers[worker, c.W_PREFILL]
    row[5] = workers[worker, c.W_SAMPLED]
    row[6] = workers[worker, c.W_START] - workers[worker, c.W_IDLE_SINCE]
    reads = 0
    pool = workers[worker, c.W_POOL]
    for offset in range(state.pools[pool, c.P_RANKS_WORKER]):
        reads += state.ranks[workers[worker, c.W_FIRST_RANK] + offset, c.R_READS]
    row[7], row[8] = reads, blocks
    row[9], row[10] = workers[worker, c.W_DECODE_SECONDS], workers[worker, c.W_DECODE_GROWTH]
    for part in range(N_PARTS):
        row[c.S_PARTS + part] = state.parts[worker, part]
        row[c.S_GROWTHS + part] = state.parts[worker, N_PARTS + part]
    energies, running = state.energies[at], state.running[worker]
    half = N_OUTPUTS - BUSY
    for index in range(half):
        energies[index] = running[BUSY + index]
        energies[half + index] = running[N_OUTPUTS + BUSY + index]
    state.clock[c.C_SEGMENTS] += 1
    workers[worker, c.W_IDLE_SINCE] = state.clock[c.C_NOW]


@compiled
def advance_decoding(state: State, rank: int, steps: int) -> None:
    """Decoding sequences of *rank* are *steps* tokens on; the done ones leave."""
    requests, ranks = state.requests, state.ranks
    ranks[rank, c.R_COUNTER] += steps
    counter = ranks[rank, c.R_COUNTER]
    ranks[rank, c.R_READS] += steps * ranks[rank, c.R_DECODING]
    for cap in range(len(state.caps)):
        heap, capped = state.short[rank, cap], state.capped[rank, cap]
        capped[0] += steps * capped[1]
        while capped[2] > 0 and heap[0] >> REQUEST_BITS <= counter:
            pop(heap, capped[2])
            capped[2] -= 1
            capped[1] -= 1
    finish = state.finish[rank]
    while ranks[rank, c.R_HEAP] > 0 and finish[0] >> REQUEST_BITS == counter:
        request = pop(finish, ranks[rank, c.R_HEAP]) & REQUEST_MASK
        ranks[rank, c.R_HEAP] -= 1
        ranks[rank, c.R_DECODING] -= 1
        reads = requests[request, c.PROMPT] + requests[request, c.OUTPUT]
        ranks[rank, c.R_READS] -= reads
        for cap in range(len(state.caps)):
            state.capped[rank, cap, 0] -= min(reads, state.caps[cap])
            if reads < state.caps[cap]:
                state.capped[rank, cap, 1] -= 1
        complete(state, rank, request)


@compiled
def blocks_in_use(state: State, worker: int, capacity: int) -> int:
    """KV blocks taken on all ranks of *worker*, each of *capacity* blocks."""
    many = state.pools[state.workers[worker, c.W_POOL], c.P_RANKS_WORKER]
    first = state.workers[worker, c.W_FIRST_RANK]
    taken = 0
    for offset in range(many):
        taken += capacity - state.ranks[first + offset, c.R_FREE]
    return taken


@compiled
def charge_chunks(state: State, rank: int, steps: int, spent: int, prefill: int) -> None:
    """Charge the prompts of *rank* with their share of the *spent* prefill time, and move on."""
    requests = state.requests
    request = state.ranks[rank, c.R_PREFILL_HEAD]
    while request != c.NOBODY and requests[request, c.CHUNK] > 0:
        chunk = requests[request, c.CHUNK]
        requests[request, c.OWN_PREFILL] += spent * chunk // prefill
        requests[request, c.LEFT] -= chunk * steps
        requests[request, c.CHUNK] = 0
        request = requests[request, c.NEXT]


@compiled
def close_prompt(state: State, rank: int, request: int) -> None:
    """The prompt of *request* is computed: settle what its prefill phase cost it."""
    requests = state.requests
    worker = state.ranks[rank, c.R_WORKER]
    requests[request, c.PREFILLED] = state.clock[c.C_NOW]
    requests[request, c.OTHERS_DECODE] += state.ledger[worker, N_PARTS]
    requests[request, c.OTHERS_PREFILL] += (
        state.ledger[worker, N_PARTS + 1] - requests[request, c.OWN_PREFILL]
    )
    for part in range(N_PARTS):
        requests[request, c.PREFILL_PARTS + part] += state.ledger[worker, part]
