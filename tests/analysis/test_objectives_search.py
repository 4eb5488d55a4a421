"""The best within limits is what brute force finds, and keeps them; else the best is told."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from jalapeno.analysis.frontier import Prospect
from jalapeno.analysis.frontier_points import Point
from jalapeno.analysis.objectives import Limit, Per, speed_limit
from jalapeno.analysis.objectives_search import (
    best_within,
    describe,
    expect,
    likely,
    lowest,
)
from jalapeno.errors import OutOfReach
from tests.analysis.fronts import SYSTEMS, looked, whole

TTFT = Limit(what="ttft", at="p99", ms=800.0)
QUESTIONS = {
    "none": (),
    "first token": (TTFT,),
    "speed": (speed_limit(150.0),),
    "both": (TTFT, speed_limit(250.0)),
    "end to end": (Limit(what="e2e", at="p95", ms=1500.0),),
    "tail of tokens": (Limit(what="tbt", at="p99", ms=6.0),),
}
Question = tuple[Limit, ...]


def keeping(points: tuple[Point, ...], limits: Question) -> list[Point]:
    return [point for point in points if all(limit.holds(point.report) for limit in limits)]


@cache
def answered(system: str, name: str, per: Per) -> tuple[Prospect, Point]:
    found = looked(system)
    return found, best_within(found.bench, found.options, QUESTIONS[name], per)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("per", [Per.CHIP, Per.PACKAGE])
def test_the_best_keeps_the_limits_and_is_that_of_brute_force(
    system: str, name: str, per: Per
) -> None:
    limits = QUESTIONS[name]
    found, best = answered(system, name, per)
    assert all(limit.holds(best.report) for limit in limits)
    rival = max(
        whole(system).bench.rate(per, point).value
        for point in keeping(whole(system).points, limits)
    )
    assert found.bench.rate(per, best).value >= 0.99 * rival


def test_it_takes_far_fewer_runs_than_brute_force() -> None:
    found, _ = answered(SYSTEMS[0], "both", Per.CHIP)
    assert len(found.bench.points) < 0.6 * len(found.options)


def test_all_constant_denominators_have_as_good_a_best() -> None:
    found, best = answered(SYSTEMS[0], "both", Per.CHIP)
    for per in (Per.TDP, Per.ALL_IN, Per.DOLLAR):
        other = best_within(found.bench, found.options, QUESTIONS["both"], per)
        assert other.tokens_per_s_per_chip == pytest.approx(best.tokens_per_s_per_chip, rel=0.02)


def test_a_tighter_limit_never_gives_more() -> None:
    values = []
    for ms in (4000.0, 1000.0, 700.0, 500.0):
        found = looked()
        limit = Limit(what="ttft", at="p99", ms=ms)
        best = best_within(found.bench, found.options, (limit,), Per.CHIP)
        values.append(best.tokens_per_s_per_chip)
    assert all(b <= 1.01 * a for a, b in pairwise(values))


def test_progress_ends_where_it_should() -> None:
    told: list[tuple[str, int, int]] = []
    found = looked()
    best_within(found.bench, found.options, (TTFT,), Per.CHIP, lambda *report: told.append(report))
    assert told[-1][1] == told[-1][2]
    assert all(done <= total for _, done, total in told)
    assert "searching jalapeno-rack within limits, per chip" in told[0][0]


# ---- out of reach


def test_an_impossible_limit_tells_the_best_that_is_reached() -> None:
    found = looked()
    with pytest.raises(OutOfReach) as caught:
        best_within(found.bench, found.options, (Limit(what="ttft", at="p99", ms=5.0),), Per.CHIP)
    least = min(point.report.latency.ttft_ms.p99 for point in whole().points)
    text = str(caught.value)
    assert "no plan of gpt-oss-120b on jalapeno-rack has P99 TTFT at most 5 ms" in text
    assert f"the lowest reached is P99 TTFT of {least:,.4g} ms" in text
    assert text.endswith("raise that limit, allow more chips, or shorten the requests")


def test_limits_that_exclude_each_other_say_so() -> None:
    """Of two options one answers sooner, the other writes faster: both is not to be had."""
    points = whole().points
    sooner, faster = next(
        (a, b)
        for a in points
        for b in points
        if a.report.latency.ttft_ms.p99 < 0.98 * b.report.latency.ttft_ms.p99
        and b.report.latency.tpot_ms.mean < 0.98 * a.report.latency.tpot_ms.mean
        and b.option.concurrency > 1
        and a.option.concurrency > 1
    )
    both = (
        Limit(what="ttft", at="p99", ms=1.001 * sooner.report.latency.ttft_ms.p99),
        speed_limit(0.999 * faster.speed),
    )
    found = looked()
    with pytest.raises(OutOfReach, match="each alone can be kept, but not together; the nearest"):
        best_within(found.bench, [sooner.option, faster.option], both, Per.CHIP)


# ---- what the closed form expects


def test_means_are_those_of_the_closed_form() -> None:
    found = looked()
    option = found.options[0]
    for what, seconds in (
        ("tbt", option.steady.tpot),
        ("ttft", option.steady.ttft),
        ("e2e", option.steady.e2e),
    ):
        limit = Limit(what=what, at="mean", ms=1.0)
        assert expect(found.bench, option, option, limit) == pytest.approx(1e3 * seconds)


def test_the_first_wave_is_expected_to_wait_for_one_another() -> None:
    found = looked()
    column = [
        option
        for option in found.options
        if (option.cut, option.chunk) == (found.options[0].cut, found.options[0].chunk)
    ]
    expected = [expect(found.bench, column[0], option, TTFT) for option in column]
    assert expected == sorted(expected)
    assert expected[-1] > 1e3 * column[-1].steady.ttft
    played = found.bench.play(column)
    for guess, point in zip(expected, played, strict=True):
        assert guess == pytest.approx(point.report.latency.ttft_ms.p99, rel=0.35)


def test_unlikely_options_are_left_out_unless_all_are() -> None:
    found = looked()
    few = likely(found.bench, found.options, (TTFT,))
    assert 0 < len(few) < len(found.options)
    assert likely(found.bench, found.options, ()) == found.options
    hopeless = (Limit(what="ttft", at="mean", ms=1e-6),)
    assert likely(found.bench, found.options, hopeless) == found.options


# ---- lowest


@pytest.mark.parametrize("what", ["tbt", "ttft", "e2e"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lowest_is_that_of_brute_force(what: str, system: str) -> None:
    found = looked(system)
    limit = Limit(what=what, at="mean", ms=1.0)
    best = limit.value(lowest(found.bench, found.options, what).report)
    rival = min(limit.value(point.report) for point in whole(system).points)
    assert best <= 1.01 * rival


def test_a_run_is_described_by_layout_and_load() -> None:
    _, best = answered(SYSTEMS[0], "none", Per.CHIP)
    assert describe(best) == f"{best.label}, {best.option.concurrency:,} in flight"
