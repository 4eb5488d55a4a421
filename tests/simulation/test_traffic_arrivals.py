"""Arrivals in bursts, in a beat, or when real ones were."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gamma, kstest

from jalapeno.errors import BadScenario
from jalapeno.simulation import ClosedLoop, Gamma, Lengths, Poisson, TraceTimes, Traffic
from jalapeno.simulation.columns import NEVER
from tests.simulation.traces import trace

N = 100_000

Floats = npt.NDArray[np.float64]


def gaps(rate: float, cv: float, seed: int = 3) -> Floats:
    """Gaps in seconds, the one before the first request included."""
    times = Gamma(rate=rate, cv=cv).times(N, seed)
    return np.asarray(np.diff(times, prepend=0) / 1e12)


# ---- gamma


@pytest.mark.parametrize("cv", [0.1, 0.5, 1.0, 2.0, 5.0])
def test_gaps_have_the_stated_mean_and_spread(cv: float) -> None:
    found = gaps(200.0, cv)
    assert found.mean() == pytest.approx(1 / 200, rel=5 * cv / math.sqrt(N))
    # the variance of a gamma sample's variance: kurtosis is 3 + 6 cv^2
    error = 0.5 * math.sqrt((6 * cv * cv + 2) / N) + cv / math.sqrt(N)
    assert found.std() / found.mean() == pytest.approx(cv, rel=5 * error)


@pytest.mark.parametrize("cv", [0.5, 1.0, 2.0])
def test_gaps_are_gamma_distributed(cv: float) -> None:
    shape = 1 / cv**2
    expected = gamma(a=shape, scale=1 / (200.0 * shape))
    assert kstest(gaps(200.0, cv), expected.cdf).pvalue > 0.001


@given(st.floats(1e-2, 1e6), st.integers(1, 100), st.integers(0, 2**64 - 1))
def test_a_cv_of_one_is_poisson_request_by_request(rate: float, count: int, seed: int) -> None:
    ours, theirs = Gamma(rate=rate, cv=1.0), Poisson(rate=rate)
    assert np.abs(ours.times(count, seed) - theirs.times(count, seed)).max() <= 1


@given(st.floats(1e-2, 1e6), st.integers(1, 100))
def test_a_cv_of_zero_is_a_beat(rate: float, count: int) -> None:
    times = Gamma(rate=rate, cv=0.0).times(count, 1)
    assert times == pytest.approx([1e12 * (i + 1) / rate for i in range(count)], abs=1, rel=1e-12)


@given(
    st.floats(1e-2, 1e6),
    st.floats(0.0, 20.0),
    st.integers(1, 50),
    st.integers(0, 50),
    st.integers(0, 2**64 - 1),
)
def test_arrivals_are_in_order_and_a_longer_stream_begins_with_the_shorter(
    rate: float, cv: float, count: int, more: int, seed: int
) -> None:
    stream = Gamma(rate=rate, cv=cv)
    times = stream.times(count + more, seed)
    assert times.dtype == np.int64
    assert times.min() >= 0
    assert (np.diff(times) >= 0).all()
    assert stream.times(count, seed).tolist() == times[:count].tolist()


def test_each_seed_has_a_stream_of_its_own() -> None:
    streams = {tuple(Gamma(rate=5.0, cv=2.0).times(10, seed).tolist()) for seed in range(20)}
    assert len(streams) == 20


@pytest.mark.parametrize("cv", [-0.1, 100.1, math.nan, math.inf])
def test_a_spread_that_is_none_is_refused(cv: float) -> None:
    with pytest.raises(BadScenario, match=rf"^cv of the gaps must be 0 to 100, got {cv}$"):
        Gamma(rate=1.0, cv=cv)


@pytest.mark.parametrize("rate", [0.0, -2.0, math.inf, math.nan])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(BadScenario, match=rf"^rate must be positive and finite, got {rate}$"):
        Gamma(rate=rate, cv=1.0)


@pytest.mark.parametrize("cv", [0.0, 1e-5, 1.0, 100.0])
def test_a_rate_next_to_nothing_outlasts_the_clock(cv: float) -> None:
    with pytest.raises(
        BadScenario, match=r"after \S+ days; the clock ends after 53: raise the rate"
    ):
        Gamma(rate=1e-300, cv=cv).times(1000, 3)


def test_a_speed_next_to_nothing_outlasts_the_clock() -> None:
    with pytest.raises(BadScenario, match=r"after \S+ days; the clock ends after 53"):
        TraceTimes(trace=trace(), speed=1e-300).times(4, 0)


def test_a_stream_that_outlasts_the_clock_is_refused() -> None:
    with pytest.raises(BadScenario, match=r"the clock ends after 53: raise the rate or send fewer"):
        Gamma(rate=1e-5, cv=0.5).times(1000, 0)


# ---- of a trace

SECONDS = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=20).map(sorted)


@given(SECONDS, st.floats(1e-3, 1e3))
def test_times_of_a_trace_are_scaled_exactly(seconds: list[float], speed: float) -> None:
    real = trace(seconds, [1] * len(seconds), [1] * len(seconds))
    stream = TraceTimes(trace=real, speed=speed)
    exact = [Fraction(time) / Fraction(speed) for time in real.times.tolist()]
    if exact[-1] >= NEVER:
        with pytest.raises(BadScenario, match="the clock ends"):
            stream.times(len(seconds), 0)
        return
    times = stream.times(len(seconds), 0)
    assert all(
        abs(time - want) <= Fraction(1, 2) for time, want in zip(times.tolist(), exact, strict=True)
    )
    assert (np.diff(times) >= 0).all()


def test_times_of_a_trace_are_those_of_the_trace_whatever_the_seed() -> None:
    stream = TraceTimes(trace=trace())
    assert stream.times(4, 0).tolist() == trace().times.tolist()
    assert stream.times(3, 9).tolist() == trace().times[:3].tolist()


def test_drawing_times_leaves_the_trace_alone() -> None:
    real = trace()
    times = TraceTimes(trace=real).times(4, 0)
    times += 1
    assert real.times.tolist() == trace().times.tolist()


def test_more_requests_than_there_are_times_are_refused() -> None:
    message = (
        r"^by hand has the times of 4 requests, 5 are asked for: ask for fewer, or give a rate$"
    )
    with pytest.raises(BadScenario, match=message):
        TraceTimes(trace=trace()).times(5, 0)
    with pytest.raises(BadScenario, match=message):
        Traffic(lengths=Lengths(isl=9, osl=9), arrivals=TraceTimes(trace=trace()), requests=5)


@pytest.mark.parametrize("speed", [0.0, -1.0, math.inf, math.nan])
def test_a_speed_that_is_none_is_refused(speed: float) -> None:
    with pytest.raises(BadScenario, match=rf"^speed must be positive and finite, got {speed}$"):
        TraceTimes(trace=trace(), speed=speed)


# ---- words


def test_a_label_says_whether_the_loop_is_open() -> None:
    assert ClosedLoop(concurrency=1000).label == "closed loop, 1,000 in flight"
    assert Poisson(rate=2.5).label == "open loop, 2.5 requests/s at random (Poisson)"
    assert Gamma(rate=2.5, cv=3.0).label == "open loop, 2.5 requests/s, gaps of cv 3 (gamma)"
    assert TraceTimes(trace=trace()).label == "open loop, times of by hand"
    assert TraceTimes(trace=trace(), speed=2.0).label == (
        "open loop, times of by hand sped up 2 times"
    )
