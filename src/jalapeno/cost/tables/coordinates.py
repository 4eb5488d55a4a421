"""Where shapes lie for interpolation: coordinates in lengths of correlation.

The last axis of a family (rows, context, tokens, bytes) is not a coordinate: measurements share its
knots, and each knot has a field of its own.  The other axes are: a decode kernel sees sequences
times KV heads, whichever of the two made them many.

The lengths were chosen once for all systems, by leaving out whole sites on two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.cost.tables.families import family

Array = npt.NDArray[np.float64]


def _logs(shapes: pl.DataFrame, names: tuple[str, ...]) -> list[Array]:
    return [np.log(shapes[name].cast(pl.Float64).to_numpy()) for name in names]


def _even(*names: str, length: float = 4.0) -> Callable[[pl.DataFrame], Array]:
    return lambda shapes: np.stack(_logs(shapes, names), axis=1) / length


def _attention(shapes: pl.DataFrame) -> Array:
    sequences, heads, kv_heads = _logs(shapes, ("sequences", "heads", "kv_heads"))
    group = heads - kv_heads
    items = sequences + kv_heads
    return np.stack([items / 2.0, group / 4.0, kv_heads / 8.0, (group == 0.0) * 1.0], axis=1)


def _experts(shapes: pl.DataFrame) -> Array:
    hidden, inner, top_k, experts, tp, ep = _logs(
        shapes, ("hidden", "intermediate", "top_k", "experts", "tp", "ep")
    )
    return np.stack([hidden, inner - tp, top_k, experts, ep], axis=1) / 4.0


COORDINATES: Mapping[str, Callable[[pl.DataFrame], Array]] = {
    "gemm": _even("n", "k"),
    "quantise": _even("k"),
    "context_attention": _attention,
    "generation_attention": _attention,
    "context_mla": _even("sequences", "heads"),
    "generation_mla": _even("sequences", "heads"),
    "context_mla_module": _even("sequences", "heads"),
    "generation_mla_module": _even("sequences", "heads"),
    "moe": _experts,
    "wide_moe": _experts,
    "collective": _even("chips", length=2.0),
    "deepep_low_latency": _even("nodes", "hidden", "top_k", "experts"),
    "deepep_normal": _even("nodes", "hidden", "top_k", "experts", "cores"),
    "alltoall": _even("hidden", "top_k", "experts", "ep"),
    "layer": _even("width", "tp"),
}
"""Family -> coordinates of its shapes (n x f)."""


def coordinates(family_name: str, shapes: pl.DataFrame) -> Array:
    """Coordinates of *shapes* of a family, n x f."""
    return COORDINATES[family(family_name).name](shapes)


DOUBTING = ("moe", "wide_moe")
"""Families in which a shape that contradicts all others is not believed about others.  Measured:
experts of 1,024 channels (bf16, H200, TensorRT-LLM 1.3.0rc20) take five times as long from two
ranks on as the same experts on one."""

CONVEX = ("context_attention", "context_mla", "context_mla_module")
"""Families whose time bends upwards between knots of the load: pairs grow with the square of a
prompt.  A line between knots as far apart as the tables' lies up to 4 % too high; the roofline,
scaled at both knots, does not."""

REGIMES = ("alone", "grouped", "wide")
"""Decode attention: every head its own KV head; up to 32 heads share one; more."""


def regime(family_name: str, shapes: pl.DataFrame) -> pl.Series:
    """Name of the kernel regime of each shape, ``""`` where a family has but one.

    Rooflines are fitted a regime: other kernels, other constants.
    """
    if family_name != "generation_attention":
        return pl.Series([""], dtype=pl.String).new_from_index(0, len(shapes))
    group = pl.col("heads") / pl.col("kv_heads")
    named = pl.when(group <= 1).then(pl.lit("alone"))
    return shapes.select(
        named.when(group <= 32).then(pl.lit("grouped")).otherwise(pl.lit("wide")).alias("regime")
    )["regime"]
