"""Queues that theory knows, as request tables: one line of customers before equal servers."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
SECOND = 10**12


def gaps(count: int, cv: float, random: np.random.Generator) -> Floats:
    """*count* gaps of mean one: even, at random, or in bursts."""
    if cv == 0.0:
        return np.ones(count)
    return random.gamma(cv**-2, cv**2, count)


def queue(
    count: int,
    load: float,
    *,
    servers: int = 1,
    cv: float = 1.0,
    spread: float = 0.0,
    seed: int = 0,
) -> pl.DataFrame:
    """*count* customers at *load* of what *servers* of one second a customer can do.

    *cv* is that of the gaps, *spread* that of the service.
    """
    random = np.random.default_rng(seed)
    came = np.cumsum(gaps(count, cv, random)) / (load * servers)
    service = gaps(count, spread, random)
    free = [0.0] * servers
    begun, left = np.empty(count), np.empty(count)
    for number, time in enumerate(came):
        begun[number] = max(time, heapq.heappop(free))
        left[number] = begun[number] + service[number]
        heapq.heappush(free, left[number])
    return table(came, begun, left)


def table(came: Floats, begun: Floats, left: Floats) -> pl.DataFrame:
    """A request table of these seconds."""
    columns = {"arrival": came, "admitted": begun, "end": left}
    return pl.DataFrame(
        {name: np.rint(seconds * SECOND).astype(np.int64) for name, seconds in columns.items()}
    )
