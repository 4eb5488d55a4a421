"""A frontier is of runs, holds what brute force finds, and refuses what lies outside."""

from __future__ import annotations

import pytest

from jalapeno.analysis.frontier import (
    Frontier,
    Iso,
    Space,
    Unreachable,
    frontier,
    plans,
    prospect,
    space_for,
)
from jalapeno.analysis.frontier_choice import promising, short_list, sort_of, spread
from jalapeno.analysis.frontier_points import MOST_REQUESTS, Point, evidence, longest, scenario_for
from jalapeno.analysis.interpolation import pareto_front
from jalapeno.analysis.objectives import Limit, Per, speed_limit
from jalapeno.analysis.subject import subject
from jalapeno.errors import BadScenario, DoesNotFit, OutOfReach, UsageError
from jalapeno.metrics import measure
from jalapeno.simulation import (
    ClosedLoop,
    Lengths,
    LogNormal,
    TraceLengths,
    find_trace,
    simulate,
)
from tests.analysis.fronts import GRID, LENGTHS, MODEL, SPACE, SYSTEMS, asked, looked, made, whole

each_system = pytest.mark.parametrize("system", SYSTEMS)
each_per = pytest.mark.parametrize("per", Per)


def rated(found: Frontier, per: Per) -> list[tuple[float, float]]:
    return [(point.speed, found.bench.rate(per, point).value) for point in found.front(per)]


# ---- points


def test_a_point_is_the_run_of_its_scenario() -> None:
    point = made().points[1]
    report = measure(simulate(point.scenario))
    assert report.digest == point.report.digest
    assert report.latency == point.report.latency
    assert point.speed == report.latency.mean_tokens_per_s_per_user
    assert point.chips == sum(pool.chips for pool in point.scenario.pools)


def test_runs_are_closed_loops_of_ten_requests_a_slot() -> None:
    for point in made().points:
        traffic = point.scenario.traffic
        assert isinstance(traffic.arrivals, ClosedLoop)
        assert traffic.requests == 10 * traffic.arrivals.concurrency
        assert traffic.lengths == LENGTHS
        assert point.requests_per_slot == 10.0


def test_a_long_run_is_capped_and_knows_it() -> None:
    option = looked().options[0].at(8192, 512)
    scenario = scenario_for(asked(), option)
    assert scenario.traffic.requests == MOST_REQUESTS
    assert scenario_for(asked(), option.at(100_000, 512)).traffic.requests == 100_000


def test_a_bench_plays_each_option_once() -> None:
    found = looked()
    told: list[int] = []
    few = found.options[:3]
    points = found.bench.play(few, lambda stage, done, total: told.append(total))
    again = found.bench.play([*few, few[0]], lambda stage, done, total: told.append(total))
    assert told == [3, 3, 3]
    assert [id(point) for point in again] == [id(point) for point in (*points, points[0])]


