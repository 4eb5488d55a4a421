"""A step's value and growth hold for as many steps as it says, and for no more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jalapeno.mapping import OUTPUTS, StepPrice
from jalapeno.mapping.lower import WORKER, lower
from jalapeno.mapping.outputs import FOREVER, steps_until_crossing
from jalapeno.mapping.rates import Rates
from tests.mapping.oracle import joules_of, oracle, parts_of, rank_cost, seconds_of
from tests.mapping.worlds import (
    ALONE,
    FEW,
    TOGETHER,
    WORLDS,
    Sequences,
    World,
    chunk,
    compiled,
    decoding,
    growth_of,
    repeated_chunks,
    rows_of,
    steps,
)

Array = npt.NDArray[np.float64]

LONG = 200_000
"""Steps beyond which no context goes."""


def affine(price: StepPrice, rows: Array, growth: Array, step: int) -> Array:
    """The *step*-th step from now as the first one promises it."""
    first, slope, _ = price.price(rows, growth)
    return np.asarray(first + step * slope)


def actual(price: StepPrice, rows: Array, growth: Array, step: int) -> Array:
    """The *step*-th step from now, priced when it comes."""
    return price.price(rows + step * growth)[0]


def within(hold: int, share: float) -> int:
    """A step while the price holds, by *share* of the time."""
    return int(share * (min(hold, LONG) - 1))


def as_promised(price: StepPrice, rows: Array, growth: Array, share: float) -> None:
    hold = price.price(rows, growth)[2]
    step = within(hold, share)
    promised, priced = affine(price, rows, growth, step), actual(price, rows, growth, step)
    seconds = seconds_of(priced)
    assert seconds_of(promised) == pytest.approx(seconds, rel=1e-9)
    assert joules_of(promised) == pytest.approx(joules_of(priced), rel=1e-9)
    if step < hold - 1:  # in the last one two engines may be level and either may be named
        np.testing.assert_allclose(promised, priced, rtol=1e-9, atol=1e-9 * seconds)


SHARES = st.one_of(st.just(1.0), st.floats(0.0, 1.0))

# ---- while it holds


@settings(max_examples=100)
@given(steps(), SHARES)
def test_a_step_grows_as_promised_while_the_price_holds(
    step: tuple[World, Sequences], share: float
) -> None:
    world, sequences = step
    price = compiled(world)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    as_promised(price, rows, growth, share)


@FEW
@given(steps(), SHARES)
def test_so_it_does_while_equal_chunks_of_a_prompt_follow_each_other(
    step: tuple[World, Sequences], share: float
) -> None:
    world, sequences = step
    price = compiled(world)
    rows, growth = rows_of(sequences, price.caps), repeated_chunks(sequences, price.caps)
    as_promised(price, rows, growth, share)


@FEW
@given(steps(), SHARES)
def test_so_it_does_under_a_power_cap_that_binds(
    step: tuple[World, Sequences], share: float
) -> None:
    world, sequences = step
    cap = "300 W" if world[1] == "jalapeno-rack" else "500 W"
    price = compiled(world, (("chip.power.cap", cap),))
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    as_promised(price, rows, growth, share)


@settings(max_examples=30)
@given(steps(), st.floats(0.0, 1.0))
def test_the_slow_price_grows_the_same_way(step: tuple[World, Sequences], share: float) -> None:
    world, sequences = step
    price = compiled(world)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    at = within(price.price(rows, growth)[2], share)
    promised, slow = affine(price, rows, growth, at), oracle(price, rows + at * growth)
    assert seconds_of(promised) == pytest.approx(slow.seconds, rel=1e-9)
    assert joules_of(promised) == pytest.approx(slow.joules, rel=1e-9)


@FEW
@given(steps())
def test_a_price_never_promises_more_than_comes(step: tuple[World, Sequences]) -> None:
    # a maximum of affine functions is convex: it lies above each of its tangents
    world, sequences = step
    price = compiled(world)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    for at in (1, 100, 10_000, LONG):
        promised, priced = affine(price, rows, growth, at), actual(price, rows, growth, at)
        assert seconds_of(promised) <= seconds_of(priced) * (1 + 1e-9)


@FEW
@given(steps())
def test_a_longer_context_never_makes_a_step_shorter(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    _, slope, _ = price.price(rows_of(sequences, price.caps), growth_of(sequences, price.caps))
    assert seconds_of(slope) >= -1e-20
    assert joules_of(slope) >= 0.0


@FEW
@given(steps())
def test_what_does_not_grow_holds_forever(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    first, slope, hold = price.price(rows_of(sequences, price.caps))
    assert hold == FOREVER
    assert not slope.any()
    assert first.any()


# ---- and no longer


@FEW
@given(steps(worlds=ALONE))
def test_when_the_hold_is_over_something_else_binds(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    hold = price.price(rows, growth)[2]
    if hold == FOREVER:  # nothing binds so soon: rounding alone ends it
        return
    promised = affine(price, rows, growth, hold + 1)
    priced = actual(price, rows, growth, hold + 1)
    assert np.abs(promised - priced)[:-1].max() > 1e-12 * seconds_of(priced)


def knots(price: StepPrice, rows: Array, growth: Array) -> list[int]:
    """The steps at which a hold is over, each counted from the one before."""
    found = [0]
    while found[-1] < LONG:
        found.append(found[-1] + price.price(rows + found[-1] * growth, growth)[2])
    return found


def first(true: Callable[[int], bool]) -> int:
    """The first step at which something is *true*, as it stays from then on; by halving."""
    low, high = 0, LONG
    assert true(high)
    assert not true(low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if true(middle) else (middle, high)
    return high


def at_a_knot(price: StepPrice, rows: Array, growth: Array, true: Callable[[int], bool]) -> bool:
    """Whether a hold ends when something becomes *true*."""
    change = first(true)
    return any(abs(knot - change) <= 1 for knot in knots(price, rows, growth))


@FEW
@given(steps())
def test_no_promise_breaks_before_its_hold_is_over(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)

    def broken(at: int) -> bool:
        promised = seconds_of(affine(price, rows, growth, at))
        return seconds_of(actual(price, rows, growth, at)) > promised * (1 + 1e-9)

    if broken(LONG):
        assert first(broken) >= price.price(rows, growth)[2]


def rank_seconds(price: StepPrice, rows: Array, rank: int) -> float:
    """Seconds of one rank's own work."""
    rates = Rates.of(price.system, price.engine, price.model)
    placed = lower(price.model, price.plan, rates)
    own = [item for item in placed if item.scope != WORKER]
    return rank_cost(own, rows[rank], price.engine).seconds


