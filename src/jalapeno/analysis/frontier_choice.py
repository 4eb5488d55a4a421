"""Which options are worth playing out: along the fronts that the closed form sees, and beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from jalapeno.analysis.frontier_points import Option, Point
from jalapeno.analysis.interpolation import pareto_front

POINTS = 7
"""Options of each sort that are played out, about."""
PROMISING = 8
"""Options that are played out after these in each round, at the most."""
APART = 1.06
"""Speeds of two of them differ at least by this factor: a front is wanted, not one point."""
MANY_RANKS = 8
"""More attention ranks than these are a sort of their own: the closed form takes their steps to be
independent, and is too slow for them where they keep step."""


def sort_of(option: Option) -> int:
    """The sort of *option*: what the closed form judges alike."""
    if len(option.pools) > 1:
        return 3
    return 0 if option.ranks == 1 else 1 if option.ranks <= MANY_RANKS else 2


def short_list(options: Sequence[Option], points: int = POINTS) -> tuple[Option, ...]:
    """About *points* options of each sort, along the front that the closed form sees.

    Fronts of throughput a chip and of throughput a watt: they hold the best for every denominator.
    """
    chosen: dict[tuple[object, ...], Option] = {}
    for sort in sorted({sort_of(option) for option in options}):
        own = [option for option in options if sort_of(option) == sort]
        for score in (per_chip, per_watt):
            for option in spread(pareto_front(own, _speed, score), points):
                chosen.setdefault((option.cut, option.concurrency), option)  # one budget is enough
    return tuple(chosen.values())


def per_chip(option: Option) -> float:
    """Tokens a second and chip, by the closed form."""
    return option.steady.tokens_per_s_per_chip


def per_watt(option: Option) -> float:
    """Tokens a joule of modelled package draw, by the closed form."""
    return option.steady.tokens_per_s_per_chip / option.steady.watts_per_chip


def _speed(option: Option) -> float:
    return 1.0 / option.steady.tpot


def spread(front: Sequence[Option], points: int) -> list[Option]:
    """Up to *points* of *front*, both ends among them, evenly along it in proportion.

    The distance of two is that of the logarithms of their speed and throughput, so that neither a
    steep stretch of the front nor a flat one goes without.
    """
    if len(front) <= points:
        return list(front)
    places = [(math.log(_speed(one)), math.log(per_chip(one))) for one in front]
    along = [0.0]
    for before, after in pairwise(places):
        along.append(along[-1] + math.dist(before, after))
    wanted = (along[-1] * step / (points - 1) for step in range(points))
    nearest = [min(range(len(front)), key=lambda at: abs(along[at] - want)) for want in wanted]
    return [front[at] for at in dict.fromkeys(nearest)]


def promising(
    points: Sequence[Point], options: Sequence[Option], most: int = PROMISING
) -> tuple[Option, ...]:
    """Up to *most* options that may beat the front of *points*, the most promising first.

    What the closed form says of an option is corrected by how wrong it was about what was played:
    of the same cut at the nearest load, else by the median of its sort.
    """
    played = {point.option.key for point in points}
    by_cut: dict[tuple[object, ...], list[Point]] = {}
    by_sort: dict[int, list[Point]] = {}
    for point in points:
        by_cut.setdefault(point.option.cut, []).append(point)
        by_sort.setdefault(sort_of(point.option), []).append(point)
    medians = {sort: _median([_error(point) for point in own]) for sort, own in by_sort.items()}
    front = pareto_front(points, lambda one: one.speed, lambda one: one.tokens_per_s_per_chip)
    ranked = []
    for option in options:
        if option.key in played or sort_of(option) not in medians:
            continue
        slower, more = medians[sort_of(option)]
        if option.cut in by_cut:
            slower, more = _error(_nearest(by_cut[option.cut], option))
        speed, rate = _speed(option) * slower, per_chip(option) * more
        faster = next((p for p in front if p.speed >= speed), None)
        gain = rate / faster.tokens_per_s_per_chip if faster else speed / front[-1].speed
        if gain > 1.0:
            ranked.append((gain, speed, option))
    ranked.sort(key=lambda item: item[0], reverse=True)
    return tuple(_apart(ranked, most))


Error = tuple[float, float]
"""Played speed and throughput over what the closed form said."""


def _error(point: Point) -> Error:
    option = point.option
    return point.speed / _speed(option), point.tokens_per_s_per_chip / per_chip(option)


def _median(errors: Sequence[Error]) -> Error:
    speeds, rates = zip(*errors, strict=True)
    return median(speeds), median(rates)


def _nearest(points: Sequence[Point], option: Option) -> Point:
    return min(
        points, key=lambda point: abs(math.log(point.option.concurrency / option.concurrency))
    )


def _apart(ranked: Sequence[tuple[float, float, Option]], most: int) -> list[Option]:
    """The first *most* of *ranked* (gain, speed, option) whose speeds are well apart."""
    chosen: list[Option] = []
    speeds: list[float] = []
    for _, speed, option in ranked:
        if len(chosen) < most and all(max(speed / s, s / speed) >= APART for s in speeds):
            chosen.append(option)
            speeds.append(speed)
    return chosen
