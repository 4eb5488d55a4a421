"""More work never costs less, and a faster chip is never slower."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.errors import BadPlan, DoesNotFit
from jalapeno.mapping import Plan, StepPrice, compile_price
from jalapeno.mapping.batch import Item, Rows
from jalapeno.units import render
from tests.mapping.oracle import busy_of, joules_of, parts_of, seconds_of
from tests.mapping.worlds import (
    FEW,
    SYSTEMS,
    TOGETHER,
    WORLDS,
    Change,
    Sequences,
    World,
    chunk,
    compiled,
    decoding,
    facts_of,
    in_one_form,
    plan_of,
    rows_of,
    steps,
)

ENOUGH = 1.0 - 1e-12

SPEEDS = {
    "chip.hbm.bandwidth": "B/s",
    "chip.matrix.peak_4x4": "FLOP/s",
    "chip.matrix.peak_8x4": "FLOP/s",
    "chip.matrix.peak_8x8": "FLOP/s",
    "chip.matrix.peak_16x16": "FLOP/s",
    "chip.vector.peak": "FLOP/s",
    "fabric.local.bandwidth": "B/s",
    "fabric.nvlink.bandwidth": "B/s",
    "link_efficiency": "",
    "memory_efficiency": "",
    "kv_efficiency": "",
    "matrix_efficiency": "",
    "decode_attention_efficiency": "",
    "prefill_attention_efficiency": "",
    "vector_efficiency": "",
}
"""More of any of these makes a faster chip or a better engine."""

DELAYS = (
    "fabric.local.latency",
    "fabric.nvlink.latency",
    "issue_phase",
    "issue_layer_rest",
    "issue_layer_load",
    "host_step",
    "host_sequence",
    "all_reduce_latency",
    "all_to_all_latency",
)
"""More of any of these makes a slower one."""


def at(sequences: Sequences, rank: int, item: Item) -> Sequences:
    """The batch with one more sequence on a rank."""
    return tuple(
        (*others, item) if place == rank else others for place, others in enumerate(sequences)
    )


def never_cheaper(world: World, less: Sequences, more: Sequences) -> None:
    """Whatever form a prompt on a latent takes, more costs no less; and the faster form is taken.

    The faster form may need fewer joules and less of one engine, so that a step that changes to it
    is busy for less; before the clock is held down it takes no less time.
    """
    free = compiled(world)
    some, all_of_it = (rows_of(sequences, free.caps) for sequences in (less, more))
    for absorbed in (False, True):
        price = in_one_form(free, absorbed)
        before, after = price.price(some)[0], price.price(all_of_it)[0]
        assert seconds_of(after) >= seconds_of(before) * ENOUGH
        assert joules_of(after) >= joules_of(before) * ENOUGH
        for resource, busy in busy_of(before).items():
            assert busy_of(after)[resource] >= busy * ENOUGH
        assert unthrottled(free, some) <= unthrottled(price, some) / ENOUGH
    assert unthrottled(free, all_of_it) >= unthrottled(free, some) * ENOUGH


def unthrottled(price: StepPrice, rows: Rows) -> float:
    """Seconds of a step at full clock."""
    first = price.price(rows)[0]
    return seconds_of(first) - parts_of(first)["throttle"]


# ---- more work


@FEW
@given(steps(), st.integers(0, 15), st.integers(0, 100_000))
def test_one_more_sequence_never_costs_less(
    step: tuple[World, Sequences], rank: int, context: int
) -> None:
    world, sequences = step
    never_cheaper(world, sequences, at(sequences, rank % world[4], decoding(context)))


@FEW
@given(steps(), st.integers(0, 15), st.integers(0, 20_000), st.integers(1, 4096), st.booleans())
def test_one_more_prompt_never_costs_less(
    step: tuple[World, Sequences], rank: int, cached: int, new: int, last: bool
) -> None:
    world, sequences = step
    never_cheaper(world, sequences, at(sequences, rank % world[4], chunk(cached, new, last)))


@FEW
@given(steps(), st.integers(0, 100_000))
def test_longer_contexts_never_cost_less(step: tuple[World, Sequences], more: int) -> None:
    world, sequences = step
    longer = tuple(
        tuple(replace(item, cached=item.cached + more) for item in rank) for rank in sequences
    )
    never_cheaper(world, sequences, longer)


@FEW
@given(steps(), st.integers(0, 4096))
def test_longer_chunks_never_cost_less(step: tuple[World, Sequences], more: int) -> None:
    world, sequences = step
    longer = tuple(
        tuple(replace(item, new=item.new + more) if item.prefill else item for item in rank)
        for rank in sequences
    )
    never_cheaper(world, sequences, longer)


@FEW
@given(steps())
def test_sampling_more_never_costs_less(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    sampled = tuple(tuple(replace(item, sampled=True) for item in rank) for rank in sequences)
    never_cheaper(world, sequences, sampled)


@FEW
@given(steps(), steps())
def test_two_batches_at_once_take_no_less_than_the_longer(
    one: tuple[World, Sequences], other: tuple[World, Sequences]
) -> None:
    world, ranks = one[0], one[0][4]
    most = tuple((*a, *b) for a, b in zip(one[1], (other[1] * ranks)[:ranks], strict=True))
    never_cheaper(world, one[1], most)


# ---- better machines


def faster(world: World, name: str, factor: float) -> tuple[Change, ...]:
    """An override that multiplies a fact that this world has; none where it has not."""
    system, engine = facts_of(world)
    facts = {f"chip.{key}": fact for key, fact in system.chip.facts.items()}
    facts |= {key: fact for key, fact in system.facts.items() if key.startswith("fabric.")}
    facts |= dict(engine.facts)
    if name not in facts:
        return ()
    value = facts[name].value
    assert isinstance(value, float)
    unit = SPEEDS.get(name, "s")
    better = value * factor
    # nothing achieves more than all of its peak
    return ((name, render(min(better, 1.0) if unit == "" and value <= 1.0 else better, unit)),)


@FEW
@given(steps(), st.sampled_from(sorted(SPEEDS)), st.sampled_from([1.05, 1.15]))
def test_a_faster_chip_is_never_slower(
    step: tuple[World, Sequences], name: str, factor: float
) -> None:
    world, sequences = step
    slow, fast = compiled(world), compiled(world, faster(world, name, factor))
    rows = rows_of(sequences, slow.caps)
    before, after = slow.price(rows)[0], fast.price(rows)[0]
    assert seconds_of(after) <= seconds_of(before) / ENOUGH
    assert joules_of(after) <= joules_of(before) / ENOUGH


@FEW
@given(steps(), st.sampled_from(DELAYS), st.sampled_from([0.0, 0.5]))
def test_shorter_delays_are_never_slower(
    step: tuple[World, Sequences], name: str, factor: float
) -> None:
    world, sequences = step
    # a loaded layer costs no less than one at rest: where that falls, rest falls with it
    rest = faster(world, "issue_layer_rest", 0.0) if name == "issue_layer_load" else ()
    slow, fast = compiled(world, rest), compiled(world, (*rest, *faster(world, name, factor)))
    rows = rows_of(sequences, slow.caps)
    assert seconds_of(fast.price(rows)[0]) <= seconds_of(slow.price(rows)[0]) / ENOUGH


@FEW
@given(steps(worlds=tuple(world for world in WORLDS if world[1] == "jalapeno-rack")))
def test_the_newer_stepping_is_never_slower(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    old, new = compiled(world, (("chip.stepping", "A0"),)), compiled(world)
    rows = rows_of(sequences, old.caps)
    assert seconds_of(new.price(rows)[0]) <= seconds_of(old.price(rows)[0]) / ENOUGH


@FEW
@given(steps(), st.sampled_from(["0", "0.9"]))
def test_more_overlap_never_exposes_more(step: tuple[World, Sequences], overlap: str) -> None:
    world, sequences = step
    price, other = compiled(world), compiled(world, (("overlap", overlap),))
    rows = rows_of(sequences, price.caps)
    pair = [price, other] if overlap == "0.9" else [other, price]
    exposed = [parts_of(each.price(rows)[0])["communication"] for each in pair]
    assert exposed[0] >= exposed[1]


@pytest.mark.parametrize("load", ["60 us", "80 us"])
def test_more_sequences_never_cost_less_whatever_a_layer_issues(load: str) -> None:
    world = ("gpt-oss-120b", "gb200-nvl72", 4, 4, 1)
    price = compiled(world, (("issue_layer_load", load), ("issue_layer_rest", "60 us")))
    one, two = (rows_of(((decoding(100),) * many,), price.caps) for many in (1, 2))
    assert seconds_of(price.price(two)[0]) >= seconds_of(price.price(one)[0])


def test_a_cap_just_above_the_static_draw_is_met() -> None:
    price = compiled(WORLDS[0], (("chip.power.cap", "263 W"),))
    assert price.system.chip.power.static == 262.0
    first = price.price(rows_of(((decoding(5000),) * 64,), price.caps))[0]
    assert joules_of(first) / seconds_of(first) == pytest.approx(263.0)


def test_a_longer_context_on_a_rank_that_waits_never_makes_a_step_shorter() -> None:
    price = compiled(("gpt-oss-120b", "jalapeno-rack", 4, 8, 2), (("overlap", "0.8"),))
    slowest: Sequences = ((decoding(30_000),) * 3,)
    before, after = (
        price.price(rows_of((*slowest, (decoding(context),) * 3), price.caps))[0]
        for context in (10, 20_000)
    )
    assert seconds_of(after) >= seconds_of(before) * ENOUGH


# ---- more chips


@pytest.mark.parametrize("system", sorted(SYSTEMS))
def test_splitting_over_more_chips_shortens_what_each_computes(system: str) -> None:
    rank = ((decoding(7000),) * 64,)
    busy = []
    for tp in (1, 2, 4, 8):
        price = compiled(("gpt-oss-120b", system, tp, 1, 1))
        busy.append(busy_of(price.price(rows_of(rank, price.caps))[0]))
    for one, two in pairwise(busy):
        assert two["memory"] < one["memory"]
        assert two["matrix"] <= one["matrix"]
        assert two["link"] >= one["link"]
        assert two["link"] > 0.0


def test_alone_a_chip_talks_to_nobody() -> None:
    price = compiled(WORLDS[0])
    first = price.price(rows_of(((decoding(7000),) * 64,), price.caps))[0]
    assert busy_of(first)["link"] == 0.0
    assert parts_of(first)["communication"] == 0.0


@pytest.mark.parametrize("world", TOGETHER, ids=str)
def test_busy_ranks_wait_for_the_busiest(world: World) -> None:
    price = compiled(world)
    even: Sequences = ((decoding(5000),) * 4,) * world[4]
    uneven = at(even, 0, decoding(90_000))
    waits = [parts_of(price.price(rows_of(s, price.caps))[0])["imbalance"] for s in (even, uneven)]
    assert waits[1] > waits[0]


# ---- what does not compile


def test_an_impossible_plan_has_no_price() -> None:
    world = ("gpt-oss-120b", "jalapeno-rack", 1, 1, 1)
    system, engine = facts_of(world)
    plan = replace(plan_of(world), tp=7)
    with pytest.raises(BadPlan, match=r"plan\.tp=7 does not divide"):
        compile_price(catalogue.model("gpt-oss-120b"), plan, system, engine)


def test_what_does_not_fit_has_no_price() -> None:
    world = ("kimi-k2.5", "jalapeno-rack", 1, 1, 1)
    system, engine = facts_of(world)
    with pytest.raises(DoesNotFit, match=r"kimi-k2\.5 under TP1 needs"):
        compile_price(catalogue.model("kimi-k2.5"), plan_of(world), system, engine)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_a_price_keeps_what_it_was_made_of(world: World) -> None:
    price = compiled(world)
    system, engine = facts_of(world)
    assert (price.model, price.plan) == (catalogue.model(world[0]), plan_of(world))
    assert (price.system, price.engine) == (system, engine)
    assert price.caps == price.model.caps
    kinds = [fact.kind for fact in (*system.chip.facts.values(), *engine.facts.values())]
    assert price.kind is max(kinds)
    assert isinstance(plan_of(world), Plan)
    assert np.isfinite(price.arrays.ops).all()
