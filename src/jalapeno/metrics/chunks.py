"""Chunks: gaps between what a client is sent, where an engine does not send every step's tokens.

``engine.stream_interval`` of n: the first token is sent at once, then whatever there is at a
request's n-th, 2n-th ... iteration (the one that made the first token is its first), and the rest
with the last token, as TensorRT-LLM does.  Neither first nor last token comes later, so times to
first token, end-to-end latencies and TPOT are those of n = 1; only gaps are longer, and fewer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from jalapeno.metrics.distribution import Integers
from jalapeno.metrics.segments import Batch, batch_of
from jalapeno.simulation import Journal

AT_ONCE = 1 << 16
"""Requests whose chunks are listed at a time."""


def intervals(journal: Journal) -> Integers:
    """Steps between chunks, by worker."""
    scenario = journal.scenario
    each = [scenario.site(pool).engine.stream_interval for pool in scenario.pools]
    every: Integers = np.array(each, dtype=np.int64)[journal.workers["pool"].to_numpy()]
    return every


def are_told(journal: Journal) -> bool:
    """Whether chunks can be told: not where a request gave way after its first token, for then the
    journal does not say in which steps it had tokens."""
    requests = journal.requests
    return bool((requests["preempted"] == requests["preempted_first"]).all())


def chunk_gaps(journal: Journal) -> Iterator[Batch]:
    """The gaps before all chunks but first ones, each as a step of its own, request by request."""
    segments, every = journal.segment_table(), intervals(journal)
    done = journal.requests.filter(pl.col("status") == "done", pl.col("output") > 1)
    place = done["decode_rank"].to_numpy()
    where = _workers_of_ranks(journal)[np.where(place >= 0, place, done["rank"].to_numpy())]
    for worker in np.unique(where):
        steps = batch_of(segments.filter(pl.col("worker") == worker).sort("start"))
        first, end = (done[name].to_numpy()[where == worker] for name in ("first", "end"))
        for begin in range(0, len(first), AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            yield _as_steps(_gaps(steps, first[some], end[some], int(every[worker])))


def _workers_of_ranks(journal: Journal) -> Integers:
    """The worker that each rank belongs to."""
    ranks = [pool.plan.ranks for pool in journal.scenario.pools]
    each = np.array(ranks, dtype=np.int64)[journal.workers["pool"].to_numpy()]
    return np.repeat(np.arange(len(each)), each)


def _gaps(steps: Batch, first: Integers, end: Integers, every: int) -> Integers:
    """Gaps, ps, of requests of one worker, whose segments are *steps* in order of time.

    A request decodes in all segments that begin from its first token on and before its end, which
    follow each other without a pause.
    """
    starts = steps.integers("start")
    before = np.concatenate([[0], np.cumsum(steps.steps)])
    here = before[np.searchsorted(starts, first)]
    last = before[np.searchsorted(starts, end)]
    # the first token is iteration 1, and the j-th step after it iteration 1 + j
    skipped = 1 if every == 1 else 0
    between = (last - here) // every - skipped
    total = between + 1  # and the rest comes with the last token
    owner = np.repeat(np.arange(len(first)), total)
    number = np.arange(int(total.sum())) - np.repeat(np.cumsum(total) - total, total)
    at = here[owner] + (number + 1 + skipped) * every - 1
    ends = number == between[owner]
    segment = np.searchsorted(before, at, side="right") - 1
    segment = np.minimum(segment, len(starts) - 1)
    into = np.where(ends, 0, at - before[segment])
    ran = into * steps.first[segment] + into * (into - 1) // 2 * steps.growth[segment]
    times = np.where(ends, end[owner], starts[segment] + ran)
    earlier = np.where(number == 0, first[owner], np.concatenate([[0], times[:-1]]))
    gaps: Integers = times - earlier
    return gaps


def _as_steps(gaps: Integers) -> Batch:
    one = np.ones(len(gaps), dtype=np.int64)
    frame = pl.DataFrame({"steps": one, "decoding": one})
    nothing = np.zeros_like(one)
    return Batch(frame, one, gaps, nothing, nothing, gaps)
