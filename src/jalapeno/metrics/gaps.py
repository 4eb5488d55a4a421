"""Gaps between tokens: exact percentiles over every token, without a row a token.

A segment of *n* steps that last ``f, f + g, f + 2 g, ...`` while *d* sequences decode holds
``n x d`` gaps.  A decoding sequence sits through every step of its worker, so the gap before a
token is its step, the first after a KV transfer included.  With speculation a step gives several
tokens, which come together after one gap.

Gaps are counted into bins: first 4,096 to an octave of picoseconds, then ever finer inside the
few bins that hold the order statistics asked for, until a bin is one picosecond.  Three passes do
for steps up to 69 ms, four for more; tables this small stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from jalapeno.jit import compiled
from jalapeno.metrics.distribution import (
    PERCENTILES,
    PICOSECONDS_A_MS,
    UNDEFINED,
    Distribution,
    Integers,
)
from jalapeno.metrics.segments import Batch

COARSE_BITS = 12
FINE_BITS = 12
TIME_BITS = 62
"""No time of a journal has more."""


class Counts(NamedTuple):
    """Gaps counted in windows of ``counts.shape[1]`` bins of ``2^shift`` ps each."""

    lows: Integers
    """Where each window begins, ps, ascending."""
    shifts: Integers
    counts: Integers
    """(windows, bins)"""


def octaves() -> Counts:
    """Nothing counted, on the whole line of time: bins are exact below 2^13 ps."""
    bits = np.arange(COARSE_BITS, TIME_BITS)
    lows = np.concatenate([[0], 1 << bits])
    shifts = np.concatenate([[0], bits - COARSE_BITS])
    return Counts(lows, shifts, np.zeros((len(lows), 1 << COARSE_BITS), dtype=np.int64))


def count(counts: Counts, batch: Batch) -> None:
    """Count the gaps of a batch."""
    # a falling series is read backwards, and a single step does not grow
    last = np.minimum(batch.growth, 0) * (batch.steps - 1)
    growth = np.where(batch.steps > 1, np.abs(batch.growth), 0)
    steps, weights = (batch.frame[name].to_numpy(writable=True) for name in ("steps", "decoding"))
    _count(*counts, batch.first + last, growth, steps, weights)


@compiled
def _count(
    lows: Integers,
    shifts: Integers,
    counts: Integers,
    firsts: Integers,
    growths: Integers,
    steps: Integers,
    weights: Integers,
) -> None:
    """Count ``first + j growth`` for j < steps, *weight* times each; growth must be >= 0."""
    bins = counts.shape[1]
    for row in range(len(firsts)):
        if weights[row] == 0:
            continue
        first, growth = firsts[row], growths[row]
        last = first + growth * (steps[row] - 1)
        for window in range(len(lows)):
            low, shift = lows[window], shifts[window]
            if low > last:
                break
            if (first - low) >> shift >= bins:
                continue
            step = 0
            if first < low:
                step = (low - first + growth - 1) // growth
            while step < steps[row]:
                gap = first + growth * step - low
                at = gap >> shift
                if at >= bins:
                    break
                after = steps[row]
                if growth > 0:
                    rest = ((at + 1) << shift) - 1 - gap
                    after = min(after, step + 1 + rest // growth)
                counts[window, at] += weights[row] * (after - step)
                step = after


class Places(NamedTuple):
    """The bin of each order statistic, and which of the gaps in it, from zero, is meant."""

    lows: Integers
    shifts: Integers
    ranks: Integers


def locate(counts: Counts, windows: Integers, ranks: Integers) -> Places:
    """The bins that hold the *ranks*-th gaps, from zero, counted from their *windows*' lows on."""
    running = np.cumsum(counts.counts)
    bins = counts.counts.shape[1]
    before = np.concatenate([[0], running])
    wanted = before[windows * bins] + ranks
    at = np.searchsorted(running, wanted, side="right")
    window, place = np.divmod(at, bins)
    shifts = counts.shifts[window]
    return Places(counts.lows[window] + (place << shifts), shifts, wanted - before[at])


def order_statistics(
    coarse: Counts, ranks: Integers, batches: Callable[[], Iterable[Batch]]
) -> Integers:
    """The *ranks*-th shortest gaps, from zero, ps.

    *coarse* has counted all of the *batches*, which are read again for every finer pass.
    """
    places = locate(coarse, np.zeros(len(ranks), dtype=np.int64), ranks)
    while (widest := int(places.shifts.max())) > 0:
        lows, first, windows = np.unique(places.lows, return_index=True, return_inverse=True)
        bits = min(widest, FINE_BITS)
        shifts = np.maximum(places.shifts[first] - bits, 0)
        finer = Counts(lows, shifts, np.zeros((len(lows), 1 << bits), dtype=np.int64))
        for batch in batches():
            count(finer, batch)
        places = locate(finer, windows, places.ranks)
    return places.lows


def token_gaps(
    coarse: Counts, mean_ps: float, batches: Callable[[], Iterable[Batch]]
) -> Distribution:
    """The gaps of all tokens in ms: percentiles as numpy would have them of a row a token."""
    tokens = int(coarse.counts.sum())
    if tokens == 0:
        return UNDEFINED
    places = np.array(PERCENTILES) / 100.0 * (tokens - 1)
    below = places.astype(np.int64)
    above = np.minimum(below + 1, tokens - 1)
    ranks = np.concatenate([below, above, [0, tokens - 1]])
    gaps = order_statistics(coarse, ranks, batches) / PICOSECONDS_A_MS
    lower, upper = gaps[: len(below)], gaps[len(below) : 2 * len(below)]
    middle = lower + (upper - lower) * (places - below)
    return Distribution.of(mean_ps / PICOSECONDS_A_MS, middle, (gaps[-2], gaps[-1]))
