"""Laws of preemption: the youngest gives way, all come back, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from jalapeno.metrics import measure, require
from jalapeno.simulation import Preemption, Role, simulate, start
from jalapeno.simulation import columns as c
from tests.laws.runs import column, few
from tests.simulation.reference import Reference
from tests.simulation.scenes import Scene, closed, plan, scenes, tight_scenes

many = settings(max_examples=100)


def by_rank(requests: pl.DataFrame) -> list[pl.DataFrame]:
    """The requests of each rank that answers."""
    where = pl.when(pl.col("decode_rank") >= 0).then("decode_rank").otherwise("rank")
    numbered = requests.with_row_index("number").with_columns(where.alias("where"))
    return numbered.partition_by("where")


@many
@given(tight_scenes())
def test_everyone_finishes_however_little_memory_there_is(scene: Scene) -> None:
    journal = simulate(scene.scenario())
    assert set(journal.requests["status"]) == {"done"}
    # a rank preempts only for a step, and no more than have a slot
    steps = int(column(journal.segment_table(), "steps").sum())
    most = max(pool.plan.max_running * pool.plan.ranks for pool in journal.scenario.pools)
    assert column(journal.requests, "preemptions").sum() <= steps * most


@few
@given(tight_scenes())
def test_the_youngest_gives_way_and_the_oldest_never(scene: Scene) -> None:
    # the step-by-step simulator, which the loop agrees with, tells who else was there
    slow = Reference(scene.scenario()).run()
    for _, dropped, there in slow.dropped:
        numbers = [each.number for each in there]
        assert dropped.number == max(numbers) > min(numbers)


@few
@given(tight_scenes())
def test_the_first_of_every_rank_is_never_preempted(scene: Scene) -> None:
    for mine in by_rank(simulate(scene.scenario()).requests):
        assert mine.sort("number")["preemptions"][0] == 0


@few
@given(tight_scenes())
def test_what_is_not_preempted_is_not_recomputed(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    calm = requests.filter(pl.col("preemptions") == 0)
    for name in ("resumed", "recomputed", "preempted", "preempted_first", "recompute"):
        assert column(calm, name).sum() == 0
    assert (column(requests, "resumed") <= column(requests, "preemptions")).all()
    assert (column(requests, "preempted_first") <= column(requests, "preempted")).all()


@few
@given(scenes())
def test_with_memory_enough_preemption_changes_nothing_but_how_blocks_are_counted(
    scene: Scene,
) -> None:
    scene = replace(scene, blocks=None)
    reserved, *others = (
        simulate(replace(scene, preemption=preemption).scenario()) for preemption in Preemption
    )
    for other in others:
        assert other.requests["preemptions"].sum() == 0
        blocks = ["blocks", "decode_blocks"]
        assert other.requests.drop(blocks).equals(reserved.requests.drop(blocks))
        assert column(other.segment_table(), "steps").sum() == (
            column(reserved.segment_table(), "steps").sum()
        )


@few
@given(tight_scenes())
def test_a_host_without_room_makes_swapping_recomputing(scene: Scene) -> None:
    full = (("chip.host.capacity", "1 B"),)
    scene = replace(scene, overrides=(*scene.overrides, *full))
    swaps, recomputes = (
        simulate(replace(scene, preemption=preemption, prefix_caching=False).scenario())
        for preemption in (Preemption.SWAP, Preemption.RECOMPUTE)
    )
    assert swaps.requests.equals(recomputes.requests)


@few
@given(tight_scenes())
def test_with_a_large_host_swapping_computes_no_answer_twice(scene: Scene) -> None:
    large = (("chip.host.capacity", "10 TB"),)
    scene = replace(scene, preemption=Preemption.SWAP, overrides=(*scene.overrides, *large))
    requests = simulate(scene.scenario()).requests
    assert column(requests, "resumed").sum() == 0
    assert column(requests, "recompute").sum() == 0


@few
@given(tight_scenes())
def test_pauses_are_what_the_requests_lost_after_their_first_tokens(scene: Scene) -> None:
    journal = simulate(scene.scenario())
    requests, pauses = journal.requests, journal.pauses
    lost = column(requests, "preempted") - column(requests, "preempted_first")
    lost = lost + column(requests, "recompute")
    beyond = column(pauses, "gap") - column(pauses, "instead")
    found = np.zeros_like(lost)
    np.add.at(found, column(pauses, "request"), beyond)
    assert found.tolist() == lost.tolist()
    # those prefilled again have a token with that, those swapped in with a step
    again = pauses.filter(pl.col("instead") == 0)
    counted = np.bincount(column(again, "request"), minlength=requests.height)
    assert counted.tolist() == column(requests, "resumed").tolist()


@pytest.mark.parametrize("preemption", [Preemption.RECOMPUTE, Preemption.SWAP])
def test_pauses_may_be_more_than_the_buffer_holds(preemption: Preemption) -> None:
    run = start(replace(scarce(preemption), traffic=closed(200, 40, 32, 160)).scenario())
    whole = simulate(run.scenario)
    assert whole.pauses.height > 50
    seats = run.state.seats
    run.state = run.state._replace(segments=run.state.segments[:3], energies=run.state.energies[:3])
    assert run.advance()
    assert seats.clock[c.C_PAUSES] < 50
    assert run.journal().pauses.equals(whole.pauses)
    require(measure(whole).checks)


def scarce(preemption: Preemption, blocks: int = 30, **texts: str) -> Scene:
    """Four that want 12 blocks each at the end, on a rank that has fewer than three times that."""
    overrides = {
        "model.attention.window_layers": "0",
        **{k.replace("_", "."): v for k, v in texts.items()},
    }
    return Scene(
        pools=((Role.UNIFIED, 1, plan("TP1", max_running=4, max_tokens=404)),),
        traffic=closed(4, 4, 32, 160),
        blocks=blocks,
        overrides=tuple(overrides.items()),
        preemption=preemption,
    )


def test_what_gives_way_is_recomputed_and_says_how_long_that_took() -> None:
    requests = simulate(scarce(Preemption.RECOMPUTE).scenario()).requests
    assert requests["preemptions"].to_list()[:2] == [0, 0]
    late = requests.filter(pl.col("preemptions") > 0)
    assert late.height
    assert column(late, "resumed").tolist() == column(late, "preemptions").tolist()
    assert (column(late, "recomputed") > 32 * column(late, "resumed")).all()
    assert column(late, "preempted").min() > 0
    assert column(late, "recompute").min() > 0
    assert column(late, "preempted_first").sum() == 0


def test_a_swapped_cache_is_away_at_least_as_long_as_both_copies_take() -> None:
    scenario = scarce(Preemption.SWAP).scenario()
    host = scenario.system.chip.host
    requests = simulate(scenario).requests.filter(pl.col("preemptions") > 0)
    assert requests.height
    assert column(requests, "resumed").sum() == column(requests, "recomputed").sum() == 0
    token = 36 * 2 * 8 * 64.0  # K and V of 8 heads of 64 a layer, a byte each
    assert column(requests, "preempted").min() >= 2 * 33 * token / host.bandwidth * 1e12 - 2


def test_a_slow_host_keeps_those_that_gave_way_longer() -> None:
    away = []
    for rate in ("50 GB/s", "500 MB/s", "50 MB/s"):
        requests = simulate(scarce(Preemption.SWAP, chip_host_bandwidth=rate).scenario()).requests
        away.append(int(column(requests, "preempted").sum()))
    assert away == sorted(away)
    assert away[0] < away[-1]


def test_admission_without_reservation_seats_more_at_once() -> None:
    queues = []
    for preemption in (Preemption.NONE, Preemption.RECOMPUTE):
        requests = simulate(scarce(preemption).scenario()).requests
        queues.append(int((column(requests, "admitted") - column(requests, "ready")).max()))
    assert queues[0] > 0
    assert queues[1] == 0
