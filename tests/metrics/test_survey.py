"""One pass over the segments: batches, pools and workers may lie as they like."""

from __future__ import annotations

from dataclasses import astuple, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.metrics.segments import batch_of, batches
from jalapeno.metrics.survey import advance, survey
from jalapeno.metrics.totals import Fleet, Totals, step_ends, totals
from jalapeno.simulation import Journal
from jalapeno.simulation.journal import KeptSegments
from tests.metrics import journals
from tests.metrics.journals import ms

FLEET = Fleet(np.array([2, 4]), np.array([100, 1000]), caps=np.array([500.0, 500.0]))

rows = st.builds(
    journals.segment,
    worker=st.integers(0, 1),
    start=st.integers(0, 10**13),
    steps=st.integers(1, 100),
    decoding=st.integers(0, 10),
    prefill=st.integers(0, 1000),
    sampled=st.integers(0, 20),
    blocks_used=st.integers(0, 100),
    joules=st.tuples(st.floats(0, 10), st.floats(0, 1)),
    parts=st.fixed_dictionaries(
        {"matrix": st.tuples(st.integers(1, 10**10), st.integers(0, 10**6))},
        optional={"memory": st.tuples(st.integers(0, 10**10), st.integers(0, 10**6))},
    ),
    busy=st.fixed_dictionaries({"link": st.tuples(st.floats(0, 1), st.floats(0, 0.01))}),
)
tables = st.lists(rows, min_size=1, max_size=10)


# ---- segments


def test_a_segment_lasts_the_sum_of_its_parts_over_its_steps() -> None:
    parts = {"memory": (ms(3), ms(1)), "issue": (ms(2), 0)}
    (row,) = [journals.segment(start=0, steps=4, parts=parts)]
    batch = batch_of(journals.segment_table([row]))
    # 5 + 6 + 7 + 8
    assert (batch.first[0], batch.growth[0], batch.elapsed[0]) == (ms(5), ms(1), ms(26))


@given(tables)
def test_amounts_are_sums_over_steps(table: list[journals.Row]) -> None:
    batch = batch_of(journals.segment_table(table))
    one_by_one = [
        sum(row["joules_first"] + j * row["joules_growth"] for j in range(row["steps"]))
        for row in table
    ]
    assert batch.amounts("joules") == pytest.approx(one_by_one, rel=1e-9)


def test_batches_of_split_pools_are_split(split_run: Journal) -> None:
    whose = split_run.workers["pool"].to_list()
    seen = 0
    for pool, batch in batches(split_run):
        assert {whose[worker] for worker in batch.integers("worker")} <= {pool}
        seen += len(batch.steps)
    assert seen == len(split_run.segment_table())


# ---- totals


@given(tables, tables)
def test_totals_of_two_batches_are_those_of_one(
    a: list[journals.Row], b: list[journals.Row]
) -> None:
    one, two, whole = (
        totals(batch_of(journals.segment_table(table)), FLEET) for table in (a, b, [*a, *b])
    )
    assert astuple(one + two) == pytest.approx(astuple(whole), rel=1e-9)
    assert (one + two).gaps == whole.gaps


@given(tables)
def test_nothing_added_changes_nothing(table: list[journals.Row]) -> None:
    some = totals(batch_of(journals.segment_table(table)), FLEET)
    assert some + Totals() == some


def test_no_segments_total_nothing() -> None:
    assert totals(batch_of(journals.segment_table([])), FLEET) == Totals()


@given(tables)
def test_running_time_counts_for_every_chip(table: list[journals.Row]) -> None:
    batch = batch_of(journals.segment_table(table))
    chips = [int(FLEET.chips[row["worker"]]) for row in table]
    elapsed = batch.elapsed.tolist()
    assert totals(batch, FLEET).running == sum(
        count * time for count, time in zip(chips, elapsed, strict=True)
    )


def test_the_fullest_worker_is_the_peak_not_the_one_with_most_blocks() -> None:
    # 50 of 100 blocks, and 200 of 1,000
    table = [
        journals.segment(start=0, worker=0, blocks_used=50, parts={"matrix": (1, 0)}),
        journals.segment(start=0, worker=1, blocks_used=200, parts={"matrix": (1, 0)}),
    ]
    assert totals(batch_of(journals.segment_table(table)), FLEET).most_blocks == 0.5


def test_a_step_may_have_lasted_a_few_picoseconds_longer_than_written() -> None:
    # seven parts rounded by half a picosecond: 3.5, and as much for every step of growth
    parts = {"memory": (1000, 10)}
    row = journals.segment(start=0, steps=3, parts=parts, joules=(2.0, 0.5))
    (first_joules, first), (last_joules, last) = step_ends(batch_of(journals.segment_table([row])))
    assert (first_joules[0], last_joules[0]) == (2.0, 3.0)
    assert first[0] == pytest.approx(1003.5e-12, rel=1e-12)
    assert last[0] == pytest.approx((1020 + 3 * 3.5) * 1e-12, rel=1e-12)


# ---- the survey


@settings(max_examples=10)
@given(st.lists(st.integers(0, 200), max_size=5))
def test_batches_may_be_cut_anywhere(run: Journal, cuts: list[int]) -> None:
    table, whole = run.segment_table(), survey(run)
    edges = sorted({0, len(table), *(cut % len(table) for cut in cuts)})
    frames = [table.slice(a, b - a) for a, b in pairwise(edges)]
    again = survey(replace(run, segments=KeptSegments(frames)))
    assert astuple(again.gaps_ms) == astuple(whole.gaps_ms)
    assert (again.overlap, again.last_end) == (whole.overlap, whole.last_end)
    assert astuple(again.together) == pytest.approx(astuple(whole.together), rel=1e-9)


def test_pools_are_summed_apart_and_together(split_run: Journal) -> None:
    found = survey(split_run)
    prefill, decode = found.pools
    assert prefill.gap_tokens == decode.prompt_tokens == 0
    assert found.together.prompt_tokens == split_run.requests["prompt"].sum()
    assert found.together.gap_tokens == (split_run.requests["output"] - 1).sum()


def test_the_last_segment_ends_with_the_last_answer(run: Journal) -> None:
    assert survey(run).last_end == run.requests["end"].max()


# ---- order


def at(worker: int, start: int, lasts: int) -> journals.Row:
    return journals.segment(worker=worker, start=start, parts={"matrix": (lasts, 0)})


def test_segments_that_follow_each_other_do_not_overlap() -> None:
    last_end = np.zeros(2, dtype=np.int64)
    batch = batch_of(journals.segment_table([at(0, 5, 10), at(1, 0, 20), at(0, 15, 10)]))
    assert advance(batch, last_end) <= 0
    assert last_end.tolist() == [25, 20]


def test_the_worst_overlap_is_told() -> None:
    last_end = np.array([8, 0])
    table = [at(0, 5, 10), at(1, 0, 20), at(0, 14, 10), at(1, 13, 10)]
    # worker 0: 3 over the batch before, 1 within; worker 1: 7
    assert advance(batch_of(journals.segment_table(table)), last_end) == 7


def test_a_batch_without_a_worker_leaves_it_where_it_was() -> None:
    last_end = np.array([8, 9])
    advance(batch_of(journals.segment_table([at(1, 10, 5)])), last_end)
    assert last_end.tolist() == [8, 15]
    assert advance(batch_of(journals.segment_table([])), last_end) == 0
