"""Percentiles over every token equal those of a row a token, which is never made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.cost import PARTS
from jalapeno.metrics import measure
from jalapeno.metrics.distribution import PERCENTILES, Distribution, Integers
from jalapeno.metrics.gaps import count, octaves, order_statistics, token_gaps
from jalapeno.metrics.segments import Batch, batch_of
from jalapeno.simulation import Journal
from tests.metrics import journals
from tests.metrics.journals import ms

Series = tuple[int, int, int, int]
"""first, growth, steps, sequences that decode"""


@st.composite
def series(draw: st.DrawFn, longest: int = 2**37) -> Series:
    """Steps that grow, shrink or stay, none of them shorter than nothing."""
    steps = draw(st.integers(1, 40))
    first = draw(st.integers(1, longest))
    least = -((first - 1) // max(1, steps - 1))
    growth = draw(st.integers(least, draw(st.sampled_from([0, 1, 1000, 2**30]))))
    return first, growth, steps, draw(st.integers(0, 4))


def batch(rows: list[Series]) -> Batch:
    segments = [
        journals.segment(start=0, steps=n, decoding=d, parts={"memory": (f, g)})
        for f, g, n, d in rows
    ]
    return batch_of(journals.segment_table(segments))


def expanded(rows: list[Series]) -> Integers:
    """A row a token, sorted."""
    each = [np.repeat(f + g * np.arange(n), d) for f, g, n, d in rows]
    return np.sort(np.concatenate([np.array([], dtype=np.int64), *each]))


def counted(batches: list[Batch]) -> Distribution:
    coarse = octaves()
    for each in batches:
        count(coarse, each)
    return token_gaps(coarse, math.nan, lambda: batches)


def statistics(batches: list[Batch], ranks: list[int]) -> list[int]:
    coarse = octaves()
    for each in batches:
        count(coarse, each)
    found = order_statistics(coarse, np.array(ranks), lambda: batches)
    return [int(gap) for gap in found]


@settings(max_examples=40)
@given(st.lists(series(), min_size=1, max_size=12), st.integers(0, 12))
def test_every_order_statistic_is_exact_to_the_picosecond(rows: list[Series], cut: int) -> None:
    tokens = expanded(rows)
    if not len(tokens):
        return
    batches = [batch(part) for part in (rows[:cut], rows[cut:])]
    places = sorted({0, len(tokens) // 3, len(tokens) // 2, len(tokens) - 1})
    assert statistics(batches, places) == [tokens[place] for place in places]


@settings(max_examples=30)
@given(st.lists(series(), min_size=1, max_size=12).filter(lambda rows: any(d for *_, d in rows)))
def test_percentiles_are_numpys_of_a_row_a_token(rows: list[Series]) -> None:
    tokens, gaps = expanded(rows) / 1e9, counted([batch(rows)])
    expected = [*np.percentile(tokens, PERCENTILES), tokens[0], tokens[-1]]
    assert astuple(gaps)[1:] == pytest.approx(tuple(expected), rel=1e-12)


@settings(max_examples=10)
@given(st.lists(series(longest=2**58), min_size=1, max_size=6))
def test_steps_of_days_are_as_exact(rows: list[Series]) -> None:
    tokens = expanded(rows)
    if len(tokens):
        assert statistics([batch(rows)], [0, len(tokens) - 1]) == [tokens[0], tokens[-1]]


@settings(max_examples=10)
@given(st.lists(series(), min_size=2, max_size=8), st.data())
def test_the_order_of_segments_does_not_matter(rows: list[Series], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    assert repr(counted([batch(rows)])) == repr(counted([batch(shuffled)]))


@settings(max_examples=10)
@given(st.lists(series(), min_size=1, max_size=8), st.integers(2, 5))
def test_sequences_that_decode_together_count_each(rows: list[Series], times: int) -> None:
    # d sequences in one segment, or d segments of one sequence
    together = [(f, g, n, times) for f, g, n, _ in rows]
    apart = [(f, g, n, 1) for f, g, n, _ in rows for _ in range(times)]
    assert repr(counted([batch(together)])) == repr(counted([batch(apart)]))


def test_a_step_counts_once_for_every_sequence_that_decodes() -> None:
    # one slow step with one sequence, one fast step with nine: the median token is fast
    gaps = counted([batch([(ms(50), 0, 1, 1), (ms(1), 0, 1, 9)])])
    assert gaps.median == 1.0
    assert gaps.max == 50.0


def test_a_step_that_only_prefills_makes_no_gap() -> None:
    gaps = counted([batch([(ms(900), 0, 3, 0), (ms(2), 0, 1, 1)])])
    assert (gaps.min, gaps.max) == (2.0, 2.0)


def test_a_shrinking_step_is_read_as_well_as_a_growing_one() -> None:
    growing, shrinking = counted([batch([(5, 2, 4, 1)])]), counted([batch([(11, -2, 4, 1)])])
    assert repr(growing) == repr(shrinking)


def test_no_tokens_have_no_gaps() -> None:
    assert math.isnan(counted([batch([])]).median)
    assert math.isnan(counted([]).max)


@pytest.mark.parametrize(
    ("longest", "readings"),
    [(2**13 - 1, 0), (2**25 - 1, 1), (2**36, 2), (ms(60_000), 3)],
)
def test_segments_are_read_again_twice_for_usual_steps_and_three_times_for_slow(
    longest: int, readings: int
) -> None:
    batches = [batch([(longest, 0, 1, 1)])]
    coarse, read = octaves(), []
    count(coarse, batches[0])

    def again() -> Iterator[Batch]:
        read.append(1)
        yield from batches

    assert token_gaps(coarse, math.nan, again).max == longest / 1e9
    assert len(read) == readings


def test_the_gaps_of_two_requests_are_the_steps_they_sat_through() -> None:
    # A alone: 6; then both: 3, 4, 5.  Sorted 3 3 4 4 5 5 6; p90 stands at 5.4 of 0 to 6
    gaps = measure(journals.two_requests()).latency.token_gap_ms
    assert (gaps.min, gaps.median, gaps.max) == (3.0, 4.0, 6.0)
    assert gaps.p90 == pytest.approx(5.4)
    assert gaps.mean == pytest.approx((6 + 2 * (3 + 4 + 5)) / 7)


def test_the_first_gap_after_a_transfer_is_a_step_like_any_other() -> None:
    gaps = measure(journals.one_moved()).latency.token_gap_ms
    assert (gaps.min, gaps.median, gaps.max) == (2.0, 2.5, 3.0)


def test_the_mean_gap_is_decoding_time_over_tokens(run: Journal) -> None:
    rows = list(run.requests.iter_rows(named=True))
    decode = sum(row["end"] - row["first"] for row in rows)
    tokens = sum(row["output"] - 1 for row in rows)
    mean = decode / tokens / 1e9
    assert measure(run).latency.token_gap_ms.mean == pytest.approx(mean, rel=1e-12)


def test_the_gaps_of_a_run_are_those_of_its_steps_one_by_one(run: Journal) -> None:
    each = []
    for row in run.segment_table().iter_rows(named=True):
        first = sum(value for name, value in row.items() if name in FIRSTS)
        growth = sum(value for name, value in row.items() if name in GROWTHS)
        each += [(first, growth, row["steps"], row["decoding"])]
    steps, late = expanded(each).tolist(), run.pauses["gap"].to_list()
    for step in run.pauses.filter(pl.col("instead") > 0)["instead"].to_list():
        steps.remove(step)
    tokens = np.sort([*steps, *late]) / 1e9
    gaps = measure(run).latency.token_gap_ms
    expected = [*np.percentile(tokens, PERCENTILES), tokens[0], tokens[-1]]
    assert astuple(gaps)[1:] == pytest.approx(tuple(expected), rel=1e-12)


FIRSTS = {f"{part}_first" for part in PARTS}
GROWTHS = {f"{part}_growth" for part in PARTS}
