"""Measured operators in the price of a step: seconds from a table, the rest from the roofline.

A measured operator stands for operators of the lowering, its *members*.  A table says how many
seconds they take together; what a table does not say the members do:

* **which engine** the time is charged to, and is busy meanwhile: the one that binds the members;
  issue where a table stands for nothing of the lowering;
* **joules**: work is work, whoever says how long it takes;
* **what lies beyond the grid**: ``seconds of the nearest edge x members there / members at the
  edge``, so the price is continuous; such seconds count as modelled and not as measured.

A table knows one prompt in a step; where there are several the one that has as many query-key pairs
stands for them.  Decoding sequences of different contexts count by their mean.
"""

from __future__ import annotations

import math

from jalapeno.cost.formulas import touched_experts
from jalapeno.cost.operator import (
    ABSORBED_PAIR,
    BYTES_READ,
    EXPERTS,
    FAMILY,
    FLOPS_PAIR,
    FLOPS_READ,
    JOULES_BYTE,
    JOULES_FLOP,
    JOULES_VECTOR,
    N_EXPERTS,
    RANKS,
    SHARE,
    USEFUL_PAIR,
    VECTOR_PAIR,
    Seconds,
    compute_seconds,
    engines,
    operator_seconds,
)
from jalapeno.cost.tables.grid import clamp, knots_around, lookup
from jalapeno.cost.tables.table import Axis
from jalapeno.jit import compiled
from jalapeno.mapping import batch
from jalapeno.mapping.outputs import (
    AXIS_AT,
    BUSY,
    COMMUNICATION,
    END_AT,
    FIRST_AT,
    FOREVER,
    ISSUED,
    JOULES,
    MATRIX,
    MEMORY,
    PAIRS_AT,
    READS_AT,
    REPEAT,
    ROWS_AT,
    SHARE_AT,
    TABLE_AT,
    TOLD,
    VECTOR,
    Array,
    Places,
    StepArrays,
    steps_until_crossing,
)

EXPERT_TOKENS, ACTIVE_EXPERTS = int(Axis.EXPERT_TOKENS), int(Axis.EXPERTS)
PROMPT, CACHED, DECODING, CONTEXT = (
    int(Axis.PROMPT),
    int(Axis.CACHED),
    int(Axis.DECODING),
    int(Axis.CONTEXT),
)

Shape = tuple[float, float, float, float]
"""An attention batch as tables know it: new tokens of the prompt, its cached ones, decoding
sequences, their mean context."""


# ---- what depends on a count


@compiled
def add_measured(arrays: StepArrays, index: int, count: float, sums: Array) -> None:
    """Add a measured operator that does not read the context, at *count* tokens or sequences."""
    place = arrays.places[index]
    matrix, vector, memory, link, joules = 0.0, 0.0, 0.0, 0.0, 0.0
    for member in range(place[FIRST_AT], place[END_AT]):
        times = float(arrays.places[member, REPEAT])
        found = member_seconds(arrays, member, count)
        matrix += times * found[0]
        vector += times * found[1]
        memory += times * found[2]
        link += times * found[3]
        joules += times * found[6]
    edge = nearest_count(arrays, place, count)
    seconds = place[REPEAT] * at_count(arrays, place, count)
    if edge == count:
        sums[TOLD] += seconds
    else:
        seconds *= bound_seconds(arrays, place, count) / bound_seconds(arrays, place, edge)
    sums[JOULES] += joules
    if place[FIRST_AT] == place[END_AT]:
        sums[ISSUED] += seconds
        return
    bound = MEMORY
    if link > max(matrix, vector, memory):
        bound = COMMUNICATION
    elif matrix >= vector and matrix >= memory:
        bound = MATRIX
    elif vector >= memory:
        bound = VECTOR
    sums[bound] += seconds
    sums[BUSY + bound] += seconds


