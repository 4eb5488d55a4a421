"""Saturation, by queues of which theory says whether they keep up."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from jalapeno.metrics import Saturation, measure, saturation
from jalapeno.simulation import ClosedLoop, Poisson, TraceTimes, simulate
from jalapeno.simulation.trace import Trace
from tests.metrics import journals
from tests.metrics.queues import queue, table

SEEDS = range(30)


def judged(requests: pl.DataFrame, rate: float) -> Saturation:
    """The judgement of *requests* that were offered at *rate* a second."""
    found = saturation(requests, Poisson(rate=rate))
    assert found is not None
    return found


def times(count: int, load: float, servers: int = 1, cv: float = 1.0, spread: float = 0.0) -> int:
    """In how many of the runs with different seeds the queue is called saturated."""
    return sum(
        judged(
            queue(count, load, servers=servers, cv=cv, spread=spread, seed=seed), load * servers
        ).saturated
        for seed in SEEDS
    )


# ---- queues that keep up


@pytest.mark.parametrize("servers", [1, 10])
@pytest.mark.parametrize("load", [0.5, 0.8, 0.9])
def test_a_stable_queue_is_not_called_saturated(load: float, servers: int) -> None:
    assert times(4000, load, servers) == 0


def test_a_stable_queue_of_uneven_customers_is_not_called_saturated() -> None:
    assert times(4000, 0.9, servers=10, spread=0.5) == 0


def test_bursts_do_not_saturate_what_keeps_up_with_them() -> None:
    assert times(4000, 0.8, cv=3.0) <= 1


def test_a_queue_at_95_percent_is_hardly_ever_called_saturated() -> None:
    assert times(4000, 0.95) <= 1


@pytest.mark.parametrize("load", [0.5, 0.99, 1.0])
def test_an_even_beat_that_fits_never_saturates(load: float) -> None:
    assert not judged(queue(2000, load, cv=0.0), load).saturated


def test_many_servers_that_fill_once_are_not_saturated() -> None:
    # 300 are in service in the mean: the backlog of a steady state, not of a queue
    assert not judged(queue(6000, 0.6, servers=500, spread=0.3), 300.0).saturated


# ---- queues that do not


@pytest.mark.parametrize(("load", "least"), [(1.05, 30), (1.2, 30), (2.0, 30)])
def test_an_overloaded_queue_is_called_saturated(load: float, least: int) -> None:
    assert times(20_000, load) >= least


def test_a_shorter_run_misses_five_percent_too_much_now_and_then() -> None:
    # growth of 0.05 x 2,000 customers against a random walk's sqrt(2,000)
    assert times(4000, 1.05) >= 20


def test_an_overload_of_ten_servers_is_seen() -> None:
    assert times(20_000, 1.05, servers=10, spread=0.3) == len(SEEDS)


def test_an_even_beat_that_does_not_fit_saturates() -> None:
    assert judged(queue(2000, 1.05, cv=0.0), 1.05).saturated


@pytest.mark.parametrize("load", [1.05, 1.3, 3.0])
@pytest.mark.parametrize("servers", [1, 8])
def test_what_is_sustained_is_what_the_servers_can_do(load: float, servers: int) -> None:
    found = judged(queue(20_000, load, servers=servers, seed=3), load * servers)
    assert found.saturated
    assert found.sustained_per_s == pytest.approx(servers, rel=0.01)


def test_the_backlog_is_what_came_too_much() -> None:
    found = judged(queue(2000, 1.25, cv=0.0), 1.25)
    assert found.backlog_at_end == pytest.approx(2000 * 0.2, abs=2)


def test_what_keeps_up_has_not_shown_what_it_sustains() -> None:
    assert math.isnan(judged(queue(2000, 0.8), 0.8).sustained_per_s)


# ---- runs that cannot tell


def test_a_run_that_ends_before_it_is_settled_says_so() -> None:
    # every customer takes ten seconds, and all have come after eight
    came = np.arange(80, dtype=np.float64) / 10.0
    found = judged(table(came, came, came + 10.0), 10.0)
    assert not found.settled
    assert not found.saturated


def test_a_short_run_in_which_everybody_waits_long_is_saturated_all_the_same() -> None:
    # three times as many as a hundred servers can do come in less than two services
    requests = queue(500, 3.0, servers=100, spread=0.5)
    found = judged(requests, 300.0)
    assert requests["arrival"].to_numpy().max() < 2 * 10**12
    assert found.settled
    assert found.saturated
    assert found.sustained_per_s == pytest.approx(100.0, rel=0.15)


def test_a_crowd_that_comes_at_once_tells_nothing() -> None:
    at_once = np.zeros(50)
    found = judged(table(at_once, np.arange(50.0), np.arange(1.0, 51.0)), 1.0)
    assert not found.settled
    assert not found.saturated
    assert found.backlog_at_end == 50


def test_no_request_at_all_tells_nothing() -> None:
    nothing = np.zeros(0)
    found = judged(table(nothing, nothing, nothing), 1.0)
    assert (found.settled, found.saturated, found.backlog_at_end) == (False, False, 0)


def test_requests_that_are_not_done_stay_in_the_backlog() -> None:
    requests = queue(2000, 1.25, cv=0.0)
    cut = requests.with_columns(
        end=pl.when(pl.col("end") > 1_000 * 10**12).then(-1).otherwise("end")
    )
    assert judged(cut, 1.25).backlog_at_end > judged(requests, 1.25).backlog_at_end


# ---- kinds of arrivals


def test_a_closed_loop_cannot_overload() -> None:
    assert saturation(queue(100, 2.0), ClosedLoop(concurrency=4)) is None


def test_a_closed_loop_s_report_has_no_saturation() -> None:
    report = measure(journals.two_requests())
    assert report.saturation is None
    assert report.as_dict()["saturation"] is None


def test_a_trace_is_offered_at_its_mean_rate() -> None:
    one = np.ones(2, dtype=np.int64)
    trace = Trace(name="beat", sha256="0" * 64, times=one, prompts=one, outputs=one, cached=0 * one)
    found = saturation(queue(2000, 2.0, cv=0.0), TraceTimes(trace=trace))
    assert found is not None
    assert found.offered_per_s == pytest.approx(2.0)
    assert found.saturated


# ---- whole deployments


@pytest.mark.parametrize("pools", ["unified", "split"])
def test_a_deployment_is_judged_whatever_its_pools(pools: str) -> None:
    made = journals.unified(tp=2) if pools == "unified" else journals.split(1, 1)
    base = journals.scenario(made, requests=1500)
    closed = measure(simulate(base)).throughput.requests_per_s

    def at(share: float) -> Saturation | None:
        traffic = replace(base.traffic, arrivals=Poisson(rate=share * closed))
        return measure(simulate(replace(base, traffic=traffic))).saturation

    slow, fast = at(0.5), at(2.5)
    assert slow is not None
    assert fast is not None
    assert (slow.settled, slow.saturated) == (True, False)
    assert (fast.settled, fast.saturated) == (True, True)
    assert closed < 1.2 * fast.sustained_per_s
    assert fast.sustained_per_s < fast.offered_per_s
