"""Survey: one pass over the segments of a journal, from which all else follows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import polars as pl

from jalapeno.metrics.chunks import are_told, chunk_gaps, intervals
from jalapeno.metrics.distribution import UNDEFINED, Distribution, Integers, exact_dot, ratio
from jalapeno.metrics.gaps import Counts, count, octaves, token_gaps
from jalapeno.metrics.segments import Batch, batches, late_tokens
from jalapeno.metrics.totals import Fleet, Totals, totals
from jalapeno.simulation import Journal


@dataclass(frozen=True, slots=True)
class Survey:
    """What the segments of a journal say."""

    pools: tuple[Totals, ...]
    gaps_ms: Distribution
    """Gap before the tokens of every decode step of a sequence (inter-token latency)."""
    overlap: int
    """The most picoseconds by which a segment starts before its worker's last one ends."""
    last_end: int
    """When the last segment ends, ps; 0 where there is none."""
    paused: int = 0
    """Picoseconds of gaps between tokens that are no steps: sequences had given way."""
    most_tokens: tuple[int, ...] = ()
    """Of each pool: answer tokens that a step may give a sequence, at the most."""

    @property
    def together(self) -> Totals:
        """The totals of all pools together."""
        return reduce(add, self.pools)


def survey(journal: Journal) -> Survey:
    """Read all segments of *journal*, and again where the token gaps' percentiles need it."""
    workers, scenario = journal.workers, journal.scenario
    caps = np.array([scenario.site(pool).system.chip.power.cap for pool in scenario.pools])
    fleet = Fleet(
        workers["chips"].to_numpy(),
        workers["blocks"].to_numpy(),
        caps[workers["pool"].to_numpy()],
    )
    sums = [Totals() for _ in scenario.pools]
    coarse, overlap = octaves(), 0
    last_end = np.zeros(len(workers), dtype=np.int64)
    for pool, batch in batches(journal):
        sums[pool] += totals(batch, fleet)
        count(coarse, batch)
        overlap = max(overlap, advance(batch, last_end))
    together = reduce(add, sums)
    late = late_tokens(journal.pauses)
    count(coarse, late)
    paused = exact_dot(late.integers("decoding"), late.elapsed)
    gap_count = together.gap_count + int(late.integers("decoding").sum())
    if (intervals(journal) > 1).any():
        gaps = _chunks(journal)
    else:
        gaps = _gaps(journal, late, coarse, ratio(together.gaps + paused, gap_count))
    most_tokens = tuple(pool.plan.queries for pool in scenario.pools)
    return Survey(tuple(sums), gaps, overlap, int(last_end.max()), paused, most_tokens)


def _gaps(journal: Journal, late: Batch, coarse: Counts, mean_ps: float) -> Distribution:
    def again() -> Iterator[Batch]:
        yield from (batch for _, batch in batches(journal))
        yield late

    return token_gaps(coarse, mean_ps, again)


def _chunks(journal: Journal) -> Distribution:
    """Gaps between chunks, where not every step's tokens are sent by themselves."""
    if not are_told(journal):
        return UNDEFINED
    coarse, total, number = octaves(), 0, 0
    for batch in chunk_gaps(journal):
        count(coarse, batch)
        total += int(batch.elapsed.sum())
        number += len(batch.elapsed)
    return token_gaps(coarse, ratio(total, number), lambda: chunk_gaps(journal))


def advance(batch: Batch, last_end: Integers) -> int:
    """Move each worker's *last_end* on; returns the worst overlap, ps, at most zero if none."""
    if not len(batch.steps):
        return 0
    worker, start = batch.integers("worker"), batch.integers("start")
    # numpy sorts short integers in linear time
    order = np.argsort(worker.astype(np.min_scalar_type(len(last_end))), kind="stable")
    worker, start = worker[order], start[order]
    end = start + batch.elapsed[order]
    begins = np.concatenate([[True], worker[1:] != worker[:-1]])
    before = np.concatenate([[0], end[:-1]])
    before[begins] = last_end[worker[begins]]
    ends = np.concatenate([begins[1:], [True]])
    last_end[worker[ends]] = end[ends]
    return int((before - start).max())


@dataclass(frozen=True, slots=True)
class Span:
    """From the first request's sending to the last answer (or step) of a run, ramps included."""

    start: int
    """ps"""
    end: int
    """ps"""

    @property
    def seconds(self) -> float:
        """Its length; NaN where nothing has happened."""
        return (self.end - self.start) / 1e12 if self.end > self.start else math.nan


def span(requests: pl.DataFrame, last_end: int) -> Span:
    """The span of a run with these *requests* whose last segment ends at *last_end* ps.

    InferenceX's client measures from before the first send to after the last finish.
    """
    sent = requests["arrival"].to_numpy()
    sent = sent[sent >= 0]
    start = int(sent.min()) if len(sent) else 0
    return Span(start, max(int(requests["end"].to_numpy().max()), last_end))
