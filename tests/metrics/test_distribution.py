"""Mean, percentiles and ends; sums that do not overflow; nothing is undefined by a number."""

from __future__ import annotations

import math
from dataclasses import astuple
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.metrics.distribution import (
    UNDEFINED,
    Distribution,
    distribution,
    exact_dot,
    milliseconds,
    ratio,
)

samples = st.lists(st.floats(0.0, 1e9), min_size=1, max_size=50)


def test_percentiles_are_interpolated_between_order_statistics() -> None:
    # five samples: p90 stands at 0.9 x 4 = 3.6, six tenths of the way from 4 to 5
    of_five = distribution(np.array([5.0, 1.0, 4.0, 2.0, 3.0]))
    assert of_five.median == 3.0
    assert of_five.p90 == pytest.approx(4.6)
    assert of_five.p95 == pytest.approx(4.8)
    assert of_five.p99 == pytest.approx(4.96)
    assert of_five.p999 == pytest.approx(4.996)


def test_mean_and_ends_are_those_of_the_samples() -> None:
    of_three = distribution(np.array([4.0, 1.0, 1.0]))
    assert (of_three.mean, of_three.min, of_three.max) == (2.0, 1.0, 4.0)


def test_one_sample_is_all_of_its_distribution() -> None:
    assert set(astuple(distribution(np.array([7.0])))) == {7.0}


@given(samples)
def test_a_distribution_is_in_order(values: list[float]) -> None:
    d = distribution(np.array(values))
    ordered = [d.min, d.median, d.p90, d.p95, d.p99, d.p999, d.max]
    assert all(a <= b * (1 + 1e-12) for a, b in pairwise(ordered))
    assert d.min <= d.mean * (1 + 1e-12)
    assert d.mean <= d.max * (1 + 1e-12)


@given(samples, st.floats(0.1, 10.0))
def test_a_change_of_unit_changes_every_number_alike(values: list[float], factor: float) -> None:
    before, after = distribution(np.array(values)), distribution(np.array(values) * factor)
    assert astuple(after) == pytest.approx(tuple(factor * x for x in astuple(before)), rel=1e-9)


def test_no_samples_have_no_distribution() -> None:
    assert distribution(np.array([])) is UNDEFINED
    assert all(math.isnan(number) for number in astuple(UNDEFINED))


def test_a_distribution_is_made_of_plain_floats() -> None:
    assert {type(number) for number in astuple(distribution(np.array([1.0, 2.0])))} == {float}


def test_percentiles_go_into_the_fields_of_their_names() -> None:
    d = Distribution.of(1.0, [50, 90, 95, 99, 99.9], (0.0, 100.0))
    assert (d.median, d.p90, d.p95, d.p99, d.p999) == (50.0, 90.0, 95.0, 99.0, 99.9)


def test_a_thousand_million_picoseconds_are_a_millisecond() -> None:
    assert milliseconds(np.array([10**9, 5 * 10**8])).tolist() == [1.0, 0.5]


def test_nothing_over_nothing_is_undefined_and_not_an_error() -> None:
    assert math.isnan(ratio(1.0, 0.0))
    assert math.isnan(ratio(0.0, 0))
    assert ratio(3, 2) == 1.5


def test_the_undefined_stays_undefined_when_divided() -> None:
    assert math.isnan(ratio(1.0, math.nan))
    assert math.isnan(ratio(math.nan, 1.0))


@given(st.lists(st.tuples(st.integers(0, 2**20), st.integers(-(2**62), 2**62)), max_size=30))
def test_a_sum_of_products_is_exact_beyond_64_bits(terms: list[tuple[int, int]]) -> None:
    counts = np.array([count for count, _ in terms], dtype=np.int64)
    times = np.array([time for _, time in terms], dtype=np.int64)
    assert exact_dot(counts, times) == sum(count * time for count, time in terms)


def test_a_million_long_answers_do_not_overflow() -> None:
    # a million answers of 10 s each are 1e19 ps; int64 ends at 9.2e18
    times = np.full(1_000_000, 10**13, dtype=np.int64)
    assert exact_dot(np.ones(1_000_000, dtype=np.int64), times) == 10**19
