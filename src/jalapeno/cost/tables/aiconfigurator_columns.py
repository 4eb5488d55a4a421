"""How the columns of aiconfigurator's tables become those of ours (:mod:`.families`).

Its times are milliseconds (``latency``) or, in DeepEP's tables, microseconds; its ``message_size``
counts *elements* of the message's dtype; ``step`` is the KV length before the new token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from jalapeno.cost.tables.dtypes import ELEMENT_BYTES
from jalapeno.cost.tables.families import TIME, family

SPELLINGS = {"bfloat16": "bf16", "half": "fp16"}
"""Their dtype -> ours, where they differ."""

DTYPE_COLUMNS = ("dtype", "kv_dtype", "attention_dtype", "gemm_dtype")


@dataclass(frozen=True, slots=True)
class Shape:
    """How one of its tables is read."""

    family: str
    columns: Mapping[str, str | int]
    """Our key column -> its column, or a constant number."""
    prepare: Callable[[pl.LazyFrame], pl.LazyFrame] = lambda frame: frame
    """What is done to its columns first."""
    uncached: bool = False
    """Prompts without a cached prefix (``step`` 0) alone are read; the others are counted."""


def _milliseconds(frame: pl.LazyFrame) -> pl.LazyFrame:
    return frame.with_columns((pl.col("latency").cast(pl.Float64) * 1e3).alias(TIME))


def _context_length(frame: pl.LazyFrame) -> pl.LazyFrame:
    """KV entries read: those before and the new token's own."""
    wide = pl.col("step").cast(pl.Int64) + pl.col("isl").cast(pl.Int64)
    return _milliseconds(frame).with_columns(wide.alias("context_tokens"))


def _bytes(dtype_column: str) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    def prepare(frame: pl.LazyFrame) -> pl.LazyFrame:
        name = pl.col(dtype_column).cast(pl.String).replace(SPELLINGS)
        wide = name.replace_strict(dict(ELEMENT_BYTES), return_dtype=pl.Float64)
        size = pl.col("message_size").cast(pl.Float64) * wide
        return _milliseconds(frame).with_columns(size.cast(pl.Int64).alias("message_bytes"))

    return prepare


def _custom(frame: pl.LazyFrame) -> pl.LazyFrame:
    """TensorRT-LLM's and vLLM's own all-reduce; vLLM's with and without a CUDA graph."""
    ready = _bytes("allreduce_dtype")(frame)
    return ready.with_columns(pl.lit("all_reduce").alias("operation"))


def _phases(*parts: tuple[str, tuple[str, ...]]) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    """Long form: a row each for dispatch and combine, their microseconds summed over columns."""

    def prepare(frame: pl.LazyFrame) -> pl.LazyFrame:
        return pl.concat(
            [
                frame.with_columns(
                    pl.lit(name).alias("operation"),
                    pl.sum_horizontal(pl.col(each).cast(pl.Float64) for each in times).alias(TIME),
                    (pl.col(f"{name}_sms") if f"{name}_sms" in extra else pl.lit(0)).alias("sms"),
                )
                for name, times in parts
                for extra in (frame.collect_schema().names(),)
            ]
        )

    return prepare


_HEADS: Mapping[str, str | int] = {"heads": "num_heads", "kernel": "kernel_source"}
_MLA = {**_HEADS, "dtype": "mla_dtype", "kv_dtype": "kv_cache_dtype", "sequences": "batch_size"}
_MODULE = {**_MLA, "gemm_dtype": "gemm_type"}
_ATTENTION = {
    **_HEADS,
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "window_tokens": "window_size",
    "attention_dtype": "attn_dtype",
    "kv_dtype": "kv_cache_dtype",
    "sequences": "batch_size",
}
_EXPERTS: Mapping[str, str | int] = {
    "dtype": "moe_dtype",
    "kernel": "kernel_source",
    "distribution": "distribution",
    "hidden": "hidden_size",
    "intermediate": "inter_size",
    "top_k": "topk",
    "experts": "num_experts",
    "tp": "moe_tp_size",
    "ep": "moe_ep_size",
    "tokens": "num_tokens",
}
_QUANTISE: Mapping[str, str | int] = {
    "dtype": "quant_dtype",
    "kernel": "kernel_source",
    "k": "k",
    "rows": "m",
}
_DEEPEP: Mapping[str, str | int] = {
    "operation": "operation",
    "kernel": "kernel_source",
    "nodes": "node_num",
    "hidden": "hidden_size",
    "top_k": "num_topk",
    "experts": "num_experts",
    "tokens": "num_token",
}

