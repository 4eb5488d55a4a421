"""State of a run: the tables, the heaps and the scratch space of the compiled loop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jalapeno.cost import PARTS
from jalapeno.mapping import Memo, StepArrays
from jalapeno.simulation import columns as c

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Seats(NamedTuple):
    """Who is where, and what happens next.  Tables are described in :mod:`.columns`.

    What the scheduler reads and writes is apart from what prices and records steps, because a
    compiled function takes every array of a tuple by itself: fewer are sooner compiled and passed.
    """

    requests: Integers
    ranks: Integers
    workers: Integers
    pools: Integers
    stages: Integers
    clock: Integers
    finish: Integers
    """(ranks, slots): heap of ``counter at the end << 28 | request`` of decoding sequences."""
    caps: Integers
    """Context caps of the model."""
    capped: Integers
    """(ranks, caps, 3): sum of capped reads, sequences below the cap, heap length."""
    short: Integers
    """(ranks, caps, slots): heap of ``counter where the cap is reached << 28 | request``."""
    phases: Integers
    """(ranks, block): decoding sequences by phase, where pools preempt: see :mod:`.blocks`."""
    ledger: Integers
    """(workers, parts + 2): ps of every part so far, then of decode and of prefill."""
    tree: Integers
    """Tournament over the workers' next events."""
    copies: Integers
    """(requests, 2): heap of (time, request) of KV caches on their way."""
    pauses: Integers
    """(buffer, PAUSE_TABLE)"""
    transfer: Integers
    """(pools, pools, 2): ps that a transfer from one to the other takes to set up, and
    femtoseconds a token."""


class State(NamedTuple):
    """Everything the loop reads and writes."""

    seats: Seats
    segments: Integers
    """(buffer, SEGMENT_INTEGERS)"""
    energies: Floats
    """(buffer, SEGMENT_FLOATS)"""
    rows: Floats
    """Scratch: (ranks a worker, batch columns) and its like for growth and decode only."""
    growth: Floats
    alone: Floats
    values: Floats
    """Scratch: (4, outputs): first and growth of a step, with and without prefill."""
    running: Floats
    """(workers, 2 x outputs): first and growth of the segment in progress."""
    parts: Integers
    """(workers, 2 x parts): first and growth of each part of that segment, picoseconds."""
    prices: StepArrays
    memo: Memo


BUFFER_SEGMENTS = 1 << 16
"""Segments the loop may write before it hands them over."""

BUFFER_PAUSES = 1 << 12
"""Pauses after which they are handed over; the buffer is larger by what one event can add."""

REQUEST_BITS = 28
"""Low bits of a heap key that hold the request: up to 268 million requests a run."""
MOST_ANSWERS = 1 << (62 - REQUEST_BITS)
"""Tokens of all answers of a run: the bits above hold a count of tokens, and no rank makes more of
them, but for what last steps give beyond."""

REQUEST_MASK = (1 << REQUEST_BITS) - 1


def tree_size(workers: int) -> int:
    """Leaves of the tournament: the next power of two."""
    return 1 << max(0, (workers - 1).bit_length())


def empty_ledger(workers: int) -> Integers:
    """Ledger of *workers* workers that have not worked."""
    return np.zeros((workers, len(PARTS) + 2), dtype=np.int64)


def request_table(
    prompts: Integers, outputs: Integers, limits: Integers, cached: Integers
) -> Integers:
    """Requests that nobody has sent yet; so many tokens of their prompts are *cached*."""
    table = np.zeros((len(prompts), len(c.REQUEST)), dtype=np.int64)
    table[:, c.PROMPT], table[:, c.OUTPUT], table[:, c.LIMIT] = prompts, outputs, limits
    table[:, c.CACHED] = table[:, c.KEPT] = cached
    table[:, c.LEFT] = prompts - cached
    for column in (c.PAUSED, c.RANK, c.DECODE_RANK, c.NEXT):
        table[:, column] = c.NOBODY
    for column in range(c.ARRIVAL, c.END + 1):
        table[:, column] = c.NOBODY
    return table
