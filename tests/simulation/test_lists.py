"""Lists of requests against Python's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.simulation import columns as c
from jalapeno.simulation.lists import append, insert, take_first, take_out
from jalapeno.simulation.state import Integers

MANY = 12
HEAD = 0


def listed(requests: Integers, table: Integers) -> list[int]:
    """All of the list, in order; its tail is the last."""
    found, here = [], int(table[0, HEAD])
    while here != c.NOBODY:
        found.append(here)
        here = int(requests[here, c.NEXT])
    assert not found or table[0, HEAD + 1] == found[-1]
    return found


@given(st.lists(st.tuples(st.sampled_from(("end", "place", "first", "any")), st.integers(0, 11))))
def test_a_list_does_what_a_list_does(moves: list[tuple[str, int]]) -> None:
    requests = np.full((MANY, len(c.REQUEST)), c.NOBODY, dtype=np.int64)
    table = np.full((1, 2), c.NOBODY, dtype=np.int64)
    expected: list[int] = []
    for move, request in moves:
        if move == "end" and request not in expected:
            append(requests, table, 0, HEAD, request)
            expected.append(request)
        elif move == "place" and request not in expected:
            insert(requests, table, 0, HEAD, request)
            later = [at for at, other in enumerate(expected) if other >= request]
            expected.insert(min(later, default=len(expected)), request)
        elif move == "first" and expected:
            assert take_first(requests, table, 0, HEAD) == expected.pop(0)
        elif move == "any" and request in expected:
            take_out(requests, table, 0, HEAD, request)
            expected.remove(request)
        assert listed(requests, table) == expected
