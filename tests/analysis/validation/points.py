"""Rows made up for the tests: a few curves of a few systems, with times that a formula gives."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st

from jalapeno.analysis.validation.rows import LAYOUT, MEASURED, with_throughput

SYSTEMS = ("h100-hgx", "h200-hgx", "b200-hgx", "gb200-nvl72")
MODELS = ("gpt-oss-120b", "llama-3.3-70b", "deepseek-r1")
ENGINES = ("vllm", "tensorrt-llm", "sglang")


def row(number: int, **changes: Any) -> dict[str, Any]:
    """One unified point; the columns that *changes* names are as it says."""
    tp = changes.pop("tp", 4)
    base: dict[str, Any] = {
        "id": f"point-{number:03}",
        "curve": f"curve-{number // 4}",
        "model": "gpt-oss-120b",
        "system": "b200-hgx",
        "engine": "vllm",
        "engine_version": "0.1",
        "mode": "unified",
        "isl": 1024,
        "osl": 1024,
        "concurrency": 2 ** (2 + number % 4),
        "gpus": tp,
        "precision": "fp4",
        "speculative": False,
        "statistic": "mean",
        "split": "calib" if number % 3 else "test",
        "source": "made up",
        "measured_ttft_ms": 50.0 + 10.0 * (number % 4),
        "measured_tpot_ms": 4.0 + 2.0 * (number % 4) + 0.1 * number,
        "measured_tokens_per_s_per_gpu": None,
        **dict.fromkeys(LAYOUT),
        "decode_workers": 1,
        "decode_tp": tp,
        "decode_dp": 1,
        "decode_ep": 1,
    }
    return base | changes


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """*rows* as validation has them; throughput by Little's law where none is given."""
    made = pl.DataFrame(rows, schema=MEASURED | LAYOUT)
    given = pl.col("measured_tokens_per_s_per_gpu")
    return (
        with_throughput(made.with_columns(given.alias("given")), "measured")
        .with_columns(pl.coalesce("given", given).alias("measured_tokens_per_s_per_gpu"))
        .drop("given")
    )


def grid(count: int = 48) -> pl.DataFrame:
    """*count* points: curves of four, over systems, models and engines in turn."""
    return frame(
        [
            row(
                number,
                system=SYSTEMS[number // 4 % 4],
                model=MODELS[number // 8 % 3],
                engine=ENGINES[number // 16 % 3],
            )
            for number in range(count)
        ]
    )


def predicted(rows: pl.DataFrame, factor: float = 1.0) -> pl.DataFrame:
    """*rows* predicted *factor* times as slow as measured."""
    made = rows.with_columns(
        (pl.col("measured_ttft_ms") * factor).alias("predicted_ttft_ms"),
        (pl.col("measured_tpot_ms") * factor).alias("predicted_tpot_ms"),
    )
    return with_throughput(made)


times = st.floats(0.1, 1e5, allow_nan=False, allow_infinity=False)
"""Milliseconds that somebody might measure."""

pairs = st.lists(st.tuples(times, times), min_size=1, max_size=30)
"""(measured, predicted)."""


def of_pairs(found: list[tuple[float, float]]) -> pl.DataFrame:
    """A frame whose TPOTs are these (measured, predicted)."""
    rows = frame([row(number, measured_tpot_ms=m) for number, (m, _) in enumerate(found)])
    made = rows.with_columns(
        pl.Series("predicted_tpot_ms", [p for _, p in found]),
        pl.col("measured_ttft_ms").alias("predicted_ttft_ms"),
    )
    return with_throughput(made)
