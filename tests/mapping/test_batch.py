"""A batch is sums: closed forms equal the naive ones, and sums add."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.mapping.batch import (
    DECODE,
    DECODE_READS,
    PREFILL,
    PREFILL_PAIRS,
    PREFILL_READS,
    SAMPLED,
    TOKENS,
    UNCAPPED,
    Item,
    batch_row,
    capped_pairs,
    column,
    columns,
    growth_row,
)
from tests.mapping.worlds import FEW, ITEMS, chunk, decoding

CACHED = st.integers(0, 500)
NEW = st.integers(0, 300)
CAPS = st.integers(1, 600)
LISTS = st.lists(ITEMS, max_size=8)

# ---- query-key pairs under a cap


@FEW
@given(CACHED, NEW, CAPS)
def test_capped_pairs_are_the_naive_sum(cached: int, new: int, cap: int) -> None:
    assert capped_pairs(cached, new, cap) == sum(min(cached + j, cap) for j in range(1, new + 1))


@FEW
@given(CACHED, NEW)
def test_without_a_cap_a_token_sees_everything_before_it(cached: int, new: int) -> None:
    assert capped_pairs(cached, new, UNCAPPED) == new * cached + new * (new + 1) // 2


@FEW
@given(CACHED, NEW, NEW, CAPS)
def test_two_chunks_have_the_pairs_of_one(cached: int, first: int, then: int, cap: int) -> None:
    whole = capped_pairs(cached, first + then, cap)
    assert capped_pairs(cached, first, cap) + capped_pairs(cached + first, then, cap) == whole


@FEW
@given(CACHED, NEW, CAPS, CAPS)
def test_a_wider_window_never_has_fewer_pairs(cached: int, new: int, cap: int, more: int) -> None:
    assert capped_pairs(cached, new, cap) <= capped_pairs(cached, new, cap + more)
    assert capped_pairs(cached, new, cap) <= new * cap


@FEW
@given(CACHED, CAPS)
def test_no_token_has_no_pair(cached: int, cap: int) -> None:
    assert capped_pairs(cached, 0, cap) == 0


def test_cutting_the_whole_context_once_would_count_too_much() -> None:
    # 200 tokens on nothing under a window of 128: the first 128 see less than the window
    assert capped_pairs(0, 200, 128) == 128 * 129 // 2 + 72 * 128 < 200 * 128


def test_pairs_of_the_longest_contexts_are_exact() -> None:
    assert capped_pairs(2**20, 2**20, UNCAPPED) == 2**40 + 2**19 * (2**20 + 1)


# ---- the row of a rank


@FEW
@given(LISTS, LISTS)
def test_rows_of_two_batches_add_up(one: list[Item], other: list[Item]) -> None:
    together = batch_row([*one, *other], (128,))
    assert np.array_equal(together, batch_row(one, (128,)) + batch_row(other, (128,)))


@FEW
@given(LISTS)
def test_the_order_of_sequences_does_not_matter(items: list[Item]) -> None:
    assert np.array_equal(batch_row(items, (128,)), batch_row(items[::-1], (128,)))


@FEW
@given(LISTS)
def test_tokens_are_those_that_decode_and_those_of_prompts(items: list[Item]) -> None:
    row = batch_row(items, ())
    assert row[TOKENS] == row[DECODE] + row[PREFILL] == sum(item.new for item in items)
    assert row[SAMPLED] == sum(item.sampled for item in items)


@FEW
@given(LISTS)
def test_a_cap_beyond_every_context_changes_nothing(items: list[Item]) -> None:
    row = batch_row(items, (10**9,))
    for what in (DECODE_READS, PREFILL_PAIRS, PREFILL_READS):
        assert row[column(0, what)] == row[column(1, what)]


@FEW
@given(LISTS, CAPS)
def test_windows_never_see_more_than_the_whole(items: list[Item], cap: int) -> None:
    row = batch_row(items, (cap,))
    for what in (DECODE_READS, PREFILL_PAIRS, PREFILL_READS):
        assert row[column(1, what)] <= row[column(0, what)]


@FEW
@given(st.integers(0, 10**6), CAPS)
def test_a_decoding_sequence_reads_its_context_and_itself(context: int, cap: int) -> None:
    row = batch_row([decoding(context)], (cap,))
    assert row[column(0, DECODE_READS)] == context + 1
    assert row[column(1, DECODE_READS)] == min(context + 1, cap)
    assert row[column(0, PREFILL_PAIRS)] == row[column(0, PREFILL_READS)] == 0


@FEW
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_a_verified_sequence_counts_once_and_its_tokens_see_the_mean(
    context: int, new: int
) -> None:
    row = batch_row([Item(context, new, prefill=False, sampled=True)], (128,))
    assert row[[TOKENS, DECODE, PREFILL, SAMPLED]].tolist() == [new, 1, 0, new]
    seen = [context + place for place in range(1, new + 1)]
    assert row[column(0, DECODE_READS)] * new == sum(seen)
    window = sum(min(each, 128) for each in seen) / new
    assert 0 <= window - row[column(1, DECODE_READS)] <= (new - 1) / 2


@FEW
@given(CACHED, st.integers(1, 300), CAPS)
def test_a_chunk_reads_what_was_cached_and_itself(cached: int, new: int, cap: int) -> None:
    row = batch_row([chunk(cached, new)], (cap,))
    assert row[column(0, PREFILL_READS)] == cached + new
    assert row[column(1, PREFILL_READS)] == min(cached, cap) + new
    assert row[column(0, PREFILL_PAIRS)] == capped_pairs(cached, new, UNCAPPED)
    assert row[column(1, PREFILL_PAIRS)] == capped_pairs(cached, new, cap)
    assert row[DECODE] == row[column(0, DECODE_READS)] == 0


def test_a_small_batch_by_hand() -> None:
    row = batch_row([decoding(9), decoding(199), chunk(100, 50, last=False)], (128,))
    assert row[[TOKENS, DECODE, PREFILL, SAMPLED]].tolist() == [52, 2, 50, 2]
    full, window = row[column(0, 0) : column(1, 0)], row[column(1, 0) :]
    assert full.tolist() == [10 + 200, 100 * 50 + 1275, 150]
    # the chunk's first 28 tokens see 101 to 128, the other 22 see the window
    assert window.tolist() == [10 + 128, 100 * 28 + 406 + 22 * 128, 150]


def test_nobody_makes_a_row_of_zeros() -> None:
    assert not batch_row([], (128,)).any()


# ---- columns


@pytest.mark.parametrize(("caps", "many"), [((), 7), ((128,), 10), ((128, 2048), 13)])
def test_each_cap_adds_three_columns(caps: tuple[int, ...], many: int) -> None:
    assert columns(caps) == many == len(batch_row([], caps))


def test_columns_do_not_overlap() -> None:
    places = [TOKENS, DECODE, PREFILL, SAMPLED]
    places += [
        column(cap, what)
        for cap in range(3)
        for what in (DECODE_READS, PREFILL_PAIRS, PREFILL_READS)
    ]
    assert sorted(places) == list(range(columns((128, 2048))))


# ---- growth


@FEW
@given(st.lists(st.integers(128, 10**5).map(decoding), max_size=12), st.integers(0, 1000))
def test_a_decode_batch_grows_as_its_growth_says(items: list[Item], step: int) -> None:
    caps = (128,)
    later = [replace(item, cached=item.cached + step) for item in items]
    growth = growth_row(len(items), caps)
    assert np.array_equal(batch_row(later, caps), batch_row(items, caps) + step * growth)


def test_only_full_contexts_grow() -> None:
    growth = growth_row(7, (128,))
    assert growth[column(0, DECODE_READS)] == growth.sum() == 7


def test_a_window_that_is_not_full_yet_still_grows() -> None:
    # growth_row takes windows to be full: whoever uses it must stop where one fills up
    before, after = (batch_row([decoding(context)], (128,)) for context in (100, 101))
    assert (after - before)[column(1, DECODE_READS)] == 1
    assert growth_row(1, (128,))[column(1, DECODE_READS)] == 0
