"""Attribution: whose fault every picosecond of a request is, and what it was spent on.

A request is charged the whole time of every step it sits through.  By *cause* that time is
somebody's: its own, or that of others' tokens in the same steps.  By *part* it is what bound the
step: an engine, memory, the fabric, issue, the slowest rank, the power cap.  Waits count in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from jalapeno.cost import PARTS
from jalapeno.errors import UsageError
from jalapeno.metrics.distribution import PICOSECONDS_A_MS

WAITS = ("front_end", "queue", "slot_wait", "transfer", "preempted")
"""Before the scheduler's queue; in it; for a decode slot; for the KV cache to move; and without a
seat after having had one, whether before the first token or after it."""

TO_FIRST = ("front_end", "queue", "own_prefill", "others_prefill", "others_decode", *WAITS[2:])
CAUSES = (*TO_FIRST, "own_decode", "interference", "recompute")
"""In the order in which a request meets them.  Decode is a batch's: ``own_decode`` is what its
steps would have taken without prompts in them, ``interference`` what others' prompts added.
``recompute`` are the steps in which a preempted request is prefilled again after its first token;
before it, they are prefill like any."""

PARTS_AND_WAITS = (*PARTS, *WAITS)

Until = Literal["first", "end"]
Metric = Literal["ttft", "tpot", "e2e"]


def causes(requests: pl.DataFrame, until: Until = "end") -> pl.DataFrame:
    """A column a cause, int64 ps; they add up to each request's E2E, or TTFT *until* "first"."""
    names = CAUSES if until == "end" else TO_FIRST
    waits = _waits(until)
    return requests.select([waits.get(name, pl.col(name)).alias(name) for name in names])


def parts(requests: pl.DataFrame, until: Until = "end") -> pl.DataFrame:
    """A column a part and wait, int64 ps, with the same sums as :func:`causes`."""
    columns = {part: pl.col(f"prefill_{part}") for part in PARTS}
    if until == "end":
        columns = {part: column + pl.col(f"decode_{part}") for part, column in columns.items()}
    columns |= _waits(until)
    return requests.select([column.alias(name) for name, column in columns.items()])


def _waits(until: Until) -> dict[str, pl.Expr]:
    # one pool moves nothing: its requests have no `moved`, and `first` is `prefilled`
    moving = pl.when(pl.col("moved") >= 0).then(pl.col("moved") - pl.col("assigned")).otherwise(0)
    return {
        "front_end": pl.col("ready") - pl.col("arrival"),
        "queue": pl.col("admitted") - pl.col("ready"),
        "slot_wait": pl.col("first") - pl.col("prefilled") - moving,
        "transfer": moving,
        "preempted": pl.col("preempted" if until == "end" else "preempted_first"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Means over requests, ms; each mapping adds up to the mean E2E or TTFT."""

    requests: int
    e2e_by_cause_ms: Mapping[str, float]
    e2e_by_part_ms: Mapping[str, float]
    ttft_by_cause_ms: Mapping[str, float]
    ttft_by_part_ms: Mapping[str, float]


def attribute(done: pl.DataFrame) -> Attribution:
    """The mean attribution of these requests, which are done: all, or a :func:`band` of them."""
    return Attribution(
        requests=len(done),
        e2e_by_cause_ms=_means(causes(done)),
        e2e_by_part_ms=_means(parts(done)),
        ttft_by_cause_ms=_means(causes(done, "first")),
        ttft_by_part_ms=_means(parts(done, "first")),
    )


def _means(columns: pl.DataFrame) -> dict[str, float]:
    if not len(columns):
        return dict.fromkeys(columns.columns, math.nan)
    return {column.name: float(np.mean(column.to_numpy())) / PICOSECONDS_A_MS for column in columns}


def band(done: pl.DataFrame, metric: Metric, low: float, high: float) -> pl.DataFrame:
    """The requests whose *metric* lies between its *low* and *high* percentile, both included.

    ``band(done, "ttft", 99, 100)`` are the slowest hundredth.  Requests of one token have no TPOT
    and are in no band of it.  Raises :class:`UsageError` unless ``0 <= low <= high <= 100``.
    """
    if not 0.0 <= low <= high <= 100.0:
        raise UsageError(f"a band needs 0 <= low <= high <= 100, got {low:g} to {high:g}")
    if metric == "tpot":
        done = done.filter(pl.col("output") > 1)
    if not len(done):
        return done
    value = done.select(_METRICS[metric].alias(metric))[metric].to_numpy()
    least, most = np.percentile(value, [low, high])
    return done.filter(pl.Series((value >= least) & (value <= most)))


_METRICS = {
    "ttft": pl.col("first") - pl.col("arrival"),
    "tpot": (pl.col("end") - pl.col("first")) / (pl.col("output") - 1),
    "e2e": pl.col("end") - pl.col("arrival"),
}
