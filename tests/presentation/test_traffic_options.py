"""Traffic from options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jalapeno.errors import BadScenario, UsageError
from jalapeno.presentation.deployment_arguments import TrafficOptions
from jalapeno.presentation.traffic_options import traffic_from
from jalapeno.simulation import (
    ClosedLoop,
    Gamma,
    Lengths,
    LogNormal,
    Poisson,
    TraceLengths,
    TraceTimes,
    find_trace,
)

AZURE = "azure-2023-conv"
LOGNORMAL = ["prompt:mean=300,cv=1,max=4000", "output:mean=50,cv=0.5,max=400"]


def test_the_published_workload_is_the_default() -> None:
    found = traffic_from(TrafficOptions(closed=64))
    assert found.lengths == Lengths(isl=8192, osl=1024)
    assert found.arrivals == ClosedLoop(concurrency=64)
    assert found.requests == 640  # ten for each in flight, as InferenceX has it


def test_lengths_and_arrivals_are_those_asked_for() -> None:
    found = traffic_from(TrafficOptions(isl=70, osl=9, ratio=0.5, rate=2.5, requests=7, seed=3))
    assert found.lengths == Lengths(isl=70, osl=9, ratio=0.5, seed=3)
    assert (found.arrivals, found.requests) == (Poisson(rate=2.5), 7)
    assert traffic_from(TrafficOptions(rate=2.5, cv=3.0)).arrivals == Gamma(rate=2.5, cv=3.0)
    assert traffic_from(TrafficOptions(rate=2.5)).requests == 1000


def test_log_normal_lengths_are_given_side_by_side() -> None:
    for texts in (LOGNORMAL, LOGNORMAL[::-1]):
        found = traffic_from(TrafficOptions(lognormal=texts, rate=1.0, seed=4))
        assert found.lengths == LogNormal(
            prompt_mean=300.0,
            prompt_cv=1.0,
            prompt_max=4000,
            output_mean=50.0,
            output_cv=0.5,
            output_max=400,
            seed=4,
        )


def test_a_trace_is_its_lengths_and_its_times_and_all_of_it() -> None:
    real = find_trace(AZURE)
    found = traffic_from(TrafficOptions(trace=AZURE))
    assert found.lengths == TraceLengths(trace=real)
    assert (found.arrivals, found.requests) == (TraceTimes(trace=real), 2000)
    fast = traffic_from(TrafficOptions(trace=AZURE, speed=3.0))
    assert fast.arrivals == TraceTimes(trace=real, speed=3.0)


def test_a_trace_s_lengths_may_come_at_another_rate_and_at_random() -> None:
    real = find_trace(AZURE)
    found = traffic_from(TrafficOptions(trace=AZURE, closed=8, requests=5000))
    assert (found.arrivals, found.requests) == (ClosedLoop(concurrency=8), 5000)
    assert found.repeats
    drawn = traffic_from(TrafficOptions(trace=AZURE, resample=True, rate=2.0, seed=5))
    assert drawn.lengths == TraceLengths(trace=real, seed=5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "how do requests come? --closed N in flight, --rate R a second"),
        ({"closed": 1, "rate": 1.0}, "--closed and --rate say the same thing in two ways"),
        ({"closed": 1, "cv": 1.0}, "--cv shapes the gaps of a --rate: give one"),
        ({"closed": 1, "speed": 2.0}, "--speed is of the times of a --trace"),
        ({"trace": AZURE, "rate": 1.0, "speed": 2.0}, "--speed is of the times of a --trace"),
        ({"trace": AZURE, "isl": 9, "rate": 1.0}, "--trace and --isl say the same thing"),
        ({"trace": AZURE, "ratio": 0.5, "rate": 1.0}, "--trace and --ratio say the same thing"),
        ({"lognormal": LOGNORMAL, "osl": 9, "rate": 1.0}, "--lognormal and --osl say the same"),
        ({"trace": AZURE, "lognormal": LOGNORMAL}, "--trace and --lognormal say the same"),
        ({"resample": True, "closed": 1}, "--resample draws from a trace: give --trace"),
        ({"trace": AZURE, "resample": True}, "--resample takes requests out of their order"),
        ({"lognormal": LOGNORMAL[:1], "rate": 1.0}, "--lognormal: give it twice, as in"),
        ({"lognormal": LOGNORMAL[:1] * 2, "rate": 1.0}, "--lognormal: give it twice, as in"),
        (
            {"lognormal": ["prompt:mean=3,cv=1"], "rate": 1.0},
            "--lognormal prompt:mean=3,cv=1: lacks max",
        ),
        (
            {"lognormal": ["prompt:mean=3,cv=1,max=9.5", LOGNORMAL[1]], "rate": 1.0},
            "--lognormal prompt: max: '9.5' is not a whole number",
        ),
        (
            {"lognormal": ["prompt:mean=x,cv=1,max=9", LOGNORMAL[1]], "rate": 1.0},
            "--lognormal prompt: mean: 'x' is not a number",
        ),
        (
            {"lognormal": ["prompt:median=3", LOGNORMAL[1]], "rate": 1.0},
            "--lognormal prompt:median=3: no key 'median'; did you mean 'mean'?",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        traffic_from(TrafficOptions(**options))
    assert str(caught.value).startswith(said)


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadScenario, match=r"no such file, nor a trace of the catalogue"):
        traffic_from(TrafficOptions(trace=str(tmp_path / "absent.csv")))


def test_a_zero_is_a_number_and_not_nothing() -> None:
    with pytest.raises(BadScenario, match="concurrency must be at least 1, got 0"):
        traffic_from(TrafficOptions(closed=0))
    with pytest.raises(BadScenario, match="isl=0"):
        traffic_from(TrafficOptions(isl=0, closed=1))
    with pytest.raises(BadScenario, match="requests must be at least 1, got 0"):
        traffic_from(TrafficOptions(closed=1, requests=0))
