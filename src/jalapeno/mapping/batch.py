"""Batch: the sums over its sequences on which the price of a step depends, and nothing else.

A row of :data:`Rows` is one attention-data-parallel rank; columns are

``TOKENS, DECODE, PREFILL, SAMPLED`` and then, for full context and for every context cap W of
the model, ``decode reads, prefill pairs, prefill reads``.  A prompt with *n* new tokens on *c*
cached ones counts ``n`` tokens, ``sum_{j=1..n} min(c + j, W)`` pairs and ``n + min(c, W)`` reads.

A sequence that decodes counts one in ``DECODE`` and brings *n* tokens: 1, or what is verified of a
draft and one more.  Its decode reads are what one of its tokens sees on the mean,
``(1/n) sum_{j=1..n} (c + j) = c + (n + 1) / 2`` of full context and ``min(c + 1, W)`` of a capped
one (of a window that is not full, up to ``(n - 1) / 2`` less than it is); pairs are *n* times that.
Contexts may be mean values, and are then no whole numbers.
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

    cached: float
    new: int
    prefill: bool
    sampled: bool


def batch_row(sequences: Iterable[Item], caps: Sequence[int]) -> Rows:
    """The row of sums of one rank: shape (columns(caps),)."""
    row = np.zeros(columns(caps))
    for item in sequences:
        row[TOKENS] += item.new
        row[PREFILL if item.prefill else DECODE] += item.new if item.prefill else 1
        row[SAMPLED] += item.sampled * (1 if item.prefill else item.new)
        for index, cap in enumerate((UNCAPPED, *caps)):
            if item.prefill:
                cached = int(item.cached)
                row[column(index, PREFILL_PAIRS)] += capped_pairs(cached, item.new, cap)
                row[column(index, PREFILL_READS)] += item.new + min(cached, cap)
            elif cap == UNCAPPED:
                row[column(index, DECODE_READS)] += item.cached + (item.new + 1) / 2
            else:
                row[column(index, DECODE_READS)] += min(item.cached + 1, cap)
    return row


def growth_row(decoding: int, caps: Sequence[int]) -> Rows:
    """How a decode batch's row grows from step to step: every context by one, windows full."""
    row = np.zeros(columns(caps))
    row[column(0, DECODE_READS)] = decoding
    return row
