"""Answers: what the twin says of a measured row, without the tables of a full report.

A row states means or medians (column ``statistic``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.analysis.evidence.scenarios import EngineOf, as_catalogued, scenario_for
from jalapeno.cost import PARTS
from jalapeno.errors import JalapenoError
from jalapeno.simulation import Scenario
from jalapeno.simulation import columns as c
from jalapeno.simulation.simulate import start

Floats = npt.NDArray[np.float64]

THREADS = 2
STATISTICS: Mapping[str, Callable[[Floats], Any]] = {"mean": np.mean, "median": np.median}
"""What a row's times are of all requests."""

PER_MS = 1e9
"""Picoseconds of a millisecond."""

_FIRST_SHARE = c.REQUEST.index(f"decode_{PARTS[0]}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the client of a row would see, and what decoding was bound by."""

    ttft_ms: float
    """Mean or median over requests, as the row states."""
    tpot_ms: float
    """The same of (E2E - TTFT) / (OSL - 1)."""
    shares: tuple[float, ...]
    """Shares of ``PARTS`` in the time between tokens."""


def answer(scenario: Scenario, statistic: str = "mean") -> Answer:
    """Play *scenario* to its end; :class:`JalapenoError` where its plan does not fit.

    *statistic*: ``mean`` or ``median``, a key of :data:`STATISTICS`.
    """
    over = STATISTICS[statistic]
    run = start(scenario)
    run.advance()
    table = run.state.seats.requests
    ttft = (table[:, c.FIRST] - table[:, c.ARRIVAL]) / PER_MS
    tpot = (table[:, c.END] - table[:, c.FIRST]) / np.maximum(table[:, c.OUTPUT] - 1, 1) / PER_MS
    spent = table[:, _FIRST_SHARE : _FIRST_SHARE + len(PARTS)].sum(axis=0, dtype=np.float64)
    shares = spent / max(float(spent.sum()), 1.0)
    return Answer(float(over(ttft)), float(over(tpot)), tuple(shares.tolist()))


def answers(
    rows: Sequence[Mapping[str, Any]],
    engine_of: EngineOf = as_catalogued,
    on_done: Callable[[int], None] = lambda count: None,
) -> list[Answer | str]:
    """An answer for each of *rows*, or in words why there is none; two at a time."""

    def one(row: Mapping[str, Any]) -> Answer | str:
        try:
            statistic = row["statistic"]
            return answer(scenario_for(row, engine_of), statistic)
        except JalapenoError as error:
            return str(error)

    found: list[Answer | str] = []
    with ThreadPoolExecutor(THREADS) as pool:
        for item in pool.map(one, rows):
            found.append(item)
            on_done(len(found))
    return found


def predictions(rows: Sequence[Mapping[str, Any]], said: Sequence[Answer | str]) -> pl.DataFrame:
    """``id``, ``predicted_*`` and ``share_*`` columns of those *rows* that have an answer."""
    kept = [
        {
            "id": row["id"],
            "predicted_ttft_ms": item.ttft_ms,
            "predicted_tpot_ms": item.tpot_ms,
            **{f"share_{part}": share for part, share in zip(PARTS, item.shares, strict=True)},
        }
        for row, item in zip(rows, said, strict=True)
        if isinstance(item, Answer)
    ]
    schema = {
        "id": pl.String(),
        **dict.fromkeys(("predicted_ttft_ms", "predicted_tpot_ms"), pl.Float64()),
        **dict.fromkeys((f"share_{part}" for part in PARTS), pl.Float64()),
    }
    return pl.DataFrame(kept, schema=schema)
