"""Lowering: the operators of one step of a model under a plan, as one chip sees them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from jalapeno.catalogue import Gqa, Kind, Mla, Model
from jalapeno.cost import Operator
from jalapeno.cost.operator import ALL_REDUCE, ALL_TO_ALL, COMPUTE, EXPERTS
from jalapeno.mapping import batch
from jalapeno.mapping.parameters import expansion_parameters
from jalapeno.mapping.plan import Plan
from jalapeno.mapping.precision import stored_bytes
from jalapeno.mapping.rates import Rates

RANK, WORKER = 0, 1
"""Whose rows an operator sees: those of an attention rank, or of all ranks together."""

SOFTMAX_FLOPS = 8.0
"""SIMD operations a score: scale, maximum, subtract, exponential (counted as four), sum."""

WIDE = stored_bytes("bf16")
"""Bytes of an activation between operators."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An operator in a step: how often, on whose rows, and which sums of the batch it reads."""

    operator: Operator
    repeat: int
    scope: int = RANK
    rows: int = batch.TOKENS
    pairs: int = -1
    """Column of the batch row; -1: none."""
    reads: int = -1


@dataclass(frozen=True, slots=True)
class Lowering:
    """What the steps below share."""

    model: Model
    plan: Plan
    rates: Rates
    common: dict[str, float]
    """Numbers that every operator on the chip shares."""

    def gemm(
        self, name: str, shape: tuple[int, int], formats: tuple[str, str], phases: int = 1
    ) -> Operator:
        """A GEMM of (columns, reduction) *shape* with weights of its own; formats (act, weight)."""
        columns, reduction = shape
        activations, weights = formats
        engine, matrix = self.rates.engine, self.rates.system.chip.matrix
        rate, joules = self.rates.matrix(activations, weights, engine.matrix_efficiency)
        numbers = self.common | {
            "family": COMPUTE,
            "tile_flops": 2.0 * matrix.tile_rows * matrix.tile_columns * reduction,
            "tiles_across": float(math.ceil(columns / matrix.tile_columns)),
            "rate": rate,
            "flops_row": 2.0 * columns * reduction,
            "bytes_fixed": columns * reduction * stored_bytes(weights),
            "bytes_row": reduction * stored_bytes(activations) + columns * WIDE,
            "issue": phases * engine.issue_phase,
            "joules_flop": joules,
        }
        return Operator(name, numbers, self.kind())

    def elementwise(
        self, name: str, bytes_row: float, flops_row: float, phases: int = 1
    ) -> Operator:
        """SIMD work that streams *bytes_row* bytes and does *flops_row* operations a token."""
        numbers = self.common | {
            "family": COMPUTE,
            "bytes_row": bytes_row,
            "vector_row": flops_row,
            "issue": phases * self.rates.engine.issue_phase,
        }
        return Operator(name, numbers, self.kind())

    def all_reduce(self, name: str, bytes_row: float) -> Operator:
        """Sum *bytes_row* bytes a token over the chips of an attention rank."""
        link = self.rates.link(self.plan.tp, self.rates.engine.all_reduce_latency)
        return Operator(name, link | {"family": ALL_REDUCE, "link_row": bytes_row}, self.kind())

    def all_to_all(self, name: str, element: float) -> Operator:
        """Send every token to the ranks of its experts, or its partial results back.

        The busiest port carries ``imbalance x hidden x element x distinct remote ranks`` bytes a
        token, a rank's chips sharing its tokens: ``n (1 - (1 - 1/n)^k) (1 - 1/n)`` distinct ones.
        """
        engine, ranks = self.rates.engine, self.plan.ep
        distinct = ranks * (1.0 - (1.0 - 1.0 / ranks) ** self.model.moe.top_k) * (1.0 - 1.0 / ranks)
        size = engine.imbalance * self.model.hidden * element * distinct / self.plan.tp
        link = self.rates.link(self.plan.chips, engine.all_to_all_latency)
        return Operator(name, link | {"family": ALL_TO_ALL, "link_row": size}, self.kind())

    def attention(self, name: str, decode: bool, numbers: dict[str, float]) -> Operator:
        """The attention core, decode or prefill: pairs at the core's rate, KV from memory."""
        engine, core = self.rates.engine, self.plan.precision.core
        achieved = (
            engine.decode_attention_efficiency if decode else engine.prefill_attention_efficiency
        )
        rate, joules = self.rates.matrix(core, core, achieved)
        own = {
            "family": float(COMPUTE),
            "rate": rate,
            "joules_flop": joules,
            "issue": engine.issue_phase,
        }
        return Operator(name, self.common | own | numbers, self.kind())

    def kind(self) -> Kind:
        """The weakest evidence a price of this chip and engine rests on."""
        return self.rates.weakest


