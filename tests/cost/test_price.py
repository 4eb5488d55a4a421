"""A price equals what a slow, obvious calculation makes of the same numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.cost import PARTS, RESOURCES, Cost, Operator, price
from jalapeno.cost.operator import ALL_REDUCE, ALL_TO_ALL, COLUMNS, COMPUTE
from tests.cost.operators import (
    ATTENTION,
    COUNTS,
    DISPATCH,
    GEMM,
    GROUPED,
    LATENT,
    SUM,
    any_operator,
    changed,
)


@dataclass(frozen=True)
class Work:
    """Operations and bytes of an operator on one chip."""

    padded: float = 0.0
    useful: float = 0.0
    vector: float = 0.0
    near: float = 0.0
    cache: float = 0.0

    def seconds(self, op: dict[str, float]) -> dict[str, float]:
        """How long each engine is busy."""
        return {
            "matrix": self.padded / op["rate"],
            "vector": self.vector / op["vector_rate"],
            "memory": self.near / op["bandwidth"] + self.cache / op["kv_bandwidth"],
        }

    def joules(self, op: dict[str, float]) -> float:
        """Energy of all of it."""
        return (
            self.useful * op["joules_flop"]
            + self.vector * op["joules_vector"]
            + (self.near + self.cache) * op["joules_byte"]
        )


def padded_tiles(op: dict[str, float], blocks: float) -> float:
    """FLOP that the chip spends on the tiles, idle cores of the last wave included."""
    tiles = blocks * op["tiles_across"]
    if tiles > op["cores"]:
        tiles = math.ceil(tiles / op["cores"]) * op["cores"]
    return tiles * op["tile_flops"]


def dense(op: dict[str, float], rows: float, pairs: float, reads: float) -> Work:
    """A GEMM, elementwise work or attention."""
    if rows == 0.0:
        return Work()
    tiles = padded_tiles(op, math.ceil(rows / op["tile_rows"])) if op["tile_flops"] else 0.0
    work = Work(
        padded=tiles + pairs * op["flops_pair"] + reads * op["flops_read"],
        useful=rows * op["flops_row"] + pairs * op["useful_pair"] + reads * op["flops_read"],
        vector=rows * op["vector_row"] + pairs * op["vector_pair"],
        near=op["bytes_fixed"] + rows * op["bytes_row"],
        cache=reads * op["bytes_read"],
    )
    if op["absorbed_pair"] == 0.0:
        return work
    flops = rows * op["absorbed_row"] + pairs * op["absorbed_pair"]
    absorbed = replace(work, padded=flops, useful=flops, cache=reads * op["absorbed_read"])
    return min(work, absorbed, key=lambda each: max(each.seconds(op).values()))


def grouped(op: dict[str, float], load: float, tokens: float) -> Work:
    """Experts of a rank for *load* token slots, as many as *tokens* uniform tokens would bring."""
    touched = op["experts"] * (1.0 - (1.0 - op["share"]) ** tokens)
    # an expert's rows end anywhere in their last tile: half of it is lost; one is taken at least
    tiles = max(1.0, load / touched / op["tile_rows"] + 0.5)
    return Work(
        padded=padded_tiles(op, touched * tiles),
        useful=load * op["flops_row"],
        vector=load * op["vector_row"],
        near=touched * op["bytes_expert"] + load * op["bytes_row"],
    )


def experts(op: dict[str, float], rows: float) -> tuple[Work, float]:
    """Work of the mean rank and the wait for the busiest."""
    if rows == 0.0:
        return Work(), 0.0
    chance = op["share"] * op["experts"]
    mean = rows * chance
    work = grouped(op, mean, rows)
    if op["ranks"] == 1.0:
        return work, 0.0
    busiest = op["imbalance"] * mean + math.sqrt(2.0 * mean * math.log(op["ranks"]))
    busiest = min(busiest, rows * op["experts"])
    longest = max(grouped(op, busiest, busiest / chance).seconds(op).values())
    return work, max(0.0, longest - max(work.seconds(op).values()))


def link(op: dict[str, float], rows: float) -> float:
    """Seconds of a collective."""
    size, chips, rate = rows * op["link_row"], op["group"], op["link_rate"]
    if chips == 1.0 or size == 0.0:
        return 0.0
    through = size / rate
    ways = [op["latency"] + through]
    if op["family"] == ALL_REDUCE:
        direct = op["latency"] + (chips - 1) * through
        in_two = 2 * op["latency"] + 2 * through * (chips - 1) / chips
        ways = [direct, in_two] + (ways if op["fused"] else [])
    return min(ways)


def slow(operator: Operator, rows: float, pairs: float, reads: float) -> Cost:
    """The price, worked out with a pencil."""
    op = dict.fromkeys(COLUMNS, 0.0) | operator.numbers
    if op["family"] in (ALL_REDUCE, ALL_TO_ALL):
        seconds = link(op, rows)
        exposed = seconds * op["exposed"]
        sent = rows * op["link_row"]
        if op["family"] == ALL_REDUCE:  # a share to each other chip, then the sum of mine to each
            sent = 2 * (op["group"] - 1) * (sent / op["group"])
        joules = sent * op["joules_link"] if seconds else 0.0
        issue = op["issue"] if seconds else 0.0
        parts = {"communication": exposed, "issue": issue}
        return Cost(exposed + issue, joules, parts, {"link": seconds}, operator.kind)
    if op["family"] == COMPUTE:
        work, wait = dense(op, rows, pairs, reads), 0.0
    else:
        work, wait = experts(op, rows)
    if work == Work():
        return Cost(kind=operator.kind)
    busy = work.seconds(op)
    binding = max(("matrix", "vector", "memory"), key=busy.__getitem__)
    parts = {binding: busy[binding], "imbalance": wait, "issue": op["issue"]}
    return Cost(sum(parts.values()), work.joules(op), parts, busy, operator.kind)


@given(st.one_of(any_operator(), st.just(LATENT)), COUNTS, COUNTS, COUNTS)
def test_a_price_is_what_a_pencil_makes_it(
    operator: Operator, rows: float, pairs: float, reads: float
) -> None:
    fast, by_hand = price(operator, rows, pairs, reads), slow(operator, rows, pairs, reads)
    tiny = 1e-9 * max([by_hand.seconds, *by_hand.busy.values()])
    assert fast.seconds == pytest.approx(by_hand.seconds, rel=1e-9)
    assert fast.joules == pytest.approx(by_hand.joules, rel=1e-9)
    assert fast.kind is by_hand.kind
    for part in PARTS:
        assert fast.parts.get(part, 0.0) == pytest.approx(by_hand.parts.get(part, 0.0), abs=tiny)
    for name in RESOURCES:
        assert fast.busy.get(name, 0.0) == pytest.approx(by_hand.busy.get(name, 0.0), abs=tiny)


# ---- by example, digit by digit


def test_one_row_of_a_gemm() -> None:
    # 8 tiles on 8 cores: one wave of 8 x 65,536 FLOP; 32,768 B of weights and 640 B of activations
    cost = price(GEMM, 1.0)
    assert cost.busy["matrix"] == pytest.approx(0.524288e-6)
    assert cost.busy["memory"] == pytest.approx(0.033408e-6)
    assert cost.seconds == pytest.approx(1.524288e-6)
    assert cost.joules == pytest.approx(32768 * 1e-12 + 33408 * 3e-11)


def test_one_sequence_in_attention() -> None:
    # 1,000 entries of 128 B at half a TB/s; 1,000 pairs of 256 FLOP, 1,000 entries of 32
    cost = price(ATTENTION, 1.0, 1000.0, 1000.0)
    assert cost.busy["memory"] == pytest.approx(0.256e-6 + 64e-12)
    assert cost.busy["matrix"] == pytest.approx(0.288e-6)
    assert cost.busy["vector"] == pytest.approx(0.08016e-6)
    assert cost.parts["matrix"] == cost.busy["matrix"]
    assert cost.seconds == pytest.approx(1.288e-6)


def test_one_token_at_the_experts() -> None:
    # half a slot on the mean rank; nothing is shared, so half an expert's weights are read
    alone = changed(GROUPED, ranks=1.0)
    cost = price(alone, 1.0)
    assert cost.busy["memory"] == pytest.approx((0.5 * 32768 + 0.5 * 640) / 1e12)
    # half an expert's eight tiles fill half of the eight cores
    assert cost.busy["matrix"] == pytest.approx(0.5 * 0.524288e-6)


def test_one_token_through_eight_chips() -> None:
    # one-shot: 2 us and seven times 5,760 B at 500 GB/s; half of it hides
    cost = price(SUM, 1.0)
    assert cost.busy["link"] == pytest.approx(2e-6 + 7 * 5760 / 5e11)
    assert cost.seconds == pytest.approx(0.5 * cost.busy["link"])
    assert price(DISPATCH, 1.0).busy["link"] == pytest.approx(2e-6 + 5760 / 5e11)
