"""Random numbers: one counter-based stream for each purpose, so that none disturbs another."""

from __future__ import annotations

import numpy as np

from jalapeno.errors import BadScenario

ARRIVALS, PROMPTS, OUTPUTS, ROWS = range(1, 5)
"""Purposes: gaps between arrivals, prompts, answers, rows of a trace."""


def stream(seed: int, purpose: int) -> np.random.Generator:
    """The stream of *purpose* under *seed*.

    Streams of equal seeds are independent, and one that is read further begins as before.
    """
    # an array, for numpy makes floats of a list that reaches beyond 2^63
    return np.random.Generator(np.random.Philox(key=np.array([seed, purpose], dtype=np.uint64)))


def check_seed(seed: int, what: str) -> None:
    """Raise :class:`BadScenario` for a seed that no stream takes; *what* begins the message."""
    if not 0 <= seed < 2**64:
        raise BadScenario(f"{what}: seed must be in [0, 2^64), got {seed}")
