"""Rows: Little's law as InferenceX's lengths have it, and columns that are what they should be."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.rows import MEASURED, mean_length, require, with_throughput
from jalapeno.errors import UsageError
from jalapeno.simulation import Lengths
from tests.analysis.validation.points import frame, grid, row


@given(st.integers(1, 512), st.integers(1, 64), st.floats(1.0, 1e4), st.floats(1.0, 100.0))
def test_throughput_is_littles_law(
    concurrency: int, gpus: int, ttft_ms: float, tpot_ms: float
) -> None:
    made = frame(
        [
            row(0, tp=gpus, osl=1024, concurrency=concurrency)
            | {"measured_ttft_ms": ttft_ms, "measured_tpot_ms": tpot_ms}
        ]
    )
    osl = (819 + 1024) / 2
    seconds = (ttft_ms + tpot_ms * (osl - 1)) / 1000.0
    rate = made["measured_tokens_per_s_per_gpu"][0]
    assert rate * gpus / osl * seconds == pytest.approx(concurrency)


def test_mean_lengths_are_those_that_the_client_draws() -> None:
    found = pl.DataFrame({"isl": [1024, 1000], "osl": [8192, 77]}).select(
        mean_length("isl"), mean_length("osl")
    )
    for lengths, means in zip(((1024, 8192), (1000, 77)), found.iter_rows(), strict=True):
        isl, osl = lengths
        assert means == Lengths(isl=isl, osl=osl, ratio=0.8).means


def test_what_is_predicted_follows_likewise() -> None:
    rows = grid(8).with_columns(
        pl.col("measured_ttft_ms").alias("predicted_ttft_ms"),
        pl.col("measured_tpot_ms").alias("predicted_tpot_ms"),
    )
    made = with_throughput(rows)
    assert (
        made["predicted_tokens_per_s_per_gpu"].to_list()
        == rows["measured_tokens_per_s_per_gpu"].to_list()
    )


def test_a_missing_or_wrong_column_is_named() -> None:
    with pytest.raises(UsageError, match="no column 'osl'"):
        require(grid(4).drop("osl"), MEASURED, "the points")
    with pytest.raises(UsageError, match="column 'gpus' is String, not Int64"):
        require(grid(4).with_columns(pl.col("gpus").cast(pl.String)), MEASURED, "the points")
