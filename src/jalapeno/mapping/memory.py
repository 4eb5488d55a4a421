"""What lies in a chip's memory: weights, and room for the KV cache in blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jalapeno.catalogue import Engine, Gqa, Mla, Model, System
from jalapeno.errors import BadFact, DoesNotFit
from jalapeno.mapping.draft import draft_model, joining_parameters
from jalapeno.mapping.parameters import (
    index_bytes,
    index_parameters,
    kv_elements,
    linear_parameters,
    parameters,
    state_bytes,
)
from jalapeno.mapping.plan import Plan
from jalapeno.mapping.precision import stored_bytes
from jalapeno.units import render

MOST_BLOCKS = 10**12
"""Of a rank, so that those of a whole pool are still a 64-bit integer."""


@dataclass(frozen=True, slots=True)
class Room:
    """KV cache of one rank, counted on each of its chips alike.

    In a pipeline each chip has a share of the layers of all micro-batches: as much as all layers
    of one, so a micro-batch is counted as if its chips had all layers to themselves.
    """

    weight_bytes: float
    """Weights on one chip."""
    token_bytes: float
    """Bytes a token adds on one chip: KV cache (window layers aside) and indexer keys."""
    fixed_bytes: float
    """Bytes a sequence holds on one chip whatever its length: windows, when full, and recurrent
    states."""
    block_tokens: int
    blocks: int
    """Blocks a rank has."""

    def blocks_for(self, tokens: int) -> int:
        """Blocks that a sequence of *tokens* tokens takes, windows and states included."""
        fixed = math.ceil(self.fixed_bytes / (self.block_tokens * self.token_bytes))
        return -(-tokens // self.block_tokens) + fixed


def attention_weights(model: Model, plan: Plan) -> float:
    """Attention weights of all layers on one chip: heads are cut; latent projections, indexers
    and a last KV head are not."""
    layers = model.cached_layers
    linear = (
        model.linear.layers * linear_parameters(model.hidden, model.linear) if model.linear else 0
    )
    match model.attention:
        case Gqa(heads=heads, kv_heads=kv_heads, head_dim=dim, gated=gated):
            queries, keys = heads // plan.tp, max(1, kv_heads // plan.tp)
            wide = (3 if gated else 2) * queries + 2 * keys
            return layers * model.hidden * dim * wide + linear / plan.tp
        case Mla() as mla:
            whole = layers * model.hidden * (mla.q_rank + mla.kv_rank + mla.rope_dim)
            if mla.index:
                whole += mla.index.layers * index_parameters(model, mla.q_rank, mla.index)
            return whole + (parameters(model).attention - whole) / plan.tp


def layer_bytes(model: Model, plan: Plan) -> float:
    """Bytes of all layers' weights on one chip: experts over all chips, the rest over the rank's.

    The router is whole on every chip, and shared experts where the plan says so.
    """
    count, prec = parameters(model), plan.precision
    copies = 1.0 + plan.redundant / model.moe.experts if plan.redundant else 1.0
    return (
        count.experts * copies * stored_bytes(prec.experts) / (plan.tp * plan.dp)
        + count.shared * stored_bytes(prec.shared) / (1 if plan.whole_shared else plan.tp)
        + count.dense * stored_bytes(prec.dense) / plan.tp
        + attention_weights(model, plan) * stored_bytes(prec.attention)
        + count.router * stored_bytes("bf16")
    )


def draft_bytes(model: Model, plan: Plan) -> float:
    """Bytes of the draft layers' weights on one chip; they share the model's embedding and head.

    Their projections are BF16, as DeepSeek publishes them.
    """
    if model.draft is None or not plan.draft_tokens:
        return 0.0
    joining = joining_parameters(model) * stored_bytes("bf16") / plan.tp
    return model.draft.modules * (layer_bytes(draft_model(model), plan) + joining)


def weight_bytes(model: Model, plan: Plan) -> float:
    """Bytes of weights on one chip: layers, embedding and head, and draft layers.

    Of a pipeline the stage with most is meant: layers over stages, rounded up, and one of embedding
    and head (with which the draft layers go).
    """
    count, prec = parameters(model), plan.precision
    ends = count.head + (count.embedding if plan.pp == 1 else 0)
    most = math.ceil(model.layers / plan.pp) / model.layers
    last = ends * stored_bytes(prec.head) / plan.tp
    return layer_bytes(model, plan) * most + last + draft_bytes(model, plan)


def kv_bytes(model: Model, plan: Plan) -> tuple[float, float]:
    """(bytes a token adds on one chip, bytes a sequence holds there whatever its length).

    Draft layers have a cache of their own.  Recurrent states are kept after each token that a step
    verifies.
    """
    element = stored_bytes(plan.precision.kv)
    growing, windows = kv_elements(model, plan.tp, plan.cp)
    token = growing * element + index_bytes(model, plan.cp)
    if model.draft and plan.draft_tokens:
        draft = draft_model(model)
        more = kv_elements(draft, plan.tp, plan.cp)[0] * element + index_bytes(draft, plan.cp)
        token += model.draft.modules * more
    return token, windows * element + state_bytes(model, plan.tp) * plan.queries


def room(model: Model, plan: Plan, system: System, engine: Engine) -> Room:
    """The KV cache that is left beside the weights, or :class:`DoesNotFit` with the mend."""
    weights = weight_bytes(model, plan)
    token, fixed = kv_bytes(model, plan)
    free = system.chip.hbm.capacity - engine.memory_reserve - weights
    blocks = int(free // (engine.block_tokens * token))
    if blocks < 1:
        raise DoesNotFit(
            f"{model.name} under {plan.label} needs {render(weights, 'B')} of weights a chip and "
            f"{engine.name} keeps back {render(engine.memory_reserve, 'B')}; {system.chip.name} "
            f"has {render(system.chip.hbm.capacity, 'B')}: raise plan.tp, plan.ep "
            "or plan.pp, or narrow the weights' format"
        )
    if blocks > MOST_BLOCKS:
        raise BadFact(
            f"{system.chip.name} with {render(system.chip.hbm.capacity, 'B')} has room for "
            f"{blocks:.3g} KV blocks; more than {MOST_BLOCKS:,} are not counted: look at "
            "chip.hbm.capacity"
        )
    return Room(weights, token, fixed, engine.block_tokens, blocks)


def check_request(space: Room, model: Model, tokens: int, ahead: int = 0) -> None:
    """Raise :class:`DoesNotFit` where a request of *tokens* tokens (prompt and limit) never can.

    *ahead*: tokens that are drafted beyond it, which need blocks, too.
    """
    if tokens > model.context:
        raise DoesNotFit(
            f"a request of {tokens:,} tokens exceeds the context window of {model.name}, "
            f"{model.context:,}: shorten the prompt or the answer"
        )
    needed = space.blocks_for(tokens + ahead)
    if needed > space.blocks:
        raise DoesNotFit(
            f"a request of {tokens:,} tokens needs {needed:,} KV blocks; a rank has "
            f"{space.blocks:,}: raise plan.tp or shorten the request"
        )