SHAPES: Mapping[str, Shape] = {
    "gemm": Shape(
        "gemm",
        {"dtype": "gemm_dtype", "kernel": "kernel_source", "n": "n", "k": "k", "rows": "m"},
        _milliseconds,
    ),
    "computescale": Shape("quantise", _QUANTISE, _milliseconds),
    "scale_matrix": Shape("quantise", _QUANTISE, _milliseconds),
    "context_attention": Shape(
        "context_attention", {**_ATTENTION, "new_tokens": "isl"}, _milliseconds, uncached=True
    ),
    "generation_attention": Shape(
        "generation_attention", {**_ATTENTION, "context_tokens": "context_tokens"}, _context_length
    ),
    "context_mla": Shape(
        "context_mla", {**_MLA, "new_tokens": "isl"}, _milliseconds, uncached=True
    ),
    "generation_mla": Shape(
        "generation_mla", {**_MLA, "context_tokens": "context_tokens"}, _context_length
    ),
    "mla_context_module": Shape(
        "context_mla_module", {**_MODULE, "new_tokens": "isl"}, _milliseconds, uncached=True
    ),
    "mla_generation_module": Shape(
        "generation_mla_module", {**_MODULE, "context_tokens": "context_tokens"}, _context_length
    ),
    "moe": Shape("moe", _EXPERTS, _milliseconds),
    "wideep_moe": Shape("wide_moe", {**_EXPERTS, "slots": "num_slots"}, _milliseconds),
    "nccl": Shape(
        "collective",
        {
            "operation": "op_name",
            "dtype": "nccl_dtype",
            "kernel": "kernel_source",
            "chips": "num_gpus",
            "message_bytes": "message_bytes",
        },
        _bytes("nccl_dtype"),
    ),
    "custom_allreduce": Shape(
        "collective",
        {
            "operation": "operation",
            "dtype": "allreduce_dtype",
            "kernel": "kernel_source",
            "chips": "num_gpus",
            "message_bytes": "message_bytes",
        },
        _custom,
    ),
    "wideep_deepep_ll": Shape(
        "deepep_low_latency",
        _DEEPEP,
        _phases(("dispatch", ("dispatch_avg_t_us",)), ("combine", ("combine_avg_t_us",))),
    ),
    "wideep_deepep_normal": Shape(
        "deepep_normal",
        {**_DEEPEP, "cores": "sms"},
        _phases(
            ("dispatch", ("dispatch_transmit_us", "dispatch_notify_us")),
            ("combine", ("combine_transmit_us", "combine_notify_us")),
        ),
    ),
    "trtllm_alltoall": Shape(
        "alltoall",
        {
            "operation": "op_name",
            "dtype": "moe_dtype",
            "kernel": "kernel_source",
            "hidden": "hidden_size",
            "top_k": "topk",
            "experts": "num_experts",
            "ep": "moe_ep_size",
            "tokens": "num_tokens",
        },
        _milliseconds,
    ),
}
"""Name of its table -> how it is read.  Tables not listed here are not read."""


def translated(shape: Shape, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return *frame*, one of its tables, with the columns of ours; nothing is read yet."""
    sort = family(shape.family)
    ready = shape.prepare(frame)
    return ready.select(
        *(_word(name, shape.columns[name]) for name in sort.words),
        *(_number(name, shape.columns[name]) for name in sort.numbers),
        pl.col(TIME),
    )


def _word(name: str, column: str | int) -> pl.Expr:
    text = pl.col(str(column)).cast(pl.String)
    return (text.replace(SPELLINGS) if name in DTYPE_COLUMNS else text).alias(name)


def _number(name: str, column: str | int) -> pl.Expr:
    if isinstance(column, int):
        return pl.lit(column, pl.Int64).alias(name)
    return pl.col(column).cast(pl.Int64).alias(name)
