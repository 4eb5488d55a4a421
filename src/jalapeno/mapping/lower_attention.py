"""Lowering of attention: grouped-query and latent, full, windowed and sparse; linear attention.

Decode operators see one row a sequence: where a sequence brings several tokens to a step, to have
them verified, its cache is read once and each token is a query of its own on it.

Under context parallelism (``plan.cp``) a chip decodes with the heads of its whole share of the
rank, ``cp`` times as many, over a ``cp``-th of the context: queries and partial results travel
among the shares.  For prefill, whose queries are many, the cache travels instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from jalapeno.catalogue import Dsa, Gqa, Mla
from jalapeno.cost import Operator
from jalapeno.mapping import batch
from jalapeno.mapping.lower_linear import linear_attention
from jalapeno.mapping.lowering import (
    RANK,
    SOFTMAX_FLOPS,
    WIDE,
    Lowering,
    Placed,
    many_rows,
)
from jalapeno.mapping.parameters import expansion_parameters
from jalapeno.mapping.precision import stored_bytes

INDEX_FLOPS, SELECT_FLOPS = 3.0, 2.0
"""SIMD operations of an indexer: a head's score (ReLU, weight, sum), and a key in the choice of the
best (two passes of a radix select)."""

INDEX_FORMAT = "fp8"
"""Indexers score in FP8 (DeepSeek-V3.2 technical report)."""


def attention(low: Lowering) -> Iterator[Placed]:
    """The operators of attention of all layers, and the sum over a rank's chips that ends it."""
    model, layers = low.model, low.model.layers
    norm = low.elementwise("norm", 2 * model.hidden * WIDE, 4.0 * model.hidden)
    yield Placed(norm, 2 * layers)
    match model.attention:
        case Gqa() as gqa:
            yield from _gqa(low, gqa)
        case Mla() as mla:
            yield from _mla(low, mla)
    if model.linear:
        yield from linear_attention(low, model.linear)
    yield Placed(low.all_reduce("attention all-reduce", model.hidden * WIDE), layers)


def _padded(low: Lowering, rows: int) -> float:
    """Rows of a decode attention that fill tiles of the matrix engine, over those there are."""
    tile = low.rates.system.chip.matrix.tile_rows
    return math.ceil(rows / tile) * tile / rows


def _gqa(low: Lowering, gqa: Gqa) -> Iterator[Placed]:
    model, plan, prec = low.model, low.plan, low.plan.precision
    formats, layers = (prec.attention_act, prec.attention), model.cached_layers
    heads, kv_heads = gqa.heads // plan.tp, max(1, gqa.kv_heads // plan.tp)
    width, entry = heads * gqa.head_dim, 2 * kv_heads * gqa.head_dim
    made = (2 if gqa.gated else 1) * width + entry
    yield Placed(low.gemm("qkv", (made, model.hidden), formats), layers)
    rotary = low.elementwise(
        "rotary, KV write", 2 * width * WIDE + entry * stored_bytes(prec.kv), 6.0 * width
    )
    yield Placed(rotary, layers)
    if gqa.gated:
        yield Placed(low.elementwise("output gate", 3 * width * WIDE, 6.0 * width), layers)
    for cap, repeat in ((0, layers - gqa.window_layers), (1, gqa.window_layers)):
        if repeat:
            decode, prefill = (_grouped(low, gqa, cap, which) for which in (True, False))
            yield from _cores(decode, prefill, repeat, cap)
            yield from _gathered(low, entry * stored_bytes(prec.kv), repeat, cap)
    core = heads * plan.cp * gqa.head_dim * WIDE
    yield from _shares(low, (core, core), layers)
    yield Placed(low.gemm("output projection", (model.hidden, width), formats), layers)