@compiled
def member_seconds(arrays: StepArrays, member: int, count: float) -> Seconds:
    """Seconds of an operator that is stood for, which does not read the context."""
    rows = count / arrays.places[member, SHARE_AT]
    return operator_seconds(arrays.ops[member], rows, 0.0, 0.0)


@compiled
def bound_seconds(arrays: StepArrays, place: Places, count: float) -> float:
    """Seconds of all members at *count*, each bound by its slowest engine."""
    total = 0.0
    for member in range(place[FIRST_AT], place[END_AT]):
        matrix, vector, memory, _, exposed, wait, _ = member_seconds(arrays, member, count)
        total += arrays.places[member, REPEAT] * (max(matrix, vector, memory) + exposed + wait)
    return total


@compiled
def at_count(arrays: StepArrays, place: Places, count: float) -> float:
    """Seconds that a table says for *count*, or for its nearest edge."""
    return lookup(
        arrays.tables,
        place[TABLE_AT],
        number_of(arrays, place, place[AXIS_AT], count),
        number_of(arrays, place, place[AXIS_AT + 1], count),
        number_of(arrays, place, place[AXIS_AT + 2], count),
        number_of(arrays, place, place[AXIS_AT + 3], count),
    )


@compiled
def number_of(arrays: StepArrays, place: Places, axis: int, count: float) -> float:
    """The number on *axis* for *count* tokens or sequences: itself, a rank's share of the tokens
    for its experts, or how many of its experts they reach."""
    if axis < EXPERT_TOKENS:
        return count
    for member in range(place[FIRST_AT], place[END_AT]):
        op = arrays.ops[member]
        if op[FAMILY] == EXPERTS:
            if axis == ACTIVE_EXPERTS:
                return touched_experts(op[N_EXPERTS], op[SHARE], count)
            return float(count / op[RANKS])
    return count


@compiled
def nearest_count(arrays: StepArrays, place: Places, count: float) -> float:
    """The count nearest to *count* that the table knows: *count* itself, where it does."""
    low, high = count, count
    for number in range(4):
        axis = place[AXIS_AT + number]
        if axis < 0:
            continue
        x = number_of(arrays, place, axis, count)
        inside = clamp(arrays.tables, place[TABLE_AT], number, x)
        if inside != x:
            there = count * inside / x
            if axis == ACTIVE_EXPERTS:
                there = tokens_to_reach(arrays, place, inside)
            low, high = min(low, there), max(high, there)
    return high if high > count else low


@compiled
def tokens_to_reach(arrays: StepArrays, place: Places, reached: float) -> float:
    """Tokens that reach so many experts of a rank: the inverse of ``E (1 - (1 - k/E)^B)``."""
    for member in range(place[FIRST_AT], place[END_AT]):
        op = arrays.ops[member]
        if op[FAMILY] == EXPERTS:
            return math.log1p(-reached / op[N_EXPERTS]) / math.log1p(-op[SHARE])
    return 0.0


# ---- attention


@compiled
def attention_shape(place: Places, row: Array) -> Shape:
    """The batch of a rank as tables know it.

    One prompt of as many new tokens and as many query-key pairs, ``n c + n (n + 1) / 2``; where
    several short prompts have fewer pairs than one as long, one of as many pairs on nothing cached.
    """
    new, cached, decoding, context = 0.0, 0.0, 0.0, 0.0
    if place[READS_AT] >= 0 and row[batch.PREFILL] > 0.0:
        new, pairs = row[batch.PREFILL], row[place[READS_AT]]
        cached = (pairs - 0.5 * new * (new + 1.0)) / new
        if cached < 0.0:
            new, cached = 0.5 * (math.sqrt(1.0 + 8.0 * pairs) - 1.0), 0.0
    if place[PAIRS_AT] >= 0 and row[batch.DECODE] > 0.0:
        decoding = row[batch.DECODE]
        context = row[place[PAIRS_AT]] / decoding
    return new, cached, decoding, context


