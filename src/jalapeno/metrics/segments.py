"""Segments of a journal as arrays, a batch at a time: a journal may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from jalapeno.cost import PARTS
from jalapeno.metrics.distribution import Floats, Integers
from jalapeno.simulation import Journal


@dataclass(frozen=True, slots=True)
class Batch:
    """Some segments of one pool, in the order in which they ended."""

    frame: pl.DataFrame
    steps: Integers
    first: Integers
    """How long the first step lasts, ps: the sum of its parts."""
    growth: Integers
    """How much longer each next one lasts, ps."""
    pairs: Integers
    """``n (n - 1) / 2`` of n steps: how often the growth counts in a sum over them."""
    elapsed: Integers
    """How long the whole segment lasts, ps."""

    def integers(self, name: str) -> Integers:
        """The column called *name*."""
        return self.frame[name].to_numpy()

    def floats(self, name: str) -> Floats:
        """The column called *name*."""
        return self.frame[name].to_numpy()

    def amounts(self, name: str) -> Floats:
        """What each segment adds up to of a quantity that grows from step to step."""
        first, growth = self.floats(f"{name}_first"), self.floats(f"{name}_growth")
        return self.steps * first + self.pairs * growth


def batch_of(frame: pl.DataFrame) -> Batch:
    """The segments in *frame* with the closed form of their time, ``n f + g n (n - 1) / 2``."""
    steps = frame["steps"].to_numpy()
    pairs = steps * (steps - 1) // 2
    first, growth = (_over_parts(frame, which) for which in ("first", "growth"))
    return Batch(frame, steps, first, growth, pairs, steps * first + pairs * growth)


def _over_parts(frame: pl.DataFrame, which: str) -> Integers:
    total = np.zeros(len(frame), dtype=np.int64)
    for part in PARTS:
        total += frame[f"{part}_{which}"].to_numpy()
    return total


def late_tokens(pauses: pl.DataFrame) -> Batch:
    """Gaps that segments do not have as they were, as steps: the late token's gap counts one, and
    the step that segments count for it minus one."""
    gap, step = pauses["gap"].to_numpy(), pauses["instead"].to_numpy()
    swapped = step > 0
    lasted = np.concatenate([gap, step[swapped]])
    one = np.ones(len(lasted), dtype=np.int64)
    nothing = np.zeros_like(one)
    weights = np.concatenate([one[: len(gap)], -one[len(gap) :]])
    frame = pl.DataFrame({"steps": one, "decoding": weights})
    return Batch(frame, one, lasted, nothing, nothing, lasted)


def batches(journal: Journal) -> Iterator[tuple[int, Batch]]:
    """All segments, as (pool, batch): a batch of the journal is split where it mixes pools."""
    pools = journal.workers["pool"].to_numpy()
    for frame in journal.segments.batches():
        if pools.max() == 0:
            yield 0, batch_of(frame)
            continue
        whose = pools[frame["worker"].to_numpy()]
        for pool in range(pools.max() + 1):
            yield pool, batch_of(frame.filter(pl.Series(whose == pool)))
