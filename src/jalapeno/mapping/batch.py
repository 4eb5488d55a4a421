"""Batch: the sums over its sequences on which the price of a step depends, and nothing else.

A row of :data:`Rows` is one attention-data-parallel rank; columns are

``TOKENS, DECODE, PREFILL, SAMPLED`` and then, for full context and for every context cap W of
the model, ``decode reads, prefill pairs, prefill reads``.  A sequence with *n* new tokens on *c*
cached ones counts ``n`` tokens, ``sum_{j=1..n} min(c + j, W)`` pairs and ``n + min(c, W)`` reads;
while decoding (n = 1) pairs equal reads: ``min(c + 1, W)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jalapeno.jit import compiled

TOKENS, DECODE, PREFILL, SAMPLED = 0, 1, 2, 3
FIRST_CAP = 4
PER_CAP = 3
DECODE_READS, PREFILL_PAIRS, PREFILL_READS = 0, 1, 2
UNCAPPED = 2**40
"""The cap of a layer that sees the whole context."""

Rows = npt.NDArray[np.float64]


def columns(caps: Sequence[int]) -> int:
    """Columns of a row for a model with these context *caps*."""
    return FIRST_CAP + PER_CAP * (1 + len(caps))


@compiled
def column(cap: int, what: int) -> int:
    """Column of *what* (DECODE_READS ...) for the *cap*-th cap; 0 is full context."""
    return FIRST_CAP + PER_CAP * cap + what


@compiled
def capped_pairs(cached: int, new: int, cap: int) -> int:
    """``sum_{j=1..new} min(cached + j, cap)`` in closed form."""
    below = min(max(cap - cached, 0), new)
    return below * cached + below * (below + 1) // 2 + (new - below) * cap


@dataclass(frozen=True, slots=True)
class Item:
    """One sequence in a step, as a reader would list it: for tests and explanations."""

    cached: int
    new: int
    prefill: bool
    sampled: bool


def batch_row(sequences: Iterable[Item], caps: Sequence[int]) -> Rows:
    """The row of sums of one rank: shape (columns(caps),)."""
    row = np.zeros(columns(caps))
    for item in sequences:
        row[TOKENS] += item.new
        row[PREFILL if item.prefill else DECODE] += item.new
        row[SAMPLED] += item.sampled
        for index, cap in enumerate((UNCAPPED, *caps)):
            pairs = capped_pairs(item.cached, item.new, cap)
            if item.prefill:
                row[column(index, PREFILL_PAIRS)] += pairs
                row[column(index, PREFILL_READS)] += item.new + min(item.cached, cap)
            else:
                row[column(index, DECODE_READS)] += pairs
    return row


def growth_row(decoding: int, caps: Sequence[int]) -> Rows:
    """How a decode batch's row grows from step to step: every context by one, windows full."""
    row = np.zeros(columns(caps))
    row[column(0, DECODE_READS)] = decoding
    return row