@pytest.mark.parametrize("world", TOGETHER, ids=str)
def test_a_hold_ends_when_another_rank_becomes_the_slowest(world: World) -> None:
    # two long contexts start ahead and grow by two entries a step; eight short ones grow by eight
    price = compiled(world)
    long, short = (decoding(400_000),) * 2, (decoding(500),) * 8
    sequences = (long, short) * (world[4] // 2)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)

    def overtaken(at: int) -> bool:
        ahead, behind = (rank_seconds(price, rows + at * growth, rank) for rank in (0, 1))
        return behind > ahead

    assert at_a_knot(price, rows, growth, overtaken)


def test_a_hold_ends_when_the_matrix_engine_outgrows_the_cache() -> None:
    # the fixed bytes of a row make memory bind at first, the pairs win in the end
    changes = (("decode_attention_efficiency", "0.3"), ("kv_efficiency", "0.9"))
    price = compiled(("deepseek-r1", "jalapeno-rack", 2, 1, 1), changes)
    rows = rows_of(((decoding(0),),), price.caps)
    growth = growth_of(((decoding(0),),), price.caps)
    at_first = parts_of(price.price(rows)[0])["memory"]

    def outgrown(at: int) -> bool:
        return parts_of(actual(price, rows, growth, at))["memory"] < at_first

    assert at_a_knot(price, rows, growth, outgrown)


def watts(price: StepPrice, rows: Array) -> float:
    """Mean power of the package of one chip."""
    first = price.price(rows)[0]
    return joules_of(first) / seconds_of(first)


def test_a_hold_ends_when_the_power_cap_begins_to_bind_or_ceases_to() -> None:
    world = ("gpt-oss-120b", "gb200-nvl72", 1, 1, 1)
    free = compiled(world)
    sequences: Sequences = ((decoding(500),) * 64,)
    rows, growth = rows_of(sequences, free.caps), growth_of(sequences, free.caps)
    before, after = watts(free, rows), watts(free, rows + LONG * growth)
    price = compiled(world, (("chip.power.cap", f"{(before + after) / 2:.3f} W"),))

    def changed(at: int) -> bool:
        throttle = parts_of(actual(price, rows, growth, at))["throttle"]
        return (throttle > 0.0) == (after > before)

    assert at_a_knot(price, rows, growth, changed)


@FEW
@given(steps(worlds=ALONE))
def test_a_price_asked_again_at_its_end_goes_on_from_there(step: tuple[World, Sequences]) -> None:
    world, sequences = step
    price = compiled(world)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    at, knots = 0, 0
    while at < LONG:
        promised = affine(price, rows, growth, at)
        hold = price.price(rows + at * growth, growth)[2]
        assert seconds_of(actual(price, rows, growth, at)) >= seconds_of(promised) * (1 - 1e-9)
        at += hold
        knots += hold < FOREVER
        assert knots <= 3 * len(price.arrays.ops)


def test_equal_ranks_hold_as_long_as_one() -> None:
    # what the worker as a whole meets is put aside: its power cap, communication that shows
    changes = (("chip.power.cap", "1 MW"), ("overlap", "0"))
    price = compiled(("deepseek-r1", "jalapeno-rack", 1, 8, 8), changes)
    for many in range(1, 40):
        sequences: Sequences = ((decoding(0),) * many,) * 8
        rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
        alone = growth_of(sequences[:1], price.caps)
        hold = price.price(rows, growth)[2]
        assert hold == price.price(rows[:1], alone)[2]
        assert 1 < hold < LONG


def test_equal_ranks_never_wait_for_each_other() -> None:
    price = compiled(("deepseek-r1", "jalapeno-rack", 1, 8, 8), (("imbalance", "1"),))
    for many in range(1, 40):
        sequences: Sequences = ((decoding(5000),) * many,) * 8
        rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
        assert price.price(rows, growth)[2] > 1000


# ---- prompts on a latent


def latent_hold(sequences: Sequences, changes: Sequences | None = None) -> int:
    price = compiled(("deepseek-r1", "jalapeno-rack", 2, 1, 1))
    rows = rows_of(sequences, price.caps)
    return price.price(rows, repeated_chunks(changes or sequences, price.caps))[2]


def test_a_prompt_that_grows_on_a_latent_is_priced_anew_at_every_step() -> None:
    assert latent_hold(((chunk(4096, 64),),)) == 1
    assert latent_hold(((decoding(9000),) * 7 + (chunk(4096, 512),),)) == 1


def test_a_prompt_that_does_not_grow_leaves_the_others_to_grow_for_long() -> None:
    others: Sequences = ((decoding(9000),) * 7,)
    assert latent_hold(((*others[0], chunk(4096, 512)),), others) > 1000


def test_a_prompt_that_grows_on_heads_of_its_own_is_not() -> None:
    price = compiled(("gpt-oss-120b", "jalapeno-rack", 8, 1, 1))
    sequences: Sequences = ((chunk(4096, 64),),)
    rows = rows_of(sequences, price.caps)
    assert price.price(rows, repeated_chunks(sequences, price.caps))[2] > 1


# ---- communication that shows


LINKED = ("gpt-oss-120b", "gb200-nvl72", 16, 1, 1)
"""Few tokens over sixteen chips: more communication could hide than there is work."""


def test_a_hold_ends_when_growing_work_hides_all_that_may_hide() -> None:
    price = compiled(LINKED, (("overlap", "0.9"),))
    sequences: Sequences = ((decoding(100),) * 16,)
    rows, growth = rows_of(sequences, price.caps), growth_of(sequences, price.caps)
    least = 0.1 * price.price(rows)[0][OUTPUTS.index("link")]

    def hidden(at: int) -> bool:
        shown = parts_of(actual(price, rows, growth, at))["communication"]
        return bool(shown <= least * (1 + 1e-12))

    assert at_a_knot(price, rows, growth, hidden)


def test_while_more_could_hide_longer_contexts_cost_nothing() -> None:
    price = compiled(LINKED, (("overlap", "0.9"),))
    sequences: Sequences = ((decoding(100),) * 16,)
    slope = price.price(rows_of(sequences, price.caps), growth_of(sequences, price.caps))[1]
    assert seconds_of(slope) == pytest.approx(0.0, abs=1e-20)
    parts = parts_of(slope)
    assert parts["communication"] < 0.0 < parts["matrix"] + parts["memory"]


# ---- steps to a crossing


@FEW
@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_a_gap_that_closes_is_there_until_it_is_closed(gap: int, closing: int) -> None:
    steps_left = steps_until_crossing(float(gap), float(closing))
    assume(steps_left < FOREVER)
    assert gap - (steps_left - 1) * closing >= 0
    assert gap - steps_left * closing < 0


@FEW
@given(st.floats(0.0, 1e9), st.floats(-1e9, 0.0))
def test_a_gap_that_does_not_close_lasts_forever(gap: float, closing: float) -> None:
    assert steps_until_crossing(gap, closing) == FOREVER


@FEW
@given(st.floats(0.0, 1e9))
def test_a_gap_that_closes_too_slowly_to_matter_lasts_forever(gap: float) -> None:
    assert steps_until_crossing(1e12 + gap, 1.0) == FOREVER


@FEW
@given(st.floats(0.0, 1e9), st.floats(1e-9, 1e9))
def test_a_price_holds_for_one_step_at_least(gap: float, closing: float) -> None:
    assert steps_until_crossing(gap, closing) >= 1


def test_everything_but_fixed_costs_may_grow() -> None:
    price = compiled(WORLDS[0])
    sequences: Sequences = ((decoding(5000),) * 8,)
    _, slope, _ = price.price(rows_of(sequences, price.caps), growth_of(sequences, price.caps))
    named = dict(zip(OUTPUTS[:7], slope[:7].tolist(), strict=True))
    assert named["issue"] == named["communication"] == named["imbalance"] == 0.0
    assert named["matrix"] + named["memory"] + named["vector"] > 0.0


def test_a_chunk_beside_decoding_sequences_does_not_change_how_they_grow() -> None:
    price = compiled(("gpt-oss-120b", "jalapeno-rack", 8, 1, 1))
    alone: Sequences = ((decoding(5000),) * 8,)
    beside: Sequences = ((*alone[0], chunk(1000, 512)),)
    growth = growth_of(alone, price.caps)
    one, other = (price.price(rows_of(each, price.caps), growth)[1] for each in (alone, beside))
    np.testing.assert_array_equal(one, other)
