"""The fast simulator against the slow one, integer for integer; both against the float price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.cost import PARTS
from jalapeno.mapping import OUTPUTS
from jalapeno.simulation import Preemption, Role, Scenario, TraceTimes, Traffic, simulate, start
from jalapeno.simulation.lengths import TraceLengths
from tests.simulation.reference import Reference, only_decode, rows_of
from tests.simulation.scenes import (
    NO_WINDOWS,
    Scene,
    closed,
    plan,
    poisson,
    scenes,
    speculation,
    tight_scenes,
    unified,
)
from tests.simulation.traces import trace

N_PARTS = len(PARTS)


def same_columns(table: pl.DataFrame, rows: Sequence[Mapping[str, int | float | str]]) -> None:
    """Every column of *table* is that of *rows*; the first difference is told."""
    assert table.height == len(rows)
    assert not rows or set(rows[0]) == set(table.columns)
    for name in table.columns:
        theirs = [row[name] for row in rows]
        for number, (fast, slow) in enumerate(zip(table[name].to_list(), theirs, strict=True)):
            assert fast == slow, f"row {number}, {name}: {fast}, step by step {slow}"


def agree(scenario: Scenario) -> Reference:
    """Run both and compare all columns of all requests and segments."""
    slow = Reference(scenario).run()
    journal = simulate(scenario)
    same_columns(journal.segment_table(), slow.segments)
    same_columns(journal.requests, [request.row() for request in slow.requests])
    assert sorted(journal.pauses.rows()) == sorted(slow.late)
    return slow


# ---- integer for integer


@settings(max_examples=150)
@given(scenes())
def test_the_loop_does_what_a_step_by_step_simulator_does(scene: Scene) -> None:
    agree(scene.scenario())


@settings(max_examples=150)
@given(tight_scenes())
def test_it_does_so_where_sequences_give_way(scene: Scene) -> None:
    agree(scene.scenario())


@settings(max_examples=120)
@given(scenes().flatmap(speculation))
def test_it_does_so_where_tokens_are_drafted(scene: Scene) -> None:
    agree(scene.scenario())


@settings(max_examples=120)
@given(tight_scenes().flatmap(speculation))
def test_it_does_so_where_tokens_are_drafted_and_sequences_give_way(scene: Scene) -> None:
    agree(scene.scenario())


@pytest.mark.parametrize(
    ("model", "system", "layout"),
    [
        ("gpt-oss-120b", "jalapeno-rack", "TP1"),
        ("gpt-oss-120b", "gb300-nvl72", "TEP4"),
        ("deepseek-r1", "jalapeno-rack", "DEP4"),
        ("kimi-k2.5", "gb300-nvl72", "TP8"),
    ],
)
def test_it_does_so_for_long_prompts_and_answers(model: str, system: str, layout: str) -> None:
    scene = Scene(
        model=model,
        system=system,
        pools=((Role.UNIFIED, 1, plan(layout, model, system, max_running=8, max_tokens=2048)),),
        traffic=closed(12, 6, 8192, 1024, ratio=0.8),
        delay="0.27 s",
        block_tokens=64,
    )
    agree(scene.scenario())


def test_it_does_so_where_many_short_answers_end_beside_a_long_one() -> None:
    # Contexts below a window come and go while an older one is still about to fill it.
    agree(unified(plan("TP1", max_running=2), closed(60, 2, 20, 100, ratio=0.01, seed=7)))
    agree(unified(plan("TP1", max_running=3), closed(200, 3, 30, 90, ratio=0.01, seed=3)))


@pytest.mark.parametrize("osl", [1, 3])
@pytest.mark.parametrize("transfer", ["0 s", "40 ms"])
def test_it_does_so_where_one_token_answers_wake_an_idle_decode_worker(
    osl: int, transfer: str
) -> None:
    # They leave as soon as they join, and whoever waits for their slot must be told.
    pools = ((Role.PREFILL, 2, plan("TP1")), (Role.DECODE, 1, plan("TP1", max_running=1)))
    scene = Scene(
        pools=pools,
        traffic=closed(30, 6, 60, osl, ratio=0.1),
        overrides=(("engine.transfer_latency", transfer),),
    )
    agree(scene.scenario())


def test_it_does_so_where_requests_wait_for_blocks_at_both_pools() -> None:
    pools = ((Role.PREFILL, 2, plan("TP1")), (Role.DECODE, 2, plan("TP2")))
    scene = Scene(pools=pools, traffic=poisson(40, 1e4, 120, 40, ratio=0.3), blocks=20)
    agree(scene.scenario())


def test_it_does_so_where_the_budget_is_one_token_a_slot() -> None:
    agree(unified(plan("TP2", max_running=6, max_tokens=6), closed(30, 8, 40, 30, ratio=0.2)))


def test_it_does_so_where_a_request_comes_exactly_at_a_step_boundary() -> None:
    # The delay is such that whoever follows the first to finish comes just as a third step ends.
    traffic = closed(3, 2, 300, 90, ratio=0.3, seed=2)
    here = plan("TP1", max_running=3, max_tokens=500)
    apart = Reference(unified(here, traffic, delay="9 s")).run()
    end = min(request.times["end"] for request in apart.requests)
    segment = next(segment for _, segment in apart.stretches if segment.start == end)
    assert len(segment.batches) > 3
    delay = sum(segment.lasts(step) for step in range(3))
    late = agree(unified(here, traffic, delay=f"{delay} ps")).requests[2]
    assert late.times["ready"] == late.times["admitted"] == end - 9 * 10**12 + 2 * delay


def test_it_does_so_where_decode_alone_meets_the_power_cap_in_the_midst_of_a_prompt() -> None:
    # While equal chunks repeat, the price without them changes its slope: a cap that a step of
    # decode alone reaches halfway, as its context grows.
    pools = ((Role.UNIFIED, 1, plan("TP1", max_running=2, max_tokens=101)),)
    scene = Scene(pools=pools, traffic=closed(2, 2, 4000, 90, ratio=0.05))
    free = replace(scene, overrides=(("chip.power.cap", "100 kW"),)).scenario()
    mixed = [each for _, each in Reference(free).run().stretches if each.prefill < 101]
    longest = max((each for each in mixed if each.prefill), key=lambda each: len(each.batches))
    assert len(longest.batches) > 20
    halfway = only_decode(longest.batches[len(longest.batches) // 2])
    price = start(free).prices[0]
    values, _, _ = price.price(rows_of(halfway, free.model.caps))
    watts = values[OUTPUTS.index("joules")] / sum(values[:N_PARTS])
    capped = replace(scene, overrides=(("chip.power.cap", f"{watts} W"),)).scenario()
    repeated = [each for _, each in agree(capped).stretches if each.prefill == longest.prefill]
    slopes = {each.decode_growth for each in repeated if len(each.batches) > 5}
    assert len(slopes) == 2


@settings(max_examples=40)
@given(st.data())
def test_it_does_so_where_prompts_are_partly_in_the_cache(data: st.DataObject) -> None:
    here = data.draw(tight_scenes(), label="scene")
    prompts, outputs = here.traffic.lengths.draw(here.traffic.requests)
    cached = [data.draw(st.integers(0, int(prompt) - 1)) for prompt in prompts]
    times = np.cumsum(data.draw(st.lists(st.floats(0.0, 0.1), min_size=len(prompts), max_size=99)))
    hits = trace(times[: len(prompts)].tolist(), prompts.tolist(), outputs.tolist(), cached=cached)
    traffic = Traffic(
        lengths=TraceLengths(trace=hits),
        arrivals=TraceTimes(trace=hits),
        requests=len(prompts),
    )
    slow = agree(replace(here, traffic=traffic).scenario())
    assert [request.cached for request in slow.requests] == cached


def test_who_comes_back_finds_what_others_did_not_take() -> None:
    # Two sequences fill the blocks; the younger gives way, and the older needs few of his.
    pools = ((Role.UNIFIED, 1, plan("TP1", max_running=2, max_tokens=200)),)
    scene = Scene(
        pools=pools,
        traffic=closed(2, 2, 150, 150, ratio=1.0),
        block_tokens=4,
        blocks=140,
        preemption=Preemption.RECOMPUTE,
        overrides=NO_WINDOWS,
    )
    lost, kept = (
        simulate(replace(scene, prefix_caching=keeps).scenario()).requests
        for keeps in (False, True)
    )
    assert lost["preemptions"].to_list() == kept["preemptions"].to_list() == [0, 1]
    assert 0 < kept["recomputed"][1] < lost["recomputed"][1] / 2
    assert kept["end"][1] < lost["end"][1]
    agree(replace(scene, prefix_caching=True).scenario())


# ---- and to the float price


@settings(max_examples=60)
@given(scenes())
def test_every_step_lasts_as_long_as_its_batch_costs_unrounded(scene: Scene) -> None:
    slow = agree(scene.scenario())
    caps = slow.scenario.model.caps
    for worker, segment in slow.stretches:
        price = worker.pool.price
        for step, batch in enumerate(segment.batches):
            values, _, _ = price.price(rows_of(batch, caps))
            seconds = sum(values[:N_PARTS])
            assert segment.lasts(step) == pytest.approx(1e12 * seconds, rel=1e-6)
            spent = np.array([segment.part(part, step) for part in range(N_PARTS)])
            assert spent == pytest.approx(1e12 * values[:N_PARTS], abs=1e6 * seconds)
            now = segment.rates + step * segment.rates_growth
            assert now == pytest.approx(values[N_PARTS:], rel=1e-9, abs=1e-15)
            decode = only_decode(batch)
            alone = sum(price.price(rows_of(decode, caps))[0][:N_PARTS])
            assert segment.alone(step) == pytest.approx(1e12 * alone, rel=1e-6)
