"""Lowering of drafting: the passes of the draft layers that precede a verification.

The first pass takes every token that the step computes, so that the draft layers' cache is that of
the model, and each later one a single token a sequence.  Passes follow each other.  In a step of
prompts only, there is the first alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from jalapeno.mapping import batch
from jalapeno.mapping.draft import draft_model
from jalapeno.mapping.lower_attention import attention
from jalapeno.mapping.lower_ffn import feed_forward
from jalapeno.mapping.lowering import RANK, WIDE, Lowering, Placed, share_of_rows


def drafting(low: Lowering) -> Iterator[Placed]:
    """The operators of all draft passes of a step; none where the plan drafts nothing."""
    drafted = low.plan.draft_tokens
    if not drafted:
        return
    assert low.model.draft is not None, f"{low.model.name} has no draft layers"
    joined = low.model.draft.joined
    own = replace(low, model=draft_model(low.model))
    yield from map(_named, _layers(own, joined))
    for item in _proposal(low):  # of each sequence's tokens only the last accepted one's is needed
        operator = share_of_rows(item.operator, drafted + 1)
        yield _named(replace(item, operator=operator))
    if drafted > 1:
        single = replace(own, plan=replace(own.plan, draft_tokens=0, acceptance_length=0.0))
        for item in (*_layers(single, joined), *_proposal(low)):
            if item.rows != batch.PREFILL:
                yield _named(replace(item, rows=batch.DECODE, repeat=item.repeat * (drafted - 1)))


def _layers(low: Lowering, joined: int) -> Iterator[Placed]:
    """What a pass computes of every token that it takes, *joined* vectors each."""
    hidden = low.model.hidden
    yield Placed(low.elementwise("embedding", 2 * hidden * WIDE, 0.0), 1)
    yield Placed(low.elementwise("norms", 2 * joined * hidden * WIDE, 4.0 * joined * hidden), 1)
    shape = (hidden, math.ceil(joined * hidden / low.plan.tp))
    yield Placed(low.gemm("joining projection", shape, ("bf16", "bf16")), 1)
    yield Placed(low.all_reduce("joining all-reduce", hidden * WIDE), 1)
    yield from attention(low)
    yield from feed_forward(low)


def _proposal(low: Lowering) -> Iterator[Placed]:
    """The LM head, which is the model's, and the choice of the token."""
    yield Placed(low.head(), 1, RANK, batch.SAMPLED)
    yield Placed(low.all_reduce("sampling", 2 * WIDE), 1, RANK, batch.SAMPLED)


def _named(item: Placed) -> Placed:
    return replace(item, operator=replace(item.operator, name=f"draft: {item.operator.name}"))
