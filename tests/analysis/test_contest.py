"""The contest of plans, with replicas whose capacity is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.contest import (
    MOST_REPLICAS,
    SHORT,
    Contender,
    at_a_time,
    challenge,
    contest,
    enter,
    replicas_for,
)
from jalapeno.analysis.demand import Demand
from jalapeno.analysis.shortlist import Prospect
from jalapeno.analysis.size import silent
from jalapeno.analysis.slo import Slo
from jalapeno.analysis.threads import at_once
from jalapeno.analysis.trial import COARSE, Bench, Trial
from jalapeno.errors import DoesNotFit
from jalapeno.mapping import Plan
from tests.analysis.sizings import slo, small


def prospect(chips: int, expected: float, in_flight: int = 1, tokens: int = 512) -> Prospect:
    """A plan of *chips* chips of which the closed form expects so many requests a second."""
    plan = Plan(tp=chips, max_running=1, max_tokens=tokens, precision=small().precision)
    return Prospect(plan=plan, in_flight=in_flight, requests_per_s=expected, strain=1.0)


@dataclass
class Known:
    """A bench that knows what a replica of each number of chips bears, and counts its trials."""

    capacity: dict[int, float]
    demand: Demand = field(default_factory=lambda: Demand(rate=100.0))
    slo: Slo = field(default_factory=lambda: slo(99.0, ttft=1000))
    tried: list[tuple[int, int, float]] = field(default_factory=list)

    def trial(self, one: Prospect, replicas: int, rate: float, seed: int = 0) -> Trial:
        chips = one.plan.chips
        self.tried.append((chips, replicas, rate))
        if chips not in self.capacity:
            raise DoesNotFit("too long a request")
        strain = (rate / replicas / self.capacity[chips]) ** 2
        return Trial(
            replicas=replicas,
            rate=rate,
            requests=1,
            reached=(strain,),
            medians=(strain,),
            strain=math.inf if strain > 1.3 else strain,
            saturation=None,
        )


def played(known: Known, prospects: Sequence[Prospect]) -> list[Contender]:
    return contest(cast(Bench, known), prospects, silent)


def fewest(known: Known, prospects: Sequence[Prospect], loss: float = 1.0) -> int:
    """The slow obvious way: every plan at its capacity, over *loss*."""
    return min(
        (math.ceil(known.demand.rate / known.capacity[one.plan.chips] * loss) + known.demand.spare)
        * one.plan.chips
        for one in prospects
    )


@given(
    capacity=st.fixed_dictionaries({n: st.floats(0.5, 50.0) for n in (1, 2, 4, 8)}),
    wrong=st.lists(st.floats(0.5, 2.0), min_size=4, max_size=4),
    rate=st.floats(1.0, 300.0),
    spare=st.integers(0, 3),
)
def test_the_winner_takes_the_fewest_chips_whatever_the_closed_form_expects(
    capacity: dict[int, float], wrong: list[float], rate: float, spare: int
) -> None:
    known = Known(capacity, Demand(rate=rate, spare=spare))
    prospects = [
        prospect(chips, capacity[chips] * factor)
        for chips, factor in zip(capacity, wrong, strict=True)
    ]
    found = played(known, prospects)
    # a rate is found at most COARSE below the capacity, never above it
    assert fewest(known, prospects) <= found[0].chips
    assert found[0].chips <= fewest(known, prospects, COARSE) + max(capacity)


def test_contenders_are_sorted_and_say_what_they_take() -> None:
    known = Known({1: 3.0, 2: 7.0, 4: 15.0})
    found = played(known, [prospect(1, 3.0), prospect(2, 6.0), prospect(4, 12.0)])
    assert [one.chips for one in found] == sorted(one.chips for one in found)
    for one in found:
        chips = one.prospect.plan.chips
        assert one.chips == math.ceil(100.0 / one.best.per_replica) * chips
        assert one.best.passed


def test_a_plan_that_cannot_win_is_tried_once_or_twice_only() -> None:
    known = Known({1: 10.0, 8: 10.0})
    found = played(known, [prospect(1, 9.0), prospect(1, 9.0), prospect(8, 9.0)])
    assert [one.prospect.plan.chips for one in found] == [1, 1]
    assert sum(chips == 8 for chips, _, _ in known.tried) <= 2


def test_a_plan_whose_cache_cannot_hold_a_request_is_left_out() -> None:
    known = Known({2: 10.0})
    found = played(known, [prospect(1, 10.0), prospect(2, 10.0)])
    assert [one.prospect.plan.chips for one in found] == [2]


def test_nobody_wins_where_nobody_passes() -> None:
    class Never(Known):
        def trial(self, one: Prospect, replicas: int, rate: float, seed: int = 0) -> Trial:
            return replace(super().trial(one, replicas, rate, seed), strain=2.0)

    assert played(Never({1: 1.0}), [prospect(1, 1.0)]) == []
    assert played(Known({}), []) == []


def test_a_replica_too_large_for_the_best_answer_is_not_searched() -> None:
    known = Known({8: 100.0})
    entrant = enter(cast(Bench, known), prospect(8, 100.0))
    assert entrant is not None
    tried = len(known.tried)
    assert challenge(cast(Bench, known), entrant, best=7) is None
    assert len(known.tried) == tried


def test_a_whole_small_fleet_is_tried_and_never_more() -> None:
    known = Known({1: 40.0}, Demand(rate=100.0))
    (found,) = played(known, [prospect(1, 40.0)])
    assert {replicas for _, replicas, _ in known.tried} == {3}
    assert found.chips == 3


@given(st.floats(0.01, 1e4), st.integers(1, 1000))
def test_replicas_serve_the_demand_and_one_fewer_would_not(each: float, count: int) -> None:
    where = cast(Bench, Known({}, Demand(rate=each * count)))
    assert replicas_for(where, each) == count
    assert replicas_for(where, each * 0.999 * count / (count + 1)) > count


@given(st.integers(1, 100), st.integers(1, 5000))
def test_as_many_are_simulated_as_a_run_can_show(replicas: int, in_flight: int) -> None:
    where = cast(Bench, Known({}))
    many = at_a_time(where, prospect(1, 1.0, in_flight), replicas, SHORT)
    assert 1 <= many <= min(replicas, MOST_REPLICAS)
    if many > 1:
        assert where.demand.requests(where.slo, many * in_flight) <= SHORT
    if many < min(replicas, MOST_REPLICAS):
        assert where.demand.requests(where.slo, (many + 1) * in_flight) > SHORT


# ---- threads


def test_work_side_by_side_keeps_its_order() -> None:
    assert at_once(lambda number: number**2, range(100)) == [n**2 for n in range(100)]


def test_what_goes_wrong_beside_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        at_once(lambda number: 1 // number, [1, 0])
