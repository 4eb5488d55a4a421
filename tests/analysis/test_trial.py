"""Trials: the highest rate within limits, by theory where theory knows it."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq

from jalapeno.analysis.demand import Demand
from jalapeno.analysis.shortlist import Prospect
from jalapeno.analysis.slo import Limit, Metric, Slo
from jalapeno.analysis.subject import subject
from jalapeno.analysis.trial import (
    COARSE,
    TOLERANCE,
    Bench,
    Trial,
    bench,
    best_of,
    highest,
)
from jalapeno.mapping import Plan
from jalapeno.simulation import Lengths, simulate

# ---- one server: M/D/1

ISL = 96
LOOSE = Slo(limits=(Limit(metric=Metric.TTFT, seconds=1e3, percentile=90.0),))


@cache
def server(service: float = 1.0) -> Prospect:
    """One slot that takes a prompt of one step and a single token of answer."""
    found = subject("gpt-oss-120b", "jalapeno-rack")
    plan = Plan(max_running=1, max_tokens=128, precision=found.precision)
    # many in flight make runs of 20,000 requests at full load
    return Prospect(plan=plan, in_flight=2000, requests_per_s=1.0 / service, strain=1.0)


def desk(slo: Slo) -> Bench:
    """A bench of one-token answers without a front end."""
    lengths = Lengths(isl=ISL, osl=1, ratio=1.0)
    facts = subject(
        "gpt-oss-120b",
        "jalapeno-rack",
        lengths=lengths,
        overrides={"engine.first_token_delay": "0 s"},
    )
    return bench(facts, Demand(rate=1.0), slo, server())


@cache
def service() -> float:
    """Seconds that a prompt takes."""
    return desk(LOOSE).alone(server()).reached[0]


def waits_at_most(time: float, load: float) -> float:
    """P(W <= time) of M/D/1 with a service of one second (Erlang 1909)."""
    late = np.arange(math.floor(time) + 1) - time
    terms = [
        (load * one) ** k / math.factorial(k) * math.exp(-load * one) for k, one in enumerate(late)
    ]
    return (1.0 - load) * math.fsum(terms)


def tried(where: Bench, many: int, seed: int, rate: float) -> Trial:
    """*many* servers at *rate*."""
    return where.trial(server(service()), many, rate, seed)


@pytest.mark.parametrize(("percentile", "services"), [(90.0, 3.0), (90.0, 6.0), (95.0, 3.0)])
def test_the_highest_rate_of_one_server_is_where_theory_breaks_the_limit(
    percentile: float, services: float
) -> None:
    load = brentq(lambda rho: waits_at_most(services - 1.0, rho) - percentile / 100.0, 0.05, 0.98)
    limit = Limit(metric=Metric.TTFT, seconds=services * service(), percentile=percentile)
    one = desk(Slo(limits=(limit,)))
    found = []
    for seed in range(4):
        trials = highest(partial(tried, one, 1, seed), 0.5 / service())
        best = best_of(trials)
        assert best is not None
        found.append(best.rate * service())
    # a hundredth of sampling, and up to TOLERANCE below what would pass
    assert np.mean(found) == pytest.approx(load, rel=0.02)


def test_a_server_alone_takes_its_service_time_every_time() -> None:
    trial = desk(LOOSE).alone(server())
    assert trial.reached == pytest.approx(trial.medians)
    assert trial.saturation is None
    assert trial.passed


def test_a_rate_beyond_the_service_rate_fails_whatever_the_limit() -> None:
    trial = desk(LOOSE).trial(server(service()), 1, 1.2 / service())
    assert trial.reached[0] < 1e3
    assert trial.saturated
    assert trial.strain == math.inf
    assert not trial.passed


def test_servers_that_share_a_queue_bear_more_each() -> None:
    limit = Limit(metric=Metric.TTFT, seconds=2.0 * service(), percentile=90.0)
    one = desk(Slo(limits=(limit,)))
    rates = []
    for many in (1, 4):
        trials = highest(partial(tried, one, many, 0), many / service() / 2)
        best = best_of(trials)
        assert best is not None
        assert best.replicas == many
        rates.append(best.per_replica)
    assert rates[1] > 1.2 * rates[0]


def test_a_run_is_longer_the_higher_the_rate() -> None:
    one = desk(LOOSE)
    counts = [one.scenario(server(), 1, rate).traffic.requests for rate in (1e-9, 0.5, 1.0, 2.0)]
    assert counts == sorted(counts)
    assert counts[2:] == [20_000, 40_000]


def test_the_same_trial_is_the_same_again() -> None:
    one = desk(LOOSE)
    assert one.trial(server(), 2, 3.0) == one.trial(server(), 2, 3.0)


def test_another_seed_sends_at_other_times() -> None:
    one = desk(LOOSE)
    times = [simulate(one.scenario(server(), 1, 0.01, seed)).requests["arrival"] for seed in (0, 1)]
    assert not times[0].equals(times[1])


# ---- the search


def answer(rate: float, strain: float) -> Trial:
    """A trial of one replica, made by hand."""
    return Trial(
        replicas=1,
        rate=rate,
        requests=1,
        reached=(strain,),
        medians=(strain,),
        strain=strain,
        saturation=None,
    )


@given(
    st.floats(1e-2, 1e2),
    st.floats(0.05, 8.0),
    st.floats(0.3, 3.0),
    st.floats(1.01, 3.0),
    st.sampled_from([TOLERANCE, COARSE]),
)
def test_any_rising_strain_is_crossed_within_tolerance(
    top: float, power: float, guess: float, lost: float, tolerance: float
) -> None:
    def attempt(rate: float) -> Trial:
        return answer(rate, math.inf if rate > lost * top else (rate / top) ** power)

    trials = highest(attempt, guess * top, tolerance=tolerance)
    best = best_of(trials)
    assert best is not None
    assert top / tolerance * (1 - 1e-9) <= best.rate <= top * (1 + 1e-9)
    assert len(trials) <= 25


def test_a_step_from_nothing_to_saturation_is_found_too() -> None:
    trials = highest(lambda rate: answer(rate, 0.0 if rate <= 3.3 else math.inf), 1.0)
    best = best_of(trials)
    assert best is not None
    assert 3.3 / TOLERANCE <= best.rate <= 3.3


def test_trials_already_seen_are_not_made_again() -> None:
    made = []

    def attempt(rate: float) -> Trial:
        made.append(rate)
        return answer(rate, rate / 10.0)

    seen = [attempt(9.9), attempt(10.05)]
    assert highest(attempt, 1.0, seen) == seen
    assert made == [9.9, 10.05]


def test_what_never_passes_is_given_up() -> None:
    trials = highest(lambda rate: answer(rate, 2.0), 1.0)
    assert best_of(trials) is None
    assert len(trials) < 20


@given(st.lists(st.tuples(st.floats(0.1, 10.0), st.floats(0.1, 3.0)), max_size=8))
def test_the_best_trial_is_the_highest_rate_that_passed(pairs: list[tuple[float, float]]) -> None:
    trials = [answer(rate, strain) for rate, strain in pairs]
    passed = [trial.rate for trial in trials if trial.passed]
    assume(passed)
    best = best_of(trials)
    assert best is not None
    assert best.rate == max(passed)
