"""Intervals and their scores, against slow references and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jalapeno.analysis.posterior.scores import (
    ENDS,
    Interval,
    interval,
    interval_score,
    log_interval_score,
    score,
    weighted_quantiles,
)
from tests.analysis.posterior.toys import weighted_quantile_slowly

places = st.floats(-100.0, 100.0)
few = arrays(np.float64, st.integers(2, 40), elements=places)


@given(few)
def test_equal_weights_give_hazens_quantiles(draws: np.ndarray) -> None:
    expected = np.quantile(draws, ENDS, method="hazen")
    assert weighted_quantiles(draws, ENDS) == pytest.approx(expected, abs=1e-9)


@given(st.data())
def test_a_quantile_of_weighted_draws_lies_between_those_of_repeated_ones(
    data: st.DataObject,
) -> None:
    draws = np.sort(data.draw(arrays(np.float64, 12, elements=places, unique=True)))
    weights = data.draw(arrays(np.float64, 12, elements=st.integers(1, 5)))
    place = data.draw(st.floats(0.05, 0.95))
    found = weighted_quantiles(draws, [place], np.log(weights))[0]
    # repetition makes steps where weights make slopes: they agree to a neighbouring draw
    repeated = weighted_quantile_slowly(draws, weights, place)
    at = int(np.searchsorted(draws, repeated, side="left"))
    assert draws[max(at - 1, 0)] - 1e-9 <= found <= draws[min(at + 1, 11)] + 1e-9


@given(few, st.floats(0.1, 50.0))
def test_weights_count_only_relative_to_each_other(draws: np.ndarray, factor: float) -> None:
    weights = np.linspace(0.5, 2.0, len(draws))
    one = weighted_quantiles(draws, ENDS, np.log(weights))
    other = weighted_quantiles(draws, ENDS, np.log(factor * weights))
    assert one == pytest.approx(other, abs=1e-9)


@given(few)
def test_the_ends_of_an_interval_are_in_order_and_inside_the_draws(draws: np.ndarray) -> None:
    found = interval(draws)
    ends = [found.low, found.lower, found.median, found.upper, found.high]
    assert ends == sorted(ends)
    assert draws.min() <= found.low <= found.high <= draws.max()


def test_draws_that_weigh_nothing_do_not_count() -> None:
    draws = np.array([1.0, 2.0, 3.0, 1e9])
    with np.errstate(divide="ignore"):
        logs = np.log([1.0, 1.0, 1.0, 0.0])
    assert interval(draws, logs).median == pytest.approx(2.0)


@given(places, places, places)
def test_inside_an_interval_costs_its_width_and_outside_more(
    a: float, b: float, value: float
) -> None:
    low, high = min(a, b), max(a, b)
    found = interval_score(low, high, value)
    if low <= value <= high:
        assert found == high - low
    else:
        distance = max(low - value, value - high)
        assert found == pytest.approx(high - low + 20.0 * distance)


def test_the_true_quantiles_have_the_least_expected_score() -> None:
    values = np.random.default_rng(1).standard_normal(40_000)

    def expected(low: float, high: float) -> float:
        return float(np.mean([interval_score(low, high, value) for value in values[:8000]]))

    best = expected(-1.645, 1.645)
    assert best < expected(-1.2, 1.2)
    assert best < expected(-2.4, 2.4)
    assert best < expected(-1.2, 2.2)


UNIT = Interval(low=1.0, lower=1.5, median=2.0, upper=3.0, high=4.0)


def test_a_score_in_logarithms_knows_no_unit() -> None:
    scaled = Interval(low=1e3, lower=1.5e3, median=2e3, upper=3e3, high=4e3)
    assert log_interval_score(scaled, 5e3) == pytest.approx(log_interval_score(UNIT, 5.0))


def test_a_score_of_several_counts_covers_and_averages() -> None:
    wide = Interval(low=0.5, lower=1.0, median=2.0, upper=4.0, high=8.0)
    found = score([UNIT, UNIT, wide], [2.0, 5.0, 5.0])
    assert (found.count, found.covered) == (3, 2)
    assert found.coverage == pytest.approx(2 / 3)
    assert found.ratio == 4.0
    each = [math.log(4.0), math.log(4.0) + 20.0 * math.log(5.0 / 4.0), math.log(16.0)]
    assert found.interval_score == pytest.approx(sum(each) / 3)


def test_intervals_of_true_quantiles_hold_nine_values_in_ten() -> None:
    generator = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        draws = np.exp(generator.standard_normal(400))
        held += interval(draws).holds(float(np.exp(generator.standard_normal())))
    assert 0.85 <= held / 400 <= 0.95
