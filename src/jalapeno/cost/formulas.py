"""The physics, in one place: seconds of matrix, memory and link work.

Scalar functions compiled by numba; :mod:`jalapeno.cost.operator` calls them for one operator,
the compiled price of a step (:mod:`jalapeno.mapping.step`) calls them for all of them.
"""

from __future__ import annotations

import math

from jalapeno.jit import compiled


@compiled
def tile_waves(row_blocks: float, tiles_across: float, cores: float) -> float:
    """Waves of tiles over the cores of a chip, for *row_blocks* x *tiles_across* output tiles.

    Fewer tiles than cores split the reduction between cores (split-K), so the work spreads
    evenly; from one tile a core on, the last wave is paid whole (wave quantisation).
    """
    tiles = row_blocks * tiles_across
    if tiles <= cores:
        return tiles / cores
    return math.ceil(tiles / cores)


@compiled
def touched_experts(local: float, share: float, tokens: float) -> float:
    """Distinct experts, of *local* ones, that *tokens* tokens reach: ``E (1 - (1 - k/E)^B)``.

    *share* is k/E: the chance that a token chooses a given expert under uniform routing.
    """
    if share >= 1.0:
        return local if tokens > 0.0 else 0.0
    return local * (1.0 - math.exp(tokens * math.log1p(-share)))


@compiled
def busiest_load(mean: float, ranks: float, imbalance: float) -> float:
    """Token slots of the busiest of *ranks* expert-parallel ranks, *mean* being the average.

    Skew multiplies the mean; chance adds the expected maximum of *ranks* near-Gaussian counts
    of variance *mean* (Poisson), ``sqrt(2 m ln n)``: the law of large numbers makes it fade in
    big batches.  One rank has nobody to wait for.
    """
    if ranks <= 1.0:
        return mean
    return imbalance * mean + math.sqrt(2.0 * mean * math.log(ranks))


@compiled
def all_reduce_seconds(
    size: float, group: float, latency: float, rate: float, fused: float
) -> float:
    """Seconds to sum *size* bytes over *group* chips, the best algorithm for the size.

    One-shot (everyone sends everything to everyone): ``a + (n-1) S / r``; two-shot
    (reduce-scatter, all-gather): ``2 a + 2 (n-1)/n S / r``; in the switch, where it sums
    (*fused* = 1): ``a + S / r``.  *latency* a: one phase with its hop; *rate* r: bytes/s of one
    port, one direction, as achieved.  Alone, nothing is to be done.
    """
    if group <= 1.0 or size <= 0.0:
        return 0.0
    best = min(
        latency + (group - 1.0) * size / rate,
        2.0 * latency + 2.0 * (group - 1.0) / group * size / rate,
    )
    if fused > 0.0:
        best = min(best, latency + size / rate)
    return best


@compiled
def all_to_all_seconds(size: float, group: float, latency: float, rate: float) -> float:
    """Seconds of an all-to-all in which the busiest port sends or receives *size* bytes."""
    if group <= 1.0 or size <= 0.0:
        return 0.0
    return latency + size / rate
