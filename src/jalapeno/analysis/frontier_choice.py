"""Which options are worth playing out: along the fronts that the closed form sees, and beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from jalapeno.analysis.frontier_points import Option, Point
from jalapeno.analysis.interpolation import pareto_front

POINTS = 7
"""Options of each sort that are played out, about."""
NEIGHBOURS = 10
"""Options beside the front that are played out after these, at the most."""
MANY_RANKS = 8
"""More attention ranks than these are a sort of their own: the closed form takes their steps to be
independent, and is too slow for them where they keep step."""
UNMATCHED = 1e9
"""The promise of an option that is faster than all of the front."""


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
            front = pareto_front(own, _speed, score)
            chosen |= {option.key: option for option in spread(front, points)}
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


def neighbours(
    points: Sequence[Point], options: Sequence[Option], most: int = NEIGHBOURS
) -> tuple[Option, ...]:
    """Up to *most* options beside the front of *points*: the same cut at the next load or budget.

    Those first that promise most over the front as it is: the closed form's gain over the point
    beside them, on top of what that point was played to have.
    """
    front = pareto_front(points, lambda one: one.speed, lambda one: one.tokens_per_s_per_chip)
    alike: dict[tuple[object, ...], list[Option]] = {}
    for option in options:
        alike.setdefault(option.cut, []).append(option)
    played = {point.option.key for point in points}
    promised: dict[tuple[object, ...], tuple[float, Option]] = {}
    for point in front:
        for option in _beside(point, alike.get(point.option.cut, ())):
            promise = _promise(option, point, front)
            if option.key not in played and promise > promised.get(option.key, (0.0,))[0]:
                promised[option.key] = (promise, option)
    ranked = sorted(promised.values(), key=lambda pair: pair[0], reverse=True)
    return tuple(option for _, option in ranked[:most])


def _beside(point: Point, alike: Sequence[Option]) -> list[Option]:
    """Those of the same cut whose load is that of *point*, or the next lower or higher one."""
    own = point.option.concurrency
    below = max((one.concurrency for one in alike if one.concurrency < own), default=own)
    above = min((one.concurrency for one in alike if one.concurrency > own), default=own)
    return [option for option in alike if option.concurrency in (below, own, above)]


def _promise(option: Option, point: Point, front: Sequence[Point]) -> float:
    """How much more throughput than the front has *option* may have at its speed, as a factor."""
    steady, beside = option.steady, point.option.steady
    speed = point.speed * beside.tpot / steady.tpot
    tokens = point.tokens_per_s_per_chip
    tokens *= steady.tokens_per_s_per_chip / beside.tokens_per_s_per_chip
    faster = [other.tokens_per_s_per_chip for other in front if other.speed >= speed]
    return tokens / faster[0] if faster else UNMATCHED
