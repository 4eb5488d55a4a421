"""Models under plans on systems, and batches for them: what the tests of this floor draw from."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Engine, Gqa, Mla, Model, System
from jalapeno.cost.operator import (
    ABSORBED_PAIR,
    ABSORBED_READ,
    ABSORBED_ROW,
    BYTES_READ,
    CORES,
    FLOPS_PAIR,
    FLOPS_READ,
    FLOPS_ROW,
    TILE_FLOPS,
    TILE_ROWS,
    TILES_ACROSS,
    USEFUL_PAIR,
)
from jalapeno.mapping import Plan, Precision, StepPrice, compile_price
from jalapeno.mapping.batch import Item, Rows, batch_row, column, columns, growth_row
from jalapeno.mapping.rates import Rates

MODELS = ("gpt-oss-120b", "deepseek-r1", "kimi-k2.5")
SYSTEMS = {
    "jalapeno-rack": "jalapeno-engine",
    "gb200-nvl72": "tensorrt-llm",
    "gb300-nvl72": "tensorrt-llm",
}

World = tuple[str, str, int, int, int]
"""Model, system, tp, ep, dp."""

WORLDS: tuple[World, ...] = (
    ("gpt-oss-120b", "jalapeno-rack", 1, 1, 1),
    ("gpt-oss-120b", "jalapeno-rack", 8, 1, 1),
    ("gpt-oss-120b", "gb200-nvl72", 16, 1, 1),
    ("gpt-oss-120b", "gb200-nvl72", 4, 4, 1),
    ("gpt-oss-120b", "gb200-nvl72", 1, 2, 2),
    ("deepseek-r1", "jalapeno-rack", 2, 1, 1),
    ("deepseek-r1", "jalapeno-rack", 1, 8, 8),
    ("deepseek-r1", "gb300-nvl72", 8, 8, 1),
    ("deepseek-r1", "gb300-nvl72", 2, 8, 4),
    ("kimi-k2.5", "jalapeno-rack", 8, 2, 1),
    ("kimi-k2.5", "gb300-nvl72", 1, 16, 16),
    ("kimi-k2.5", "gb300-nvl72", 4, 1, 1),
)
"""One chip and many, experts cut and spread, attention split and apart; all fit."""

ALONE = tuple(world for world in WORLDS if world[4] == 1)
"""Those with one attention rank."""
TOGETHER = tuple(world for world in WORLDS if world[4] > 1)
"""Those with several."""

Change = tuple[str, str]
"""Path and text of an override; ``chip.`` and ``fabric.`` are the system's, else the engine's."""

Sequences = tuple[tuple[Item, ...], ...]
"""Sequences of each rank."""


def as_served(model: str, engine: str) -> Precision:
    """The engine's default precision."""
    chip = next(catalogue.system(name).chip for name, own in SYSTEMS.items() if own == engine)
    return Precision.as_served(catalogue.engine(engine), catalogue.model(model), chip)


def in_bf16(**formats: str) -> Precision:
    """BF16 everywhere but where said otherwise."""
    return Precision(**dict.fromkeys(Precision.__dataclass_fields__, "bf16") | formats)


def as_published(model: Model) -> Precision:
    """Weights as the makers publish them, the rest in BF16; fp8 with its block scales."""
    formats = {name: "fp8_block" if text == "fp8" else text for name, text in model.weights.items()}
    return in_bf16(**formats)


def plan_of(world: World) -> Plan:
    """The plan of a world, with room for 256 sequences and 8,192 tokens a rank."""
    model, system, tp, ep, dp = world
    precision = as_served(model, SYSTEMS[system])
    return Plan(tp=tp, ep=ep, dp=dp, max_running=256, max_tokens=8192, precision=precision)


def facts_of(world: World, changes: tuple[Change, ...] = ()) -> tuple[System, Engine]:
    """System and engine of a world, some facts replaced."""
    system = catalogue.tree("systems", world[1])
    engine = catalogue.tree("engines", SYSTEMS[world[1]])
    for path, text in changes:
        if path.startswith(("chip.", "fabric.")):
            system = catalogue.override(system, path, text)
        else:
            engine = catalogue.override(engine, path, text)
    return catalogue.system_of(system), catalogue.engine_of(engine)


@cache
def compiled(world: World, changes: tuple[Change, ...] = ()) -> StepPrice:
    """The price of a world, some facts replaced."""
    system, engine = facts_of(world, changes)
    return compile_price(catalogue.model(world[0]), plan_of(world), system, engine)


def worker(world: World, slots: int, budget: int, changes: tuple[Change, ...] = ()) -> StepPrice:
    """The price of a world whose ranks run *slots* sequences and take *budget* tokens a step."""
    price = compiled(world, changes)
    return replace(price, plan=replace(price.plan, max_running=slots, max_tokens=budget))


