"""What the price of a step is made of: its outputs, its operators as arrays, and their places."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jalapeno.cost import PARTS, RESOURCES
from jalapeno.jit import inlined
from jalapeno.mapping import batch

OUTPUTS = (*PARTS, *RESOURCES, "joules", "measured")
"""Seconds by what bound them (they add up to the step), busy seconds, joules of the worker, and how
many of the seconds a measured table said."""

N_PARTS = len(PARTS)
BUSY = N_PARTS
JOULES = N_PARTS + len(RESOURCES)
TOLD = JOULES + 1
"""Seconds that a table said."""
N_OUTPUTS = len(OUTPUTS)
MATRIX, VECTOR, MEMORY, COMMUNICATION, ISSUED, IMBALANCE, THROTTLE = range(N_PARTS)
FOREVER = 2**11
"""Steps a price holds at the most: parts are rounded once a segment, and over this many steps
what rounding their growth loses stays below a millionth of a step."""
SCALARS = (
    "chips_rank",
    "layers_rest",
    "layers_load",
    "host_step",
    "host_sequence",
    "static",
    "cap",
    "apart",  # 1 where ranks are micro-batches, which do not meet at the experts
    "drafts_rest",  # layers of draft passes beside the first, which only decoding has
    "drafts_load",
)
(
    CHIPS_RANK,
    LAYERS_REST,
    LAYERS_LOAD,
    HOST_STEP,
    HOST_SEQUENCE,
    STATIC,
    CAP,
    APART,
    DRAFTS_REST,
    DRAFTS_LOAD,
) = range(len(SCALARS))
RANK_TOKENS, RANK_DECODE, RANK_SAMPLED, WORKER_TOKENS, WORKER_DECODE, ATTENTION = range(6)
"""Classes of operators by what they depend on, in the order of the arrays."""
ROW_OF_CLASS = (batch.TOKENS, batch.DECODE, batch.SAMPLED)

PLACES = (
    "repeat",
    "rows",  # column of the batch row, likewise the next two; -1: none
    "pairs",
    "reads",
    "table",  # measured: where its grid begins in the tables
    "first",  # measured: the operators it stands for, from this one
    "end",  # to before this one
    "share",  # of an operator that is stood for: ranks that share the rows asked of
    *(f"axis_{number}" for number in range(4)),  # measured: which number each axis is of
)
REPEAT, ROWS_AT, PAIRS_AT, READS_AT, TABLE_AT, FIRST_AT, END_AT, SHARE_AT, AXIS_AT = range(9)

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class StepArrays(NamedTuple):
    """Operators of one or several compiled prices, sorted by class within each."""

    ops: Array
    """(operators, COLUMNS)"""
    places: Places
    """(operators, PLACES)"""
    start: Places
    """(prices, classes + 1): where each class's operators begin; behind the last class lie those
    that measured operators stand for."""
    scalars: Array
    """(prices, SCALARS)"""
    tables: Array
    """Grids of the measured operators, flat, one after the other."""


@inlined
def steps_until_crossing(gap: float, closing: float) -> int:
    """Steps for which a *gap* >= 0 that shrinks by *closing* a step stays at least zero."""
    if closing <= 0.0:
        return FOREVER
    ratio = gap / closing
    return FOREVER if ratio >= FOREVER else int(ratio) + 1
