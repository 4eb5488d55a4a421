"""Laws of seats: blocks and slots are conserved, queues are queues, nobody waits in vain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import given

from jalapeno.simulation import Journal, Preemption, Role, Router, simulate, start
from jalapeno.simulation import columns as c
from jalapeno.simulation.blocks import blocks_to_seat, has_room
from jalapeno.simulation.state import REQUEST_BITS, REQUEST_MASK, Seats
from tests.laws.runs import (
    advance_by,
    all_scenes,
    column,
    cuts,
    few,
    length,
    most_at_once,
    pool_of_rank,
)
from tests.simulation.scenes import Scene, scenes

# ---- blocks and slots


@few
@given(all_scenes)
def test_all_blocks_slots_and_host_memory_are_free_at_the_end(scene: Scene) -> None:
    run = start(scene.scenario())
    empty = run.state.seats.ranks.copy()
    assert run.advance()
    seats = run.state.seats
    assert not seats.ranks[:, [c.R_RUNNING, c.R_DECODING, c.R_READS, c.R_HEAP]].any()
    assert not seats.capped.any()
    assert not seats.phases.any()
    same = [c.R_FREE, c.R_HOST_ROOM]
    assert seats.ranks[:, same].tolist() == empty[:, same].tolist()
    heads = [c.R_PREFILL_HEAD, c.R_ASSIGNED_HEAD, c.R_COMING_HEAD, c.R_RETURNING_HEAD]
    assert set(seats.ranks[:, heads].ravel()) == {c.NOBODY}
    assert set(seats.stages[:, c.G_QUEUE_HEAD]) == {c.NOBODY}
    assert set(seats.workers[:, c.W_QUEUE_HEAD]) == {c.NOBODY}
    assert not seats.workers[:, c.W_BOUND].any()
    assert seats.clock[c.C_COPIES] == 0


def decoded(seats: Seats) -> dict[int, int]:
    """Answer tokens of each decoding request when its worker's segment began."""
    made = {}
    for rank in range(len(seats.ranks)):
        for key in seats.finish[rank, : seats.ranks[rank, c.R_HEAP]].tolist():
            number = key & REQUEST_MASK
            left = (key >> REQUEST_BITS) - seats.ranks[rank, c.R_COUNTER]
            made[number] = int(seats.requests[number, c.OUTPUT] - left)
    return made


@few
@given(all_scenes, cuts)
def test_blocks_taken_and_blocks_free_are_all_blocks_at_any_time(
    scene: Scene, fractions: list[float]
) -> None:
    scenario = scene.scenario()
    pools = pool_of_rank(scenario)
    for run in advance_by(start(scenario), fractions, length(scenario)):
        seats, made = run.state.seats, decoded(run.state.seats)
        taken, running = np.zeros((2, len(seats.ranks)), dtype=np.int64)
        for number, request in enumerate(seats.requests):
            status, rank, there = request[c.STATUS], request[c.RANK], request[c.DECODE_RANK]
            here = rank if there == c.NOBODY else there
            if scenario.split and request[c.MOVED] == c.NOBODY and request[c.ADMITTED] >= 0:
                # the cache stays where the prompt was computed until it has moved
                taken[rank] += request[c.BLOCKS]
                running[rank] += request[c.PREFILLED] == c.NOBODY
                if there == c.NOBODY:
                    continue
            elif scenario.split and status == c.TAKEN and there == c.NOBODY:
                taken[rank] += request[c.BLOCKS]
                running[rank] += 1
                continue
            if status not in SEATED:
                continue
            running[here] += 1
            blocks = request[c.BLOCKS if there == c.NOBODY else c.DECODE_BLOCKS]
            if scenario.pools[pools[here]].preemption is not Preemption.NONE:
                more = status in (c.TAKEN, c.PREFILLING, c.MOVING)
                tokens = request[c.PROMPT] + made.get(number, request[c.MADE] + more)
                blocks = run.prices[pools[here]].room.blocks_for(int(tokens))
            taken[here] += blocks
        whole = seats.pools[pools, c.P_BLOCKS]
        assert (taken + seats.ranks[:, c.R_FREE]).tolist() == whole.tolist()
        assert seats.ranks[:, c.R_FREE].min() >= 0
        assert seats.ranks[:, c.R_RUNNING].tolist() == running.tolist()
        assert (running <= seats.pools[pools, c.P_MAX_RUNNING]).all()


