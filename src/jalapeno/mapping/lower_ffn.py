"""Lowering of the feed-forward part: router, routed and shared experts, dense layers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from jalapeno.cost import Operator
from jalapeno.cost.operator import EXPERTS
from jalapeno.mapping.lowering import WIDE, WORKER, Lowering, Placed, share_of_rows
from jalapeno.mapping.precision import stored_bytes


def feed_forward(low: Lowering) -> Iterator[Placed]:
    """The operators of all FFNs, and the sum over a rank's chips that ends each."""
    model, plan, prec = low.model, low.plan, low.plan.precision
    if model.dense_layers < model.layers:
        yield from _experts(low)
    if model.dense_layers:
        width = model.dense_width // plan.tp
        yield from _ffn(low, "dense FFN", width, (prec.dense_act, prec.dense), model.dense_layers)
    yield Placed(low.all_reduce("FFN all-reduce", model.hidden * WIDE), model.layers)


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
        formats, width = (prec.shared_act, prec.shared), moe.shared * moe.width
        if plan.whole_shared:
            for item in _ffn(low, "shared expert, whole", width, formats, sparse):
                yield replace(item, operator=share_of_rows(item.operator, plan.tp))
        else:
            yield from _ffn(low, "shared expert", width // plan.tp, formats, sparse)


def _routed(low: Lowering) -> Operator:
    """Gate, up and down of the routed experts as one grouped GEMM of two dependent phases."""
    model, plan, prec, moe = low.model, low.plan, low.plan.precision, low.model.moe
    engine, matrix = low.rates.engine, low.rates.system.chip.matrix
    width = moe.width // (plan.tp * plan.dp // plan.ep)
    held = moe.experts + plan.redundant
    achieved = engine.matrix_efficiency * engine.experts_share
    rate, joules = low.rates.matrix(prec.experts_act, prec.experts, achieved)
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
        # copies of an expert share its tokens
        "experts": held / plan.ep,
        "share": moe.top_k / held,
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
