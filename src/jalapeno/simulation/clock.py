"""Integer time: picoseconds, rounded once, and the closed form of a run of steps."""

from __future__ import annotations

import math

import numpy as np

from jalapeno.jit import compiled
from jalapeno.simulation.columns import PICOSECONDS


@compiled
def round_picoseconds(seconds: float) -> int:
    """Whole picoseconds, ties to even."""
    return int(np.rint(seconds * PICOSECONDS))


@compiled
def elapsed(first: int, growth: int, steps: int) -> int:
    """Picoseconds of *steps* steps: ``n f + g n (n - 1) / 2``."""
    return steps * first + growth * (steps * (steps - 1) // 2)


@compiled
def steps_to_reach(first: int, growth: int, span: int) -> int:
    """The fewest steps, at least one, that last *span* ps or more (the float root, mended)."""
    half = first - 0.5 * growth
    if growth == 0:
        guess = span / first
    else:
        guess = (math.sqrt(max(0.0, half * half + 2.0 * growth * span)) - half) / growth
    steps = max(1, int(guess))
    while steps > 1 and elapsed(first, growth, steps - 1) >= span:
        steps -= 1
    while elapsed(first, growth, steps) < span:
        steps += 1
    return steps
