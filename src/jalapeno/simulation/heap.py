"""Small priority queues over int64 arrays: a binary heap of keys, one of pairs, a tournament.

What is removed from the middle of a heap is looked for from its beginning: that is rare.
"""

from __future__ import annotations

from jalapeno.jit import compiled
from jalapeno.simulation.columns import W_EVENT, W_TIME
from jalapeno.simulation.state import Integers


@compiled
def push(heap: Integers, length: int, key: int) -> None:
    """Add *key* to the heap in ``heap[:length]``; the caller counts."""
    at = length
    while at > 0:
        parent = (at - 1) >> 1
        if heap[parent] <= key:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = key


@compiled
def pop(heap: Integers, length: int) -> int:
    """Remove and return the least key of ``heap[:length]``; the caller counts."""
    least = heap[0]
    last = heap[length - 1]
    size = length - 1
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[at] = heap[child]
        at = child
    if size > 0:
        heap[at] = last
    return int(least)


@compiled
def remove(heap: Integers, length: int, at: int) -> None:
    """Remove the key at place *at* of ``heap[:length]``; the caller counts."""
    last = heap[length - 1]
    size = length - 1
    if at == size:
        return
    while at > 0 and heap[(at - 1) >> 1] > last:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last


@compiled
def find(heap: Integers, length: int, bits: int, item: int) -> int:
    """The place in ``heap[:length]`` of the key whose low *bits* are *item*; -1 if none is."""
    mask = (1 << bits) - 1
    for at in range(length):
        if heap[at] & mask == item:
            return at
    return -1


@compiled
def push_pair(heap: Integers, length: int, time: int, item: int) -> None:
    """Add (time, item) to the heap of pairs in ``heap[:length]``; ordered by both."""
    at = length
    while at > 0:
        parent = (at - 1) >> 1
        if heap[parent, 0] < time or (heap[parent, 0] == time and heap[parent, 1] <= item):
            break
        heap[at, 0], heap[at, 1] = heap[parent, 0], heap[parent, 1]
        at = parent
    heap[at, 0], heap[at, 1] = time, item


@compiled
def pop_pair(heap: Integers, length: int) -> int:
    """Remove the least pair of ``heap[:length]`` and return its item."""
    item = heap[0, 1]
    size = length - 1
    time, last = heap[size, 0], heap[size, 1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            heap[right, 0] < heap[child, 0]
            or (heap[right, 0] == heap[child, 0] and heap[right, 1] < heap[child, 1])
        ):
            child = right
        if heap[child, 0] > time or (heap[child, 0] == time and heap[child, 1] >= last):
            break
        heap[at, 0], heap[at, 1] = heap[child, 0], heap[child, 1]
        at = child
    if size > 0:
        heap[at, 0], heap[at, 1] = time, last
    return int(item)


@compiled
def remove_pair(heap: Integers, length: int, item: int) -> None:
    """Remove the pair of *item* from ``heap[:length]``; the caller knows that it is there."""
    at = 0
    while heap[at, 1] != item:
        at += 1
    while at > 0:  # to the top, where it can be popped
        parent = (at - 1) >> 1
        heap[at, 0], heap[at, 1] = heap[parent, 0], heap[parent, 1]
        at = parent
    heap[0, 0], heap[0, 1] = 0, item
    pop_pair(heap, length)


@compiled
def sooner(workers: Integers, a: int, b: int) -> bool:
    """Whether worker *a*'s next event comes before *b*'s: by time, event, number."""
    if workers[a, W_TIME] != workers[b, W_TIME]:
        return bool(workers[a, W_TIME] < workers[b, W_TIME])
    if workers[a, W_EVENT] != workers[b, W_EVENT]:
        return bool(workers[a, W_EVENT] < workers[b, W_EVENT])
    return a < b


@compiled
def replay(tree: Integers, workers: Integers, worker: int) -> None:
    """Play the tournament again from *worker*'s leaf up; ``tree[1]`` is who comes first.

    The tree has as many leaves as half its length; absent workers are -1.
    """
    node = (len(tree) >> 1) + worker
    tree[node] = worker
    while node > 1:
        node >>= 1
        left, right = tree[2 * node], tree[2 * node + 1]
        if right < 0 or (left >= 0 and sooner(workers, left, right)):
            tree[node] = left
        else:
            tree[node] = right
