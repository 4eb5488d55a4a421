"""Operators for the tests: one of each family, and strategies that draw them."""

from __future__ import annotations

import math

from hypothesis import settings
from hypothesis import strategies as st

from jalapeno.catalogue import Kind
from jalapeno.cost import Cost, Operator
from jalapeno.cost.operator import ALL_REDUCE, ALL_TO_ALL, COMPUTE, EXPERTS

CHIP = {
    "tile_rows": 16.0,
    "cores": 8.0,
    "rate": 1e12,
    "vector_rate": 1e11,
    "bandwidth": 1e12,
    "kv_bandwidth": 5e11,
    "joules_flop": 1e-12,
    "joules_vector": 2e-12,
    "joules_byte": 3e-11,
}
"""A chip of eight cores: one TFLOP/s, 1 TB/s."""

GEMM = Operator(
    "GEMM of 64 columns",
    CHIP
    | {
        "family": COMPUTE,
        "tile_flops": 2.0 * 16 * 8 * 256,
        "tiles_across": 8.0,
        "flops_row": 2.0 * 64 * 256,
        "bytes_fixed": 2.0 * 64 * 256,
        "bytes_row": 2.0 * (64 + 256),
        "issue": 1e-6,
    },
)

ATTENTION = Operator(
    "attention",
    CHIP
    | {
        "family": COMPUTE,
        "flops_pair": 256.0,
        "useful_pair": 128.0,
        "flops_read": 32.0,
        "vector_row": 16.0,
        "vector_pair": 8.0,
        "bytes_row": 64.0,
        "bytes_read": 128.0,
        "issue": 1e-6,
    },
)

LATENT = Operator(
    "latent attention",
    ATTENTION.numbers
    | {"absorbed_row": 32.0, "absorbed_pair": 258.0, "absorbed_read": 32.0, "bytes_fixed": 2048.0},
)
"""Expanding an entry (32 FLOP) pays from some 16 queries on: a pair is 2 FLOP cheaper expanded."""

EXPANDED = Operator("expanded", LATENT.numbers | {"absorbed_pair": 0.0})
"""The same without a choice: every entry is expanded."""

ABSORBED = Operator(
    "absorbed",
    EXPANDED.numbers
    | {"tile_flops": 32.0, "tile_rows": 1.0, "tiles_across": 1.0, "cores": 1.0, "flops_row": 32.0}
    | {"flops_pair": 258.0, "useful_pair": 258.0, "flops_read": 0.0, "bytes_read": 32.0},
)
"""The same without a choice: every query is absorbed, 32 FLOP each, and no entry is expanded."""

GROUPED = Operator(
    "experts",
    CHIP
    | {
        "family": EXPERTS,
        "tile_flops": 2.0 * 16 * 8 * 256,
        "tiles_across": 8.0,
        "flops_row": 2.0 * 64 * 256,
        "vector_row": 64.0,
        "bytes_row": 640.0,
        "experts": 16.0,
        "share": 4.0 / 128,
        "ranks": 8.0,
        "imbalance": 1.2,
        "bytes_expert": 32768.0,
        "issue": 2e-6,
    },
)

LINK = {
    "link_row": 5760.0,
    "group": 8.0,
    "latency": 2e-6,
    "link_rate": 5e11,
    "exposed": 0.5,
    "joules_link": 5e-11,
}
SUM = Operator("all-reduce", LINK | {"family": ALL_REDUCE})
DISPATCH = Operator("all-to-all", LINK | {"family": ALL_TO_ALL})
FAMILIES = (GEMM, ATTENTION, GROUPED, SUM, DISPATCH)

SPEEDS = ("rate", "vector_rate", "bandwidth", "kv_bandwidth", "link_rate")
"""More of any of these is a faster chip."""


def changed(operator: Operator, **numbers: float) -> Operator:
    """*operator* with some of its numbers replaced."""
    return Operator(operator.name, operator.numbers | numbers, operator.kind)


def total(cost: Cost) -> float:
    """Parts of *cost*, added up."""
    return math.fsum(cost.parts.values())


def magnitudes(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers spread evenly over their powers of ten."""
    return st.floats(math.log10(low), math.log10(high)).map(lambda power: 10.0**power)


COUNTS = st.integers(0, 1 << 16).map(float)
"""Rows, pairs or reads."""

WHOLE = st.integers(0, 1 << 20).map(float)
"""Seconds and joules that floating point adds up exactly."""


FEW = settings(max_examples=50)
"""Examples enough for laws that hold or fail everywhere."""


@st.composite
def any_operator(draw: st.DrawFn) -> Operator:
    """One of the families on a chip with one speed of its own, any tile, cores and split."""
    operator = draw(st.sampled_from(FAMILIES))
    numbers = dict(operator.numbers)
    own = [name for name in SPEEDS if name in numbers]
    numbers[draw(st.sampled_from(own))] *= draw(magnitudes(1e-2, 1e2))
    if "cores" in numbers:
        numbers["cores"] = float(draw(st.integers(1, 160)))
        numbers["tile_rows"] = float(draw(st.integers(2, 128)))
        numbers["tiles_across"] = float(draw(st.integers(1, 200)))
    if numbers["family"] == EXPERTS:
        numbers["ranks"] = float(draw(st.sampled_from([1, 2, 8, 64])))
        numbers["experts"] = 128.0 / numbers["ranks"]
        numbers["share"] = draw(st.integers(1, 128)) / 128.0
        numbers["imbalance"] = draw(st.floats(1.0, 2.0))
    if "group" in numbers:
        numbers["group"] = float(draw(st.integers(1, 128)))
        numbers["fused"] = float(draw(st.booleans()))
        numbers["exposed"] = draw(st.floats(0.0, 1.0))
    return Operator(operator.name, numbers, draw(st.sampled_from(Kind)))
