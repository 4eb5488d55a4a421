"""Operators as one chip sees them, and their price.

An operator is a line of numbers (:data:`COLUMNS`), so that a step is a small matrix and the same
function prices one operator for a reader and all of them for the simulator.  Its work depends on
three sums: ``rows`` (tokens that pass through), ``pairs`` (query-key pairs) and ``reads`` (KV
entries read).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jalapeno.catalogue import Kind
from jalapeno.cost.cost import Cost
from jalapeno.cost.formulas import (
    all_reduce_seconds,
    all_to_all_seconds,
    busiest_load,
    tile_waves,
    touched_experts,
)
from jalapeno.jit import compiled, inlined

COMPUTE, EXPERTS, ALL_REDUCE, ALL_TO_ALL, MEASURED = 0, 1, 2, 3, 4
"""Families: dense work and attention; grouped GEMM of routed experts; the two collectives; and what
a table of measurements says (:mod:`.tables`), whose line has no other number: the compiled price of
a step (:mod:`jalapeno.mapping.measured`) knows which operators it stands for."""

COLUMNS = (
    "family",
    "tile_flops",  # matrix FLOP of one tile: 2 * tile_rows * tile_columns * reduction length
    "tile_rows",
    "tiles_across",  # tiles side by side in one block of rows
    "cores",
    "rate",  # matrix FLOP/s as achieved
    "flops_row",  # useful matrix FLOP a row (energy)
    "flops_pair",  # attention: matrix FLOP a query-key pair, padding included
    "useful_pair",  # the same without padding (energy)
    "flops_read",  # attention: matrix FLOP a KV entry (expansion of a latent)
    "absorbed_row",  # attention on a latent left as it is: matrix FLOP a row,
    "absorbed_pair",  # a pair (0: there is no such choice),
    "absorbed_read",  # and bytes a KV entry
    "vector_row",
    "vector_pair",
    "vector_rate",
    "bytes_fixed",  # weights
    "bytes_row",  # activations in and out
    "bandwidth",  # bytes/s as achieved
    "bytes_read",  # a KV entry
    "kv_bandwidth",
    "experts",  # local experts
    "share",  # top-k over all experts
    "ranks",  # expert-parallel ranks
    "imbalance",
    "bytes_expert",
    "link_row",  # bytes a row through the busiest port
    "group",  # chips of the collective
    "latency",  # one phase of the collective
    "link_rate",
    "fused",  # 1 where the switch sums
    "exposed",  # share of communication that nothing hides
    "issue",  # fixed seconds
    "joules_flop",
    "joules_vector",
    "joules_byte",
    "joules_link",
)
(
    FAMILY,
    TILE_FLOPS,
    TILE_ROWS,
    TILES_ACROSS,
    CORES,
    RATE,
    FLOPS_ROW,
    FLOPS_PAIR,
    USEFUL_PAIR,
    FLOPS_READ,
    ABSORBED_ROW,
    ABSORBED_PAIR,
    ABSORBED_READ,
    VECTOR_ROW,
    VECTOR_PAIR,
    VECTOR_RATE,
    BYTES_FIXED,
    BYTES_ROW,
    BANDWIDTH,
    BYTES_READ,
    KV_BANDWIDTH,
    N_EXPERTS,
    SHARE,
    RANKS,
    IMBALANCE,
    BYTES_EXPERT,
    LINK_ROW,
    GROUP,
    LATENCY,
    LINK_RATE,
    FUSED,
    EXPOSED,
    ISSUE,
    JOULES_FLOP,
    JOULES_VECTOR,
    JOULES_BYTE,
    JOULES_LINK,
) = range(len(COLUMNS))

INDEX = {name: index for index, name in enumerate(COLUMNS)}
"""Column name to position."""

Row = npt.NDArray[np.float64]
Engines = tuple[float, float, float]
Seconds = tuple[float, float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator with its numbers by name (see :data:`COLUMNS`); absent ones are zero."""

    name: str
    numbers: dict[str, float]
    kind: Kind = Kind.ESTIMATED
    """The weakest evidence among the facts it was made from."""

    def line(self) -> list[float]:
        """The numbers in the order of :data:`COLUMNS`."""
        line = [0.0] * len(COLUMNS)
        try:
            for name, value in self.numbers.items():
                line[INDEX[name]] = value
        except KeyError as error:
            raise KeyError(f"operator {self.name}: no such column: {error.args[0]}") from error
        return line

    def row(self) -> Row:
        """:meth:`line` as an array."""
        return np.array(self.line())


@inlined
def engines(op: Row, flops: float, vector: float, near: float, kv: float) -> Engines:
    """(matrix, vector, memory) seconds of so much work; no work takes none of an engine."""
    matrix = flops / op[RATE] if flops > 0.0 else 0.0
    simd = vector / op[VECTOR_RATE] if vector > 0.0 else 0.0
    memory = near / op[BANDWIDTH] if near > 0.0 else 0.0
    if kv > 0.0:
        memory += kv / op[KV_BANDWIDTH]
    return matrix, simd, memory


