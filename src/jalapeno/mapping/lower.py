"""Lowering: the operators of one step of a model under a plan, as one chip sees them."""

from __future__ import annotations

from collections.abc import Iterator

from jalapeno.catalogue import Model
from jalapeno.mapping import batch
from jalapeno.mapping.lower_attention import attention
from jalapeno.mapping.lower_draft import drafting
from jalapeno.mapping.lower_ffn import feed_forward
from jalapeno.mapping.lowering import RANK, WIDE, WORKER, Lowering, Placed
from jalapeno.mapping.plan import Plan
from jalapeno.mapping.rates import Rates

__all__ = ["RANK", "WORKER", "Placed", "lower"]


def lower(model: Model, plan: Plan, rates: Rates) -> list[Placed]:
    """All operators of one step, each with its repetitions and the sums it depends on.

    Of a pipeline these are the operators of one micro-batch on its way through all stages.
    """
    low = Lowering(model, plan, rates, rates.common())
    return [*attention(low), *feed_forward(low), *_stages(low), *_edges(low), *drafting(low)]


def _stages(low: Lowering) -> Iterator[Placed]:
    """Handing on the hidden state from stage to stage, and the token from the last to the first."""
    plan = low.plan
    if plan.pp == 1:
        return
    far = low.rates.domains(plan)
    far = far if far > 1 else 0
    size = low.model.hidden * WIDE
    if plan.pp > far:
        yield Placed(low.hand_over("to the next stage", size, False), plan.pp - far)
    if far:
        yield Placed(low.hand_over("to a stage in another domain", size, True), far)


def _edges(low: Lowering) -> Iterator[Placed]:
    yield Placed(low.elementwise("embedding", 2 * low.model.hidden * WIDE, 0.0), 1)
    yield Placed(low.head(), 1, RANK, batch.SAMPLED)
    # each chip's best candidate and its score travel, not the logits
    yield Placed(low.all_reduce("sampling", 2 * WIDE), 1, RANK, batch.SAMPLED)