def in_one_form(price: StepPrice, absorbed: bool) -> StepPrice:
    """The same price without a choice for prompts on a latent cache: left as it is, or expanded."""
    ops = price.arrays.ops.copy()
    chosen = ops[:, ABSORBED_PAIR] > 0.0
    if absorbed:
        ops[chosen, FLOPS_ROW] = ops[chosen, TILE_FLOPS] = ops[chosen, ABSORBED_ROW]
        for one in (TILE_ROWS, TILES_ACROSS, CORES):
            ops[chosen, one] = 1.0
        ops[chosen, FLOPS_PAIR] = ops[chosen, USEFUL_PAIR] = ops[chosen, ABSORBED_PAIR]
        ops[chosen, FLOPS_READ] = 0.0
        ops[chosen, BYTES_READ] = ops[chosen, ABSORBED_READ]
    ops[chosen, ABSORBED_PAIR] = 0.0
    return replace(price, arrays=price.arrays._replace(ops=ops))


def rates_of(world: World) -> Rates:
    """The rates of a world."""
    system, engine = facts_of(world)
    return Rates.of(system, engine, catalogue.model(world[0]))


def gqa_of(model: Model) -> Gqa:
    """Its grouped-query attention."""
    assert isinstance(model.attention, Gqa)
    return model.attention


def mla_of(model: Model) -> Mla:
    """Its latent attention."""
    assert isinstance(model.attention, Mla)
    return model.attention


# ---- batches


def decoding(context: int) -> Item:
    """A sequence that takes its next token on *context* cached ones."""
    return Item(cached=context, new=1, prefill=False, sampled=True)


def chunk(cached: int, new: int, last: bool = True) -> Item:
    """A chunk of a prompt."""
    return Item(cached=cached, new=new, prefill=True, sampled=last)


@cache
def row_of(item: Item, caps: tuple[int, ...]) -> Rows:
    """The sums of one sequence."""
    return batch_row([item], caps)


def rows_of(sequences: Sequences, caps: tuple[int, ...]) -> Rows:
    """The batch: a row of sums a rank; alike sequences are counted once and multiplied."""
    rows = empty(len(sequences), caps)
    for row, rank in zip(rows, sequences, strict=True):
        for item, copies in Counter(rank).items():
            row += copies * row_of(item, caps)
    return rows


def growth_of(sequences: Sequences, caps: tuple[int, ...]) -> Rows:
    """Every decoding context grows by one; windows are taken to be full."""
    return np.array(
        [growth_row(sum(not item.prefill for item in rank), caps) for rank in sequences]
    )


def repeated_chunks(sequences: Sequences, caps: tuple[int, ...]) -> Rows:
    """Growth where, besides, each prompt's next chunk is as long as this one."""
    growth = growth_of(sequences, caps)
    for row, rank in zip(growth, sequences, strict=True):
        for item in rank:
            if item.prefill:
                row[column(0, 1)] += item.new * item.new
                row[column(0, 2)] += item.new
    return growth


def empty(ranks: int, caps: tuple[int, ...]) -> Rows:
    """A batch without a sequence."""
    return np.zeros((ranks, columns(caps)))


FEW = settings(max_examples=40)
"""Examples enough for laws that hold or fail everywhere."""

CONTEXTS = st.integers(0, 20_000)
ITEMS = st.one_of(
    st.builds(decoding, CONTEXTS),
    st.builds(decoding, CONTEXTS),
    st.builds(chunk, CONTEXTS, st.integers(1, 2048), st.booleans()),
)
GROUPS = st.builds(lambda item, copies: (item,) * copies, ITEMS, st.integers(1, 24))


@st.composite
def sequences_for(draw: st.DrawFn, ranks: int) -> Sequences:
    """Batches of *ranks* ranks, at least one sequence in all: a rank has up to three groups of
    alike ones, and of many ranks some are alike.
    """
    rank = st.lists(GROUPS, max_size=3).map(lambda groups: sum(groups, ()))
    first = draw(st.lists(GROUPS, min_size=1, max_size=3).map(lambda groups: sum(groups, ())))
    if ranks == 1:
        return (first,)
    kinds = [first, *draw(st.lists(rank, max_size=2))]
    others = draw(st.lists(st.sampled_from(kinds), min_size=ranks - 1, max_size=ranks - 1))
    return (*others, first)


@st.composite
def steps(draw: st.DrawFn, worlds: tuple[World, ...] = WORLDS) -> tuple[World, Sequences]:
    """A world and a batch for it."""
    world = draw(st.sampled_from(worlds))
    return world, draw(sequences_for(world[4]))