def test_an_option_at_another_load_has_slots_for_it() -> None:
    option = looked().options[-1]
    other = option.at(30, 700)
    plan = other.pools[0].plan
    assert other.concurrency == 30
    assert plan.max_running == -(-30 // plan.ranks)
    assert plan.max_tokens - plan.max_running == other.chunk == 700
    assert other.cut == option.cut


# ---- the front


@each_per
def test_no_point_beats_the_front(per: Per) -> None:
    found = made()
    everything = [(point.speed, found.bench.rate(per, point).value) for point in found.points]
    front = rated(found, per)
    assert front == list(pareto_front(everything, lambda one: one[0], lambda one: one[1]))


@each_system
@each_per
def test_it_comes_near_brute_force(system: str, per: Per) -> None:
    """Wherever every option played out has a front, ours is at most a tenth below."""
    ours, best = made(system), whole(system)
    for point in best.front(per):
        beaten = best.bench.rate(per, point).value
        reached = [
            ours.bench.rate(per, other).value
            for other in ours.points
            if other.speed >= 0.95 * point.speed
        ]
        assert max(reached, default=0.0) >= 0.9 * beaten, (point.label, point.speed)


@each_system
def test_both_ends_are_those_of_brute_force(system: str) -> None:
    ours, best = made(system), whole(system)
    assert ours.front(Per.CHIP)[-1].speed >= 0.98 * best.front(Per.CHIP)[-1].speed
    for per in Per:
        peak = best.bench.rate(per, best.peak(per)).value
        assert ours.bench.rate(per, ours.peak(per)).value >= 0.98 * peak


def test_evidence_is_the_weakest_of_all_points() -> None:
    assert evidence(made().points) == max(point.report.kind for point in made().points)


# ---- at a speed


@each_per
def test_at_a_knot_it_says_what_the_run_says(per: Per) -> None:
    found = made()
    for point in found.front(per):
        read = found.at(per, point.speed)
        assert isinstance(read, Iso)
        assert read.rate.value == pytest.approx(found.bench.rate(per, point).value)
        assert read.tokens_per_s_per_chip == pytest.approx(point.tokens_per_s_per_chip)
        assert read.ttft_ms == pytest.approx(point.report.latency.ttft_ms.mean)
        assert read.e2e_ms == pytest.approx(point.report.latency.e2e_ms.mean)
        assert read.watts_per_chip == pytest.approx(point.watts_per_chip)
        cost = point.report.power.dollars_per_million_tokens
        assert read.dollars_per_million_tokens == pytest.approx(cost)
        assert read.between == (point, point)


def middle(found: Frontier, per: Per) -> float:
    front = found.front(per)
    return 0.5 * (front[0].speed + front[1].speed)


@each_per
def test_between_knots_it_lies_between_them(per: Per) -> None:
    found = made()
    slow, fast = found.front(per)[:2]
    read = found.at(per, middle(found, per))
    assert isinstance(read, Iso)
    rates = sorted(found.bench.rate(per, point).value for point in (slow, fast))
    assert rates[0] <= read.rate.value <= rates[1]
    assert read.between == (slow, fast)
    assert read.rate.value == pytest.approx(found.curve(per)(read.speed))


def test_costs_follow_from_the_rate() -> None:
    found = made()
    read = found.at(Per.DOLLAR, middle(found, Per.DOLLAR))
    assert isinstance(read, Iso)
    assert read.dollars_per_million_tokens == pytest.approx(1.0 / read.rate.value, rel=1e-6)


@each_per
def test_outside_of_the_front_it_is_refused_with_the_range(per: Per) -> None:
    found = made()
    front = found.front(per)
    for speed in (0.99 * front[0].speed, 1.01 * front[-1].speed):
        refused = found.at(per, speed)
        assert isinstance(refused, Unreachable)
        assert (refused.slowest, refused.fastest) == (front[0].speed, front[-1].speed)
        assert "outside of the front" in str(refused)
    assert "slower gains nothing" in str(found.at(per, 0.5 * front[0].speed))


# ---- limits


def test_within_limits_only_runs_that_keep_them_count() -> None:
    limits = (Limit(what="ttft", at="p99", ms=900.0), speed_limit(200.0))
    found = frontier(looked(), limits)
    assert found.points
    for point in found.points:
        assert all(limit.holds(point.report) for limit in limits)
    free = made()
    peak = free.bench.rate(Per.CHIP, free.peak(Per.CHIP)).value
    assert found.bench.rate(Per.CHIP, found.peak(Per.CHIP)).value <= 1.05 * peak


def test_limits_that_nothing_keeps_are_refused_with_the_best() -> None:
    with pytest.raises(OutOfReach, match="the lowest reached is mean TTFT of"):
        frontier(looked(), (Limit(what="ttft", at="mean", ms=1e-3),))


@pytest.mark.parametrize(
    ("lengths", "most"),
    [
        (Lengths(isl=2048, osl=128), 2176),
        (
            LogNormal(
                prompt_mean=500.0,
                prompt_cv=1.0,
                prompt_max=4000,
                output_mean=100.0,
                output_cv=1.0,
                output_max=900,
            ),
            4900,
        ),
    ],
)
def test_no_request_is_longer_than_the_longest(lengths: Lengths | LogNormal, most: int) -> None:
    assert longest(lengths) == most
    prompts, outputs = lengths.draw(5000)
    assert (prompts + outputs).max() <= most


def test_the_longest_of_a_trace_is_one_of_its_rows() -> None:
    trace = find_trace("azure-2023-conv")
    prompts, outputs = TraceLengths(trace=trace).draw(len(trace))
    assert longest(TraceLengths(trace=trace)) == (prompts + outputs).max()


# ---- spaces


def test_a_space_is_of_the_chips_that_are_asked_for() -> None:
    assert space_for(asked(), (4, 2, 4)).chips == (4, 2)
    assert space_for(asked(), up_to=8).chips == (1, 2, 4, 8)
    assert max(space_for(asked()).chips) == 72
    assert max(space_for(asked(), up_to=1000).chips) == 128


def test_long_contexts_are_shared_too() -> None:
    long = subject(MODEL, "jalapeno-rack", lengths=Lengths(isl=65536, osl=128))
    assert space_for(long).ways.contexts == (1, 2, 4, 8)
    assert space_for(asked()).ways.contexts == (1,)


@pytest.mark.parametrize("wrong", [0, -1])
def test_a_worker_has_a_chip(wrong: int) -> None:
    with pytest.raises(UsageError, match="at least one chip"):
        space_for(asked(), up_to=wrong)
    with pytest.raises(UsageError, match="at least one chip"):
        Space(chips=(wrong,))


def test_every_plan_of_the_space_is_asked() -> None:
    assert {plan.chips for plan in plans(asked(), SPACE)} == set(SPACE.chips)


def test_no_possible_plan_says_what_binds() -> None:
    with pytest.raises(DoesNotFit) as caught:
        prospect(asked(model="deepseek-r1"), Space(chips=(1,), grid=GRID))
    assert "no plan of deepseek-r1 on workers of 1 chips of jalapeno-rack is possible" in str(
        caught.value
    )
    assert "1 for memory (such as: deepseek-r1 under TP1 needs" in str(caught.value)


def test_requests_beyond_the_context_window_are_refused() -> None:
    long = subject(MODEL, "jalapeno-rack", lengths=Lengths(isl=131_072, osl=1024))
    with pytest.raises(BadScenario, match="exceed the context window of gpt-oss-120b, 131,072"):
        prospect(long, SPACE)


# ---- the short list


def test_the_short_list_is_on_the_fronts_and_has_their_ends() -> None:
    options = looked().options
    chosen = short_list(options, 3)
    assert len({option.key for option in chosen}) == len(chosen)
    for sort in {sort_of(option) for option in options}:
        own = [option for option in options if sort_of(option) == sort]
        mine = [option for option in chosen if sort_of(option) == sort]
        assert max(o.steady.tokens_per_s_per_chip for o in mine) == max(
            o.steady.tokens_per_s_per_chip for o in own
        )
        assert min(o.steady.tpot for o in mine) == min(o.steady.tpot for o in own)


@pytest.mark.parametrize("points", [2, 3, 5, 100])
def test_a_spread_keeps_order_ends_and_number(points: int) -> None:
    front = pareto_front(
        looked().options,
        lambda one: 1.0 / one.steady.tpot,
        lambda one: one.steady.tokens_per_s_per_chip,
    )
    found = spread(front, points)
    assert len(found) <= points
    assert (found[0], found[-1]) == (front[0], front[-1])
    places = [front.index(option) for option in found]
    assert places == sorted(set(places))


def test_what_is_promising_is_new_and_of_speeds_apart() -> None:
    found = looked()
    points: tuple[Point, ...] = found.bench.play(short_list(found.options, 2))
    chosen = promising(points, found.options, 5)
    assert 0 < len(chosen) <= 5
    for option in chosen:
        assert option.key not in found.bench.points
        assert sort_of(option) in {sort_of(point.option) for point in points}
    assert len({option.steady.tpot for option in chosen}) == len(chosen)


def test_playing_what_is_promising_improves_the_front() -> None:
    found = looked()
    few = found.bench.play(short_list(found.options, 2))
    more = found.bench.play(promising(few, found.options, 5))

    def at_least(speed: float) -> float:
        rates = [point.tokens_per_s_per_chip for point in few if point.speed >= speed]
        return max(rates, default=0.0)

    assert any(point.tokens_per_s_per_chip > 1.02 * at_least(point.speed) for point in more)


def test_where_all_is_played_nothing_is_promising() -> None:
    found = whole()
    assert promising(found.points, found.prospect.options) == ()
