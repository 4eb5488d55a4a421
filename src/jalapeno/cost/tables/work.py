"""Work of operators: seconds of matrix engine and memory at datasheet peaks, waves and depth.

Each function takes the key columns of a family (a frame, one row a shape) and the chip's
:class:`~jalapeno.cost.tables.dtypes.Peaks`.  What is achieved of the peaks is the calibrated
roofline's business (:mod:`.roofline`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.cost.tables.dtypes import Peaks, dtype, element_bytes
from jalapeno.cost.tables.expert_loads import busiest, skew
from jalapeno.errors import unknown_name

Array = npt.NDArray[np.float64]

TILE = 128.0
"""Rows and columns of an output tile, and of a block of queries or keys."""

WIDEST_GROUP = 32
"""Heads that share KV entries in one kernel; measured: wider groups take several times as long on
H200 (TensorRT-LLM 1.3.0rc20)."""

LATENT, ROPE, NOPE, VALUE = 512.0, 64.0, 128.0, 128.0
"""DeepSeek-V3's MLA: latent and rotary channels, channels a head of key and value."""

MLA_HIDDEN, MLA_QUERY_RANK = 7168.0, 1536.0
"""DeepSeek-V3: width of the model and rank of the query projection, for the modules."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work of shapes on a chip, arrays of one length."""

    matrix: Array
    """Seconds of the matrix engine at its peak, whole tiles and waves counted."""
    memory: Array
    """Seconds of memory at its bandwidth."""
    waves: Array
    """Work items (tiles, heads x blocks) a core: each has a start and an end."""
    depth: Array
    """Thousands of elements that one core goes through one after the other."""
    passes: Array
    """Seconds of memory, at its bandwidth, of passes before the operator (quantisation)."""


def _column(shapes: pl.DataFrame, name: str) -> Array:
    return shapes[name].cast(pl.Float64).to_numpy()


def _mapped(shapes: pl.DataFrame, name: str, value: Callable[[str], float]) -> Array:
    words = {word: value(word) for word in shapes[name].unique().to_list()}
    return shapes[name].replace_strict(words, return_dtype=pl.Float64).to_numpy()


def _rate(peaks: Peaks) -> Callable[[str], float]:
    return lambda name: peaks.matrix[dtype(name).operands]


def _waves(tiles: Array, cores: float) -> Array:
    """Waves of tiles: fewer than cores share out evenly, from one a core the last is paid whole."""
    return np.where(tiles <= cores, tiles / cores, np.ceil(tiles / cores))


