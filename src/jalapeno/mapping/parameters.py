"""How many weights a model has, by tensor class, and the KV entries of one token.

Counts leave out norms, biases and sinks (under 0.05 % here) and the multi-token-prediction head.
"""

from __future__ import annotations

from dataclasses import dataclass

from jalapeno.catalogue import Gqa, Mla, Model


@dataclass(frozen=True, slots=True)
class Parameters:
    """Weights of the whole model by class."""

    experts: int
    """All routed experts."""
    shared: int
    dense: int
    router: int
    attention: int
    head: int
    """LM head; the embedding is as large again."""
    active: int
    """Weights that one token passes through, LM head included, embedding not."""

    @property
    def total(self) -> int:
        """All weights, embedding included."""
        return (
            self.experts + self.shared + self.dense + self.router + self.attention + 2 * self.head
        )


def attention_parameters(model: Model) -> int:
    """Weights of the attention projections of one layer."""
    hidden = model.hidden
    match model.attention:
        case Gqa(heads=heads, kv_heads=kv_heads, head_dim=dim):
            return 2 * hidden * dim * (heads + kv_heads)
        case Mla() as mla:
            queries = hidden * mla.q_rank + mla.q_rank * mla.heads * (mla.nope_dim + mla.rope_dim)
            latent = hidden * (mla.kv_rank + mla.rope_dim)
            return queries + latent + expansion_parameters(mla) + mla.heads * mla.value_dim * hidden


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
    attention = model.layers * attention_parameters(model)
    head = model.vocab * model.hidden
    active = sparse * moe.top_k * expert + shared + dense + router + attention + head
    return Parameters(sparse * moe.experts * expert, shared, dense, router, attention, head, active)


def kv_elements(model: Model, tp: int = 1) -> tuple[int, int]:
    """(elements a token adds to the growing cache, elements a sequence holds in windows), one chip.

    GQA: keys and values of every full layer grow, window layers hold their window; *tp* chips cut
    the KV heads, down to one a chip.  MLA: one latent and one shared rotary key a layer (arXiv
    2405.04434), whole on each chip.
    """
    match model.attention:
        case Gqa(kv_heads=kv_heads, head_dim=dim, window=window, window_layers=windows):
            entry = 2 * max(1, kv_heads // tp) * dim
            return (model.layers - windows) * entry, windows * window * entry
        case Mla(kv_rank=rank, rope_dim=rope):
            return model.layers * (rank + rope), 0
