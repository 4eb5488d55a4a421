"""Steady state in closed form: what a plan does under a constant load, without playing it out.

The requests in flight circulate between a prefill station (one prompt after another) and a decode
station (all together).  Prefill is a queue with one server a rank, in the approximation of Bard
and Schweitzer for closed networks, ``Q = rho / (1 - rho (N - 1) / N)``; decode is a delay that
depends on how many decode.  What is found is the decode batch at which all requests in flight
are accounted for.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jalapeno.jit import compiled
from jalapeno.mapping import batch
from jalapeno.mapping.batch import UNCAPPED, column
from jalapeno.mapping.outputs import JOULES, Array, Places, StepArrays
from jalapeno.mapping.pricing import Memo, price_rows, seconds_of

HALVINGS = 30
"""Bisections of the decode batch: to a billionth of the load."""


class Question(NamedTuple):
    """One plan under one load, with scratch rows (ranks, columns) for its batches."""

    arrays: StepArrays
    memo: Memo
    which: int
    caps: Places
    rows: Array
    growth: Array
    """Zeros: a single step."""
    first: Array
    slope: Array
    prompt: float
    """Mean prompt, tokens."""
    output: float
    """Mean answer, tokens."""
    budget: float
    """Tokens of a step, a rank."""
    queries: float = 1.0
    """Tokens that a decoding sequence brings to a step."""
    yielded: float = 1.0
    """Mean tokens that a step gives it."""


@compiled
def fill_decode(ask: Question, busy: int, each: float) -> None:
    """*busy* ranks decode *each* sequences at the mean context, the others none."""
    context = ask.prompt + 0.5 * ask.output
    for rank in range(len(ask.rows)):
        row = ask.rows[rank]
        row[:] = 0.0
        if rank < busy:
            row[batch.DECODE] = each
            row[batch.TOKENS] = row[batch.SAMPLED] = each * ask.queries
            row[column(0, batch.DECODE_READS)] = each * (context + 0.5 * (ask.queries - 1.0))
            for cap in range(len(ask.caps)):
                reads = each * min(context, float(ask.caps[cap]))
                row[column(cap + 1, batch.DECODE_READS)] = reads


@compiled
def add_prompts(ask: Question, ranks: int, chunk: float) -> None:
    """The first *ranks* ranks also take a chunk of *chunk* tokens, each at another place of its
    prompt: evenly spread, because the rank that is furthest sets the time."""
    for rank in range(ranks):
        row = ask.rows[rank]
        cached = (ask.prompt - chunk) * (rank + 0.5) / ranks
        row[batch.TOKENS] += chunk
        row[batch.PREFILL] = chunk
        row[batch.SAMPLED] += chunk / ask.prompt
        for index in range(1 + len(ask.caps)):
            cap = float(UNCAPPED if index == 0 else ask.caps[index - 1])
            below = min(max(cap - cached, 0.0), chunk)
            pairs = below * (cached + 0.5 * below) + (chunk - below) * cap
            row[column(index, batch.PREFILL_PAIRS)] = pairs
            row[column(index, batch.PREFILL_READS)] = chunk + min(cached, cap)


@compiled
def step(ask: Question) -> tuple[float, float]:
    """(seconds, joules of the worker) of the step in the rows."""
    price_rows(ask.arrays, ask.memo, ask.which, ask.rows, ask.growth, ask.first, ask.slope)
    return seconds_of(ask.first), ask.first[JOULES]


@compiled
def waiting(load: float, others: float) -> float:
    """Mean customers at a single server of utilisation *load*, *others* of N: (N - 1) / N."""
    left = 1.0 - load * others
    return load / left if left > 1e-9 else 1e9


@compiled
def unified_at(
    ask: Question, each: float, busy: int, others: float
) -> tuple[float, float, float, float, float]:
    """(requests/s a rank, TPOT, prefill time, joules a step, share of steps with a chunk).

    With *each* sequences decoding on each of *busy* ranks; on its own rank a request sees
    *others* of them and of their prompts (arrival theorem).  A rank's step holds a chunk of one
    prompt with probability q, and the slowest of n ranks sets the time, so a step is mixed with
    ``1 - (1 - q others) (1 - q)^(n - 1)``.
    """
    steps = max(ask.output - 1.0, 1e-9) / ask.yielded
    chunks = math.ceil(ask.prompt / max(1.0, ask.budget - each * ask.queries))
    fill_decode(ask, busy, max(1.0, each))
    alone, alone_joules = step(ask)
    share = min(1.0, each * chunks / steps)
    mixed_share = 1.0 - (1.0 - share * others) * (1.0 - share) ** (busy - 1)
    together = max(1, int(busy * share / max(mixed_share, 1e-12) + 0.5))
    fill_decode(ask, busy, each * others)
    add_prompts(ask, min(together, busy), ask.prompt / chunks)
    mixed, mixed_joules = step(ask)
    lasts = alone + mixed_share * (mixed - alone)
    joules = alone_joules + mixed_share * (mixed_joules - alone_joules)
    return each / (steps * lasts), lasts / ask.yielded, chunks * mixed, joules, share


@compiled
def unified(
    ask: Question, each: float, busy: int, slots: float, delay: float
) -> tuple[float, float, float, float, float]:
    """(requests/s a rank, TPOT, TTFT, joules a step, decoding a rank) of a unified worker.

    *each*: requests in flight on each of *busy* ranks, of which *slots* may run at once; *delay*:
    seconds before a request reaches the scheduler.
    """
    low, high = 0.0, min(each, slots)
    others = max(0.0, (each - 1.0) / each)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        rate, _, service, _, share = unified_at(ask, middle, busy, others)
        running = middle + waiting(rate * service, others)
        if running + rate * delay > each or share >= 1.0:
            high = middle
        else:
            low = middle
    rate, tpot, _, joules, _ = unified_at(ask, low, busy, others)
    return rate, tpot, max(0.0, each - low) / max(rate, 1e-12), joules, low


@compiled
def decode_at(ask: Question, total: float) -> tuple[float, float]:
    """(seconds, joules) of a step of a decode worker with *total* sequences over its ranks."""
    busy = max(1, min(len(ask.rows), math.ceil(total - 1e-9)))
    fill_decode(ask, busy, max(1.0, total / busy))
    return step(ask)


@compiled
def prefill_at(ask: Question) -> tuple[float, float]:
    """(seconds, joules) in which a prefill worker takes a prompt on every rank."""
    chunks = math.ceil(ask.prompt / ask.budget)
    fill_decode(ask, 0, 0.0)
    add_prompts(ask, len(ask.rows), ask.prompt / chunks)
    seconds, joules = step(ask)
    return chunks * seconds, chunks * joules


@compiled
def split(
    front: Question,
    back: Question,
    flight: float,
    servers: float,
    workers: float,
    slots: float,
    delay: float,
) -> tuple[float, float, float, float, float, float]:
    """(requests/s, TPOT, TTFT, joules/s at work, decoding, prefill's share of time at work) of
    split pools.

    *servers*: prefill ranks; *workers*: decode workers with *slots* slots in all; *delay*: seconds
    outside both.  Prefill is a queue of one server that many times as fast, and a delay for the
    rest of the service (Seidmann's approximation); who finds no slot waits for one.
    """
    service, prompt_joules = prefill_at(front)
    low, high = 0.0, min(flight, slots)
    others = max(0.0, (flight - 1.0) / flight)
    steps = max(back.output - 1.0, 1e-9) / back.yielded
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        lasts, _ = decode_at(back, middle / workers)
        rate = middle / (steps * lasts)
        inside = middle + rate * (service * (1.0 - 1.0 / servers) + delay)
        if inside + waiting(rate * service / servers, others) > flight:
            high = middle
        else:
            low = middle
    lasts, step_joules = decode_at(back, low / workers)
    rate = max(low / (steps * lasts), 1e-12)
    busy_workers = min(workers, max(1.0, low))
    watts = rate * prompt_joules / len(front.rows) + busy_workers * step_joules / lasts
    return (
        rate,
        lasts / back.yielded,
        max(0.0, flight - low) / rate,
        watts,
        low,
        rate * service / servers,
    )
