"""The small points as a file in the cleaned schema."""

from __future__ import annotations

import polars as pl

from tests.analysis.calibration.small import rows
from tests.analysis.validation.points import frame


def table(count: int = 13) -> pl.DataFrame:
    """The first *count* of them, in the words of the catalogue."""
    nothing = {
        f"{pool}_{name}": pl.lit(None, pl.Int64)
        for pool in ("prefill", "decode")
        for name in ("num_workers", "tp_size", "attention_dp_size", "moe_ep_size")
    }
    return (
        frame(rows())
        .head(count)
        .select(
            "id",
            pl.col("source").alias("src"),
            pl.col("model").alias("model_path"),
            "system",
            pl.col("engine").alias("backend"),
            pl.col("engine_version").alias("backend_version"),
            "precision",
            pl.lit("agg").alias("mode"),
            "split",
            "isl",
            "osl",
            pl.col("concurrency").alias("conc"),
            "gpus",
            pl.col("decode_tp").alias("tp_size"),
            pl.col("decode_dp").alias("attention_dp_size"),
            pl.col("decode_ep").alias("moe_ep_size"),
            *(column.alias(name) for name, column in nothing.items()),
            pl.col("measured_ttft_ms").alias("silicon_ttft_ms"),
            pl.col("measured_tpot_ms").alias("silicon_tpot_ms"),
        )
    )
