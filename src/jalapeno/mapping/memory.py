"""What lies in a chip's memory: weights, and room for the KV cache in blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jalapeno.catalogue import Engine, Gqa, Mla, Model, System
from jalapeno.errors import DoesNotFit
from jalapeno.mapping.parameters import kv_elements, parameters
from jalapeno.mapping.plan import Plan
from jalapeno.mapping.precision import stored_bytes
from jalapeno.units import render


@dataclass(frozen=True, slots=True)
class Room:
    """KV cache of one attention rank, counted on each of its chips alike."""

    weight_bytes: float
    """Weights on one chip."""
    token_bytes: float
    """KV bytes a token adds on one chip (window layers aside)."""
    window_bytes: float
    """KV bytes a sequence holds on one chip in window layers, at the most."""
    block_tokens: int
    blocks: int
    """Blocks a rank has."""

    def blocks_for(self, tokens: int) -> int:
        """Blocks that a sequence of *tokens* tokens takes, its windows included."""
        window = math.ceil(self.window_bytes / (self.block_tokens * self.token_bytes))
        return -(-tokens // self.block_tokens) + window


def attention_weights(model: Model, plan: Plan) -> float:
    """Attention weights on one chip: heads are cut, latent projections and a last KV head not."""
    match model.attention:
        case Gqa(heads=heads, kv_heads=kv_heads, head_dim=dim):
            queries, keys = heads // plan.tp, max(1, kv_heads // plan.tp)
            return model.layers * 2.0 * model.hidden * dim * (queries + keys)
        case Mla() as mla:
            whole = model.layers * model.hidden * (mla.q_rank + mla.kv_rank + mla.rope_dim)
            return whole + (parameters(model).attention - whole) / plan.tp


def weight_bytes(model: Model, plan: Plan) -> float:
    """Bytes of weights on one chip: experts over all chips, the rest over the rank's.

    The router is whole on every chip.
    """
    count, prec = parameters(model), plan.precision
    cut = (
        count.shared * stored_bytes(prec.shared)
        + count.dense * stored_bytes(prec.dense)
        + 2 * count.head * stored_bytes(prec.head)
    )
    return (
        count.experts * stored_bytes(prec.experts) / plan.chips
        + cut / plan.tp
        + attention_weights(model, plan) * stored_bytes(prec.attention)
        + count.router * stored_bytes("bf16")
    )


def kv_bytes(model: Model, plan: Plan) -> tuple[float, float]:
    """(bytes a token adds on one chip, bytes a sequence holds in windows on one chip)."""
    element = stored_bytes(plan.precision.kv)
    growing, windows = kv_elements(model, plan.tp)
    return growing * element, windows * element


def room(model: Model, plan: Plan, system: System, engine: Engine) -> Room:
    """The KV cache that is left beside the weights, or :class:`DoesNotFit` with the mend."""
    weights = weight_bytes(model, plan)
    token, window = kv_bytes(model, plan)
    free = system.chip.hbm.capacity - engine.memory_reserve - weights
    blocks = int(free // (engine.block_tokens * token))
    if blocks < 1:
        raise DoesNotFit(
            f"{model.name} under {plan.label} needs {render(weights, 'B')} of weights a chip and "
            f"{engine.name} keeps back {render(engine.memory_reserve, 'B')}; {system.chip.name} "
            f"has {render(system.chip.hbm.capacity, 'B')}: raise plan.tp or plan.ep, or narrow the "
            "weights' format"
        )
    return Room(weights, token, window, engine.block_tokens, blocks)


def check_request(space: Room, model: Model, tokens: int) -> None:
    """Raise :class:`DoesNotFit` where a request of *tokens* tokens (prompt and limit) never can."""
    if tokens > model.context:
        raise DoesNotFit(
            f"a request of {tokens:,} tokens exceeds the context window of {model.name}, "
            f"{model.context:,}: shorten the prompt or the answer"
        )
    needed = space.blocks_for(tokens)
    if needed > space.blocks:
        raise DoesNotFit(
            f"a request of {tokens:,} tokens needs {needed:,} KV blocks; a rank has "
            f"{space.blocks:,}: raise plan.tp or shorten the request"
        )
