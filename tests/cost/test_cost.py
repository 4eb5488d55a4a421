"""The algebra of costs: then, while, times."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.catalogue import Kind
from jalapeno.cost import PARTS, RESOURCES, Cost
from tests.cost.operators import FEW, WHOLE, total


@st.composite
def costs(draw: st.DrawFn) -> Cost:
    """Costs of one part or of several, of any kind."""
    parts = draw(st.lists(st.tuples(st.sampled_from(PARTS), WHOLE, WHOLE), max_size=3))
    kind = draw(st.sampled_from(Kind))
    cost = Cost(kind=kind)
    for part, seconds, joules in parts:
        cost = cost + Cost.of(part, seconds, joules, kind)
    return cost


def plain(cost: Cost) -> tuple[Any, ...]:
    """What a cost says, with zero and absent entries alike."""
    return (
        cost.seconds,
        cost.joules,
        {name: value for name, value in cost.parts.items() if value},
        {name: value for name, value in cost.busy.items() if value},
        cost.kind,
    )


# ---- then


@FEW
@given(costs(), costs(), costs())
def test_then_does_not_mind_where_the_brackets_are(a: Cost, b: Cost, c: Cost) -> None:
    assert plain((a + b) + c) == plain(a + (b + c))


@FEW
@given(costs(), costs())
def test_then_costs_the_same_in_either_order(a: Cost, b: Cost) -> None:
    assert plain(a + b) == plain(b + a)


@FEW
@given(costs())
def test_nothing_then_a_is_a(a: Cost) -> None:
    assert plain(Cost() + a) == plain(a)
    assert plain(a + Cost()) == plain(a)


@FEW
@given(costs(), costs())
def test_then_adds_all_that_is_counted(a: Cost, b: Cost) -> None:
    both = a + b
    assert both.seconds == a.seconds + b.seconds
    assert both.joules == a.joules + b.joules
    for name in PARTS:
        assert both.parts.get(name, 0.0) == a.parts.get(name, 0.0) + b.parts.get(name, 0.0)
    for name in RESOURCES:
        assert both.busy.get(name, 0.0) == a.busy.get(name, 0.0) + b.busy.get(name, 0.0)


# ---- while


@FEW
@given(costs(), costs())
def test_while_takes_as_long_as_the_longer(a: Cost, b: Cost) -> None:
    assert (a | b).seconds == max(a.seconds, b.seconds)


@FEW
@given(costs(), costs())
def test_while_exposes_only_the_longer(a: Cost, b: Cost) -> None:
    both = a | b
    assert both.parts == (a if a.seconds >= b.seconds else b).parts


@FEW
@given(costs(), costs())
def test_while_keeps_all_that_was_busy_and_every_joule(a: Cost, b: Cost) -> None:
    both, then = a | b, a + b
    assert both.busy == then.busy
    assert both.joules == then.joules


@FEW
@given(costs(), costs())
def test_while_never_takes_longer_than_then(a: Cost, b: Cost) -> None:
    assert max(a.seconds, b.seconds) <= (a | b).seconds <= (a + b).seconds


@FEW
@given(costs(), costs(), costs())
def test_while_does_not_mind_where_the_brackets_are(a: Cost, b: Cost, c: Cost) -> None:
    assert plain((a | b) | c) == plain(a | (b | c))


@FEW
@given(costs(), costs())
def test_while_takes_as_long_in_either_order(a: Cost, b: Cost) -> None:
    assert (a | b).seconds == (b | a).seconds
    assert (a | b).busy == (b | a).busy


def test_of_two_equal_ones_the_first_is_exposed() -> None:
    matrix, memory = Cost.of("matrix", 2.0), Cost.of("memory", 2.0)
    assert (matrix | memory).parts == {"matrix": 2.0}
    assert (memory | matrix).parts == {"memory": 2.0}


# ---- times


@FEW
@given(costs(), st.integers(0, 12))
def test_times_is_then_again_and_again(a: Cost, times: int) -> None:
    again = Cost(kind=a.kind)
    for _ in range(times):
        again = again + a
    assert plain(a * times) == plain(again)


@FEW
@given(costs(), costs(), st.integers(0, 64))
def test_times_goes_into_the_brackets(a: Cost, b: Cost, times: int) -> None:
    assert plain((a + b) * times) == plain(a * times + b * times)


@FEW
@given(costs())
def test_half_a_cost_twice_is_the_cost(a: Cost) -> None:
    assert plain(a * 0.5 + a * 0.5) == plain(a)


# ---- whatever is done


@FEW
@given(costs(), costs(), costs(), st.integers(0, 9))
def test_parts_add_up_to_the_seconds(a: Cost, b: Cost, c: Cost, times: int) -> None:
    for cost in (a, a + b, a | b, (a | b) + c, (a + b) | c, (a | b) * times + c):
        assert total(cost) == cost.seconds


@FEW
@given(costs(), costs())
def test_a_sum_is_as_weak_as_its_weakest_part(a: Cost, b: Cost) -> None:
    assert (a + b).kind == (a | b).kind == max(a.kind, b.kind)
    assert (a * 3).kind == a.kind


def test_measured_and_guessed_make_guessed() -> None:
    measured = Cost.of("memory", 1.0, kind=Kind.MEASURED)
    guessed = Cost.of("matrix", 1.0, kind=Kind.ASSUMED)
    assert (measured + guessed).kind is Kind.ASSUMED
    assert (measured | guessed).kind is Kind.ASSUMED


# ---- one part


@pytest.mark.parametrize("part", ["matrix", "vector", "memory"])
def test_an_engine_that_is_waited_for_is_busy_all_the_while(part: str) -> None:
    cost = Cost.of(part, 3.0, 4.0, Kind.FITTED)
    assert cost == Cost(3.0, 4.0, {part: 3.0}, {part: 3.0}, Kind.FITTED)


def test_exposed_communication_keeps_the_link_busy() -> None:
    assert Cost.of("communication", 2.0).busy == {"link": 2.0}


@pytest.mark.parametrize("part", ["issue", "imbalance", "throttle"])
def test_waiting_keeps_nothing_busy(part: str) -> None:
    cost = Cost.of(part, 2.0)
    assert cost.parts == {part: 2.0}
    assert cost.busy == {}


def test_nothing_costs_nothing_and_is_certain() -> None:
    assert plain(Cost()) == (0.0, 0.0, {}, {}, Kind.MEASURED)


def test_a_cost_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Cost().seconds = 1.0  # type: ignore[misc]


def test_two_costs_do_not_share_their_tables() -> None:
    long, short = Cost.of("memory", 2.0), Cost.of("matrix", 1.0)
    both = long | short
    assert both.parts is not long.parts


def test_hidden_work_shows_as_busy_and_not_as_time() -> None:
    gemm = Cost.of("memory", 3.0, 30.0) | Cost.of("matrix", 2.0, 20.0) | Cost.of("vector", 1.0)
    step = gemm + Cost.of("issue", 1.0)
    assert step.seconds == 4.0
    assert step.parts == {"memory": 3.0, "issue": 1.0}
    assert step.busy == {"memory": 3.0, "matrix": 2.0, "vector": 1.0}
    assert step.joules == 50.0
