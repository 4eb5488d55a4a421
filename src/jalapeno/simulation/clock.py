"""Integer time: picoseconds, rounded once, and the closed form of a run of steps."""

from __future__ import annotations

import math

import numpy as np

from jalapeno.errors import BadScenario
from jalapeno.jit import compiled
from jalapeno.simulation.columns import NEVER, PICOSECONDS

DAY = 86_400 * PICOSECONDS
DAYS = NEVER / DAY
"""How long the clock can run."""


def on_clock(time: float, what: str) -> int:
    """*time* (ps, or any other count that the tables hold) as a whole number.

    Raises :class:`BadScenario` where it is beyond the clock; *what* begins the message.
    """
    if not time < NEVER:
        raise BadScenario(
            f"{what} would take {time / DAY:,.3g} days; the clock ends after {DAYS:.0f}"
        )
    return round(time)


@compiled
def beyond(now: int, first: float, growth: float, steps: int) -> bool:
    """Whether *steps* steps from *now* (ps) on, of *first* and so on (s), pass the clock's end."""
    grown = 0.5 * growth * float(steps) * (float(steps) - 1.0)
    end = float(now) + (first * float(steps) + grown) * PICOSECONDS
    return not end < 0.999 * NEVER  # each part of a step is still to be rounded up


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