def _grouped(low: Lowering, gqa: Gqa, cap: int, decode: bool) -> Operator:
    """Grouped-query attention: in decode the queries of a KV head fill a tile."""
    plan, shares = low.plan, low.plan.cp if decode else 1
    queries = low.queries if decode else 1
    heads, kv_heads = gqa.heads * shares // plan.tp, max(1, gqa.kv_heads * shares // plan.tp)
    useful = 4.0 * heads * gqa.head_dim / shares * queries
    numbers = {
        "flops_pair": useful * (_padded(low, heads // kv_heads * queries) if decode else 1.0),
        "useful_pair": useful,
        "vector_pair": SOFTMAX_FLOPS * heads / shares * queries,
        "vector_row": SOFTMAX_FLOPS * heads * queries if gqa.sinks else 0.0,
        "bytes_row": 2 * heads * gqa.head_dim * WIDE * queries,
        "bytes_read": 2 * kv_heads * gqa.head_dim * stored_bytes(plan.precision.kv) / shares,
    }
    which = f"{'decode' if decode else 'prefill'} attention, {'window' if cap else 'full'}"
    return low.attention(which, decode, numbers)


def _cores(decode: Operator, prefill: Operator, repeat: int, cap: int) -> Iterator[Placed]:
    reads = batch.column(cap, batch.DECODE_READS)
    yield Placed(decode, repeat, RANK, batch.DECODE, reads, reads)
    pairs = batch.column(cap, batch.PREFILL_PAIRS)
    yield Placed(
        prefill, repeat, RANK, batch.PREFILL, pairs, batch.column(cap, batch.PREFILL_READS)
    )


def _shares(low: Lowering, sizes: tuple[float, float], layers: int) -> Iterator[Placed]:
    """Decode: queries to all context shares and partial results back, of these *sizes* a token."""
    if low.plan.cp > 1:
        for name, size in zip(("queries to", "merging of"), sizes, strict=True):
            operator = low.gather(f"{name} context shares", size * low.queries)
            yield Placed(operator, layers, RANK, batch.DECODE)


def _gathered(low: Lowering, entry: float, layers: int, cap: int) -> Iterator[Placed]:
    """Prefill: every chip gets the cache of the other shares, *entry* bytes a KV entry read."""
    if low.plan.cp > 1:
        reads = batch.column(cap, batch.PREFILL_READS)
        operator = low.gather("cache of context shares", entry)
        yield Placed(operator, layers, RANK, batch.PREFILL, reads, reads)


def _mla(low: Lowering, mla: Mla) -> Iterator[Placed]:
    model, plan, prec = low.model, low.plan, low.plan.precision
    formats = (prec.attention_act, prec.attention)
    layers, heads = model.cached_layers, mla.heads // plan.tp
    key = mla.nope_dim + mla.rope_dim
    latent = mla.kv_rank + mla.rope_dim
    yield Placed(
        low.gemm("latent projections", (mla.q_rank + latent, model.hidden), formats), layers
    )
    yield Placed(low.gemm("query projection", (heads * key, mla.q_rank), formats), layers)
    rotary = low.elementwise(
        "latent norms, rotary, KV write",
        2 * (mla.q_rank + latent) * WIDE + latent * stored_bytes(prec.kv),
        6.0 * (mla.q_rank + latent + heads * mla.rope_dim),
        2,
    )
    yield Placed(rotary, layers)
    columns = expansion_parameters(mla) // plan.tp // mla.kv_rank
    absorb = low.gemm("absorbed key and value", (columns, mla.kv_rank), formats, 2)
    if mla.index is None:
        yield Placed(many_rows(absorb, low.queries), layers, RANK, batch.DECODE)
        yield from _cores(_absorbed(low, mla, True), _expanded(low, mla), layers, 0)
        entry = latent * stored_bytes(prec.kv)
    else:
        yield Placed(absorb, layers)
        yield from _sparse(low, mla, mla.index)
        entry = latent * stored_bytes(prec.kv) + mla.index.key_bytes
    yield from _gathered(low, entry, layers, 0)
    core = heads * plan.cp
    yield from _shares(low, (core * latent * WIDE, core * mla.kv_rank * WIDE), layers)
    projection = low.gemm("output projection", (model.hidden, heads * mla.value_dim), formats)
    yield Placed(projection, layers)


def _absorbed(low: Lowering, mla: Mla, decode: bool) -> Operator:
    """Attention on the latent as it is cached: all heads share one key and value of its width."""
    plan, prec = low.plan, low.plan.precision
    shares = plan.cp if decode else 1
    queries = low.queries if decode else 1
    heads, latent = mla.heads * shares // plan.tp, mla.kv_rank + mla.rope_dim
    useful = 2.0 * heads * (latent + mla.kv_rank) / shares * queries
    # an indexer chooses for every query by itself
    filled, gathers = (heads * queries, 1) if mla.index is None else (heads, queries)
    numbers = {
        "flops_pair": useful * _padded(low, filled),
        "useful_pair": useful,
        "vector_pair": SOFTMAX_FLOPS * heads / shares * queries,
        "bytes_row": heads * (latent + mla.kv_rank) * WIDE * queries,
        "bytes_read": latent * stored_bytes(prec.kv) / shares * gathers,
    }
    which = "decode" if decode else "prefill"
    return low.attention(f"{which} attention, absorbed", decode, numbers)


def _expanded(low: Lowering, mla: Mla) -> Operator:
    """Prefill on keys and values of every head, or absorbed where that is faster."""
    plan, prec = low.plan, low.plan.precision
    heads, latent = mla.heads // plan.tp, mla.kv_rank + mla.rope_dim
    key, expansion = mla.nope_dim + mla.rope_dim, expansion_parameters(mla) // plan.tp
    pair = 2.0 * heads * (key + mla.value_dim)
    numbers = {
        "flops_pair": pair,
        "useful_pair": pair,
        "flops_read": 2.0 * expansion,
        # few queries on a long context do better absorbed, as in decode
        "absorbed_row": 2.0 * expansion,
        "absorbed_pair": 2.0 * heads * (latent + mla.kv_rank),
        "absorbed_read": latent * stored_bytes(prec.kv),
        "bytes_fixed": expansion * stored_bytes(prec.attention),
        "vector_pair": SOFTMAX_FLOPS * heads,
        "bytes_row": heads * (key + mla.value_dim) * WIDE,
        # the latent is read once; its expansion is written and read back
        "bytes_read": latent * stored_bytes(prec.kv) + 2 * expansion / mla.kv_rank * WIDE,
    }
    return low.attention("prefill attention, expanded", False, numbers)


def _sparse(low: Lowering, mla: Mla, index: Dsa) -> Iterator[Placed]:
    """An indexer that scores all keys, and absorbed attention on the best of them.

    DeepSeek-V3.2 technical report.  Indexers are whole on every chip.  A query gathers its own
    entries, so prefill reads as many as it has pairs; what neighbours share is not counted on.
    """
    model, layers = low.model, low.model.cached_layers
    width = index.heads * index.dim
    formats = low.plan.precision.attention_act, low.plan.precision.attention
    yield Placed(low.gemm("indexer queries", (width, mla.q_rank), formats), index.layers)
    keys = low.gemm("indexer keys and weights", (index.dim + index.heads, model.hidden), formats)
    yield Placed(keys, index.layers)
    yield from _cores(_scores(low, index, True), _scores(low, index, False), index.layers, 0)
    reads, pairs = batch.column(1, batch.DECODE_READS), batch.column(1, batch.PREFILL_PAIRS)
    yield Placed(_absorbed(low, mla, True), layers, RANK, batch.DECODE, reads, reads)
    yield Placed(_absorbed(low, mla, False), layers, RANK, batch.PREFILL, pairs, pairs)


def _scores(low: Lowering, index: Dsa, decode: bool) -> Operator:
    """The scores of all keys by an indexer, and the choice of the best."""
    engine, shares = low.rates.engine, low.plan.cp if decode else 1
    achieved = engine.decode_attention_efficiency if decode else engine.prefill_attention_efficiency
    queries = low.queries if decode else 1
    rate, joules = low.rates.matrix(INDEX_FORMAT, INDEX_FORMAT, achieved)
    useful = 2.0 * index.heads * index.dim / shares * queries
    numbers = {
        "rate": rate,
        "joules_flop": joules,
        "flops_pair": useful * (_padded(low, index.heads * queries) if decode else 1.0),
        "useful_pair": useful,
        "vector_pair": (INDEX_FLOPS * index.heads + SELECT_FLOPS) / shares * queries,
        "bytes_row": index.heads * index.dim * stored_bytes(INDEX_FORMAT) * queries,
        "bytes_read": index.key_bytes / shares,
        "issue": 2 * engine.issue_phase,
    }
    return low.attention(f"{'decode' if decode else 'prefill'} indexer", decode, numbers)
