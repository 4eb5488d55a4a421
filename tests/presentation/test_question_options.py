"""Options of searches: what they mean, and what is refused."""

from __future__ import annotations

import pytest

from jalapeno.analysis.objectives import Per
from jalapeno.errors import UsageError
from jalapeno.presentation.question_options import (
    DENOMINATORS,
    LimitOptions,
    SpaceOptions,
    WorkOptions,
    per_named,
    precision_named,
    speeds_of,
)

STACKS = [("jalapeno-rack", "jalapeno-engine"), ("gb200-nvl72", "tensorrt-llm")]


def test_denominators_are_those_of_the_analysis() -> None:
    assert tuple(per.value for per in Per) == DENOMINATORS
    assert per_named("all-in") is Per.ALL_IN
    with pytest.raises(UsageError, match="--per watt: there are chip, tdp, package"):
        per_named("watt")


def test_chips_are_numbers_with_commas() -> None:
    assert SpaceOptions(chips="1,2, 8").counts() == (1, 2, 8)
    assert SpaceOptions().counts() == ()


@pytest.mark.parametrize("text", ["", "a", "1,,2", "1.5", "0", "4,-1"])
def test_other_chips_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--chips"):
        SpaceOptions(chips=text).counts()


def test_chips_are_said_once() -> None:
    with pytest.raises(UsageError, match="say the same thing in two ways"):
        SpaceOptions(chips="1", up_to=8).counts()


def test_work_is_as_inferencex_has_it() -> None:
    lengths = WorkOptions(isl=2048, osl=64).lengths()
    assert (lengths.isl, lengths.osl, lengths.ratio, lengths.seed) == (2048, 64, 0.8, 0)


def test_limits_are_those_that_are_given() -> None:
    given = LimitOptions(ttft=2000.0, e2e=9.0, percentile="99", speed=60.0)
    assert [limit.label for limit in given.limits()] == [
        "P99 TTFT at most 2,000 ms",
        "P99 E2E at most 9,000 ms",
        "at least 60 token/s/user (P99 TBT)",
    ]
    assert LimitOptions().limits() == ()
    (tbt,) = LimitOptions(tbt=5.0).limits()
    assert tbt.label == "mean TBT at most 5 ms"


def test_a_percentile_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="of which latency"):
        LimitOptions(percentile="p99").limits()
    with pytest.raises(UsageError, match="no percentile 'p98'"):
        LimitOptions(percentile="p98", tbt=1.0).limits()
    with pytest.raises(UsageError, match="say the same thing in two ways"):
        LimitOptions(tbt=5.0, speed=200.0).limits()


def test_speeds_are_positive() -> None:
    assert speeds_of(None) == ()
    assert speeds_of([60.0, 100.0]) == (60.0, 100.0)
    for wrong in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(UsageError, match="a speed is positive"):
            speeds_of([wrong])


def test_precision_is_each_engine_s_own_or_one_for_all() -> None:
    assert precision_named("as-shipped", STACKS) is None
    equal = precision_named("equal", STACKS)
    assert equal is not None
    assert (equal.experts, equal.attention) == ("mxfp4", "mxfp8")
    eight = precision_named("fp8", STACKS)
    assert eight is not None
    assert eight.experts == eight.head == "fp8"
