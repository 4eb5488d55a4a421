"""Utilisation: how much of the machine's time, batch and memory is used."""

from __future__ import annotations

from dataclasses import dataclass

from jalapeno.metrics.distribution import ratio
from jalapeno.metrics.totals import Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """Shares of the chips' time over the whole run (0 to 1), and the batch."""

    running: float
    """Share of the time in which a step ran."""
    matrix: float
    """Share of the time in which the matrix engine was busy, whether anything waited for it."""
    vector: float
    memory: float
    link: float
    measured: float
    """Share of the time in which a step ran that tables of measurements said; the rest was
    modelled."""
    mean_batch: float
    """Sequences of a worker that decode in a step, mean over the steps in which any does."""
    mean_kv_share: float
    """Share of the KV blocks taken, mean over the running time of each worker's blocks."""
    peak_kv_share: float
    """The largest share of its KV blocks that a worker had taken."""


def utilisation(sums: Totals, chips: int, seconds: float) -> Utilisation:
    """How well *chips* chips with these *sums* were used in *seconds* seconds."""
    time = chips * seconds
    return Utilisation(
        running=ratio(sums.running / 1e12, time),
        matrix=ratio(sums.matrix, time),
        vector=ratio(sums.vector, time),
        memory=ratio(sums.memory, time),
        link=ratio(sums.link, time),
        measured=ratio(sums.measured, sums.running / 1e12),
        mean_batch=ratio(sums.gap_count, sums.decode_steps),
        mean_kv_share=ratio(sums.blocks, sums.room),
        peak_kv_share=sums.most_blocks,
    )
