"""What the operators of a step are made with: GEMMs, streams, attention cores, collectives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from jalapeno.catalogue import Kind, Model
from jalapeno.cost import Operator
from jalapeno.cost.operator import ALL_REDUCE, ALL_TO_ALL, COMPUTE
from jalapeno.mapping import batch
from jalapeno.mapping.plan import Plan
from jalapeno.mapping.precision import stored_bytes
from jalapeno.mapping.rates import Rates

RANK, WORKER = 0, 1
"""Whose rows an operator sees: those of an attention rank, or of all ranks together."""

SOFTMAX_FLOPS = 8.0
"""SIMD operations a score: scale, maximum, subtract, exponential (counted as four), sum."""

WIDE = stored_bytes("bf16")
"""Bytes of an activation between operators."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An operator in a step: how often, on whose rows, and which sums of the batch it reads."""

    operator: Operator
    repeat: int
    scope: int = RANK
    rows: int = batch.TOKENS
    pairs: int = -1
    """Column of the batch row; -1: none."""
    reads: int = -1


@dataclass(frozen=True, slots=True)
class Lowering:
    """What the steps below share."""

    model: Model
    plan: Plan
    rates: Rates
    common: dict[str, float]
    """Numbers that every operator on the chip shares."""

    @property
    def queries(self) -> int:
        """Tokens that a decoding sequence brings to a step."""
        return self.plan.queries

    def gemm(
        self, name: str, shape: tuple[int, int], formats: tuple[str, str], phases: int = 1
    ) -> Operator:
        """A GEMM of (columns, reduction) *shape* with weights of its own; formats (act, weight)."""
        columns, reduction = shape
        activations, weights = formats
        engine, matrix = self.rates.engine, self.rates.system.chip.matrix
        rate, joules = self.rates.matrix(activations, weights, engine.matrix_efficiency)
        numbers = self.common | {
            "family": COMPUTE,
            "tile_flops": 2.0 * matrix.tile_rows * matrix.tile_columns * reduction,
            "tiles_across": float(math.ceil(columns / matrix.tile_columns)),
            "rate": rate,
            "flops_row": 2.0 * columns * reduction,
            "bytes_fixed": columns * reduction * stored_bytes(weights),
            "bytes_row": reduction * stored_bytes(activations) + columns * WIDE,
            "issue": phases * engine.issue_phase,
            "joules_flop": joules,
        }
        return Operator(name, numbers, self.kind())

    def head(self) -> Operator:
        """The LM head: a chip has its share of the vocabulary."""
        columns = math.ceil(self.model.vocab / self.plan.tp)
        formats = (self.plan.precision.head, self.plan.precision.head)
        return self.gemm("LM head", (columns, self.model.hidden), formats)

    def elementwise(
        self, name: str, bytes_row: float, flops_row: float, phases: int = 1
    ) -> Operator:
        """SIMD work that streams *bytes_row* bytes and does *flops_row* operations a token."""
        numbers = self.common | {
            "family": COMPUTE,
            "bytes_row": bytes_row,
            "vector_row": flops_row,
            "issue": phases * self.rates.engine.issue_phase,
        }
        return Operator(name, numbers, self.kind())

    def all_reduce(self, name: str, bytes_row: float) -> Operator:
        """Sum *bytes_row* bytes a token over the chips of an attention rank."""
        link = self.rates.link(self.plan.tp, self.rates.engine.all_reduce_latency)
        return Operator(name, link | {"family": ALL_REDUCE, "link_row": bytes_row}, self.kind())

    def all_to_all(self, name: str, element: float) -> Operator:
        """Send every token to the ranks of its experts, or its partial results back.

        The busiest port carries ``imbalance x hidden x element x distinct remote ranks`` bytes a
        token, a rank's chips sharing its tokens: ``n (1 - (1 - 1/n)^k) (1 - 1/n)`` distinct ones.
        """
        engine, ranks = self.rates.engine, self.plan.ep
        distinct = ranks * (1.0 - (1.0 - 1.0 / ranks) ** self.model.moe.top_k) * (1.0 - 1.0 / ranks)
        size = engine.imbalance * self.model.hidden * element * distinct / self.plan.tp
        link = self.rates.exchange(self.plan, engine.all_to_all_latency)
        return Operator(name, link | {"family": ALL_TO_ALL, "link_row": size}, self.kind())

    def gather(self, name: str, bytes_row: float) -> Operator:
        """The context shares of a rank exchange *bytes_row* bytes a token: a chip has its own n-th,
        so ``(n - 1) / n`` of it passes a port."""
        shares = self.plan.cp
        link = self.rates.link(self.plan.tp, self.rates.engine.all_reduce_latency)
        size = bytes_row * (shares - 1) / shares
        numbers = link | {"family": ALL_TO_ALL, "group": shares, "link_row": size}
        return Operator(name, numbers, self.kind())

    def hand_over(self, name: str, bytes_row: float, far: bool) -> Operator:
        """A chip sends *bytes_row* bytes a token to its like in the next stage, in its own domain
        or a *far* one."""
        plan = self.plan
        reach = plan.chips if far else min(plan.chips, 2 * plan.tp)
        link = self.rates.link(reach, self.rates.engine.all_reduce_latency)
        numbers = link | {"family": ALL_TO_ALL, "group": 2.0, "link_row": bytes_row}
        return Operator(name, numbers, self.kind())

    def attention(self, name: str, decode: bool, numbers: dict[str, float]) -> Operator:
        """The attention core, decode or prefill: pairs at the core's rate, KV from memory."""
        engine, core = self.rates.engine, self.plan.precision.core
        achieved = (
            engine.decode_attention_efficiency if decode else engine.prefill_attention_efficiency
        )
        rate, joules = self.rates.matrix(core, core, achieved)
        own = {
            "family": float(COMPUTE),
            "rate": rate,
            "joules_flop": joules,
            "issue": engine.issue_phase,
        }
        return Operator(name, self.common | own | numbers, self.kind())

    def kind(self) -> Kind:
        """The weakest evidence a price of this chip and engine rests on."""
        return self.rates.weakest


BY_ROW = ("flops_row", "bytes_row", "vector_row", "link_row")
"""Columns that say what one row costs."""


def share_of_rows(operator: Operator, share: int) -> Operator:
    """*operator* on a *share*-th of the rows that it is told of."""
    numbers = dict(operator.numbers)
    for name in BY_ROW:
        if name in numbers:
            numbers[name] /= share
    if "tile_rows" in numbers:
        numbers["tile_rows"] *= share
    return replace(operator, numbers=numbers)


def many_rows(operator: Operator, many: int) -> Operator:
    """*operator* on *many* rows for each that it is told of."""
    if many == 1:
        return operator
    numbers = dict(operator.numbers)
    for name in BY_ROW:
        if name in numbers:
            numbers[name] *= many
    # a hair more, so that rounding never makes one more block of rows than there is
    numbers["tile_rows"] *= (1.0 + 1e-12) / many
    return replace(operator, numbers=numbers)
