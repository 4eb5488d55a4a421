"""What the laws look at: runs cut at any time, tables as integers, who belongs where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
from hypothesis import settings
from hypothesis import strategies as st

from jalapeno.simulation import Run, Scenario, simulate
from tests.simulation.scenes import scenes, speculation, tight_scenes

Integers = npt.NDArray[np.int64]
few = settings(max_examples=40)
all_scenes = st.one_of(
    scenes(),
    tight_scenes(),
    scenes().flatmap(speculation),
    tight_scenes().flatmap(speculation),
)
cuts = st.lists(st.floats(0.0, 1.0), max_size=8)


def column(table: pl.DataFrame, name: str) -> Integers:
    return table[name].to_numpy().astype(np.int64)


def most_at_once(begin: Integers, end: Integers, size: Integers) -> int:
    """The largest sum of *size* over intervals ``[begin, end)`` that overlap."""
    moments = sorted(
        [(time, 1, much) for time, much in zip(begin.tolist(), size.tolist(), strict=True)]
        + [(time, 0, -much) for time, much in zip(end.tolist(), size.tolist(), strict=True)]
    )
    return int(max(np.cumsum([much for _, _, much in moments])))


def pool_of_rank(scenario: Scenario) -> list[int]:
    """The pool of each rank."""
    return [
        number
        for number, pool in enumerate(scenario.pools)
        for _ in range(pool.replicas * pool.plan.ranks)
    ]


def advance_by(run: Run, fractions: Sequence[float], whole: int) -> Iterator[Run]:
    """Stop *run* at these fractions of its *whole* length, then let it go to the end."""
    for time in sorted(int(fraction * whole) for fraction in fractions):
        run.advance(time)
        yield run
    assert run.advance()
    yield run


def length(scenario: Scenario) -> int:
    return int(column(simulate(scenario).requests, "end").max())
