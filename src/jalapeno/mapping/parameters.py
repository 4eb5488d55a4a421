"""How many weights a model has, by tensor class, and the KV entries of one token.

Counts leave out norms, biases, sinks and short convolutions (under 0.05 % here) and draft layers,
which :mod:`.memory` counts where a plan drafts.
"""

from __future__ import annotations

from dataclasses import dataclass

from jalapeno.catalogue import Dsa, GatedDelta, Gqa, Mla, Model
from jalapeno.mapping.precision import stored_bytes


@dataclass(frozen=True, slots=True)
class Parameters:
    """Weights of the whole model by class."""

    experts: int
    """All routed experts."""
    shared: int
    dense: int
    router: int
    attention: int
    """Projections of all layers, indexers and linear attention included."""
    head: int
    embedding: int
    """0 where it is the LM head's matrix."""
    active: int
    """Weights that one token passes through, LM head included, embedding not."""

    @property
    def total(self) -> int:
        """All weights, embedding included."""
        heads = self.head + self.embedding
        return self.experts + self.shared + self.dense + self.router + self.attention + heads


def attention_parameters(model: Model) -> int:
    """Weights of the attention projections of one layer that keeps a cache, its indexer aside."""
    hidden = model.hidden
    match model.attention:
        case Gqa(heads=heads, kv_heads=kv_heads, head_dim=dim, gated=gated):
            return hidden * dim * ((3 if gated else 2) * heads + 2 * kv_heads)
        case Mla() as mla:
            queries = hidden * mla.q_rank + mla.q_rank * mla.heads * (mla.nope_dim + mla.rope_dim)
            latent = hidden * (mla.kv_rank + mla.rope_dim)
            return queries + latent + expansion_parameters(mla) + mla.heads * mla.value_dim * hidden


def index_parameters(model: Model, q_rank: int, index: Dsa) -> int:
    """Weights of one indexer of *model*: its queries, its key, and the weight of each head."""
    return q_rank * index.heads * index.dim + model.hidden * (index.dim + index.heads)


def linear_parameters(hidden: int, linear: GatedDelta) -> int:
    """Weights of one linear layer: queries, keys, values, output gate, two gates a head, output."""
    keys, values = linear.key_heads * linear.key_dim, linear.value_heads * linear.value_dim
    return hidden * (2 * keys + 2 * values + 2 * linear.value_heads) + values * hidden


def expansion_parameters(mla: Mla) -> int:
    """Weights that expand the latent into keys and values of all heads (``kv_b``)."""
    return mla.kv_rank * mla.heads * (mla.nope_dim + mla.value_dim)


def expert_parameters(model: Model) -> int:
    """Weights of one expert: gate, up and down."""
    return 3 * model.hidden * model.moe.width


def parameters(model: Model) -> Parameters:
    """Count the weights of *model*."""
    sparse = model.layers - model.dense_layers
    moe, expert = model.moe, expert_parameters(model)
    shared = sparse * moe.shared * expert
    dense = model.dense_layers * 3 * model.hidden * model.dense_width
    router = sparse * moe.experts * model.hidden
    attention = model.cached_layers * attention_parameters(model)
    match model.attention:
        case Mla(q_rank=q_rank, index=Dsa() as index):
            attention += index.layers * index_parameters(model, q_rank, index)
        case _:
            pass
    if model.linear:
        attention += model.linear.layers * linear_parameters(model.hidden, model.linear)
    head = model.vocab * model.hidden
    return Parameters(
        experts=sparse * moe.experts * expert,
        shared=shared,
        dense=dense,
        router=router,
        attention=attention,
        head=head,
        embedding=0 if model.tied else head,
        active=sparse * moe.top_k * expert + shared + dense + router + attention + head,
    )


def kv_elements(model: Model, tp: int = 1, cp: int = 1) -> tuple[float, float]:
    """(elements a token adds to the growing cache, elements a sequence holds in windows), one chip.

    GQA: keys and values of every full layer grow, window layers hold their window; the KV heads are
    cut, down to one a chip, and of the context each of *cp* shares of the *tp* chips has its part.
    MLA: one latent and one shared rotary key a layer (arXiv 2405.04434), whole in each share.
    """
    match model.attention:
        case Gqa(kv_heads=kv_heads, head_dim=dim, window=window, window_layers=windows):
            entry = 2 * max(1, kv_heads * cp // tp) * dim / cp
            return (model.cached_layers - windows) * entry, windows * window * entry
        case Mla(kv_rank=rank, rope_dim=rope):
            return model.cached_layers * (rank + rope) / cp, 0.0


def index_bytes(model: Model, cp: int = 1) -> float:
    """Bytes that a token adds to the caches of the indexers on one chip."""
    match model.attention:
        case Mla(index=Dsa(layers=layers, key_bytes=key)):
            return layers * key / cp
        case _:
            return 0.0


def state_bytes(model: Model, tp: int = 1) -> float:
    """Bytes of the recurrent states of one sequence on one chip, whose heads are cut *tp* ways."""
    linear = model.linear
    if linear is None:
        return 0.0
    elements = linear.value_heads * linear.key_dim * linear.value_dim
    return linear.layers * elements * stored_bytes(linear.state) / tp
