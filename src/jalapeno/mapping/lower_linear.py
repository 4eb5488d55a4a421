"""Lowering of linear attention (Gated DeltaNet): a state of fixed size in place of a cache."""

from __future__ import annotations

from collections.abc import Iterator

from jalapeno.catalogue import GatedDelta
from jalapeno.cost import Operator
from jalapeno.mapping import batch
from jalapeno.mapping.lowering import RANK, WIDE, Lowering, Placed
from jalapeno.mapping.precision import stored_bytes

CHUNK = 64
"""Tokens that the chunked form takes at once (flash-linear-attention's kernels)."""

GATES_FLOPS = 12.0
"""SIMD operations an element of queries, keys and values beside the convolution's taps: a SiLU each
(four), norms of queries and keys, the gated norm of the output."""


def linear_attention(low: Lowering, linear: GatedDelta) -> Iterator[Placed]:
    """Projections, short convolution, and the delta rule in its two forms.

    Yang, Kautz, Hatamizadeh, arXiv 2412.06464.  Decoding updates the state token by token: it is
    read and written once, ``6 d_k d_v`` operations a head.  Prefill takes chunks of C tokens:
    inside them ``4 C (d_k + d_v)`` FLOP a token and head, with the state ``6 d_k d_v``.
    """
    model, plan, prec = low.model, low.plan, low.plan.precision
    formats = (prec.attention_act, prec.attention)
    heads = linear.value_heads // plan.tp
    keys = linear.key_heads * linear.key_dim // plan.tp
    values = heads * linear.value_dim
    made = 2 * keys + 2 * values + 2 * heads
    yield Placed(
        low.gemm("linear attention, projections", (made, model.hidden), formats), linear.layers
    )
    mixed = 2 * keys + values
    convolution = low.elementwise(
        "linear attention, convolution and gates",
        2 * (mixed + values) * WIDE,
        2.0 * linear.conv_width * mixed + GATES_FLOPS * (mixed + values),
        2,
    )
    yield Placed(convolution, linear.layers)
    yield Placed(_recurrent(low, linear, heads), linear.layers, RANK, batch.DECODE)
    # it reads no context; its rows are the prompt's, which only attention's class can have
    nothing = batch.column(0, batch.PREFILL_PAIRS)
    chunked = _chunked(low, linear, heads)
    yield Placed(chunked, linear.layers, RANK, batch.PREFILL, nothing, nothing)
    output = low.gemm("linear attention, output", (model.hidden, values), formats)
    yield Placed(output, linear.layers)


def _state(linear: GatedDelta, heads: int) -> float:
    """Bytes of the state of *heads* heads of one layer."""
    return heads * linear.key_dim * linear.value_dim * stored_bytes(linear.state)


def _recurrent(low: Lowering, linear: GatedDelta, heads: int) -> Operator:
    """A sequence: the state is read, turned and written by SIMD.

    Where a step verifies several tokens, the state after each is written, for any may be the last
    that is accepted.
    """
    return low.elementwise(
        "linear attention, recurrent",
        (1.0 + low.queries) * _state(linear, heads),
        6.0 * heads * linear.key_dim * linear.value_dim * low.queries,
    )


def _chunked(low: Lowering, linear: GatedDelta, heads: int) -> Operator:
    """A prompt by chunks, on the matrix engine; the state is read and written once a step."""
    inside = 4.0 * CHUNK * (linear.key_dim + linear.value_dim)
    flops = heads * (inside + 6.0 * linear.key_dim * linear.value_dim)
    tile = low.rates.system.chip.matrix.tile_rows
    width = heads * (linear.key_dim + linear.value_dim)
    numbers = {
        "tile_flops": tile * flops / heads,
        "tiles_across": float(heads),
        "flops_row": flops,
        "bytes_fixed": 2.0 * _state(linear, heads),
        "bytes_row": 2.0 * width * WIDE,
    }
    return low.attention("linear attention, chunked", False, numbers)
