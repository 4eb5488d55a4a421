"""Cuts: the ways worth trying to lay a model over the chips of one worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from jalapeno.catalogue import Model
from jalapeno.mapping.plan import Plan
from jalapeno.mapping.precision import Precision

RANK_CHIPS = (1, 2, 4, 8)
"""Chips of an attention rank where there are several: tensor parallelism inside one tray."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Which sorts of cut are tried beside tensor and expert parallelism and attention ranks."""

    pipelines: tuple[int, ...] = (1,)
    """Stages of a pipeline."""
    contexts: tuple[int, ...] = (1,)
    """Shares of the context inside a rank: worth it for long ones."""
    whole_shared: tuple[bool, ...] = (False,)
    """Whether shared experts may be whole on every chip instead of cut."""


def sizes(most: int) -> tuple[int, ...]:
    """Chips of a worker worth trying up to *most*: powers of two, and *most* with its half and
    third where they are whole (a 72-chip system has workers of 24, 36 and 72)."""
    found = {2**power for power in range(most.bit_length())}
    found |= {most // part for part in (1, 2, 3) if most % part == 0}
    return tuple(sorted(found))


def cuts(model: Model, chips: int, precision: Precision, ways: Ways) -> Iterator[Plan]:
    """Every cut of *model* over *chips* chips, for one sequence and one token a step.

    TP, TPxEP, TEP, TPxDP and DEP, and pipelines of the first three; with context parallelism
    inside, and shared experts whole, where *ways* says so.  Experts that *ep* does not divide get
    the fewest copies with which it does (wide EP).  A dense model has no experts to spread, and
    attention ranks of it are replicas.  Whether the model can be cut so is not asked.
    """
    for pp in ways.pipelines:
        if chips % pp:
            continue
        for tp, ep, dp in _stage(model, chips // pp, split=pp == 1):
            for cp in ways.contexts:
                for whole in ways.whole_shared:
                    if tp % cp or (whole and (model.moe.shared == 0 or tp == 1)):
                        continue
                    yield Plan(
                        tp=tp,
                        ep=ep,
                        dp=dp,
                        pp=pp,
                        cp=cp,
                        redundant=-model.moe.experts % ep,
                        whole_shared=whole,
                        max_running=1,
                        max_tokens=1,
                        precision=precision,
                    )


def _stage(model: Model, chips: int, *, split: bool) -> Iterator[tuple[int, int, int]]:
    """(tp, ep, dp) of one stage; with attention ranks where *split*."""
    yield chips, 1, 1
    if not model.moe.experts:
        return
    powers = (2**power for power in range(1, chips.bit_length()))
    for ep in dict.fromkeys(chain((p for p in powers if chips % p == 0), (chips,))):
        if ep > 1:
            yield chips, ep, 1
    for tp in RANK_CHIPS if split else ():
        if tp < chips and chips % tp == 0:
            yield tp, chips, chips // tp
