"""The short list: what the closed form makes of limits on percentiles."""

from __future__ import annotations

from functools import partial

import pytest

from jalapeno.analysis.demand import Demand
from jalapeno.analysis.shortlist import BUDGETS, FINE, Prospect, prospects, ranked
from jalapeno.analysis.trial import bench, best_of, highest
from jalapeno.errors import DoesNotFit
from tests.analysis.sizings import CHIPS, slo, small

LIMITS = slo(ttft=1000, tbt=8)


def hopeful() -> list[Prospect]:
    return prospects(small(), LIMITS, CHIPS)[0]


def test_every_layout_and_budget_is_looked_at_once() -> None:
    found, others = prospects(small(), LIMITS, CHIPS)
    labels = [(one.plan.label, one.plan.max_tokens) for one in [*found, *others]]
    assert len(set(labels)) == len(labels)
    assert {budget for _, budget in labels} == set(BUDGETS)
    assert {one.plan.chips for one in found} == set(CHIPS)


def test_those_that_meet_the_limits_are_kept_apart() -> None:
    found, others = prospects(small(), slo(ttft=1000, tbt=1.0), CHIPS)
    assert all(one.strain <= 1.0 for one in found)
    assert others
    assert all(one.strain > 1.0 and one.in_flight == 1 for one in others)


def test_a_tighter_limit_never_lets_a_plan_bear_more() -> None:
    wide = {one.label: one.in_flight for one in hopeful()}
    tight = prospects(small(), slo(ttft=700, tbt=6), CHIPS)[0]
    assert tight
    assert all(one.in_flight <= FINE * wide[one.label] for one in tight)
    assert any(one.in_flight < wide[one.label] for one in tight)


def test_a_higher_percentile_never_lets_a_plan_bear_more() -> None:
    half = {one.label: one.in_flight for one in prospects(small(), slo(50.0, tbt=6), CHIPS)[0]}
    rare = prospects(small(), slo(99.9, tbt=6), CHIPS)[0]
    assert all(one.in_flight <= half[one.label] for one in rare)
    assert any(one.in_flight < half[one.label] for one in rare)


def test_plans_have_slots_for_more_than_the_mean_and_budget_for_their_slots() -> None:
    for one in hopeful():
        assert one.plan.max_running * one.plan.ranks >= one.in_flight
        assert one.plan.max_running < one.plan.max_tokens


def test_expectations_are_near_what_a_simulation_finds() -> None:
    listed = ranked(hopeful(), Demand(rate=300.0), 4, 1)
    where = bench(small(), Demand(rate=300.0), LIMITS, listed[0])
    for one in listed:
        best = best_of(highest(partial(where.trial, one, 1), one.requests_per_s))
        assert best is not None
        assert best.rate == pytest.approx(one.requests_per_s, rel=0.5)


def test_the_fewest_chips_come_first() -> None:
    demand = Demand(rate=300.0)
    listed = ranked(hopeful(), demand, 20, 2)
    chips = [one.chips_for(demand, one.requests_per_s) for one in listed]
    assert chips == sorted(chips)
    assert max(sum(a.plan.label == b.plan.label for a in listed) for b in listed) == 2


def test_a_list_is_as_short_as_asked() -> None:
    assert len(ranked(hopeful(), Demand(rate=300.0), 3, 2)) == 3


def test_spares_make_small_replicas_more_attractive() -> None:
    def first(spare: int) -> int:
        return ranked(hopeful(), Demand(rate=300.0, spare=spare), 1, 1)[0].plan.chips

    assert first(10) < first(0)


def test_a_model_that_fits_no_replica_is_refused() -> None:
    with pytest.raises(DoesNotFit, match="does not fit"):
        prospects(small("b200-hgx"), LIMITS, (512, 1024))
