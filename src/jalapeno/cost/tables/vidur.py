"""Import of Vidur's profiles (microsoft/vidur, MIT): projections, small operators, collectives.

Vidur keeps CSV files, plain or gzipped: ``mlp.csv`` of a model on a chip, with a column
``time_stats.<operator>.median`` in milliseconds for each operator of a layer, by token count and
tensor-parallel width; and ``all_reduce.csv`` and ``send_recv.csv`` of a machine, with ``size`` in
bytes (as elements of FP16 they would be sent at 1.5 times the rate of the A100's links).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from jalapeno.cost.tables.families import TIME, family
from jalapeno.cost.tables.table_file import Origin, Table, checked
from jalapeno.errors import BadTable

SOURCE = "Vidur profile, github.com/microsoft/vidur, MIT"
DTYPE, KERNEL = "fp16", "torch"

LAYER = ("input_layernorm", "post_attention_layernorm", "attn_rope", "mlp_act", "add")
"""Small operators of a layer that are imported; the embedding, which depends on the
vocabulary, is not."""

SHAPE = ("n_head", "n_kv_head", "n_embd", "n_expanded_embd", "use_gated_mlp")


def read_projections(path: Path, system: str, version: str) -> Table:
    """The four projections of a dense layer as a ``gemm`` table; raises ``BadTable``.

    Rows that say the same shape twice are merged to their median; how many is in the source.
    """
    frame = _read(path, (*SHAPE, "num_tokens", "num_tensor_parallel_workers"))
    tp = pl.col("num_tensor_parallel_workers")
    width, inner = pl.col("n_embd"), pl.col("n_expanded_embd")
    gated = pl.when(pl.col("use_gated_mlp").cast(pl.String).str.to_lowercase() == "true")
    qkv = (pl.col("n_head") + 2 * pl.col("n_kv_head")) * (width // pl.col("n_head"))
    shapes = {
        "attn_pre_proj": (qkv // tp, width),
        "attn_post_proj": (width, width // tp),
        "mlp_up_proj": (gated.then(2 * inner).otherwise(inner) // tp, width),
        "mlp_down_proj": (width, inner // tp),
    }
    parts = [
        frame.select(
            pl.lit(DTYPE).alias("dtype"),
            pl.lit(KERNEL).alias("kernel"),
            n.cast(pl.Int64).alias("n"),
            k.cast(pl.Int64).alias("k"),
            pl.col("num_tokens").alias("rows"),
            _median(frame, path, name),
        )
        for name, (n, k) in shapes.items()
    ]
    return _merged("gemm", pl.concat(parts), system, version)


def read_layer(path: Path, system: str, version: str) -> Table:
    """Norms, rotary embedding, activation and residual of a layer as a ``layer`` table."""
    frame = _read(path, (*SHAPE, "num_tokens", "num_tensor_parallel_workers"))
    parts = [
        frame.select(
            pl.lit(name).alias("operation"),
            pl.lit(DTYPE).alias("dtype"),
            pl.lit(KERNEL).alias("kernel"),
            pl.col("n_expanded_embd" if name == "mlp_act" else "n_embd").alias("width"),
            pl.col("num_tensor_parallel_workers").alias("tp"),
            pl.col("num_tokens").alias("tokens"),
            _median(frame, path, name),
        )
        for name in LAYER
    ]
    return _merged("layer", pl.concat(parts), system, version)


def read_collective(path: Path, system: str, version: str) -> Table:
    """All-reduce or send/receive as a ``collective`` table; raises ``BadTable``.

    The kernel says how many chips of each node took part: the same chips on one node or on several
    are not interpolated between.
    """
    frame = _read(path, ("num_workers", "size", "collective", "devices_per_node"))
    kinds = frame["collective"].unique().to_list()
    if len(kinds) != 1:
        raise BadTable(f"{path}: one collective a file, found {', '.join(map(str, sorted(kinds)))}")
    rows = frame.select(
        pl.col("collective").alias("operation"),
        pl.lit(DTYPE).alias("dtype"),
        pl.format("nccl, {} a node", pl.col("devices_per_node")).alias("kernel"),
        pl.col("num_workers").alias("chips"),
        pl.col("size").alias("message_bytes"),
        _median(frame, path, str(kinds[0])),
    )
    return _merged("collective", rows, system, version)


def _read(path: Path, needed: tuple[str, ...]) -> pl.DataFrame:
    try:
        frame = pl.read_csv(path, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadTable(f"{path}: not a readable CSV file: {error}") from error
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise BadTable(f"{path}: not a profile of Vidur: no column {', '.join(missing)}")
    return frame


def _median(frame: pl.DataFrame, path: Path, name: str) -> pl.Expr:
    column = f"time_stats.{name}.median"
    if column not in frame.columns:
        raise BadTable(f"{path}: not a profile of Vidur: no column {column!r}")
    return (pl.col(column).cast(pl.Float64) * 1e3).alias(TIME)


def _merged(name: str, rows: pl.DataFrame, system: str, version: str) -> Table:
    sort = family(name)
    unique = rows.group_by(sort.key).agg(pl.col(TIME).median())
    twice = len(rows) - len(unique)
    source = SOURCE + (f"; {twice} repeated rows merged to medians" if twice else "")
    return checked(Origin(name, system, "vidur", version, source), unique)
