"""Loads of experts: slots are conserved, skew concentrates, names are checked."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.cost.tables.expert_loads import BLOCK, busiest, skew
from jalapeno.errors import BadTable

RANKS = st.sampled_from([1, 2, 4, 8, 16])
EXPONENTS = st.sampled_from([0.0, 1.0, 1.01, 1.2, 1.9])


@given(st.integers(1, 20000), st.integers(1, 8))
def test_one_rank_has_all_slots_but_those_above_a_slot_a_token(tokens: int, top_k: int) -> None:
    slots, touched, blocks = busiest(0.0, tokens, 64, top_k, 1)
    assert slots == tokens * top_k
    assert touched == min(64, slots)
    assert blocks * BLOCK >= slots


@settings(deadline=None)
@given(EXPONENTS, st.integers(1, 20000), RANKS)
def test_the_busiest_rank_has_the_mean_at_least(exponent: float, tokens: int, ranks: int) -> None:
    slots, touched, blocks = busiest(exponent, tokens, 64, 4, ranks)
    assert tokens * 4 / ranks * (1 - 1e-9) <= slots <= tokens * 4 * (1 + 1e-9)
    assert 0.0 < touched <= 64 / ranks
    assert blocks >= touched * (1 - 1e-9)


@settings(deadline=None)
@given(EXPONENTS, st.integers(1, 20000))
def test_on_one_rank_no_slot_is_lost(exponent: float, tokens: int) -> None:
    assert busiest(exponent, tokens, 64, 4, 1)[0] == pytest.approx(tokens * 4)


@settings(deadline=None)
@given(EXPONENTS, st.integers(1, 10000), RANKS)
def test_more_tokens_touch_no_fewer_experts(exponent: float, tokens: int, ranks: int) -> None:
    fewer, more = (busiest(exponent, count, 64, 4, ranks)[1] for count in (tokens, 2 * tokens))
    # a steeper law leaves its least popular experts out a little more: its top grows with tokens
    assert more >= 0.9 * fewer


@settings(deadline=None)
@given(st.integers(64, 10000), st.sampled_from([2, 4, 8, 16]))
def test_skew_loads_the_busiest_rank_more(tokens: int, ranks: int) -> None:
    even = busiest(0.0, tokens, 64, 4, ranks)[0]
    assert busiest(1.2, tokens, 64, 4, ranks)[0] > even


def test_equal_questions_have_equal_answers() -> None:
    busiest.cache_clear()
    first = busiest(1.2, 100, 64, 4, 8)
    busiest.cache_clear()
    assert busiest(1.2, 100, 64, 4, 8) == first


@pytest.mark.parametrize(
    ("name", "exponent"),
    [("balanced", 0.0), ("power_law_1.01", 1.01), ("power_law_1.2_eplb", 1.2)],
)
def test_distributions_are_read_from_their_names(name: str, exponent: float) -> None:
    assert skew(name) == exponent


@pytest.mark.parametrize("name", ["", "uniform", "power_law", "power_law_x", "power_law_-1"])
def test_an_unknown_distribution_names_the_known_ones(name: str) -> None:
    with pytest.raises(BadTable, match=r"known are 'balanced' and 'power_law_<exponent>'"):
        skew(name)
