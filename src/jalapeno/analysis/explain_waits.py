"""What a waiting request waited for: a slot, KV blocks, or the end of the running step.

A request queues while the rank that takes it in the end cannot: either all of that rank's slots
are taken, or, where one is free, the blocks that the head of the queue needs are not.  Once it
has both it joins at the next step.  All times are whole picoseconds, and the three add up to the
wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from jalapeno.metrics.distribution import Integers
from jalapeno.metrics.segments import batches
from jalapeno.simulation import Journal

QUEUE, DECODE_SLOT = "queue", "slot_wait"
"""The two waits, by their label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A wait of some requests by what was short, ps."""

    label: str
    """Of the wait: ``queue`` or ``slot_wait``."""
    slots: int
    """While every slot of the rank was taken."""
    blocks: int
    """While a slot was free and KV blocks were short."""
    step: int
    """After that, until the running step ended."""

    @property
    def total(self) -> int:
        """The whole wait."""
        return self.slots + self.blocks + self.step


def shortages(journal: Journal, chosen: pl.DataFrame) -> tuple[Shortage, ...]:
    """What the *chosen* requests of *journal*, which are done, waited for.

    Where a cache moves, a decode pool assigns anew and the journal forgets when a prefill rank did:
    up to a step of a prefill pool's block shortage is then counted as ``step``.
    """
    every = journal.requests
    moved = bool((every["decode_rank"] >= 0).any())
    found = [_prefill_queue(journal, chosen) if moved else _queue(journal, chosen)]
    if moved:
        found.append(_decode_slot(journal, chosen))
    return tuple(found)


def _queue(journal: Journal, chosen: pl.DataFrame) -> Shortage:
    holding = _holding(journal, "rank", "assigned", "end")
    rank, ready, assigned = (_column(chosen, name) for name in ("rank", "ready", "assigned"))
    slots = full_between(holding, _slots(journal), rank, ready, assigned)
    return Shortage(
        label=QUEUE,
        slots=_sum(slots),
        blocks=_sum(assigned - ready - slots),
        step=_sum(_column(chosen, "admitted") - assigned),
    )


def _prefill_queue(journal: Journal, chosen: pl.DataFrame) -> Shortage:
    holding = _holding(journal, "rank", "admitted", "prefilled")
    limits = _slots(journal)
    rank, ready, admitted = (_column(chosen, name) for name in ("rank", "ready", "admitted"))
    last = np.maximum(ready, _last_step(journal, rank, admitted))
    before = full_between(holding, limits, rank, ready, last)
    within = full_between(holding, limits, rank, last, admitted)
    return Shortage(
        label=QUEUE,
        slots=_sum(before + within),
        blocks=_sum(last - ready - before),
        step=_sum(admitted - last - within),
    )


def _decode_slot(journal: Journal, chosen: pl.DataFrame) -> Shortage:
    holding = _holding(journal, "decode_rank", "assigned", "end")
    rank = _column(chosen, "decode_rank")
    prefilled, assigned = _column(chosen, "prefilled"), _column(chosen, "assigned")
    slots = full_between(holding, _slots(journal), rank, prefilled, assigned)
    return Shortage(
        label=DECODE_SLOT,
        slots=_sum(slots),
        blocks=_sum(assigned - prefilled - slots),
        step=_sum(_column(chosen, "first") - _column(chosen, "moved")),
    )


def _column(table: pl.DataFrame, name: str) -> Integers:
    return table[name].to_numpy()


def _sum(times: Integers) -> int:
    return sum(times.tolist())  # Python's integers do not overflow


def _holding(journal: Journal, rank: str, taken: str, left: str) -> pl.DataFrame:
    """(rank, taken, left) of every request that held a slot, ps; who never left holds on."""
    held = journal.requests.filter((pl.col(rank) >= 0) & (pl.col(taken) >= 0))
    end = pl.when(pl.col(left) >= 0).then(pl.col(left)).otherwise(2**62)
    return held.select(pl.col(rank).alias("rank"), pl.col(taken).alias("taken"), end.alias("left"))


def _slots(journal: Journal) -> Integers:
    """Slots of each rank of the run."""
    return np.concatenate(
        [
            np.full(pool.replicas * pool.plan.ranks, pool.plan.max_running, dtype=np.int64)
            for pool in journal.scenario.pools
        ]
    )


def worker_of_rank(journal: Journal) -> Integers:
    """The worker of each rank of the run."""
    ranks = [pool.plan.ranks for pool in journal.scenario.pools for _ in range(pool.replicas)]
    return np.repeat(np.arange(len(ranks)), ranks)


def full_between(
    holding: pl.DataFrame, limits: Integers, rank: Integers, begin: Integers, end: Integers
) -> Integers:
    """Picoseconds between *begin* and *end* of each asker in which its *rank* had no slot free.

    *holding*: who held a slot of which rank from ``taken`` to ``left``; *limits*: slots by rank.
    """
    found = np.zeros(len(rank), dtype=np.int64)
    for number in np.unique(rank):
        mine = rank == number
        held = holding.filter(pl.col("rank") == number)
        clock = _FullClock.of(_column(held, "taken"), _column(held, "left"), int(limits[number]))
        found[mine] = clock.until(end[mine]) - clock.until(begin[mine])
    return found


@dataclass(frozen=True, slots=True)
class _FullClock:
    """A clock that runs only while all slots of a rank are taken."""

    times: Integers
    """When it may start or stop, ps, ascending."""
    full: Integers
    """1 where it runs from that time on, else 0."""
    shown: Integers
    """What it shows at that time, ps."""

    @classmethod
    def of(cls, taken: Integers, left: Integers, limit: int) -> _FullClock:
        times = np.concatenate([[0], taken, left])
        change = np.concatenate([[0], np.ones_like(taken), -np.ones_like(left)])
        order = np.argsort(times, kind="stable")
        times = times[order]
        full = (np.cumsum(change[order]) >= limit).astype(np.int64)
        shown = np.concatenate([[0], np.cumsum(full[:-1] * np.diff(times))])
        return cls(times, full, shown)

    def until(self, when: Integers) -> Integers:
        place = np.searchsorted(self.times, when, side="right") - 1
        found: Integers = self.shown[place] + self.full[place] * (when - self.times[place])
        return found


def _last_step(journal: Journal, rank: Integers, admitted: Integers) -> Integers:
    """When the step began at whose end each was *admitted*; *admitted* itself if none ran."""
    worker = worker_of_rank(journal)[rank]
    ends, starts = _step_ends(journal)
    found = admitted.copy()
    for number in np.unique(worker):
        mine = np.flatnonzero(worker == number)
        place = np.searchsorted(ends[number], admitted[mine])
        there = place < len(ends[number])
        mine, place = mine[there], place[there]
        exact = ends[number][place] == admitted[mine]
        found[mine[exact]] = starts[number][place[exact]]
    return found


def _step_ends(journal: Journal) -> tuple[list[Integers], list[Integers]]:
    """For each worker, when its segments end, ascending, and when the last step of each began."""
    rows = list(_ends(journal))
    worker, end, start = (np.concatenate([row[place] for row in rows]) for place in range(3))
    ends, starts = [], []
    for number in range(len(journal.workers)):
        mine = worker == number
        order = np.argsort(end[mine], kind="stable")
        ends.append(end[mine][order])
        starts.append(start[mine][order])
    return ends, starts


def _ends(journal: Journal) -> Iterator[tuple[Integers, Integers, Integers]]:
    for _, batch in batches(journal):
        end = batch.integers("start") + batch.elapsed
        last = batch.first + batch.growth * (batch.steps - 1)
        yield batch.integers("worker"), end, end - last
