"""What a waiting request waited for: slots, blocks or the running step."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.explain_waits import full_between, shortages, worker_of_rank
from jalapeno.metrics.attribution import causes
from jalapeno.simulation import Journal
from tests.analysis.runs import SCENARIOS, replayed, run
from tests.metrics import journals
from tests.metrics.journals import ms


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_was_short_adds_up_to_the_wait(name: str) -> None:
    journal = run(name)
    for half in (journal.requests, journal.requests[::2], journal.requests[:1]):
        waited = causes(half)
        for short in shortages(journal, half):
            assert short.total == waited[short.label].sum()
            assert min(short.slots, short.blocks, short.step) >= 0


@pytest.mark.parametrize("name", ["slots", "blocks", "ranks"])
def test_the_queue_of_a_unified_pool_is_as_the_runs_own_state_has_it(name: str) -> None:
    journal = run(name)
    (short,) = shortages(journal, journal.requests)
    said = replayed(journal)["queue"]
    assert {"slots": short.slots, "blocks": short.blocks, "step": short.step} == said
    assert short.total > 0


@pytest.mark.parametrize("name", ["split", "split, blocks"])
def test_the_wait_for_a_decode_slot_is_as_the_runs_own_state_has_it(name: str) -> None:
    journal = run(name)
    _, short = shortages(journal, journal.requests)
    said = replayed(journal)["slot"]
    assert {"slots": short.slots, "blocks": short.blocks, "step": short.step} == said
    assert short.total > 0


@pytest.mark.parametrize("name", ["split", "split, blocks"])
def test_the_queue_of_a_prefill_pool_is_so_but_for_a_step_a_request(name: str) -> None:
    journal = run(name)
    short, _ = shortages(journal, journal.requests)
    said = replayed(journal)["queue"]
    longest = max((journal.requests["prefilled"] - journal.requests["admitted"]).to_list())
    slack = longest * len(journal.requests)
    assert short.total == sum(said.values())
    assert abs(short.slots - said["slots"]) <= slack
    assert abs(short.blocks - said["blocks"]) <= slack


def test_scarce_blocks_show_as_blocks_and_scarce_slots_as_slots() -> None:
    (slots,) = shortages(run("slots"), run("slots").requests)
    (blocks,) = shortages(run("blocks"), run("blocks").requests)
    assert slots.blocks == 0
    assert blocks.blocks > 0.9 * blocks.total


def test_a_request_that_comes_during_a_step_waits_for_its_end() -> None:
    journal = journals.two_requests()
    (short,) = shortages(journal, journal.requests[1:])
    assert (short.slots, short.blocks, short.step) == (0, 0, ms(2))


def test_a_moved_request_waits_for_a_slot_and_then_for_the_step() -> None:
    journal = journals.one_moved()
    queue, slot = shortages(journal, journal.requests)
    assert queue.total == 0
    # free slots on the decode rank, so that blocks must have been short from 5 to 7 ms
    assert (slot.slots, slot.blocks, slot.step) == (0, ms(2), ms(2))


def queued(limit: int) -> Journal:
    """One worker with *limit* slots; C waits while A and B hold them, from 2 to 10 ms."""
    pool = journals.unified(tp=2)[0]
    plan = journals.plan(tp=2, running=limit)
    held = [
        journals.request(
            prompt=5,
            output=1,
            arrival=0,
            ready=0,
            assigned=0,
            admitted=0,
            prefilled=ms(end),
            first=ms(end),
            end=ms(end),
        )
        for end in (10, 30)
    ]
    waits = journals.request(
        prompt=5,
        output=1,
        arrival=0,
        ready=ms(2),
        assigned=ms(17),
        admitted=ms(20),
        prefilled=ms(25),
        first=ms(25),
        end=ms(25),
    )
    pools = (type(pool)(role=pool.role, plan=plan, replicas=1),)
    return journals.journal(pools, [*held, waits], [])


def test_a_known_queue_is_told_apart() -> None:
    journal = queued(2)
    (short,) = shortages(journal, journal.requests[2:])
    assert (short.slots, short.blocks, short.step) == (ms(8), ms(7), ms(3))


def test_with_a_slot_more_it_was_never_slots() -> None:
    journal = queued(3)
    (short,) = shortages(journal, journal.requests[2:])
    assert (short.slots, short.blocks, short.step) == (0, ms(15), ms(3))


def test_ranks_belong_to_workers_in_order() -> None:
    assert worker_of_rank(run("ranks")).tolist() == [0, 0, 0, 0]
    assert worker_of_rank(run("split")).tolist() == [0, 1, 2, 3]


spans = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 15)), max_size=8)


@given(spans, st.integers(1, 4), st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_the_time_without_a_free_slot_is_what_counting_instants_gives(
    held: list[tuple[int, int]], limit: int, ask: tuple[int, int]
) -> None:
    table = pl.DataFrame(
        [(0, begin, begin + length) for begin, length in held],
        schema={"rank": pl.Int64, "taken": pl.Int64, "left": pl.Int64},
        orient="row",
    )
    begin, end = sorted(ask)
    found = full_between(table, *(np.array([x], dtype=np.int64) for x in (limit, 0, begin, end)))
    slow = sum(
        sum(start <= instant < start + length for start, length in held) >= limit
        for instant in range(begin, end)
    )
    assert found.tolist() == [slow]
