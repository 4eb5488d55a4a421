"""Rows: one measured point a row, in a polars frame whose columns all of validation shares.

Names of models, systems and engines are the catalogue's.  Times are milliseconds, throughput is
output tokens a second over all GPUs of the deployment.
"""

from __future__ import annotations

import polars as pl

from jalapeno.errors import UsageError, instead

MEASURED: dict[str, pl.DataType] = {
    "id": pl.String(),
    "curve": pl.String(),
    "model": pl.String(),
    "system": pl.String(),
    "engine": pl.String(),
    "engine_version": pl.String(),
    "mode": pl.String(),
    "isl": pl.Int64(),
    "osl": pl.Int64(),
    "concurrency": pl.Int64(),
    "gpus": pl.Int64(),
    "precision": pl.String(),
    "speculative": pl.Boolean(),
    "split": pl.String(),
    "source": pl.String(),
    "statistic": pl.String(),
    "measured_ttft_ms": pl.Float64(),
    "measured_tpot_ms": pl.Float64(),
    "measured_tokens_per_s_per_gpu": pl.Float64(),
}
"""What is known of a point.  ``curve``: everything but the concurrency; ``mode``: ``unified`` or
``split`` pools; ``split``: the data file's own division, ``calib`` or ``test``; ``statistic``:
whether times are the ``mean`` or the ``median`` of all requests."""

LAYOUT_OF_POOL = ("workers", "tp", "dp", "ep")
LAYOUT: dict[str, pl.DataType] = {
    f"{pool}_{what}": pl.Int64() for pool in ("prefill", "decode") for what in LAYOUT_OF_POOL
}
"""How the GPUs are used.  A unified deployment has ``decode_*`` only."""

PREDICTED: dict[str, pl.DataType] = {
    "predicted_ttft_ms": pl.Float64(),
    "predicted_tpot_ms": pl.Float64(),
    "predicted_tokens_per_s_per_gpu": pl.Float64(),
}
"""What a contender says; null where it refuses."""

PARTS = ("matrix", "vector", "memory", "communication", "issue", "imbalance", "throttle")
SHARES = tuple(f"share_{part}" for part in PARTS)
"""Attribution of the predicted TPOT, where a contender has one."""

RATIO = 0.8
"""InferenceX draws lengths uniformly from 80 % of the nominal ones up."""


def mean_length(nominal: str, ratio: float = RATIO) -> pl.Expr:
    """Mean of the lengths that the client draws for a column of *nominal* ones."""
    return ((pl.col(nominal) * ratio).floor() + pl.col(nominal)) / 2.0


def closed_loop_throughput(ttft_ms: str, tpot_ms: str) -> pl.Expr:
    """Output tokens/s/GPU of a closed loop by Little's law.

    ``concurrency x osl / (TTFT + TPOT (osl - 1)) / gpus``, where osl is the mean length that
    InferenceX's client draws, not the nominal one.
    """
    osl = mean_length("osl")
    seconds = (pl.col(ttft_ms) + pl.col(tpot_ms) * (osl - 1.0)) / 1000.0
    return pl.col("concurrency") * osl / seconds / pl.col("gpus")


def with_throughput(rows: pl.DataFrame, whose: str = "predicted") -> pl.DataFrame:
    """*rows* with the throughput that follows from TTFT and TPOT of *whose* columns."""
    name = f"{whose}_tokens_per_s_per_gpu"
    return rows.with_columns(
        closed_loop_throughput(f"{whose}_ttft_ms", f"{whose}_tpot_ms").alias(name)
    )


def require(rows: pl.DataFrame, wanted: dict[str, pl.DataType], what: str) -> None:
    """Raise :class:`UsageError` where *rows* lack a *wanted* column or have one of another type."""
    for name, kind in wanted.items():
        if name not in rows.columns:
            raise UsageError(f"{what}: no column {name!r}{instead(name, rows.columns)}")
        if rows.schema[name] != kind:
            raise UsageError(f"{what}: column {name!r} is {rows.schema[name]}, not {kind}")