@compiled
def number_in(shape: Shape, axis: int) -> float:
    """The number of *shape* on *axis*."""
    if axis == PROMPT:
        return shape[0]
    if axis == CACHED:
        return shape[1]
    if axis == DECODING:
        return shape[2]
    if axis == CONTEXT:
        return shape[3]
    return 0.0


@compiled
def edge_of(arrays: StepArrays, place: Places, shape: Shape) -> Shape:
    """*shape* with each number that the table has an axis for moved to its nearest edge, if it is
    beyond."""
    new, cached, decoding, context = shape
    for number in range(4):
        axis = place[AXIS_AT + number]
        if axis >= PROMPT:
            x = clamp(arrays.tables, place[TABLE_AT], number, number_in(shape, axis))
            if axis == PROMPT:
                new = x
            elif axis == CACHED:
                cached = x
            elif axis == DECODING:
                decoding = x
            else:
                context = x
    return new, cached, decoding, context


@compiled
def table_seconds(arrays: StepArrays, place: Places, shape: Shape) -> float:
    """Seconds that the table says for *shape*, or for its edge."""
    return lookup(
        arrays.tables,
        place[TABLE_AT],
        number_in(shape, place[AXIS_AT]),
        number_in(shape, place[AXIS_AT + 1]),
        number_in(shape, place[AXIS_AT + 2]),
        number_in(shape, place[AXIS_AT + 3]),
    )


@compiled
def shape_seconds(arrays: StepArrays, place: Places, shape: Shape) -> float:
    """Seconds of the members on *shape*, each bound by its slowest engine."""
    new, cached, decoding, context = shape
    total = 0.0
    for member in range(place[FIRST_AT], place[END_AT]):
        at = arrays.places[member]
        rows, pairs, reads = decoding, decoding * context, decoding * context
        if at[ROWS_AT] != batch.DECODE:
            rows, pairs = new, new * cached + 0.5 * new * (new + 1.0)
            reads = pairs if at[READS_AT] == at[PAIRS_AT] else new + cached
        matrix, vector, memory, _, _, _, _ = compute_seconds(arrays.ops[member], rows, pairs, reads)
        total += at[REPEAT] * max(matrix, vector, memory)
    return total


@compiled
def add_measured_attention(
    arrays: StepArrays, index: int, row: Array, grow: Array, first: Array, slope: Array
) -> int:
    """Add a measured attention operator; returns the steps for which value and growth hold."""
    place = arrays.places[index]
    shape = attention_shape(place, row)
    bound, hold = add_members(arrays, place, row, grow, first, slope)
    seconds, grown, held, told = attention_seconds(arrays, place, shape, row, grow)
    seconds *= place[REPEAT]
    grown *= place[REPEAT]
    first[bound] += seconds
    slope[bound] += grown
    if bound < ISSUED:
        first[BUSY + bound] += seconds
        slope[BUSY + bound] += grown
    if told:
        first[TOLD] += seconds
        slope[TOLD] += grown
    return min(hold, held)


@compiled
def attention_seconds(
    arrays: StepArrays, place: Places, shape: Shape, row: Array, grow: Array
) -> tuple[float, float, int, bool]:
    """(seconds, growth a step, steps that holds, whether the table says it) of the first step.

    Between knots seconds are affine in one growing number; where a prompt's cache and the contexts
    grow at once, or beyond the grid, each step is priced by itself.
    """
    start = place[TABLE_AT]
    seconds = table_seconds(arrays, place, shape)
    edge = edge_of(arrays, place, shape)
    told = edge == shape
    if not told:
        there = shape_seconds(arrays, place, edge)
        if there > 0.0:
            seconds *= shape_seconds(arrays, place, shape) / there
    moving, faster, growing = 0, 0.0, -1
    for number in range(4):
        axis, more = place[AXIS_AT + number], 0.0
        if axis == CACHED and row[batch.PREFILL] > 0.0:
            more = grow[place[READS_AT]] / row[batch.PREFILL]
        elif axis == CONTEXT and row[batch.DECODE] > 0.0:
            more = grow[place[PAIRS_AT]] / row[batch.DECODE]
        if more > 0.0:
            moving += 1
            faster, growing = more, number
    if moving == 0 and told:
        return seconds, 0.0, FOREVER, told
    if not told:
        still = moving == 0 and not grows(place, grow)
        return seconds, 0.0, FOREVER if still else 1, told
    if moving > 1 or (place[AXIS_AT + growing] == CACHED and shape[0] != row[batch.PREFILL]):
        return seconds, 0.0, 1, told
    x = number_in(shape, place[AXIS_AT + growing])
    low, high = knots_around(arrays.tables, start, growing, x)
    if math.isinf(high) or math.isinf(low):
        return seconds, 0.0, 1, told
    rise = table_seconds(arrays, place, moved(place, growing, shape, high)) - table_seconds(
        arrays, place, moved(place, growing, shape, low)
    )
    return seconds, faster * rise / (high - low), steps_until_crossing(high - x, faster), told


