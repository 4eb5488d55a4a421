"""Ratios with ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.bill import Range
from jalapeno.analysis.claims.verdict import Verdict, judge, quotient
from jalapeno.catalogue import Kind

POSITIVE = st.floats(min_value=1e-3, max_value=1e6)


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    low, value, high = sorted(draw(st.tuples(POSITIVE, POSITIVE, POSITIVE)))
    return Range(value, low, high, draw(st.sampled_from(list(Kind))))


@given(ranges(), ranges(), st.floats(0, 1), st.floats(0, 1))
def test_a_quotient_holds_every_quotient_of_what_it_is_made_of(
    one: Range, other: Range, s: float, t: float
) -> None:
    ratio = quotient(one, other)
    x = one.low + s * (one.high - one.low)
    y = other.low + t * (other.high - other.low)
    assert ratio.low * (1 - 1e-12) <= x / y <= ratio.high * (1 + 1e-12)
    assert ratio.low <= ratio.value <= ratio.high
    assert ratio.kind is max(one.kind, other.kind)


@given(ranges(), POSITIVE)
def test_a_verdict_changes_sides_with_the_quotient(one: Range, threshold: float) -> None:
    verdict = judge(one, threshold)
    turned = Range(1 / one.value, 1 / one.high, 1 / one.low, one.kind)
    opposite = {
        Verdict.SUPPORTED: Verdict.NOT_SUPPORTED,
        Verdict.NOT_SUPPORTED: Verdict.SUPPORTED,
        Verdict.UNDECIDED: Verdict.UNDECIDED,
    }
    if min(abs(one.low / threshold - 1), abs(one.high / threshold - 1)) > 1e-9:
        assert judge(turned, 1 / threshold) is opposite[verdict]


@given(ranges(), POSITIVE, st.floats(1.0, 10.0))
def test_what_supports_much_supports_less(one: Range, threshold: float, factor: float) -> None:
    if judge(one, threshold * factor) is Verdict.SUPPORTED:
        assert judge(one, threshold) is Verdict.SUPPORTED


@given(ranges(), POSITIVE)
def test_a_lower_bound_never_speaks_against(one: Range, threshold: float) -> None:
    assert judge(one, threshold, least=True) is not Verdict.NOT_SUPPORTED


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.01, 1.2, Verdict.SUPPORTED),
        (0.9, 0.99, Verdict.NOT_SUPPORTED),
        (0.9, 1.1, Verdict.UNDECIDED),
        (1.0, 1.2, Verdict.UNDECIDED),
        (0.9, 1.0, Verdict.UNDECIDED),
    ],
)
def test_only_a_whole_range_on_one_side_decides(low: float, high: float, verdict: Verdict) -> None:
    assert judge(Range((low + high) / 2, low, high, Kind.MEASURED)) is verdict
