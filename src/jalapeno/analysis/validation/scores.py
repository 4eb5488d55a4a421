"""Scores: how far predictions lie from measurements, overall and by slice.

Of a predicted p and a measured m > 0 the absolute percentage error is ``|p / m - 1|`` and the
log ratio ``ln(p / m)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from jalapeno.errors import UsageError, unknown_name


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something that is both measured and predicted."""

    name: str
    title: str
    unit: str
    measured: pl.Expr
    predicted: pl.Expr


def _quantity(
    name: str, title: str, unit: str, column: str, scale: float | None = None
) -> Quantity:
    """*column* as it is, or *scale* over it."""
    both = [pl.col(f"{side}_{column}") for side in ("measured", "predicted")]
    measured, predicted = both if scale is None else (scale / each for each in both)
    return Quantity(name, title, unit, measured, predicted)


QUANTITIES: Mapping[str, Quantity] = {
    one.name: one
    for one in (
        _quantity("tpot", "TPOT", "ms", "tpot_ms"),
        _quantity("ttft", "TTFT", "ms", "ttft_ms"),
        _quantity("throughput", "output tokens/s/GPU", "token/s", "tokens_per_s_per_gpu"),
        _quantity("interactivity", "interactivity", "token/s/user", "tpot_ms", 1000.0),
    )
}
"""By name.  Interactivity is ``1000 / TPOT in ms``."""

MEASURES = ("points", "missing", "mape", "median", "p90", "bias")
"""Columns of a table of scores: predicted points; points without a prediction (or one that is not a
positive number); mean, median and 90th percentile of the absolute percentage error as shares; mean
log ratio (above zero: predicted too high)."""

BANDS: tuple[tuple[int, str], ...] = ((8, "1-8"), (64, "9-64"), (256, "65-256"))
"""Bands of concurrency: the highest of each and its name; beyond the last: ``257+``."""

SLICES = ("model", "system", "engine", "mode", "band")
"""Columns by which tables are made."""


def quantity(name: str) -> Quantity:
    """The quantity called *name*."""
    if name not in QUANTITIES:
        raise unknown_name("quantity", name, QUANTITIES)
    return QUANTITIES[name]


def banded(rows: pl.DataFrame) -> pl.DataFrame:
    """*rows* with the band of their concurrency in column ``band``."""
    band = pl.lit("257+")
    for most, name in reversed(BANDS):
        band = pl.when(pl.col("concurrency") <= most).then(pl.lit(name)).otherwise(band)
    return rows.with_columns(band.alias("band"))


def known() -> pl.Expr:
    """Whether measured and predicted are both positive numbers (columns ``m`` and ``p``)."""
    good = [pl.col(name).is_finite() & (pl.col(name) > 0.0) for name in ("m", "p")]
    return (good[0] & good[1]).fill_null(value=False)


def errors(rows: pl.DataFrame, name: str = "tpot") -> pl.DataFrame:
    """*rows* with columns ``m``, ``p``, ``ape`` and ``log_ratio`` of a quantity, or null."""
    one = quantity(name)
    found = rows.with_columns(
        one.measured.cast(pl.Float64).alias("m"), one.predicted.cast(pl.Float64).alias("p")
    )
    ratio = pl.when(known()).then(pl.col("p") / pl.col("m"))
    return found.with_columns((ratio - 1.0).abs().alias("ape"), ratio.log().alias("log_ratio"))


def scores(
    rows: pl.DataFrame, by: Sequence[str] = (), names: Iterable[str] = tuple(QUANTITIES)
) -> pl.DataFrame:
    """Scores of every quantity of *names*, for all *rows* or for each group *by* these columns.

    Columns: *by*, ``quantity``, then :data:`MEASURES`.  Groups in order of their names; scores of a
    group without a single prediction are null.
    """
    absent = [column for column in by if column not in rows.columns]
    if absent:
        raise UsageError(
            f"no column {absent[0]!r} to score by; there are {', '.join(rows.columns)}"
        )
    kept = list(names)
    tables = [_table(errors(rows, name), list(by), name) for name in kept]
    order = pl.Enum(kept)
    joined = pl.concat(tables).with_columns(pl.col("quantity").cast(order))
    return joined.sort(*by, "quantity").with_columns(pl.col("quantity").cast(pl.String))


def _table(rows: pl.DataFrame, by: list[str], name: str) -> pl.DataFrame:
    ape, log = pl.col("ape"), pl.col("log_ratio")
    measures = [
        ape.count().cast(pl.Int64).alias("points"),
        ape.null_count().cast(pl.Int64).alias("missing"),
        ape.mean().alias("mape"),
        ape.median().alias("median"),
        ape.quantile(0.9, "linear").alias("p90"),
        log.mean().alias("bias"),
    ]
    found = rows.group_by(by).agg(measures) if by else rows.select(measures)
    return found.select(*by, pl.lit(name).alias("quantity"), *MEASURES)


def score(rows: pl.DataFrame, name: str = "tpot") -> dict[str, float]:
    """:data:`MEASURES` of one quantity over all *rows*; NaN where there is nothing to score."""
    found = scores(rows, names=[name]).row(0, named=True)
    return {key: float("nan") if found[key] is None else float(found[key]) for key in MEASURES}


def worst(rows: pl.DataFrame, count: int = 10, name: str = "tpot") -> pl.DataFrame:
    """The *count* rows with the largest absolute percentage error, worst first, with ``ape``."""
    found = errors(rows, name).filter(pl.col("ape").is_not_null())
    return found.sort("ape", "id", descending=[True, False]).head(count)