@compiled
def grows(place: Places, grow: Array) -> bool:
    """Whether the work of attention grows from step to step."""
    more = 0.0
    if place[PAIRS_AT] >= 0:
        more += grow[place[PAIRS_AT]]
    if place[READS_AT] >= 0:
        more += grow[place[READS_AT]]
    return more > 0.0


@compiled
def moved(place: Places, number: int, shape: Shape, x: float) -> Shape:
    """*shape* with *x* on the axis of that *number*."""
    new, cached, decoding, context = shape
    if place[AXIS_AT + number] == CACHED:
        return new, x, decoding, context
    return new, cached, decoding, x


@compiled
def add_members(
    arrays: StepArrays, place: Places, row: Array, grow: Array, first: Array, slope: Array
) -> tuple[int, int]:
    """Add the joules of the members; returns (part that binds them, steps for which it does)."""
    matrix, vector, memory = 0.0, 0.0, 0.0
    d_matrix, d_vector, d_memory = 0.0, 0.0, 0.0
    hold = FOREVER
    for member in range(place[FIRST_AT], place[END_AT]):
        op, at = arrays.ops[member], arrays.places[member]
        times, rows = float(at[REPEAT]), row[at[ROWS_AT]]
        if rows <= 0.0:
            continue
        found = compute_seconds(op, rows, row[at[PAIRS_AT]], row[at[READS_AT]])
        matrix += times * found[0]
        vector += times * found[1]
        memory += times * found[2]
        first[JOULES] += times * found[6]
        pairs, reads = grow[at[PAIRS_AT]], grow[at[READS_AT]]
        if pairs + reads <= 0.0:
            continue
        if op[ABSORBED_PAIR] > 0.0:  # which way is faster may change
            hold = 1
        flops = pairs * op[FLOPS_PAIR] + reads * op[FLOPS_READ]
        useful = pairs * op[USEFUL_PAIR] + reads * op[FLOPS_READ]
        scores, entries = pairs * op[VECTOR_PAIR], reads * op[BYTES_READ]
        more = engines(op, flops, scores, 0.0, entries)
        d_matrix += times * more[0]
        d_vector += times * more[1]
        d_memory += times * more[2]
        slope[JOULES] += times * (
            useful * op[JOULES_FLOP] + scores * op[JOULES_VECTOR] + entries * op[JOULES_BYTE]
        )
    if matrix + vector + memory == 0.0:
        return ISSUED, hold
    bound, top, steep = MATRIX, matrix, d_matrix
    if vector > top or (vector == top and d_vector > steep):
        bound, top, steep = VECTOR, vector, d_vector
    if memory > top or (memory == top and d_memory > steep):
        bound, top, steep = MEMORY, memory, d_memory
    hold = min(hold, steps_until_crossing(top - matrix, d_matrix - steep))
    hold = min(hold, steps_until_crossing(top - vector, d_vector - steep))
    return bound, min(hold, steps_until_crossing(top - memory, d_memory - steep))
