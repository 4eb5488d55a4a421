"""Totals: what segments add up to, in one pass over them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from jalapeno.cost import PARTS, RESOURCES
from jalapeno.metrics.distribution import Floats, Integers, exact_dot
from jalapeno.metrics.segments import Batch


@dataclass(frozen=True, slots=True)
class Fleet:
    """The workers' numbers that totals are weighted by, one a worker."""

    chips: Integers
    blocks: Integers
    caps: Floats
    """Watts a package of it may draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over segments, and their extremes (``most_`` and ``least_``); totals may be added."""

    running: int = 0
    """Chip-picoseconds in which a step ran."""
    matrix: float = 0.0
    """Chip-seconds in which this resource was busy; likewise the next three."""
    vector: float = 0.0
    memory: float = 0.0
    link: float = 0.0
    measured: float = 0.0
    """Chip-seconds of steps that tables of measurements said."""
    joules: float = 0.0
    gaps: int = 0
    """Picoseconds of the gaps before all tokens but first ones; those of one step come together."""
    gap_count: int = 0
    """Those gaps: steps times the sequences that decode in them."""
    gap_tokens: int = 0
    """Tokens but first ones: as many as gaps, or more where several come together."""
    decode_steps: int = 0
    """Steps in which anything decodes."""
    prompt_tokens: int = 0
    """Tokens prefilled, those that are prefilled again included."""
    prompts: int = 0
    """Prompts completed, again or for the first time."""
    blocks: float = 0.0
    """Block-picoseconds taken while a step ran, and those there were."""
    room: float = 0.0
    most_blocks: float = 0.0
    """Largest share of a worker's KV blocks taken."""
    least_blocks: float = 0.0
    """Smallest share, and joules of the cheapest step, where they are below zero."""
    least_joules: float = 0.0
    most_power: float = 0.0
    """Largest power of a step as a share of the cap, allowing for the rounding of its time."""

    def __add__(self, other: Totals) -> Totals:
        """Both together."""
        choose = {"most": max, "least": min}
        values = {}
        for field in fields(Totals):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            pick = choose.get(field.name.partition("_")[0])
            values[field.name] = pick(mine, theirs) if pick else mine + theirs
        return Totals(**values)


def totals(batch: Batch, fleet: Fleet) -> Totals:
    """The totals of one batch."""
    if not len(batch.steps):
        return Totals()
    steps, elapsed, worker = batch.steps, batch.elapsed, batch.integers("worker")
    decoding, used = batch.integers("decoding"), batch.integers("blocks_used")
    chips, blocks, caps = fleet.chips[worker], fleet.blocks[worker], fleet.caps[worker]
    busy = {name: float(np.dot(chips, batch.amounts(f"{name}_busy"))) for name in RESOURCES}
    ends, share = step_ends(batch), used / blocks
    return Totals(
        running=exact_dot(chips, elapsed),
        **busy,
        measured=float(np.dot(chips, batch.amounts("measured"))),
        joules=float(batch.amounts("joules").sum()),
        gaps=exact_dot(decoding, elapsed),
        gap_count=int(np.dot(decoding, steps)),
        gap_tokens=int(batch.integers("tokens").sum()),
        decode_steps=int(steps[decoding > 0].sum()),
        prompt_tokens=int(np.dot(batch.integers("prefill"), steps)),
        prompts=int((batch.integers("sampled") - decoding).sum()),
        blocks=float(np.dot(used.astype(float), elapsed)),
        room=float(np.dot(blocks.astype(float), elapsed)),
        most_blocks=max(0.0, float(share.max())),
        least_blocks=min(0.0, float(share.min())),
        least_joules=min(0.0, *(float(joules.min()) for joules, _ in ends)),
        most_power=max(0.0, *(float((j / s / (chips * caps)).max()) for j, s in ends)),
    )


def step_ends(batch: Batch) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """(joules, seconds) of the first and of the last step of each segment.

    Both are affine in the step's number, so power, their ratio, is largest at an end.  The journal
    rounds each part of a step and of its growth to a picosecond, so a step may have lasted longer
    than it says by half a picosecond a part, once and for every step before it; the seconds
    here allow for it.
    """
    joules, more = batch.floats("joules_first"), batch.floats("joules_growth")
    slack, later = 0.5 * len(PARTS), batch.steps - 1
    first: Floats = batch.first.astype(np.float64) + slack
    last: Floats = first + batch.growth * later + slack * later
    return (joules, 1e-12 * first), (joules + more * later, 1e-12 * last)