def lower(model: Model, plan: Plan, rates: Rates) -> list[Placed]:
    """All operators of one step, each with its repetitions and the sums it depends on."""
    low = Lowering(model, plan, rates, rates.common())
    return [*_attention(low), *_experts(low), *_edges(low)]


def _attention(low: Lowering) -> Iterator[Placed]:
    model, layers = low.model, low.model.layers
    norm = low.elementwise("norm", 2 * model.hidden * WIDE, 4.0 * model.hidden)
    yield Placed(norm, 2 * layers)
    match model.attention:
        case Gqa() as gqa:
            yield from _gqa(low, gqa)
        case Mla() as mla:
            yield from _mla(low, mla)
    yield Placed(low.all_reduce("attention all-reduce", model.hidden * WIDE), layers)


def _gqa(low: Lowering, gqa: Gqa) -> Iterator[Placed]:
    model, plan, prec = low.model, low.plan, low.plan.precision
    formats = (prec.attention_act, prec.attention)
    heads, kv_heads = gqa.heads // plan.tp, max(1, gqa.kv_heads // plan.tp)
    width, entry = heads * gqa.head_dim, 2 * kv_heads * gqa.head_dim
    yield Placed(low.gemm("qkv", (width + entry, model.hidden), formats), model.layers)
    rotary = low.elementwise(
        "rotary, KV write", 2 * width * WIDE + entry * stored_bytes(prec.kv), 6.0 * width
    )
    yield Placed(rotary, model.layers)
    tile = low.rates.system.chip.matrix.tile_rows
    group = heads // kv_heads
    useful = 4.0 * heads * gqa.head_dim
    numbers = {
        "useful_pair": useful,
        "vector_pair": SOFTMAX_FLOPS * heads,
        "vector_row": SOFTMAX_FLOPS * heads if gqa.sinks else 0.0,
        "bytes_row": 2 * width * WIDE,
        "bytes_read": entry * stored_bytes(prec.kv),
    }
    kinds = [(0, model.layers - gqa.window_layers), (1, gqa.window_layers)]
    for cap, repeat in kinds:
        if repeat:
            which = "window" if cap else "full"
            padded = useful * math.ceil(group / tile) * tile / group
            decode = low.attention(
                f"decode attention, {which}", True, numbers | {"flops_pair": padded}
            )
            prefill = low.attention(
                f"prefill attention, {which}", False, numbers | {"flops_pair": useful}
            )
            yield from _cores(decode, prefill, repeat, cap)
    yield Placed(low.gemm("output projection", (model.hidden, width), formats), model.layers)


def _cores(decode: Operator, prefill: Operator, repeat: int, cap: int) -> Iterator[Placed]:
    reads = batch.column(cap, batch.DECODE_READS)
    yield Placed(decode, repeat, RANK, batch.DECODE, reads, reads)
    pairs = batch.column(cap, batch.PREFILL_PAIRS)
    yield Placed(
        prefill, repeat, RANK, batch.PREFILL, pairs, batch.column(cap, batch.PREFILL_READS)
    )


