"""Drafting: the layers that propose tokens as a model of their own, and what a step yields.

A verification step computes the token that follows each of ``draft_tokens`` drafted ones, and one
more.  With acceptance rates p1, p2 ... by position (of those whose predecessors were accepted), it
gives ``1 + p1 + p1 p2 + ...`` tokens on the mean: the *acceptance length*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jalapeno.catalogue import Gqa, Mla, Model
from jalapeno.errors import BadPlan


def draft_model(model: Model) -> Model:
    """The draft layers of *model*, which must have some, as a model: as its last ones.

    They attend to everything, or by an indexer of their own, and have experts where *model* has.
    """
    draft = model.draft
    assert draft is not None, f"{model.name} has no draft layers"
    attention = model.attention
    match attention:
        case Gqa():
            attention = replace(attention, window=0, window_layers=0)
        case Mla(index=index) if index is not None:
            attention = replace(attention, index=replace(index, layers=draft.layers))
        case Mla():
            pass
    return replace(
        model,
        layers=draft.layers,
        dense_layers=0 if model.moe.experts else draft.layers,
        attention=attention,
        linear=None,
        draft=None,
    )


def joining_parameters(model: Model) -> int:
    """Weights of the projection that makes one hidden vector of those a draft pass starts from."""
    joined = model.draft.joined if model.draft else 0
    return joined * model.hidden * model.hidden


def acceptance_length(rates: Sequence[float]) -> float:
    """Mean tokens a step; *rates*: of drafted tokens accepted by position, given those before.

    ``1 + p1 + p1 p2 + ...``; raises :class:`BadPlan` for a rate outside [0, 1].
    """
    total = reached = 1.0
    for place, rate in enumerate(rates, 1):
        if not 0.0 <= rate <= 1.0:
            raise BadPlan(f"acceptance rate {place} must be in [0, 1], got {rate:g}")
        reached *= rate
        total += reached
    return total


def measured_acceptance(model: Model, workload: str, drafted: int) -> float:
    """The acceptance length of *model* on *workload* with *drafted* tokens, from the catalogue.

    Raises :class:`BadPlan` with what was measured where this was not.
    """
    known = model.draft.acceptance if model.draft else {}
    found = known.get(workload, {}).get(str(drafted))
    if found is None:
        raise BadPlan(
            f"no acceptance of {drafted} drafted tokens by {model.name} on {workload!r} is "
            f"measured; there {said_acceptance(model)}: give a number of tokens a step, or rates"
        )
    return found


def said_acceptance(model: Model) -> str:
    """In words: which acceptance lengths of *model* are in the catalogue."""
    known = model.draft.acceptance if model.draft else {}
    if not known:
        return "is none"
    each = (f"{name} with {', '.join(lengths)} drafted" for name, lengths in known.items())
    return f"are {'; '.join(each)}"
