"""Integer time: rounding once, and the closed form of a run of steps."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jalapeno.errors import BadScenario
from jalapeno.simulation.clock import beyond, elapsed, on_clock, round_picoseconds, steps_to_reach
from jalapeno.simulation.columns import LAST, NEVER

firsts = st.integers(1, 10**13)
growths = st.integers(-3, 10**7)
steps = st.integers(0, 20_000)


def never_shrinks_to_nothing(first: int, growth: int, most: int) -> bool:
    return first + growth * most > 0


# ---- rounding


@pytest.mark.parametrize(
    ("seconds", "picoseconds"),
    [
        (0.0, 0),
        (1.0, 10**12),
        (0.27, 270_000_000_000),
        (1.4e-12, 1),
        (1.6e-12, 2),
        (0.5e-12, 0),
        (1.5e-12, 2),
        (2.5e-12, 2),
        (-0.6e-12, -1),
        (106 * 86_400.0, 106 * 86_400 * 10**12),
    ],
)
def test_seconds_become_whole_picoseconds_with_ties_to_even(
    seconds: float, picoseconds: int
) -> None:
    assert round_picoseconds(seconds) == picoseconds


@given(st.floats(-1e6, 1e6))
def test_rounding_is_that_of_python(seconds: float) -> None:
    assert round_picoseconds(seconds) == round(seconds * 1e12)


# ---- the end of the clock


@given(st.floats(0.0, 1e300))
def test_a_time_is_on_the_clock_or_refused(time: float) -> None:
    if time < NEVER:
        assert on_clock(time, "a swap") == round(time)
        return
    with pytest.raises(BadScenario, match=r"^a swap would take \S+ days; the clock ends after 53$"):
        on_clock(time, "a swap")


@given(st.integers(0, LAST), st.floats(0.0, 1e15), st.floats(0.0, 1e12), st.integers(1, 10**9))
def test_steps_that_are_not_beyond_the_clock_end_on_it(
    now: int, first: float, growth: float, many: int
) -> None:
    end = now + 1e12 * (first * many + growth * many * (many - 1) / 2)
    if not beyond(now, first, growth, many):
        assert end < NEVER
        whole = [round_picoseconds(value) for value in (first, growth)]
        assert now + elapsed(whole[0], whole[1], many) <= LAST
    else:
        assert end > 0.99 * NEVER


@pytest.mark.parametrize("first", [float("inf"), float("nan")])
def test_what_is_no_time_is_beyond(first: float) -> None:
    assert beyond(0, first, 0.0, 1)


# ---- a run of steps


@given(firsts, growths, st.integers(0, 300))
def test_a_run_of_steps_lasts_the_sum_of_its_steps(first: int, growth: int, many: int) -> None:
    assert elapsed(first, growth, many) == sum(first + j * growth for j in range(many))


@given(firsts, growths, steps, steps)
def test_a_run_may_be_cut_anywhere(first: int, growth: int, before: int, after: int) -> None:
    whole = elapsed(first, growth, before + after)
    assert whole == elapsed(first, growth, before) + elapsed(first + before * growth, growth, after)


# ---- how many steps reach a time


@given(firsts, growths, st.integers(1, 20_000), st.data())
def test_steps_to_reach_are_the_fewest_that_do(
    first: int, growth: int, most: int, data: st.DataObject
) -> None:
    assume(never_shrinks_to_nothing(first, growth, most))
    span = data.draw(st.integers(0, elapsed(first, growth, most)))
    many = steps_to_reach(first, growth, span)
    assert many >= 1
    assert elapsed(first, growth, many) >= span
    assert many == 1 or elapsed(first, growth, many - 1) < span


@given(firsts, growths, st.integers(1, 20_000))
def test_a_time_on_a_boundary_is_reached_by_the_step_that_ends_there(
    first: int, growth: int, many: int
) -> None:
    assume(never_shrinks_to_nothing(first, growth, many))
    boundary = elapsed(first, growth, many)
    assert steps_to_reach(first, growth, boundary) == many
    assert steps_to_reach(first, growth, boundary + 1) == many + 1


@given(firsts, growths)
def test_a_step_that_has_just_begun_is_finished_all_the_same(first: int, growth: int) -> None:
    assert steps_to_reach(first, growth, 0) == 1
    assert steps_to_reach(first, growth, -5) == 1
