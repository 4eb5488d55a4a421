"""The options of ``jalapeno size``."""

from __future__ import annotations

import pytest

from jalapeno.analysis.demand import Demand
from jalapeno.analysis.slo import Limit, Metric
from jalapeno.errors import UsageError
from jalapeno.presentation.size_options import (
    DemandOptions,
    LimitOptions,
    demand_from,
    lengths_from,
    slo_from,
)
from jalapeno.simulation import Lengths, LogNormal, TraceLengths


def test_the_demand_is_as_asked() -> None:
    options = DemandOptions(rate=5.0, burst=2.0, spare=3)
    assert demand_from(options) == Demand(rate=5.0, burst=2.0, spare=3)


def test_lengths_are_the_published_ones_unless_said_otherwise() -> None:
    assert lengths_from(DemandOptions(rate=1.0)) == Lengths(isl=8192, osl=1024, ratio=0.8)
    given = DemandOptions(rate=1.0, isl=100, osl=10, ratio=1.0)
    assert lengths_from(given) == Lengths(isl=100, osl=10, ratio=1.0)


def test_lengths_may_be_log_normal() -> None:
    texts = ["prompt:mean=1155,cv=1,max=14050", "output:mean=211,cv=0.8,max=1000"]
    found = lengths_from(DemandOptions(rate=1.0, lognormal=texts))
    assert isinstance(found, LogNormal)
    assert found.prompt_mean == 1155.0


def test_lengths_of_a_trace_are_drawn_from_it() -> None:
    found = lengths_from(DemandOptions(rate=1.0, trace="azure-2023-conv"))
    assert isinstance(found, TraceLengths)
    assert found.seed is not None


def test_lengths_in_two_ways_are_refused() -> None:
    with pytest.raises(UsageError, match="in two ways"):
        lengths_from(DemandOptions(rate=1.0, isl=100, trace="azure-2023-conv"))


def test_limits_are_milliseconds_and_seconds() -> None:
    found = slo_from(LimitOptions(ttft=2000.0, tbt=16.7, e2e=20.0, percentile=95.0))
    assert found.limits == (
        Limit(metric=Metric.TTFT, seconds=2.0, percentile=95.0),
        Limit(metric=Metric.TBT, seconds=0.0167, percentile=95.0),
        Limit(metric=Metric.E2E, seconds=20.0, percentile=95.0),
    )


def test_a_speed_is_a_limit_on_tbt() -> None:
    (limit,) = slo_from(LimitOptions(speed=60.0)).limits
    assert (limit.metric, limit.seconds) == (Metric.TBT, 1.0 / 60.0)
    assert limit.percentile == 99.0


def test_speed_and_tbt_together_are_refused() -> None:
    with pytest.raises(UsageError, match="--tbt-ms and --speed say the same thing"):
        slo_from(LimitOptions(tbt=16.7, speed=60.0))


@pytest.mark.parametrize("speed", [0.0, -60.0])
def test_a_speed_is_positive(speed: float) -> None:
    with pytest.raises(UsageError, match="--speed must be positive"):
        slo_from(LimitOptions(speed=speed))


def test_no_limit_is_refused() -> None:
    with pytest.raises(UsageError, match="give a limit at least: --ttft-ms"):
        slo_from(LimitOptions())