SEATED = (c.TAKEN, c.PREFILLING, c.MOVING, c.DECODING, c.SWAPPING_IN, c.SWAPPED_IN)
"""States in which a request has a slot and blocks of the rank where it is, or is to be."""


def stays(journal: Journal) -> Iterator[tuple[int, str, str, str, pl.DataFrame]]:
    """(pool, slot from, slot until, blocks until, requests) of every rank that had any."""
    requests, pools = journal.requests, pool_of_rank(journal.scenario)
    if not journal.scenario.split:
        for (rank,), mine in requests.group_by("rank"):
            yield pools[rank], "assigned", "end", "end", mine
        return
    for (rank,), mine in requests.group_by("rank"):
        # when a prefill rank was given the request is not kept; it had it at the latest when
        # its prompt began
        yield pools[rank], "admitted", "prefilled", "moved", mine
    for (rank,), mine in requests.group_by("decode_rank"):
        yield pools[rank], "assigned", "end", "end", mine


@few
@given(scenes())
def test_no_rank_runs_more_than_its_slots_or_its_blocks(scene: Scene) -> None:
    scene = replace(scene, preemption=Preemption.NONE)
    journal = simulate(scene.scenario())
    prices = start(scene.scenario()).prices
    for pool, begin, leaves, frees, mine in stays(journal):
        first = column(mine, begin)
        ones = np.ones(len(first), dtype=np.int64)
        slots = journal.scenario.pools[pool].plan.max_running
        assert most_at_once(first, column(mine, leaves), ones) <= slots
        decodes = journal.scenario.pools[pool].role is Role.DECODE
        blocks = column(mine, "decode_blocks" if decodes else "blocks")
        assert most_at_once(first, column(mine, frees), blocks) <= prices[pool].room.blocks


# ---- queues


@few
@given(all_scenes)
def test_nobody_overtakes_in_a_queue(scene: Scene) -> None:
    journal = simulate(scene.scenario())
    requests, scenario = journal.requests, journal.scenario
    rank, came = ("decode_rank", "prefilled") if scenario.split else ("rank", "ready")
    # whose cache had to move again was assigned again
    requests = requests.filter((pl.col("preemptions") == 0) | (pl.lit(not scenario.split)))
    workers = [
        worker
        for worker, row in enumerate(journal.workers.iter_rows(named=True))
        for _ in range(scenario.pools[row["pool"]].plan.ranks)
    ]
    queues = [requests]
    if scenario.router is not Router.SHARED:
        whose = pl.Series([workers[number] for number in requests[rank]])
        queues = [requests.filter(whose == worker) for worker in whose.unique()]
    for queue in queues:
        ordered = queue.sort(came, maintain_order=True)
        handed, given_ = column(ordered, came), column(ordered, "assigned")
        for early in range(len(handed)):
            assert (given_[early] <= given_[handed > handed[early]]).all()


@few
@given(all_scenes, cuts)
def test_nobody_waits_while_a_rank_could_take_him(scene: Scene, fractions: list[float]) -> None:
    scenario = scene.scenario()
    for run in advance_by(start(scenario), fractions, length(scenario)):
        seats = run.state.seats
        for head, workers in waiting(seats):
            for worker in workers:
                pool = seats.workers[worker, c.W_POOL]
                needed = blocks_to_seat(seats, pool, head)
                first = seats.workers[worker, c.W_FIRST_RANK]
                for rank in range(first, first + seats.pools[pool, c.P_RANKS_WORKER]):
                    assert (
                        seats.ranks[rank, c.R_RUNNING] == seats.pools[pool, c.P_MAX_RUNNING]
                        or seats.ranks[rank, c.R_RETURNING_HEAD] != c.NOBODY
                        or not has_room(seats, rank, needed)
                    )


def waiting(seats: Seats) -> Iterator[tuple[int, range]]:
    """(head, workers that may take it) of every queue in which somebody waits."""
    for stage in seats.stages:
        workers = range(stage[c.G_FIRST_WORKER], stage[c.G_FIRST_WORKER] + stage[c.G_WORKERS])
        if stage[c.G_QUEUE_HEAD] != c.NOBODY:
            yield stage[c.G_QUEUE_HEAD], workers
    for number, worker in enumerate(seats.workers):
        if worker[c.W_QUEUE_HEAD] != c.NOBODY:
            yield worker[c.W_QUEUE_HEAD], range(number, number + 1)
