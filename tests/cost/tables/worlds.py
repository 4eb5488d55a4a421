"""Tables made by a law that is known, and the measured ones where they lie beside the project."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.cost.tables import (
    CHIPS,
    OperatorTable,
    Origin,
    Peaks,
    Table,
    checked,
    choose,
    read,
    table_files,
)
from jalapeno.cost.tables.roofline import Roofline
from jalapeno.cost.tables.work import work

SHARED = Path(__file__).parents[4] / "shared" / "data"
OPS = SHARED / "aiconfigurator" / "ops"

needs_ops = pytest.mark.skipif(
    not OPS.is_dir(), reason="measured operator tables do not lie beside this checkout"
)

PEAKS = Peaks({"16x16": 1e15, "8x8": 2e15, "8x4": 2e15, "4x4": 4e15}, 4e12, 100, 4e11)
"""A round chip."""

LAW = Roofline(0.7, 0.8, 3.0, 4e-6, 2e-7, 1e-7, 0.6)
"""What the round chip achieves, but for a smooth ripple from shape to shape."""


def origin(family: str, system: str = "round") -> Origin:
    return Origin(family, system, "law", "1", "made by a formula")


def shapes(**columns: list[int] | list[str]) -> pl.DataFrame:
    """The product of *columns*."""
    return pl.DataFrame(list(product(*columns.values())), schema=list(columns), orient="row")


def lawful(family: str, frame: pl.DataFrame, ripple: pl.Expr | None = None) -> Table:
    """*frame*'s shapes with the times of :data:`LAW`, times ``exp(ripple)``."""
    seconds = LAW.seconds(work(family, frame, PEAKS))
    if ripple is not None:
        seconds = seconds * np.exp(frame.select(ripple.alias("ripple"))["ripple"].to_numpy())
    return checked(origin(family), frame.with_columns(pl.Series("time_us", seconds * 1e6)))


N_AND_K = [256, 512, 1024, 2048, 4096, 8192]
ROWS = [1, 4, 16, 64, 256, 1024, 4096]


def gemm_table(dtype: str = "bf16", without: tuple[int, int] | None = None) -> Table:
    """36 sites by 7 row counts, with a ripple of 10 %; one site may be missing."""
    frame = shapes(dtype=[dtype], kernel=["law"], n=N_AND_K, k=N_AND_K, rows=ROWS)
    if without is not None:
        frame = frame.filter((pl.col("n") != without[0]) | (pl.col("k") != without[1]))
    return lawful("gemm", frame, 0.1 * (pl.col("n").log() - pl.col("k").log() / 2.0).sin())


def attention_table(windowed: bool = False) -> Table:
    """Decode attention of the round chip: three groups of heads, windows of 128 or none."""
    frame = shapes(
        attention_dtype=["bf16"],
        kv_dtype=["fp8"],
        kernel=["law"],
        head_dim=[128],
        window_tokens=[128 if windowed else 0],
        heads=[8, 16, 32, 64],
        kv_heads=[8],
        sequences=[1, 4, 16, 64],
        context_tokens=[16, 128, 1024, 8192],
    )
    return lawful("generation_attention", frame)


def prompt_table() -> Table:
    """Prompt attention of the round chip."""
    frame = shapes(
        attention_dtype=["bf16"],
        kv_dtype=["bf16"],
        kernel=["law"],
        head_dim=[128],
        window_tokens=[0],
        heads=[8, 16, 32],
        kv_heads=[8],
        sequences=[1, 4],
        new_tokens=[16, 128, 512, 2048, 8192],
    )
    return lawful("context_attention", frame)


def experts_table() -> Table:
    """Routed experts of the round chip."""
    frame = shapes(
        dtype=["fp8"],
        kernel=["law"],
        distribution=["power_law_1.2"],
        hidden=[2048, 4096],
        intermediate=[1024, 2048],
        top_k=[4],
        experts=[64],
        tp=[1],
        ep=[1, 2, 4, 8],
        tokens=[1, 8, 64, 512, 4096],
    )
    return lawful("moe", frame)


def measured(system: str, table: str, framework: str | None = "trtllm") -> OperatorTable:
    """A measured table of the folder beside the checkout."""
    found = read(choose(table_files(OPS), system, table, framework))
    return OperatorTable(found, Peaks.of(catalogue.chip(CHIPS[system]), 4.5e11))
