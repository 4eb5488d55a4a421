"""The fleet: verified, and where it breaks and saturates."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jalapeno.analysis import fleet as module
from jalapeno.analysis.contest import Contender
from jalapeno.analysis.fleet import curve, fleet, overload, saturates_per_s
from jalapeno.analysis.size import Sizing
from jalapeno.analysis.trial import OTHER_SEED, Bench, Trial, bench
from tests.analysis.sizings import sized


def where(found: Sizing) -> Bench:
    return bench(found.subject, found.demand, found.slo, found.fleet.prospect)


def hopeful(found: Sizing, factor: float) -> Contender:
    """The winner, believed to bear *factor* times what it does."""
    (winner,) = (one for one in found.contenders if one.prospect == found.fleet.prospect)
    best = replace(winner.best, rate=factor * winner.best.rate)
    return Contender(winner.prospect, (), best, winner.chips)


def test_a_belief_that_is_wrong_is_put_right_by_the_fleet() -> None:
    found = sized(3000.0)
    made = fleet(where(found), hopeful(found, 1.5))
    assert made.verified.passed
    assert made.replicas == pytest.approx(found.fleet.replicas, abs=1)


def test_replicas_are_added_until_the_verification_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = sized(3000.0)
    contender = hopeful(found, 1.5)
    # a search that believes in one and a half times what is true
    monkeypatch.setattr(module, "highest", lambda attempt, guess, seen: (contender.best,))
    made = fleet(where(found), contender)
    assert made.verified.passed
    assert made.replicas > math.ceil(3000.0 / contender.best.per_replica)
    assert made.replicas == pytest.approx(found.fleet.replicas, abs=1)


def test_the_verifying_scenario_can_be_played_again() -> None:
    found = sized()
    again = where(found).trial(
        found.fleet.prospect, found.fleet.simulated, found.fleet.verified.rate, OTHER_SEED
    )
    assert again == found.fleet.verified


def test_a_scaled_rate_is_that_of_as_many_replicas() -> None:
    made = sized(3000.0).fleet
    assert made.scaled(made.verified) == pytest.approx(3000.0)


def test_overload_shows_the_most_that_is_sustained() -> None:
    found = sized()
    lost = overload(where(found), found.fleet)
    assert lost.saturated
    assert lost.rate > found.fleet.breaks_per_s
    assert saturates_per_s(found.fleet, lost) == pytest.approx(found.saturates_per_s)


def test_what_is_sustained_does_not_depend_on_how_much_too_much_comes() -> None:
    found = sized()
    more = where(found).trial(
        found.fleet.prospect, found.fleet.simulated, 2.5 * found.saturates_per_s
    )
    assert saturates_per_s(found.fleet, more) == pytest.approx(found.saturates_per_s, rel=0.05)


def test_a_run_that_keeps_up_does_not_show_what_is_sustained() -> None:
    found = sized()
    assert math.isnan(saturates_per_s(found.fleet, found.fleet.verified))


def test_the_curve_holds_the_search_the_overload_and_more() -> None:
    found = sized()
    lost = overload(where(found), found.fleet)
    points = curve(where(found), found.fleet, lost)
    rates = [point.rate for point in points]
    assert rates == sorted(rates)
    assert lost in points

    def known(trial: Trial) -> bool:
        return trial in points or trial.replicas != found.fleet.simulated

    assert all(known(trial) for trial in found.fleet.trials)
    assert len(points) > len(found.fleet.trials) + 1


def test_latency_never_falls_much_as_demand_grows() -> None:
    points = sized().curve
    for place in range(2):
        worst = 0.0
        for point in points:
            # percentiles of separate runs are known to a few percent
            assert point.reached[place] >= 0.93 * worst
            worst = max(worst, point.reached[place])
