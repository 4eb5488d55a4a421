"""Pricing: a step of a compiled plan in a few hundred nanoseconds.

Operators that do not read the context depend on one count only (tokens or samples of a rank, or
tokens of the worker), so their sum is remembered by count in a :class:`Memo`.  Attention is
priced anew: its value is affine in the number of steps for which a batch stays as it is, until
another engine binds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jalapeno.cost.formulas import all_to_all_seconds
from jalapeno.cost.operator import (
    ABSORBED_PAIR,
    ALL_REDUCE,
    BYTES_READ,
    EXPOSED,
    FAMILY,
    FLOPS_PAIR,
    FLOPS_READ,
    GROUP,
    ISSUE,
    JOULES_BYTE,
    JOULES_FLOP,
    JOULES_LINK,
    JOULES_VECTOR,
    LATENCY,
    LINK_RATE,
    LINK_ROW,
    MEASURED,
    USEFUL_PAIR,
    VECTOR_PAIR,
    compute_seconds,
    engines,
    operator_seconds,
)
from jalapeno.jit import compiled, inlined
from jalapeno.mapping import batch
from jalapeno.mapping.measured import add_measured, add_measured_attention
from jalapeno.mapping.outputs import (
    APART,
    ATTENTION,
    BUSY,
    CAP,
    CHIPS_RANK,
    COMMUNICATION,
    DRAFTS_LOAD,
    DRAFTS_REST,
    FOREVER,
    HOST_SEQUENCE,
    HOST_STEP,
    IMBALANCE,
    ISSUED,
    JOULES,
    LAYERS_LOAD,
    LAYERS_REST,
    MATRIX,
    MEMORY,
    N_OUTPUTS,
    N_PARTS,
    RANK_DECODE,
    RANK_SAMPLED,
    RANK_TOKENS,
    STATIC,
    THROTTLE,
    VECTOR,
    WORKER_DECODE,
    WORKER_TOKENS,
    Array,
    Places,
    StepArrays,
    steps_until_crossing,
)


class Memo(NamedTuple):
    """Sums of operators by class and count; NaN where not yet asked for."""

    values: Array
    """(rows, OUTPUTS)"""
    start: Places
    """(prices, classes): first row of each, attention left out."""
    length: Places
    """(prices, classes): counts remembered; larger ones are computed each time."""
    ranks: Array
    """Scratch, (ranks of the widest worker, 2): seconds and growth of each rank."""
    scratch: Array
    """Scratch, (3, OUTPUTS)."""


@compiled
def add_steady(op: Array, repeat: float, rows: float, sums: Array) -> None:
    """Add *repeat* times an operator that does not read the context."""
    matrix, vector, memory, link, exposed, wait, joules = operator_seconds(op, rows, 0.0, 0.0)
    if matrix + vector + memory + link == 0.0:
        return
    sums[BUSY] += repeat * matrix
    sums[BUSY + 1] += repeat * vector
    sums[BUSY + 2] += repeat * memory
    sums[BUSY + 3] += repeat * link
    sums[JOULES] += repeat * joules
    sums[ISSUED] += repeat * op[ISSUE]
    sums[IMBALANCE] += repeat * wait
    if op[FAMILY] >= ALL_REDUCE:
        sums[COMMUNICATION] += repeat * exposed
    elif matrix >= vector and matrix >= memory:
        sums[MATRIX] += repeat * matrix
    elif vector >= memory:
        sums[VECTOR] += repeat * vector
    else:
        sums[MEMORY] += repeat * memory


@inlined
def add_class(
    arrays: StepArrays, memo: Memo, which: int, kind: int, count: float, sums: Array
) -> None:
    """Add all operators of a class at *count* rows to *sums*, from memory where it is there."""
    begin, end = arrays.start[which, kind], arrays.start[which, kind + 1]
    if begin == end or count <= 0.0:
        return
    known = memo.scratch[0]
    remembered = count < memo.length[which, kind]
    if remembered:
        known = memo.values[memo.start[which, kind] + int(count)]
    if not remembered or np.isnan(known[0]):
        known[:] = 0.0
        for index in range(begin, end):
            if arrays.ops[index, FAMILY] == MEASURED:
                add_measured(arrays, index, count, known)
            else:
                add_steady(arrays.ops[index], arrays.places[index, 0], count, known)
    for output in range(N_OUTPUTS):
        sums[output] += known[output]


@inlined
def add_attention(
    arrays: StepArrays, index: int, row: Array, grow: Array, first: Array, slope: Array
) -> int:
    """Add an attention operator to *first*, its growth to *slope*; returns the steps they hold.

    Where a latent cache leaves a choice, a growing prompt is priced anew at every step.
    """
    op, place = arrays.ops[index], arrays.places[index]
    repeat, queries = float(place[0]), row[place[1]]
    if queries <= 0.0:
        return FOREVER
    if op[FAMILY] >= ALL_REDUCE:
        if op[FAMILY] == MEASURED:
            return add_measured_attention(arrays, index, row, grow, first, slope)
        return add_gather(op, repeat, row[place[3]], grow[place[3]], first, slope)
    matrix, vector, memory, _, _, _, joules = compute_seconds(
        op, queries, row[place[2]], row[place[3]]
    )
    first[BUSY] += repeat * matrix
    first[BUSY + 1] += repeat * vector
    first[BUSY + 2] += repeat * memory
    first[JOULES] += repeat * joules
    first[ISSUED] += repeat * op[ISSUE]
    more_pairs, more_reads = grow[place[2]], grow[place[3]]
    if op[ABSORBED_PAIR] > 0.0 or more_pairs + more_reads <= 0.0:
        top = max(matrix, vector, memory)
        first[MATRIX if matrix == top else VECTOR if vector == top else MEMORY] += repeat * top
        return 1 if more_pairs > 0.0 else FOREVER
    return add_growth(op, repeat, (matrix, vector, memory), more_pairs, more_reads, first, slope)


@compiled
def add_gather(
    op: Array, repeat: float, reads: float, more: float, first: Array, slope: Array
) -> int:
    """Add an all-to-all whose size is the KV entries read, and how it grows with *more* a step."""
    size, grown = reads * op[LINK_ROW], more * op[LINK_ROW]
    link = all_to_all_seconds(size, op[GROUP], op[LATENCY], op[LINK_RATE])
    first[BUSY + 3] += repeat * link
    first[COMMUNICATION] += repeat * link * op[EXPOSED]
    first[ISSUED] += repeat * op[ISSUE]
    first[JOULES] += repeat * size * op[JOULES_LINK]
    slope[BUSY + 3] += repeat * grown / op[LINK_RATE]
    slope[COMMUNICATION] += repeat * grown / op[LINK_RATE] * op[EXPOSED]
    slope[JOULES] += repeat * grown * op[JOULES_LINK]
    return FOREVER


@inlined
def add_growth(
    op: Array,
    repeat: float,
    now: tuple[float, float, float],
    more_pairs: float,
    more_reads: float,
    first: Array,
    slope: Array,
) -> int:
    """Add what binds an attention operator and how that grows; returns the steps it binds.

    *now*: seconds of the engines in the first step; pairs and reads grow so much a step.
    """
    matrix, vector, memory = now
    flops = more_pairs * op[FLOPS_PAIR] + more_reads * op[FLOPS_READ]
    useful = more_pairs * op[USEFUL_PAIR] + more_reads * op[FLOPS_READ]
    scores, entries = more_pairs * op[VECTOR_PAIR], more_reads * op[BYTES_READ]
    d_matrix, d_vector, d_memory = engines(op, flops, scores, 0.0, entries)
    slope[BUSY] += repeat * d_matrix
    slope[BUSY + 1] += repeat * d_vector
    slope[BUSY + 2] += repeat * d_memory
    slope[JOULES] += repeat * (
        useful * op[JOULES_FLOP] + scores * op[JOULES_VECTOR] + entries * op[JOULES_BYTE]
    )
    # of equal engines the faster growing one binds from here on
    bound, top, steep = MATRIX, matrix, d_matrix
    if vector > top or (vector == top and d_vector > steep):
        bound, top, steep = VECTOR, vector, d_vector
    if memory > top or (memory == top and d_memory > steep):
        bound, top, steep = MEMORY, memory, d_memory
    first[bound] += repeat * top
    slope[bound] += repeat * steep
    hold = steps_until_crossing(top - matrix, d_matrix - steep)
    hold = min(hold, steps_until_crossing(top - vector, d_vector - steep))
    return min(hold, steps_until_crossing(top - memory, d_memory - steep))


@inlined
def add_rank(
    arrays: StepArrays, memo: Memo, which: int, row: Array, grow: Array, first: Array, slope: Array
) -> int:
    """Add what one attention rank does in a step; returns the steps for which it holds."""
    add_class(arrays, memo, which, RANK_TOKENS, row[batch.TOKENS], first)
    add_class(arrays, memo, which, RANK_DECODE, row[batch.DECODE], first)
    add_class(arrays, memo, which, RANK_SAMPLED, row[batch.SAMPLED], first)
    first[ISSUED] += arrays.scalars[which, HOST_SEQUENCE] * row[batch.DECODE]
    hold = FOREVER
    for index in range(arrays.start[which, ATTENTION], arrays.start[which, ATTENTION + 1]):
        held = add_attention(arrays, index, row, grow, first, slope)
        hold = min(hold, held)
    return hold


@compiled
def price_rows(
    arrays: StepArrays, memo: Memo, which: int, rows: Array, grow: Array, first: Array, slope: Array
) -> int:
    """Price a step of the *which*-th plan into *first* and *slope*; returns the steps they hold.

    Ranks meet at the experts: the slowest sets the time, and what the mean rank waits for it is
    imbalance.  Routed experts see the tokens of all ranks.  Joules are the worker's.
    """
    first[:] = 0.0
    slope[:] = 0.0
    tokens, decoding = 0.0, 0.0
    for rank in range(len(rows)):
        tokens += rows[rank, batch.TOKENS]
        decoding += rows[rank, batch.DECODE]
    if tokens <= 0.0:
        return FOREVER
    scalars = arrays.scalars[which]
    if len(rows) == 1:
        hold = add_rank(arrays, memo, which, rows[0], grow[0], first, slope)
    else:
        hold = add_ranks(arrays, memo, which, rows, grow, first, slope)
    chips = scalars[CHIPS_RANK] * len(rows)
    ranks_joules = first[JOULES] * scalars[CHIPS_RANK]
    first[JOULES] = 0.0
    add_class(arrays, memo, which, WORKER_TOKENS, tokens, first)
    add_class(arrays, memo, which, WORKER_DECODE, decoding, first)
    first[JOULES] = ranks_joules + first[JOULES] * chips
    slope[JOULES] *= scalars[CHIPS_RANK]
    rest = scalars[LAYERS_REST]
    first[ISSUED] += rest + (scalars[LAYERS_LOAD] - rest) * (1.0 - 1.0 / tokens)
    if decoding > 0.0:
        rest = scalars[DRAFTS_REST]
        first[ISSUED] += rest + (scalars[DRAFTS_LOAD] - rest) * (1.0 - 1.0 / decoding)
    first[ISSUED] += scalars[HOST_STEP]
    if scalars[APART] == 0.0:
        hold = min(hold, expose_communication(first, slope))
    return min(hold, cap_power(scalars, chips, first, slope))


@compiled
def add_ranks(
    arrays: StepArrays, memo: Memo, which: int, rows: Array, grow: Array, first: Array, slope: Array
) -> int:
    """Add all ranks: the mean of each part, and the wait of the mean for the slowest."""
    ranks = len(rows)
    alone, alone_slope = memo.scratch[1], memo.scratch[2]
    hold = FOREVER
    for rank in range(ranks):
        alone[:] = 0.0
        alone_slope[:] = 0.0
        held = add_rank(arrays, memo, which, rows[rank], grow[rank], alone, alone_slope)
        if arrays.scalars[which, APART] > 0.0:
            held = min(held, expose_communication(alone, alone_slope))
        hold = min(hold, held)
        memo.ranks[rank, 0] = seconds_of(alone)
        memo.ranks[rank, 1] = seconds_of(alone_slope)
        for output in range(N_OUTPUTS):
            first[output] += alone[output]
            slope[output] += alone_slope[output]
    for output in range(N_OUTPUTS):
        if output != JOULES:
            first[output] /= ranks
            slope[output] /= ranks
    return min(hold, wait_for_slowest(memo.ranks[:ranks], first, slope))


@inlined
def seconds_of(values: Array) -> float:
    """Seconds of a step: the sum of its parts, in their order."""
    total = 0.0
    for part in range(N_PARTS):
        total += values[part]
    return total


@compiled
def wait_for_slowest(ranks: Array, first: Array, slope: Array) -> int:
    """Add the wait of the mean rank for the slowest; returns the steps it stays the slowest.

    *ranks*: (ranks, 2), seconds of each and their growth a step.
    """
    slowest, total, steep = 0, 0.0, 0.0
    for rank in range(len(ranks)):
        total += ranks[rank, 0]
        steep += ranks[rank, 1]
        if ranks[rank, 0] > ranks[slowest, 0] or (
            ranks[rank, 0] == ranks[slowest, 0] and ranks[rank, 1] > ranks[slowest, 1]
        ):
            slowest = rank
    first[IMBALANCE] += ranks[slowest, 0] - total / len(ranks)
    slope[IMBALANCE] += ranks[slowest, 1] - steep / len(ranks)
    hold = FOREVER
    for rank in range(len(ranks)):
        gap, closing = ranks[slowest, 0] - ranks[rank, 0], ranks[rank, 1] - ranks[slowest, 1]
        hold = min(hold, steps_until_crossing(gap, closing))
    return hold


@inlined
def expose_communication(first: Array, slope: Array) -> int:
    """Communication hides behind the engines' work on the slowest rank, and no more of it than
    there is of that."""
    hidden = first[BUSY + 3] - first[COMMUNICATION]
    work = first[MATRIX] + first[VECTOR] + first[MEMORY] + first[IMBALANCE]
    grown = slope[MATRIX] + slope[VECTOR] + slope[MEMORY] + slope[IMBALANCE]
    if hidden <= work:
        return steps_until_crossing(work - hidden, -grown)
    first[COMMUNICATION] += hidden - work
    slope[COMMUNICATION] -= grown
    return steps_until_crossing(hidden - work, grown)


@inlined
def cap_power(scalars: Array, chips: float, first: Array, slope: Array) -> int:
    """Stretch a step whose mean package would draw more than its cap; add the static joules.

    ``seconds >= dynamic joules / (cap - static)``: the clock falls until the cap holds.
    """
    seconds, grown = seconds_of(first), seconds_of(slope)
    watts = (scalars[CAP] - scalars[STATIC]) * chips
    needed, needed_grown = first[JOULES] / watts, slope[JOULES] / watts
    if needed > seconds:
        first[THROTTLE] += needed - seconds
        slope[THROTTLE] += needed_grown - grown
        hold = steps_until_crossing(needed - seconds, grown - needed_grown)
        seconds, grown = needed, needed_grown
    else:
        hold = steps_until_crossing(seconds - needed, needed_grown - grown)
    first[JOULES] += scalars[STATIC] * chips * seconds
    slope[JOULES] += scalars[STATIC] * chips * grown
    return hold
