"""Demand: arrivals, and how many requests must be looked at."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.demand import BEYOND, TURNS, Demand
from jalapeno.analysis.slo import CLOSING, WARM
from jalapeno.errors import BadScenario, UsageError
from jalapeno.simulation import Gamma, Poisson
from tests.analysis.sizings import slo


def test_requests_come_at_random_unless_said_otherwise() -> None:
    assert Demand(rate=5.0).arrivals(7.0) == Poisson(rate=7.0)
    assert Demand(rate=5.0, burst=3.0).arrivals(7.0) == Gamma(rate=7.0, cv=3.0)


@given(st.floats(1.0, 99.9), st.floats(0.0, 1e5))
def test_enough_requests_lie_above_the_percentile(percentile: float, in_flight: float) -> None:
    count = Demand(rate=1.0).requests(slo(percentile, ttft=1), in_flight)
    judged = count * (CLOSING - WARM)
    assert judged * (1.0 - percentile / 100.0) >= BEYOND * (1.0 - 1e-9)
    assert count >= TURNS * in_flight


def test_rarer_requests_take_a_longer_run() -> None:
    counts = [Demand(rate=1.0).requests(slo(p, ttft=1), 0.0) for p in (50.0, 90.0, 99.0, 99.9)]
    assert counts == sorted(counts)
    assert counts[2] == math.ceil(2000 / (CLOSING - WARM))


def test_bursts_take_a_longer_run_within_reason() -> None:
    limit = slo(99.0, ttft=1)
    even, bursts, wild = (
        Demand(rate=1.0, burst=burst).requests(limit, 0.0) for burst in (0.5, 1.5, 50.0)
    )
    plain = Demand(rate=1.0).requests(limit, 0.0)
    assert even == plain < bursts < wild <= 4 * plain + 1


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, math.nan])
def test_a_rate_is_positive(rate: float) -> None:
    with pytest.raises(UsageError, match="rate must be positive"):
        Demand(rate=rate)


def test_spares_are_not_negative() -> None:
    with pytest.raises(UsageError, match="spare replicas must be at least 0"):
        Demand(rate=1.0, spare=-1)


def test_a_burst_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(BadScenario, match="cv"):
        Demand(rate=1.0, burst=-2.0)