@inlined
def compute_seconds(op: Row, rows: float, pairs: float, reads: float) -> Seconds:
    """Seconds of a COMPUTE operator: see :func:`operator_seconds`.

    ``matrix = waves(tiles) x cores x tile FLOP / rate``, attention adds its pairs; ``memory =
    weights and activations / bandwidth + KV / KV bandwidth``.  A latent cache may be left as it is
    where that is faster.  No rows, no work, no weights read.
    """
    if rows <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    flops = 0.0
    if op[TILE_FLOPS] > 0.0:
        waves = tile_waves(math.ceil(rows / op[TILE_ROWS]), op[TILES_ACROSS], op[CORES])
        flops = waves * op[CORES] * op[TILE_FLOPS]
    vector = rows * op[VECTOR_ROW] + pairs * op[VECTOR_PAIR]
    near, kv = op[BYTES_FIXED] + rows * op[BYTES_ROW], reads * op[BYTES_READ]
    useful = rows * op[FLOPS_ROW] + pairs * op[USEFUL_PAIR] + reads * op[FLOPS_READ]
    flops += pairs * op[FLOPS_PAIR] + reads * op[FLOPS_READ]
    matrix, simd, memory = engines(op, flops, vector, near, kv)
    if op[ABSORBED_PAIR] > 0.0:
        latent = rows * op[ABSORBED_ROW] + pairs * op[ABSORBED_PAIR]
        other = engines(op, latent, vector, near, reads * op[ABSORBED_READ])
        if max(other) < max(matrix, simd, memory):
            matrix, simd, memory = other
            useful, kv = latent, reads * op[ABSORBED_READ]
    joules = useful * op[JOULES_FLOP] + vector * op[JOULES_VECTOR] + (near + kv) * op[JOULES_BYTE]
    return matrix, simd, memory, 0.0, 0.0, 0.0, joules


@compiled
def expert_rank_seconds(op: Row, load: float, touched: float) -> tuple[float, float, float]:
    """(matrix, vector, memory) of a rank with *load* token slots over *touched* experts.

    An expert's rows fill whole tiles: one at least, and half a tile is lost on average where the
    remainder is as likely as any other.  Weights are read once an expert touched.
    """
    blocks = touched * max(1.0, load / touched / op[TILE_ROWS] + 0.5)
    matrix = tile_waves(blocks, op[TILES_ACROSS], op[CORES]) * op[CORES] * op[TILE_FLOPS] / op[RATE]
    moved = touched * op[BYTES_EXPERT] + load * op[BYTES_ROW]
    _, vector, memory = engines(op, 0.0, load * op[VECTOR_ROW], moved, 0.0)
    return matrix, vector, memory


@compiled
def experts_seconds(op: Row, rows: float) -> Seconds:
    """Seconds of the routed experts of one layer for *rows* tokens of the whole worker.

    Engine times are those of the mean rank; the busiest rank, which everyone waits for, adds
    the wait.
    """
    if rows <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    mean = rows * op[SHARE] * op[N_EXPERTS]
    touched = touched_experts(op[N_EXPERTS], op[SHARE], rows)
    matrix, vector, memory = expert_rank_seconds(op, mean, touched)
    load = min(busiest_load(mean, op[RANKS], op[IMBALANCE]), rows * op[N_EXPERTS])
    wait = 0.0
    if load > mean:
        reached = touched_experts(op[N_EXPERTS], op[SHARE], rows * load / mean)
        slowest = expert_rank_seconds(op, load, reached)
        wait = max(0.0, max(slowest) - max(matrix, vector, memory))
    joules = (
        mean * op[FLOPS_ROW] * op[JOULES_FLOP]
        + mean * op[VECTOR_ROW] * op[JOULES_VECTOR]
        + (touched * op[BYTES_EXPERT] + mean * op[BYTES_ROW]) * op[JOULES_BYTE]
    )
    return matrix, vector, memory, 0.0, 0.0, wait, joules


@inlined
def operator_seconds(op: Row, rows: float, pairs: float, reads: float) -> Seconds:
    """(matrix, vector, memory, link, exposed link, wait, joules) of any operator, once.

    Seconds each engine is busy, the part of the link's that nothing hides, and the wait for
    the busiest expert rank.
    """
    if op[FAMILY] == COMPUTE:
        return compute_seconds(op, rows, pairs, reads)
    if op[FAMILY] == EXPERTS:
        return experts_seconds(op, rows)
    size = rows * op[LINK_ROW]
    if op[FAMILY] == ALL_REDUCE:
        link = all_reduce_seconds(size, op[GROUP], op[LATENCY], op[LINK_RATE], op[FUSED])
        # what a chip sends in two shots: its share to all others, twice
        size *= 2.0 * (op[GROUP] - 1.0) / op[GROUP]
    else:
        link = all_to_all_seconds(size, op[GROUP], op[LATENCY], op[LINK_RATE])
    return 0.0, 0.0, 0.0, link, link * op[EXPOSED], 0.0, size * op[JOULES_LINK]


def price(op: Operator, rows: float, pairs: float = 0.0, reads: float = 0.0) -> Cost:
    """``max(matrix, vector, memory) + issue``, or the exposed part of a collective.

    *rows*, *pairs*, *reads* as one chip sees them.  An operator without work costs nothing.
    """
    row = op.row()
    if row[FAMILY] == MEASURED:
        raise ValueError(f"operator {op.name}: a table says what it costs, in the price of a step")
    seconds = operator_seconds(row, rows, pairs, reads)
    matrix, vector, memory, link, exposed, wait, joules = seconds
    if matrix + vector + memory + link == 0.0:
        return Cost(kind=op.kind)
    work = Cost.of("matrix", matrix) | Cost.of("vector", vector) | Cost.of("memory", memory)
    network = Cost(exposed, 0.0, {"communication": exposed}, {"link": link})
    issue = Cost.of("issue", float(row[ISSUE]))
    return work + Cost.of("imbalance", wait) + network + issue + Cost(joules=joules, kind=op.kind)
