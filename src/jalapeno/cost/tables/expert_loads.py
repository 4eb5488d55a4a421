"""What the busiest rank of routed experts gets: token slots, experts touched, blocks of rows.

``balanced`` spreads ``tokens x top_k`` slots evenly, over as many experts as there are slots to
give.  ``power_law_a`` draws the popularity of each expert from ``p(x) ~ x^-a`` between one and 0.8
tokens' worth, scaled to all slots, as aiconfigurator's collector does; the rank that is measured is
the busiest.  Here the draws are quantiles, and who sits with whom is averaged over a few seeded
permutations, so that the answer is smooth and the same every time.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from jalapeno.errors import BadTable

Array = npt.NDArray[np.float64]

PERMUTATIONS = 8
"""How many ways of seating experts on ranks are averaged."""

BLOCK = 128.0
"""Rows of one tile of a grouped GEMM."""


def skew(distribution: str) -> float:
    """The exponent *a* of ``power_law_a``, 0 for ``balanced``; raises ``BadTable`` for others."""
    if distribution == "balanced":
        return 0.0
    start, _, number = distribution.removesuffix("_eplb").rpartition("_")
    try:
        exponent = float(number)
    except ValueError:
        exponent = -1.0
    if start != "power_law" or exponent <= 0.0:
        raise BadTable(
            f"distribution of expert loads {distribution!r}: known are 'balanced' and "
            "'power_law_<exponent>', such as 'power_law_1.2'"
        )
    return exponent


@lru_cache(maxsize=65536)
def busiest(
    exponent: float, tokens: int, experts: int, top_k: int, ranks: int
) -> tuple[float, float, float]:
    """(slots, experts touched, blocks of :data:`BLOCK` rows) of the busiest of *ranks* ranks.

    *tokens* of all ranks together choose *top_k* of *experts* each.
    """
    local, slots = experts // ranks, tokens * top_k
    if exponent == 0.0:
        mine = max(slots / ranks, 1.0)
        touched = min(float(local), np.ceil(mine))
        return mine, touched, touched * float(np.ceil(mine / touched / BLOCK))
    loads = _loads(_popularity(exponent, tokens, experts), tokens, slots)
    drawn = []
    for seed in range(PERMUTATIONS if ranks > 1 else 1):
        seats = np.random.default_rng((seed, experts)).permutation(loads).reshape(ranks, local)
        mine = seats[seats.sum(axis=1).argmax()]
        hit = -np.expm1(-mine)  # a Poisson count is not zero
        drawn.append((mine.sum(), hit.sum(), (hit * np.maximum(1.0, mine / BLOCK + 0.5)).sum()))
    slots_, touched_, blocks = np.mean(drawn, axis=0)
    return float(slots_), float(touched_), float(blocks)


def _loads(shares: Array, tokens: int, slots: int) -> Array:
    """Slots of each expert, as popular as its share, but a token chooses an expert once."""
    loads = shares * slots
    while loads.max() > tokens * (1.0 + 1e-9):
        full = loads >= tokens
        rest = shares * (slots - tokens * full.sum()) / shares[~full].sum()
        loads = np.where(full, float(tokens), rest)
    return loads


def _popularity(exponent: float, tokens: int, experts: int) -> Array:
    """Shares of all slots, one an expert: quantiles of the truncated power law."""
    top = max(1.001, 0.8 * tokens)
    quantile = (np.arange(experts) + 0.5) / experts
    power = 1.0 - exponent
    if abs(power) < 1e-9:
        drawn = top**quantile
    else:
        drawn = ((top**power - 1.0) * quantile + 1.0) ** (1.0 / power)
    shares: Array = drawn / drawn.sum()
    return shares