def gemm(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """``rows x k`` times ``k x n``; weights, activations and BF16 results move once."""
    rows, n, k = (_column(shapes, name) for name in ("rows", "n", "k"))
    weights = _mapped(shapes, "dtype", lambda name: dtype(name).weight_bytes)
    inputs = _mapped(shapes, "dtype", lambda name: dtype(name).activation_bytes)
    quantised = _mapped(shapes, "dtype", lambda name: float(dtype(name).quantises))
    rate = _mapped(shapes, "dtype", _rate(peaks))
    waves = _waves(np.ceil(rows / TILE) * np.ceil(n / TILE), peaks.cores)
    return Work(
        matrix=waves * peaks.cores * 2.0 * TILE * TILE * k / rate,
        memory=(weights * n * k + inputs * rows * k + 2.0 * rows * n) / peaks.bandwidth,
        waves=waves,
        depth=k / 1e3,
        # read twice in BF16 (the greatest value, then the cast), written once
        passes=quantised * rows * k * (4.0 + inputs) / peaks.bandwidth,
    )


def quantise(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """BF16 read twice, the narrow format written."""
    rows, k = _column(shapes, "rows"), _column(shapes, "k")
    narrow = _mapped(shapes, "dtype", lambda name: dtype(name).activation_bytes)
    none = np.zeros_like(rows)
    return Work(none, rows * k * (4.0 + narrow) / peaks.bandwidth, none, none, none)


def _optional(shapes: pl.DataFrame, name: str) -> Array:
    return _column(shapes, name) if name in shapes.columns else np.zeros(len(shapes))


def _windowed(shapes: pl.DataFrame, length: Array) -> Array:
    """*length* cut to the window of each shape, where it has one."""
    window = _optional(shapes, "window_tokens")
    return np.where(window > 0.0, np.minimum(length, window), length)


def _attention_rate(shapes: pl.DataFrame, peaks: Peaks) -> Array:
    name = "attention_dtype" if "attention_dtype" in shapes.columns else "dtype"
    return _mapped(shapes, name, _rate(peaks))


def _triangle(queries: Array, seen: Array) -> Array:
    """Pairs of blocks: block i of *queries* meets the i blocks up to its own, *seen* at most."""
    reach = np.minimum(seen, queries)
    return reach * (reach + 1.0) / 2.0 + (queries - reach) * reach


def _causal(new: Array, cached: Array, window: Array) -> Array:
    """Query-key pairs of *new* queries after *cached* keys, in blocks of :data:`TILE`."""
    before, all_ = np.ceil(cached / TILE), np.ceil(cached / TILE) + np.ceil(new / TILE)
    seen = np.where(window > 0.0, np.ceil(window / TILE) + 1.0, all_)
    return TILE * TILE * (_triangle(all_, seen) - _triangle(before, seen))


def context_attention(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """Causal attention of prompts: blocks of 128 queries by 128 keys, a window skips blocks.

    A column ``cached_tokens``, where there is one, holds keys that were there before.
    """
    sequences, new = _column(shapes, "sequences"), _column(shapes, "new_tokens")
    cached = _optional(shapes, "cached_tokens")
    heads, kv_heads, width = _heads(shapes)
    cache = _mapped(shapes, "kv_dtype", element_bytes)
    pairs = _causal(new, cached, _optional(shapes, "window_tokens"))
    blocks = sequences * heads * np.ceil(new / TILE)
    seen = _windowed(shapes, new + cached)
    moved = sequences * width * (4.0 * heads * new + kv_heads * (4.0 * new + 2.0 * cache * seen))
    return Work(
        matrix=4.0 * sequences * heads * width * pairs / _attention_rate(shapes, peaks),
        memory=moved / peaks.bandwidth,
        waves=blocks / peaks.cores,
        depth=seen / 1e3,
        passes=sequences * new * width * 4.0 * (heads + 2.0 * kv_heads) / peaks.bandwidth,
    )


def _heads(shapes: pl.DataFrame) -> tuple[Array, Array, Array]:
    """(query heads, KV heads, channels): GQA as it stands, MLA's prompts as plain heads."""
    heads = _column(shapes, "heads")
    if "head_dim" in shapes.columns:
        return heads, _column(shapes, "kv_heads"), _column(shapes, "head_dim")
    return heads, heads, np.full_like(heads, (NOPE + ROPE + VALUE) / 2.0)


def generation_attention(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """One token a sequence; the heads of a KV group fill a tile of 16 rows at least.

    Groups of more than 32 heads have no kernel that shares the KV entries: each head reads them.
    """
    sequences = _column(shapes, "sequences")
    heads, kv_heads, width = _heads(shapes)
    kv_heads = np.where(heads > WIDEST_GROUP * kv_heads, heads, kv_heads)
    seen = _windowed(shapes, _column(shapes, "context_tokens"))
    group = np.ceil(heads / kv_heads / 16.0) * 16.0
    cache = _mapped(shapes, "kv_dtype", element_bytes)
    return _decode(
        peaks,
        items=sequences * kv_heads,
        seen=seen,
        flops=4.0 * group * width,
        entry=2.0 * width * cache,
        rest=4.0 * sequences * heads * width,
        rate=_attention_rate(shapes, peaks),
    )


def _decode(
    peaks: Peaks,
    items: Array,
    seen: Array,
    flops: Array,
    entry: Array,
    rest: Array,
    rate: Array,
) -> Work:
    """*items* (sequence, KV head) read *seen* entries each; few items split the context."""
    splits = np.minimum(np.maximum(peaks.cores / items, 1.0), np.maximum(seen / 64.0, 1.0))
    busy = np.minimum(items * splits / peaks.cores, 1.0)
    return Work(
        matrix=items * seen * flops / rate / busy,
        memory=(items * seen * entry + rest) / peaks.bandwidth / busy,
        waves=_waves(items * splits, peaks.cores),
        depth=seen / splits / 1e3,
        passes=np.zeros_like(items),
    )


def generation_mla(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """Absorbed MLA: each sequence's latent is read once for all heads, which fill tiles of 64."""
    sequences, heads = _column(shapes, "sequences"), _column(shapes, "heads")
    cache = _mapped(shapes, "kv_dtype", element_bytes)
    filled = np.ceil(heads / 64.0) * 64.0
    return _decode(
        peaks,
        items=sequences,
        seen=_column(shapes, "context_tokens"),
        flops=2.0 * filled * (2.0 * LATENT + ROPE),
        entry=(LATENT + ROPE) * cache,
        rest=2.0 * sequences * heads * (2.0 * LATENT + ROPE),
        rate=_mapped(shapes, "kv_dtype", lambda name: _latent_rate(name, peaks)),
    )


def _latent_rate(cache: str, peaks: Peaks) -> float:
    """An FP8 latent is multiplied in FP8."""
    return peaks.matrix["8x8" if element_bytes(cache) == 1.0 else "16x16"]


def _projections(shapes: pl.DataFrame, peaks: Peaks, tokens: Array, absorbed: bool) -> Work:
    """The GEMMs of an MLA module beside its kernel: down, query up, (latent up,) output."""
    heads = _column(shapes, "heads")
    rate = _mapped(shapes, "gemm_dtype", _rate(peaks))
    weights = _mapped(shapes, "gemm_dtype", lambda name: dtype(name).weight_bytes)
    down = MLA_HIDDEN * (MLA_QUERY_RANK + LATENT + ROPE)
    up = heads * (MLA_QUERY_RANK * (NOPE + ROPE) + LATENT * (NOPE + VALUE) + VALUE * MLA_HIDDEN)
    flops = 2.0 * np.ceil(tokens / TILE) * TILE * (down + up)
    moved = weights * (down + up) + 4.0 * tokens * (2.0 * MLA_HIDDEN + heads * 2.0 * NOPE)
    none = np.zeros_like(tokens)
    item = tokens / TILE / peaks.cores if absorbed else none
    return Work(flops / rate, moved / peaks.bandwidth, item, none, moved * 0.0)


def _both(one: Work, other: Work) -> Work:
    return Work(
        one.matrix + other.matrix,
        one.memory + other.memory,
        one.waves + other.waves,
        one.depth + other.depth,
        one.passes + other.passes,
    )


def context_mla_module(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """Attention of a prompt as plain heads, with the projections before and after."""
    tokens = _column(shapes, "sequences") * _column(shapes, "new_tokens")
    return _both(context_attention(shapes, peaks), _projections(shapes, peaks, tokens, False))


def generation_mla_module(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """Absorbed attention of one token a sequence, with the projections before and after."""
    tokens = _column(shapes, "sequences")
    return _both(generation_mla(shapes, peaks), _projections(shapes, peaks, tokens, True))


def moe(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """Gate, up and down of the experts on the busiest rank; weights once an expert touched."""
    tokens, hidden = _column(shapes, "tokens"), _column(shapes, "hidden")
    inner = _column(shapes, "intermediate") / _column(shapes, "tp")
    loads = np.array(
        [
            busiest(skew(name), tokens_, experts, top_k, ranks)
            for name, tokens_, experts, top_k, ranks in shapes.select(
                "distribution", "tokens", "experts", "top_k", "ep"
            ).iter_rows()
        ]
    ).reshape(-1, 3)
    slots, touched, blocks = loads.T
    rate = _mapped(shapes, "dtype", _rate(peaks))
    weights = _mapped(shapes, "dtype", lambda name: dtype(name).weight_bytes)
    inputs = _mapped(shapes, "dtype", lambda name: dtype(name).activation_bytes)
    tiles = blocks * (2.0 * np.ceil(inner / TILE) + np.ceil(hidden / TILE))
    moved = weights * 3.0 * touched * hidden * inner + slots * inputs * (hidden + inner)
    return Work(
        matrix=6.0 * blocks * TILE * hidden * inner / rate,
        memory=moved / peaks.bandwidth,
        waves=_waves(tiles, peaks.cores),
        depth=touched / 1e3,
        # permuting slots in and summing them out, in BF16; the activation between the two GEMMs
        passes=(tokens * 4.0 * hidden + slots * (6.0 * hidden + 6.0 * inner)) / peaks.bandwidth,
    )


def collective(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """A ring's share of each chip's port, sizes as nccl-tests has them; a phase a chip."""
    chips = _column(shapes, "chips")
    # an all-reduce is a scatter and a gather; what is sent from one chip to another goes whole
    twice = ("all_reduce", "send_recv")
    share = _mapped(shapes, "operation", lambda name: 2.0 if name in twice else 1.0)
    size = _column(shapes, "message_bytes") * share * (chips - 1.0) / chips
    return _wire(size, peaks, chips)


def _wire(size: Array, peaks: Peaks, chips: Array) -> Work:
    none = np.zeros_like(size)
    return Work(none, size / peaks.port(), chips, none, none)


def exchange(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """Tokens to the ranks of their experts, or back: one copy a rank that a token goes to."""
    tokens, hidden, top_k = (_column(shapes, name) for name in ("tokens", "hidden", "top_k"))
    ranks = _column(shapes, "ep") if "ep" in shapes.columns else 8.0 * _column(shapes, "nodes")
    reached = (ranks - 1.0) * -np.expm1(top_k * np.log1p(-1.0 / ranks))
    width = _mapped(shapes, "operation", lambda name: 1.0 if "dispatch" in name else 2.0)
    return _wire(tokens * reached * hidden * width, peaks, ranks)


def layer(shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """Small operators: their channels are read and written once in BF16."""
    moved = 4.0 * _column(shapes, "tokens") * _column(shapes, "width") / _column(shapes, "tp")
    none = np.zeros_like(moved)
    return Work(none, moved / peaks.bandwidth, none, none, none)


WORK: Mapping[str, Callable[[pl.DataFrame, Peaks], Work]] = {
    "gemm": gemm,
    "quantise": quantise,
    "context_attention": context_attention,
    "generation_attention": generation_attention,
    "context_mla": context_attention,
    "generation_mla": generation_mla,
    "context_mla_module": context_mla_module,
    "generation_mla_module": generation_mla_module,
    "moe": moe,
    "wide_moe": moe,
    "collective": collective,
    "deepep_low_latency": exchange,
    "deepep_normal": exchange,
    "alltoall": exchange,
    "layer": layer,
}
"""Family -> its work."""


def work(family_name: str, shapes: pl.DataFrame, peaks: Peaks) -> Work:
    """Return the work of *shapes* (key columns of that family) on a chip of these *peaks*."""
    if family_name not in WORK:
        raise unknown_name("family with a roofline", family_name, WORK)
    return WORK[family_name](shapes, peaks)
