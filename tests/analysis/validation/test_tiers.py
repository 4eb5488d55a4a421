"""Tiers: found by name, judged against their targets, one as good as another."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.tiers import REGISTRY, Verdict, tier, tiers
from jalapeno.errors import UnknownName


@pytest.mark.parametrize("name", list(REGISTRY))
def test_every_registered_tier_is_there_under_its_name(name: str) -> None:
    found = tier(name)
    assert found.name == name
    assert found.title
    assert found.target
    assert callable(found.run)


def test_tiers_come_in_the_registrys_order_and_all_where_none_is_named() -> None:
    assert [one.name for one in tiers()] == list(REGISTRY)
    assert [one.name for one in tiers(["power", "T2"])] == ["T2", "power"]


def test_an_unknown_tier_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="known: T1, T2, T3, T4, T5, T7, power"):
        tiers(["T2", "T99"])


def verdict(reached: float, *, at_most: bool = True) -> Verdict:
    return Verdict(tier="T", measure="m", target=0.1, reached=reached, at_most=at_most)


@given(st.floats(0.0, 1.0))
def test_a_bound_is_met_on_its_side(reached: float) -> None:
    assert verdict(reached).met == (reached <= 0.1)
    assert verdict(reached, at_most=False).met == (reached >= 0.1)


def test_what_could_not_be_compared_is_a_miss() -> None:
    assert not verdict(math.nan).met
    assert not verdict(math.nan, at_most=False).met
