"""Sifting: measurements that contradict themselves are named, left out and counted.

Little's law ties what a closed loop measures: ``throughput x GPUs x time of a request / answer =
concurrency``.  Where a row states all of these and they disagree beyond a factor, one is wrong, and
nobody knows which.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from jalapeno.analysis.validation.rows import LAYOUT, closed_loop_throughput

FACTOR = 1.6
"""How far throughput may be from Little's law, either way.  Warm-up, drain and the difference of
mean and median explain some tens of percent."""


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
