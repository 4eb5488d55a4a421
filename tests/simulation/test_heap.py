"""Priority queues on arrays, against sorted lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.simulation.columns import NEVER, STEP_END, STEP_START, W_EVENT, W_TIME, WORKER_TABLE
from jalapeno.simulation.heap import (
    find,
    pop,
    pop_pair,
    push,
    push_pair,
    remove,
    remove_pair,
    replay,
    sooner,
)
from jalapeno.simulation.state import Integers, tree_size

keys = st.integers(-(2**62), 2**62)
pairs = st.tuples(st.integers(0, 5) | keys, st.integers(0, 2**28))


def empty(*shape: int) -> Integers:
    return np.zeros(shape, dtype=np.int64)


# ---- keys


@given(st.lists(keys, max_size=60))
def test_what_went_in_comes_out_in_order(put: list[int]) -> None:
    heap = empty(len(put))
    for length, key in enumerate(put):
        push(heap, length, key)
    assert [pop(heap, length) for length in range(len(put), 0, -1)] == sorted(put)


@given(st.lists(keys | st.none(), max_size=80))
def test_pushes_and_pops_may_come_in_any_order(actions: list[int | None]) -> None:
    heap, held = empty(len(actions)), list[int]()
    for key in actions:
        if key is not None:
            push(heap, len(held), key)
            held.append(key)
        elif held:
            held.remove(min(held))
            least = heap[0]
            assert pop(heap, len(held) + 1) == least
        assert not held or heap[0] == min(held)


def test_a_pop_leaves_what_lies_behind_the_heap_alone() -> None:
    heap = np.array([3, 5, 4, 77, 78])
    assert pop(heap, 3) == 3
    assert heap.tolist()[3:] == [77, 78]


# ---- pairs


@given(st.lists(pairs, max_size=60))
def test_pairs_come_out_by_time_and_then_by_item(put: list[tuple[int, int]]) -> None:
    heap = empty(max(1, len(put)), 2)
    for length, (time, item) in enumerate(put):
        push_pair(heap, length, time, item)
        assert tuple(heap[0]) == min(put[: length + 1])
    taken = [pop_pair(heap, length) for length in range(len(put), 0, -1)]
    assert taken == [item for _, item in sorted(put)]


# ---- tournament


def workers_at(*moments: tuple[int, int]) -> Integers:
    """Workers whose next events are these (time, event)."""
    table = empty(len(moments), len(WORKER_TABLE))
    for number, (time, event) in enumerate(moments):
        table[number, W_TIME], table[number, W_EVENT] = time, event
    return table


@pytest.mark.parametrize(
    ("moments", "reason"),
    [
        (((4, STEP_START), (5, STEP_END)), "earlier"),
        (((5, STEP_END), (5, STEP_START)), "an end before a start"),
        (((5, STEP_END), (5, STEP_END)), "the lower number"),
    ],
)
def test_the_first_worker_comes_first(moments: tuple[tuple[int, int], ...], reason: str) -> None:
    table = workers_at(*moments)
    assert sooner(table, 0, 1), reason
    assert not sooner(table, 1, 0), reason


def test_of_two_workers_the_second_may_come_first() -> None:
    assert sooner(workers_at((5, STEP_START), (5, STEP_END)), 1, 0)


moment = st.tuples(st.sampled_from((0, 1, 2, NEVER)), st.sampled_from((STEP_END, STEP_START)))


@given(st.lists(moment, min_size=1, max_size=9), st.data())
def test_the_tournament_knows_who_is_first_after_every_change(
    moments: list[tuple[int, int]], data: st.DataObject
) -> None:
    table = workers_at(*moments)
    tree = np.full(2 * tree_size(len(moments)), -1, dtype=np.int64)
    for worker in range(len(moments)):
        replay(tree, table, worker)
    for _ in range(5):
        assert tree[1] == min((*each, number) for number, each in enumerate(moments))[2]
        worker = data.draw(st.integers(0, len(moments) - 1))
        moments[worker] = data.draw(moment)
        table[worker, W_TIME], table[worker, W_EVENT] = moments[worker]
        replay(tree, table, worker)


@pytest.mark.parametrize(
    ("workers", "leaves"), [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (64, 64), (65, 128)]
)
def test_a_tournament_has_a_power_of_two_of_places(workers: int, leaves: int) -> None:
    assert tree_size(workers) == leaves


# ---- out of the middle

small_keys = st.lists(st.integers(0, 1000), unique=True, min_size=1, max_size=40)


@given(small_keys, st.data())
def test_a_key_taken_out_of_the_middle_leaves_the_others_in_order(
    items: list[int], data: st.DataObject
) -> None:
    heap = np.zeros(len(items), dtype=np.int64)
    for length, key in enumerate(items):
        push(heap, length, key)
    gone = data.draw(st.lists(st.sampled_from(items), unique=True))
    for count, key in enumerate(gone):
        length = len(items) - count
        at = int(np.flatnonzero(heap[:length] == key)[0])
        remove(heap, length, at)
    left = len(items) - len(gone)
    drained = [pop(heap, left - count) for count in range(left)]
    assert drained == sorted(set(items) - set(gone))


@given(small_keys)
def test_an_item_is_found_by_its_low_bits(items: list[int]) -> None:
    heap = np.array([(7 * item << 10) | item for item in items], dtype=np.int64)
    for item in items:
        assert heap[find(heap, len(items), 10, item)] == (7 * item << 10) | item
    assert find(heap, len(items), 10, 1001) == -1
    assert find(heap, 0, 10, items[0]) == -1


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.data())
def test_a_pair_taken_out_leaves_the_others_in_order(times: list[int], data: st.DataObject) -> None:
    heap = np.zeros((len(times), 2), dtype=np.int64)
    for item, time in enumerate(times):
        push_pair(heap, item, time, item)
    gone = data.draw(st.lists(st.integers(0, len(times) - 1), unique=True))
    for count, item in enumerate(gone):
        remove_pair(heap, len(times) - count, item)
    left = len(times) - len(gone)
    drained = [pop_pair(heap, left - count) for count in range(left)]
    expected = sorted((time, item) for item, time in enumerate(times) if item not in gone)
    assert drained == [item for _, item in expected]
