"""The frontier of a model on a system: speed a user against throughput, over all plans.

The closed form goes through every plan at many loads and picks a short list; the short list is
played out with InferenceX's request list, and the runs decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from jalapeno.analysis.frontier_points import Bench, Option, Point, Progress, bench, silent
from jalapeno.analysis.interpolation import Curve, curve, pareto_front, reciprocal
from jalapeno.analysis.objectives import Per, Rate, rate
from jalapeno.analysis.subject import Subject
from jalapeno.errors import BadScenario, DoesNotFit, UsageError
from jalapeno.mapping import Plan
from jalapeno.mapping.cuts import Ways, cuts, sizes
from jalapeno.mapping.explore import Explored, Grid, Work, explore
from jalapeno.simulation import Pool, Role

LARGEST_WORKER = 72
"""Chips of the largest worker that is tried where nobody says."""
LONG_CONTEXT = 32_768
"""From this mean prompt on, sharing the context inside a rank is tried too."""
POINTS = 10
"""Options of each sort that are played out, about."""
NEIGHBOURS = 16
"""Options beside the front that are played out after these, at the most."""
MANY_RANKS = 8
"""More attention ranks than these are a sort of their own: the closed form takes their steps to be
independent, and is too slow for them where they keep step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What is searched."""

    chips: tuple[int, ...]
    """Chips of a worker."""
    ways: Ways = Ways()
    grid: Grid = Grid()

    def __post_init__(self) -> None:
        if not self.chips or min(self.chips) < 1:
            raise UsageError(f"a worker has at least one chip; got {self.chips or 'none'}")


def space_for(subject: Subject, chips: Sequence[int] = (), up_to: int | None = None) -> Space:
    """Workers of these *chips*, or of all sizes worth trying *up_to* so many."""
    if up_to is not None and up_to < 1:
        raise UsageError(f"a worker has at least one chip; got up to {up_to}")
    most = min(up_to or LARGEST_WORKER, subject.system.chips)
    long = subject.mean_lengths[0] >= LONG_CONTEXT
    ways = Ways(contexts=(1, 2, 4, 8) if long else (1,))
    return Space(chips=tuple(dict.fromkeys(chips)) or sizes(most), ways=ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class Iso:
    """What a system does at one speed a user, read off the curve through its front."""

    speed: float
    """token/s/user"""
    rate: Rate
    tokens_per_s_per_chip: float
    ttft_ms: float
    """Mean."""
    e2e_ms: float
    """Mean."""
    watts_per_chip: float
    """Modelled package draw."""
    dollars_per_million_tokens: float
    between: tuple[Point, Point]
    """The knots beside it; twice the same where it is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable:
    """A speed outside of the front's range: nothing is extrapolated."""

    speed: float
    slowest: float
    fastest: float

    def __str__(self) -> str:
        return (
            f"unreachable: {self.speed:,.6g} token/s/user is outside of the front, "
            f"{self.slowest:,.4g} to {self.fastest:,.4g}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """All that was played out for a subject, and what it was chosen from."""

    bench: Bench
    explored: Explored
    points: tuple[Point, ...]
    """By speed."""

    def front(self, per: Per) -> tuple[Point, ...]:
        """The points that no other beats on speed and on throughput for *per*; slowest first."""
        return pareto_front(self.points, _speed, lambda point: self.bench.rate(per, point).value)

    def peak(self, per: Per) -> Point:
        """The point of the highest throughput for *per*."""
        return max(self.points, key=lambda point: self.bench.rate(per, point).value)

    def curve(self, per: Per) -> Curve:
        """Throughput for *per* over speed, as InferenceX draws it."""
        front = self.front(per)
        return curve([p.speed for p in front], [self.bench.rate(per, p).value for p in front])

    def at(self, per: Per, speed: float) -> Iso | Unreachable:
        """What the system does at *speed* token/s/user.

        The front is that of the denominator; every metric has a curve over the front's knots, and
        costs follow from the rates.  Outside of the front's range it is refused.
        """
        front = self.front(per)
        xs = [point.speed for point in front]
        if not xs[0] <= speed <= xs[-1]:
            return Unreachable(speed=speed, slowest=xs[0], fastest=xs[-1])

        def read(metric: Callable[[Point], float]) -> float:
            return curve(xs, [metric(point) for point in front])(speed)

        chip = curve(xs, [point.tokens_per_s_per_chip for point in front])
        # the rate has the curve that is drawn; watts follow where the rate is one of watts
        tokens, watts = chip(speed), read(lambda point: point.watts_per_chip)
        if per is Per.PACKAGE:
            watts = 1e3 * tokens / self.curve(per)(speed)
        costs = [point.report.power.dollars_per_million_tokens for point in front]
        return Iso(
            speed=speed,
            rate=rate(per, tokens, watts, self.bench.tariff, front[0].report.power.package.kind),
            tokens_per_s_per_chip=tokens,
            ttft_ms=read(lambda point: point.report.latency.ttft_ms.mean),
            e2e_ms=read(lambda point: point.report.latency.e2e_ms.mean),
            watts_per_chip=watts,
            dollars_per_million_tokens=reciprocal(chip, costs, speed),
            between=_beside(front, speed),
        )


def _speed(point: Point) -> float:
    return point.speed


def _beside(front: Sequence[Point], speed: float) -> tuple[Point, Point]:
    below = [point for point in front if point.speed <= speed]
    above = [point for point in front if point.speed >= speed]
    return below[-1], above[0]


def look(subject: Subject, space: Space) -> Explored:
    """Every plan of *space* by the closed form; raises where none is possible, and says why."""
    longest = subject.lengths.isl + subject.lengths.osl
    if longest > subject.model.context:
        raise BadScenario(
            f"requests of up to {longest:,} tokens exceed the context window of "
            f"{subject.model.name}, {subject.model.context:,}: lower --isl or --osl"
        )
    prompt, output = subject.mean_lengths
    found = explore(
        subject.model,
        subject.system,
        subject.engine,
        plans(subject, space),
        Work(prompt=prompt, output=output, longest=longest),
        space.grid,
    )
    if not found.found:
        raise DoesNotFit(
            f"no plan of {subject.model.name} on workers of "
            f"{', '.join(map(str, space.chips))} chips of {subject.system.name} is possible; "
            f"{found.explain()}"
        )
    return found


def plans(subject: Subject, space: Space) -> tuple[Plan, ...]:
    """Every cut of the subject's model over every number of chips of *space*."""
    return tuple(
        plan
        for chips in space.chips
        for plan in cuts(subject.model, chips, subject.precision, space.ways)
    )


def options_of(explored: Explored) -> tuple[Option, ...]:
    """One unified worker for every candidate."""
    return tuple(
        Option(
            (Pool(role=Role.UNIFIED, plan=item.plan, replicas=1),), item.concurrency, item.steady
        )
        for _, item in explored.found
    )


def frontier(
    subject: Subject,
    space: Space,
    more: Iterable[Option] = (),
    progress: Progress = silent,
) -> Frontier:
    """The frontier of *subject* over *space*, and *more* options."""
    explored = look(subject, space)
    options = (*options_of(explored), *more)
    rig = bench(subject)
    made = rig.play(short_list(options), progress, _stage(subject))
    made += rig.play(neighbours(made, options), progress, f"{_stage(subject)}, neighbours")
    once = {point.option.key: point for point in made}
    points = sorted(once.values(), key=lambda p: (p.speed, p.tokens_per_s_per_chip))
    return Frontier(bench=rig, explored=explored, points=tuple(points))


def _stage(subject: Subject) -> str:
    return f"simulating {subject.model.name} on {subject.system.name}"


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
        for score in (_per_chip, _per_watt):
            front = pareto_front(own, lambda option: 1.0 / option.steady.tpot, score)
            chosen |= {option.key: option for option in _spread(front, points)}
    return tuple(chosen.values())


def _per_chip(option: Option) -> float:
    return option.steady.tokens_per_s_per_chip


def _per_watt(option: Option) -> float:
    return option.steady.tokens_per_s_per_chip / option.steady.watts_per_chip


def _spread(front: Sequence[Option], points: int) -> list[Option]:
    """Up to *points* of *front*, both ends among them, evenly in proportion of their speed."""
    if len(front) <= points:
        return list(front)
    slow, fast = front[0].steady.tpot, front[-1].steady.tpot
    chosen = []
    for step in range(points):
        wanted = slow * (fast / slow) ** (step / (points - 1))
        chosen.append(min(front, key=lambda one: abs(math.log(one.steady.tpot / wanted))))
    return chosen


def neighbours(
    points: Sequence[Point], options: Sequence[Option], most: int = NEIGHBOURS
) -> tuple[Option, ...]:
    """Up to *most* options beside the front of *points*: the same cut at the next load or budget.

    Those first that promise most over the front as it is: the closed form's gain over the point
    beside them, on top of what that point was played to have.
    """
    front = pareto_front(points, _speed, lambda point: point.tokens_per_s_per_chip)
    alike: dict[tuple[object, ...], list[Option]] = {}
    for option in options:
        alike.setdefault(option.cut, []).append(option)
    played = {point.option.key for point in points}
    promised: dict[tuple[object, ...], tuple[float, Option]] = {}
    for point in front:
        own = point.option
        loads = sorted({option.concurrency for option in alike[own.cut]})
        place = loads.index(own.concurrency)
        near = loads[max(0, place - 1) : place + 2]
        for option in alike[own.cut]:
            if option.concurrency in near and option.key not in played:
                promise = _promise(option, point, front)
                if promise > promised.get(option.key, (0.0, option))[0]:
                    promised[option.key] = (promise, option)
    ranked = sorted(promised.values(), key=lambda pair: pair[0], reverse=True)
    return tuple(option for _, option in ranked[:most])


def _promise(option: Option, point: Point, front: Sequence[Point]) -> float:
    """How much more throughput than the front has *option* may have at its speed, as a factor."""
    steady, beside = option.steady, point.option.steady
    speed = point.speed * beside.tpot / steady.tpot
    tokens = point.tokens_per_s_per_chip
    tokens *= steady.tokens_per_s_per_chip / beside.tokens_per_s_per_chip
    faster = [other.tokens_per_s_per_chip for other in front if other.speed >= speed]
    return tokens / faster[0] if faster else 1e9
