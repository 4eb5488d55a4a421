"""A compiled step equals the slow, obvious sum of its operators, and obeys the laws of a cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.cost import PARTS, RESOURCES
from jalapeno.mapping import OUTPUTS
from jalapeno.mapping.batch import DECODE, TOKENS
from tests.mapping.oracle import (
    busy_of,
    joules_of,
    listed,
    oracle,
    parts_of,
    seconds_of,
)
from tests.mapping.worlds import (
    ALONE,
    FEW,
    TOGETHER,
    WORLDS,
    Sequences,
    World,
    chunk,
    compiled,
    decoding,
    empty,
    rows_of,
    steps,
)

HOT = (("chip.power.cap", "300 W"),)
"""A cap that binds: little above the static draw."""
GPU_HOT = (("chip.power.cap", "500 W"),)


def agree(world: World, sequences: Sequences, changes: tuple[tuple[str, str], ...] = ()) -> None:
    price = compiled(world, changes)
    rows = rows_of(sequences, price.caps)
    first, slope, _ = price.price(rows)
    slow = oracle(price, rows)
    assert seconds_of(first) == pytest.approx(slow.seconds, rel=1e-9)
    assert joules_of(first) == pytest.approx(slow.joules, rel=1e-9)
    np.testing.assert_allclose(first[:-1], listed(slow)[:-1], rtol=1e-9, atol=1e-9 * slow.seconds)
    np.testing.assert_allclose(slope, 0.0, atol=0.0)


# ---- equal to the slow sum


@settings(max_examples=100)
@given(steps())
def test_a_step_is_the_sum_of_its_operators(step: tuple[World, Sequences]) -> None:
    agree(*step)


@settings(max_examples=30)
@given(steps(worlds=tuple(world for world in WORLDS if world[1] == "jalapeno-rack")))
def test_so_it_is_when_the_power_cap_binds(step: tuple[World, Sequences]) -> None:
    agree(*step, changes=HOT)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_so_is_a_full_batch_beside_a_prompt(world: World) -> None:
    rank = (*(decoding(4000 + 37 * i) for i in range(120)), chunk(2048, 1024, last=False))
    agree(world, (rank,) * world[4])


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_so_is_a_lone_sequence(world: World) -> None:
    idle: Sequences = ((),) * (world[4] - 1)
    agree(world, ((decoding(0),), *idle))


@pytest.mark.parametrize("world", TOGETHER, ids=str)
def test_so_are_ranks_that_do_different_things(world: World) -> None:
    ranks = tuple(
        (chunk(0, 100 * i, last=True),) if i % 3 == 1 else (decoding(1000 * i),) * i
        for i in range(world[4])
    )
    agree(world, ranks)


# ---- laws of a cost


@FEW
@given(steps())
def test_no_part_is_negative(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    first, _, hold = price.price(rows_of(sequences, price.caps))
    assert np.isfinite(first).all()
    # the wait of equal ranks is zero but for the last digit
    assert first.min() >= -1e-12 * seconds_of(first)
    assert hold >= 1


@FEW
@given(steps())
def test_no_engine_is_busy_for_longer_than_the_step(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    first, _, _ = price.price(rows_of(sequences, price.caps))
    for engine in ("matrix", "vector", "memory"):
        assert busy_of(first)[engine] <= seconds_of(first) * (1 + 1e-12), engine


@FEW
@given(steps(), st.sampled_from(["0", "0.5", "1"]))
def test_no_link_is_busy_for_longer_than_the_step(
    step: tuple[World, Sequences], overlap: str
) -> None:
    world, sequences = step
    price = compiled(world, (("overlap", overlap),))
    first, _, _ = price.price(rows_of(sequences, price.caps))
    assert busy_of(first)["link"] <= seconds_of(first) * (1 + 1e-12)


@FEW
@given(steps(), st.sampled_from(["0.5", "1"]))
def test_communication_hides_behind_work_and_no_more_of_it_than_there_is(
    step: tuple[World, Sequences], overlap: str
) -> None:
    world, sequences = step
    price = compiled(world, (("overlap", overlap),))
    first, _, _ = price.price(rows_of(sequences, price.caps))
    parts, link = parts_of(first), busy_of(first)["link"]
    work = parts["matrix"] + parts["vector"] + parts["memory"] + parts["imbalance"]
    shown = max((1 - float(overlap)) * link, link - work)
    assert parts["communication"] == pytest.approx(shown, rel=1e-9, abs=1e-18)


def test_alone_a_token_over_many_chips_waits_for_the_link_and_computes_behind_it() -> None:
    price = compiled(("gpt-oss-120b", "gb200-nvl72", 16, 1, 1), (("overlap", "1"),))
    first, _, _ = price.price(rows_of(((decoding(0),),), price.caps))
    parts = parts_of(first)
    work = parts["matrix"] + parts["vector"] + parts["memory"]
    assert 0.0 < parts["communication"] == pytest.approx(busy_of(first)["link"] - work)


@FEW
@given(steps())
def test_an_engine_is_waited_for_no_longer_than_it_is_busy(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    first, _, _ = price.price(rows_of(sequences, price.caps))
    parts, busy = parts_of(first), busy_of(first)
    for engine in ("matrix", "vector", "memory"):
        assert parts[engine] <= busy[engine] * (1 + 1e-12)
    assert parts["communication"] <= busy["link"] * (1 + 1e-12)


@FEW
@given(steps())
def test_power_stays_between_the_static_draw_and_the_cap(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    for changes in ((), HOT if world[1] == "jalapeno-rack" else GPU_HOT):
        price = compiled(world, changes)
        first, _, _ = price.price(rows_of(sequences, price.caps))
        watts = joules_of(first) / seconds_of(first) / price.plan.chips
        power = price.system.chip.power
        assert power.static <= watts <= power.cap * (1 + 1e-12)


@FEW
@given(steps())
def test_a_cap_is_met_by_stretching_the_step_and_by_nothing_else(
    step: tuple[World, Sequences],
) -> None:
    world, sequences = step
    cool = compiled(world)
    hot = compiled(world, HOT if world[1] == "jalapeno-rack" else GPU_HOT)
    rows = rows_of(sequences, cool.caps)
    free, held = cool.price(rows)[0], hot.price(rows)[0]
    throttle, joules = PARTS.index("throttle"), OUTPUTS.index("joules")
    assert held[throttle] >= free[throttle]
    same = [place for place in range(len(OUTPUTS)) if place not in (throttle, joules)]
    np.testing.assert_array_equal(held[same], free[same])
    more = (held[throttle] - free[throttle]) * cool.system.chip.power.static * cool.plan.chips
    assert joules_of(held) == pytest.approx(joules_of(free) + more)


def test_a_step_that_is_throttled_draws_exactly_the_cap() -> None:
    price = compiled(WORLDS[0], HOT)
    first, _, _ = price.price(rows_of(((decoding(9000),) * 200,), price.caps))
    assert parts_of(first)["throttle"] > 0.0
    assert joules_of(first) / seconds_of(first) == pytest.approx(300.0)


# ---- nobody and everybody


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_no_sequence_costs_nothing(world: World) -> None:
    price = compiled(world)
    first, slope, _ = price.price(empty(world[4], price.caps))
    assert not first.any()
    assert not slope.any()


@FEW
@given(steps(worlds=ALONE))
def test_one_rank_waits_for_no_other(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    first, _, _ = price.price(rows_of(sequences, price.caps))
    if world[3] == 1:
        assert parts_of(first)["imbalance"] == 0.0


@FEW
@given(steps(worlds=TOGETHER))
def test_the_order_of_the_ranks_does_not_matter(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    rows = rows_of(sequences, price.caps)
    forth, back = price.price(rows)[0], price.price(rows[::-1].copy())[0]
    np.testing.assert_allclose(forth, back, rtol=1e-12, atol=1e-12 * seconds_of(forth))


@pytest.mark.parametrize("world", TOGETHER, ids=str)
def test_spreading_the_sequences_evenly_is_never_slower(world: World) -> None:
    price, ranks = compiled(world), world[4]
    item = decoding(5000)
    even = rows_of(((item,) * 8,) * ranks, price.caps)
    idle: Sequences = ((),) * (ranks - 1)
    heaped = rows_of(((item,) * (8 * ranks), *idle), price.caps)
    assert even[:, TOKENS].sum() == heaped[:, DECODE].sum()
    assert seconds_of(price.price(even)[0]) < seconds_of(price.price(heaped)[0])


def test_outputs_are_the_parts_then_the_resources_then_joules_and_what_tables_say() -> None:
    assert (*PARTS, *RESOURCES, "joules", "measured") == OUTPUTS
