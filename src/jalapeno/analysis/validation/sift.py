"""Sifting: measurements that contradict themselves are named, left out and counted.

Little's law ties what a closed loop measures: ``throughput x GPUs x time of a request / answer =
concurrency``.  Where a row states all of these and they disagree beyond a factor, one is wrong, and
nobody knows which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from jalapeno.analysis.validation.rows import LAYOUT, closed_loop_throughput

FACTOR = 1.6
"""How far throughput may be from Little's law, either way.  Warm-up, drain and the difference of
mean and median explain some tens of percent."""

FASTER, FEWER = 1.6, 4
"""In a closed loop more requests never make tokens come sooner: a point whose TPOT is less
than ``1 / FASTER`` of one on its own curve with at most ``1 / FEWER`` of its requests contradicts
that one."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """Rows that can be scored, and those that cannot with why."""

    rows: pl.DataFrame
    excluded: pl.DataFrame
    """``id``, ``reason``."""


def sift(rows: pl.DataFrame, factor: float = FACTOR) -> Sifted:
    """Take out of *rows* what contradicts itself by more than *factor* or is no measurement."""
    if not factor > 1.0:
        raise ValueError(f"a factor above 1, not {factor}")
    implied = closed_loop_throughput("measured_ttft_ms", "measured_tpot_ms")
    stated = pl.col("measured_tokens_per_s_per_gpu")
    ratio = stated / implied
    numbers = [
        pl.col(name).is_finite() & (pl.col(name) > 0.0)
        for name in ("measured_ttft_ms", "measured_tpot_ms", "measured_tokens_per_s_per_gpu")
    ]
    whole = pl.all_horizontal(numbers).fill_null(value=False)
    reason = (
        pl.when(pl.col("id").is_duplicated())
        .then(pl.lit("its id comes more than once"))
        .when(~whole)
        .then(pl.lit("a time or a rate is missing or not a positive number"))
        .when(_laid_out(rows).not_())
        .then(pl.lit("its layout is incomplete, or of other GPUs than it names"))
        .when(_contradicting(rows))
        .then(
            pl.lit(
                f"on its curve tokens come {FASTER:g} times as fast with {FEWER} times as many "
                "requests, and this point disagrees with most"
            )
        )
        .when((ratio > factor) | (ratio < 1.0 / factor))
        .then(
            pl.format(
                "throughput is {} times what its concurrency, GPUs and times give",
                ratio.round(2),
            )
        )
    )
    marked = rows.with_columns(reason.alias("reason"))
    return Sifted(
        marked.filter(pl.col("reason").is_null()).drop("reason"),
        marked.filter(pl.col("reason").is_not_null()).select("id", "reason"),
    )


def contradicted(loads: Sequence[int], times: Sequence[float]) -> set[int]:
    """Places of the points of one curve that contradict the others (:data:`FASTER`, :data:`FEWER`).

    A contradiction is between two points; the one with the most of them goes first, at a tie the
    one with more requests in flight, until none is left.
    """
    pairs = [
        {low, high}
        for low in range(len(loads))
        for high in range(len(loads))
        if loads[low] * FEWER <= loads[high] and times[low] > FASTER * times[high]
    ]
    gone: set[int] = set()
    while pairs:
        counts = Counter(place for pair in pairs for place in pair)
        worst = max(counts, key=lambda place: (counts[place], loads[place], place))
        gone.add(worst)
        pairs = [pair for pair in pairs if worst not in pair]
    return gone


def _contradicting(rows: pl.DataFrame) -> pl.Series:
    """For each row whether it contradicts its own curve; none where no row names one."""
    if "curve" not in rows.columns:
        return pl.Series("contradicting", [False] * len(rows), pl.Boolean)
    numbered = rows.select("curve", "concurrency", "measured_tpot_ms").with_row_index("place")
    bad: set[int] = set()
    good = numbered.filter(pl.col("measured_tpot_ms") > 0.0)
    for _, curve in good.group_by("curve", maintain_order=True):
        places = curve["place"].to_list()
        found = contradicted(curve["concurrency"].to_list(), curve["measured_tpot_ms"].to_list())
        bad |= {places[place] for place in found}
    return pl.Series("contradicting", [place in bad for place in range(len(rows))], pl.Boolean)


def _laid_out(rows: pl.DataFrame) -> pl.Expr:
    """Whether the pools of a row are all there and make up its GPUs; true where no row has any."""
    if not set(LAYOUT) <= set(rows.columns):
        return pl.lit(value=True)
    chips = [
        pl.col(f"{pool}_workers") * pl.col(f"{pool}_tp") * pl.col(f"{pool}_dp")
        for pool in ("prefill", "decode")
    ]
    front = pl.when(pl.col("mode") == "split").then(chips[0]).otherwise(0)
    return (front + chips[1] == pl.col("gpus")).fill_null(value=False)