def _mla(low: Lowering, mla: Mla) -> Iterator[Placed]:
    model, plan, prec = low.model, low.plan, low.plan.precision
    formats = (prec.attention_act, prec.attention)
    layers, heads = model.layers, mla.heads // plan.tp
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
    expansion = expansion_parameters(mla) // plan.tp
    absorb = low.gemm("absorbed key and value", (expansion // mla.kv_rank, mla.kv_rank), formats, 2)
    yield Placed(absorb, layers, RANK, batch.DECODE)
    tile = low.rates.system.chip.matrix.tile_rows
    useful = 2.0 * heads * (latent + mla.kv_rank)
    decode = low.attention(
        "decode attention, absorbed",
        True,
        {
            "flops_pair": useful * math.ceil(heads / tile) * tile / heads,
            "useful_pair": useful,
            "vector_pair": SOFTMAX_FLOPS * heads,
            "bytes_row": heads * (latent + mla.kv_rank) * WIDE,
            "bytes_read": latent * stored_bytes(prec.kv),
        },
    )
    expanded = 2.0 * heads * (key + mla.value_dim)
    prefill = low.attention(
        "prefill attention, expanded",
        False,
        {
            "flops_pair": expanded,
            "useful_pair": expanded,
            "flops_read": 2.0 * expansion,
            # few queries on a long context do better absorbed, as in decode
            "absorbed_row": 2.0 * expansion,
            "absorbed_pair": useful,
            "absorbed_read": latent * stored_bytes(prec.kv),
            "bytes_fixed": expansion * stored_bytes(prec.attention),
            "vector_pair": SOFTMAX_FLOPS * heads,
            "bytes_row": heads * (key + mla.value_dim) * WIDE,
            # the latent is read once; its expansion is written and read back
            "bytes_read": latent * stored_bytes(prec.kv) + 2 * expansion / mla.kv_rank * WIDE,
        },
    )
    yield from _cores(decode, prefill, layers, 0)
    projection = low.gemm("output projection", (model.hidden, heads * mla.value_dim), formats)
    yield Placed(projection, layers)


def _experts(low: Lowering) -> Iterator[Placed]:
    model, plan, prec, moe = low.model, low.plan, low.plan.precision, low.model.moe
    sparse, hidden = model.layers - model.dense_layers, model.hidden
    yield Placed(low.gemm("router", (moe.experts, hidden), ("bf16", "bf16")), sparse)
    choose = low.elementwise("top-k, permutation", 2 * hidden * WIDE, 8.0 * moe.experts)
    yield Placed(choose, sparse)
    if plan.dp > 1:
        dispatch = low.all_to_all("dispatch", stored_bytes(prec.experts_act))
        yield Placed(dispatch, sparse)
    yield Placed(_routed(low), sparse, WORKER)
    if plan.dp > 1:
        yield Placed(low.all_to_all("combine", WIDE), sparse)
    yield Placed(low.elementwise("weighted sum", 2 * hidden * WIDE, 2.0 * hidden), sparse)
    if moe.shared:
        width = moe.shared * moe.width // plan.tp
        yield from _ffn(low, "shared expert", width, (prec.shared_act, prec.shared), sparse)
    if model.dense_layers:
        width = model.dense_width // plan.tp
        yield from _ffn(low, "dense FFN", width, (prec.dense_act, prec.dense), model.dense_layers)
    yield Placed(low.all_reduce("FFN all-reduce", hidden * WIDE), model.layers)


def _routed(low: Lowering) -> Operator:
    """Gate, up and down of the routed experts as one grouped GEMM of two dependent phases."""
    model, plan, prec, moe = low.model, low.plan, low.plan.precision, low.model.moe
    engine, matrix = low.rates.engine, low.rates.system.chip.matrix
    width = moe.width // (plan.chips // plan.ep)
    rate, joules = low.rates.matrix(prec.experts_act, prec.experts, engine.matrix_efficiency)
    across = math.ceil(2 * width / matrix.tile_columns) + math.ceil(
        model.hidden / matrix.tile_columns
    )
    work = 6.0 * model.hidden * width
    numbers = low.common | {
        "family": EXPERTS,
        "tile_flops": work * matrix.tile_rows / across,
        "tiles_across": float(across),
        "rate": rate,
        "flops_row": work,
        "vector_row": 6.0 * width,
        "bytes_row": model.hidden * stored_bytes(prec.experts_act)
        + (3 * width + model.hidden) * WIDE,
        "experts": moe.experts / plan.ep,
        "share": moe.top_k / moe.experts,
        "ranks": float(plan.ep),
        "imbalance": engine.imbalance,
        "bytes_expert": 3.0 * model.hidden * width * stored_bytes(prec.experts),
        "issue": 2 * engine.issue_phase,
        "joules_flop": joules,
    }
    return Operator("routed experts", numbers, low.kind())


def _ffn(
    low: Lowering, name: str, width: int, formats: tuple[str, str], repeat: int
) -> Iterator[Placed]:
    hidden = low.model.hidden
    yield Placed(low.gemm(f"{name}, gate and up", (2 * width, hidden), formats), repeat)
    yield Placed(low.gemm(f"{name}, down", (hidden, width), formats), repeat)


def _edges(low: Lowering) -> Iterator[Placed]:
    model, plan, prec = low.model, low.plan, low.plan.precision
    yield Placed(low.elementwise("embedding", 2 * model.hidden * WIDE, 0.0), 1)
    columns = math.ceil(model.vocab / plan.tp)
    head = low.gemm("LM head", (columns, model.hidden), (prec.head, prec.head))
    yield Placed(head, 1, RANK, batch.SAMPLED)
    # each chip's best candidate and its score travel, not the logits
    yield Placed(low.all_reduce("sampling", 2 * WIDE), 1, RANK, batch.SAMPLED)
