"""The cleaned table of measured InferenceX points, read into rows.

Columns are those of ``inferencex.csv`` beside the catalogue: a subset of the table that NVIDIA's
AIConfigurator publishes (``silicon_sample.csv``, Apache-2.0), cleaned.  That table stores TTFT and
TPOT; throughput follows from them by Little's law.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from jalapeno import catalogue
from jalapeno.analysis.evidence.checkpoints import WEIGHTS
from jalapeno.analysis.validation.rows import (
    LAYOUT,
    LAYOUT_OF_POOL,
    MEASURED,
    require,
    with_throughput,
)
from jalapeno.errors import BadFact, UsageError, unknown_name

MODELS = {
    "deepseek-ai/DeepSeek-R1": "deepseek-r1",
    "deepseek-ai/DeepSeek-V3": "deepseek-r1",  # so the April dump calls the R1 benchmark
    "meta-llama/Llama-3.1-70B": "llama-3.3-70b",  # InferenceX runs 3.3
    "MiniMaxAI/MiniMax-M2.5": "minimax-m2.5",
    "moonshotai/Kimi-K2.5": "kimi-k2.5",
    "openai/gpt-oss-120b": "gpt-oss-120b",
    "Qwen/Qwen3.5-397B-A17B": "qwen3.5-397b-a17b",
    "zhipuai/GLM-5": "glm-5",
}
SYSTEMS = {
    "b200_sxm": "b200-hgx",
    "b300_sxm": "b300-hgx",
    "gb200": "gb200-nvl72",
    "gb300": "gb300-nvl72",
    "h100_sxm": "h100-hgx",
    "h200_sxm": "h200-hgx",
}
ENGINES = {"sglang": "sglang", "trtllm": "tensorrt-llm", "vllm": "vllm"}
MODES = {"agg": "unified", "disagg": "split"}
SHELVES = {"model_path": "models", "system": "systems", "backend": "engines"}
"""Columns whose values may also be names of the catalogue."""

_SIZES = ("tp_size", "attention_dp_size", "moe_ep_size")
_POOL_SIZES = [
    f"{pool}_{name}" for pool in ("prefill", "decode") for name in ("num_workers", *_SIZES)
]
_NUMBERS = ("isl", "osl", "conc", "gpus", *_SIZES, *_POOL_SIZES)
_TIMES = ("silicon_ttft_ms", "silicon_tpot_ms")
_WORDS = ("id", "src", "model_path", "system", "backend", "precision", "mode", "split")
_OPTIONAL = ("backend_version", "measured", "spec_decode", "statistic")
STATISTICS = ("mean", "median")
"""What the times of a row may be of all requests.  Means where a file does not say: InferenceX's
dumps hold means, which points that state both confirm."""
THROUGHPUT = "silicon_tokens_per_s_per_gpu"
"""Column for output tokens/s over all GPUs where it was measured by itself; else it follows."""
REQUIRED = (*_WORDS, *_NUMBERS, *_TIMES)
"""Columns without which a file is not taken."""


def read_cleaned(path: Path | str | bytes, only: str = "headline") -> pl.DataFrame:
    """Rows of a file in the cleaned schema: those marked in column *only*, if it has that column.

    Columns are ``MEASURED`` and ``LAYOUT``.  Raises :class:`UsageError` for a missing column or an
    unknown name, :class:`BadFact` for ids that come twice and times that are no times.
    """
    what = "the measured points" if isinstance(path, bytes) else str(path)
    try:
        table = pl.read_csv(path, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UsageError(f"{what}: cannot be read as CSV: {error}") from error
    missing = [name for name in REQUIRED if name not in table.columns]
    if missing:
        raise UsageError(
            f"{what}: no column {', '.join(missing)}; needed are {', '.join(REQUIRED)}"
        )
    if only in table.columns:
        table = table.filter(pl.col(only))
    _check(table, what)
    return _named(table, what)


def _check(table: pl.DataFrame, what: str) -> None:
    twice = table.filter(pl.col("id").is_duplicated())["id"].unique().sort()
    if len(twice):
        raise BadFact(f"{what}: {len(twice)} ids come more than once, such as {twice[0]!r}")
    for name in (*_TIMES, "conc", "gpus", "isl", "osl"):
        good = pl.col(name).cast(pl.Float64).is_finite() & (pl.col(name) > 0)
        bad = table.filter(~good.fill_null(value=False))
        if len(bad):
            raise BadFact(
                f"{what}: {name} of {len(bad)} rows is not a positive number, such as "
                f"{bad[name][0]} of {bad['id'][0]!r}"
            )


def _translated(table: pl.DataFrame, column: str, names: dict[str, str], what: str) -> pl.Expr:
    """*column* in the words of validation, which it may also be in already."""
    known = {
        *names,
        *names.values(),
        *(catalogue.names(SHELVES[column]) if column in SHELVES else ()),
    }
    for name in table[column].unique().sort().to_list():
        if name not in known:
            raise UsageError(f"{what}: {unknown_name(column, str(name), sorted(known))}")
    return pl.col(column).replace(names)


def _statistic(table: pl.DataFrame, what: str) -> pl.Expr:
    """Whether times are means or medians."""
    for name in table["statistic"].drop_nulls().unique().sort().to_list():
        if name not in STATISTICS:
            raise UsageError(f"{what}: {unknown_name('statistic', str(name), STATISTICS)}")
    return pl.col("statistic").fill_null("mean")


def _named(table: pl.DataFrame, what: str) -> pl.DataFrame:
    """*table* in the columns of validation."""
    for name in _OPTIONAL:
        if name not in table.columns:
            table = table.with_columns(pl.lit(None, pl.String).alias(name))
    unified = pl.col("mode").replace(MODES) == "unified"
    whole = {name: pl.col(name).cast(pl.Int64, strict=False) for name in _NUMBERS}
    layout: list[pl.Expr] = []
    for short, long in zip(LAYOUT_OF_POOL, ("num_workers", *_SIZES), strict=True):
        own = pl.lit(1, pl.Int64) if short == "workers" else whole[long]
        decode, prefill = whole[f"decode_{long}"], whole[f"prefill_{long}"]
        layout += [
            pl.when(unified).then(None).otherwise(prefill).alias(f"prefill_{short}"),
            pl.when(unified).then(own).otherwise(decode).alias(f"decode_{short}"),
        ]
    rows = table.select(
        pl.col("id"),
        _translated(table, "model_path", MODELS, what).alias("model"),
        _translated(table, "system", SYSTEMS, what).alias("system"),
        _translated(table, "backend", ENGINES, what).alias("engine"),
        pl.coalesce("backend_version", pl.lit("unknown")).alias("engine_version"),
        _translated(table, "mode", MODES, what).alias("mode"),
        whole["isl"],
        whole["osl"],
        whole["conc"].alias("concurrency"),
        whole["gpus"],
        _translated(table, "precision", {name: name for name in WEIGHTS}, what),
        (pl.col("spec_decode").fill_null("no") != "no").alias("speculative"),
        pl.col("split"),
        pl.format("InferenceX ({}), run of {}", "src", pl.col("measured").fill_null("?")).alias(
            "source"
        ),
        pl.col("silicon_ttft_ms").alias("measured_ttft_ms"),
        pl.col("silicon_tpot_ms").alias("measured_tpot_ms"),
        _statistic(table, what),
        *layout,
    )
    rows = with_throughput(rows.with_columns(curve_of()), "measured")
    if THROUGHPUT in table.columns:
        stated = table[THROUGHPUT].cast(pl.Float64)
        rows = rows.with_columns(
            pl.coalesce(stated, "measured_tokens_per_s_per_gpu").alias(
                "measured_tokens_per_s_per_gpu"
            )
        )
    rows = rows.select(*MEASURED, *LAYOUT)
    require(rows, MEASURED | LAYOUT, what)
    return rows


def curve_of() -> pl.Expr:
    """The name of the curve that a row lies on: everything but the concurrency.

    Neither the engine's version nor the day of the run is part of it: the same deployment measured
    again is the same curve, so that a protocol never has one run of it on each side.
    """
    pools = [
        pl.format("{}xTP{}DP{}EP{}", *(f"{pool}_{what}" for what in LAYOUT_OF_POOL))
        for pool in ("prefill", "decode")
    ]
    return pl.format(
        "{} {} {} {} {}/{} {} {}{}",
        *("model", "system", "engine", "precision", "isl", "osl", "gpus"),
        pl.when("speculative").then(pl.lit("spec ")).otherwise(pl.lit("")),
        pl.when(pl.col("mode") == "split")
        .then(pl.concat_str(pools, separator="+"))
        .otherwise(pools[1]),
    ).alias("curve")
