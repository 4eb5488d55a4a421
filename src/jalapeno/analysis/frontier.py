"""The frontier of a model on a system: speed a user against throughput, over all plans.

The closed form goes through every plan at many loads and picks a short list; the short list is
played out with InferenceX's request list, and the runs decide.  Within limits on latency only runs
that keep them count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from jalapeno.analysis.frontier_choice import promising, short_list
from jalapeno.analysis.frontier_points import Bench, Option, Point, Progress, bench, longest, silent
from jalapeno.analysis.interpolation import Curve, curve, pareto_front, reciprocal
from jalapeno.analysis.objectives import Limit, Per, Rate, rate
from jalapeno.analysis.objectives_search import best_within, likely
from jalapeno.analysis.subject import Subject
from jalapeno.errors import BadScenario, DoesNotFit, UsageError
from jalapeno.mapping import Plan
from jalapeno.mapping.cuts import Ways, cuts, sizes
from jalapeno.mapping.explore import Explored, Grid, Work, explore
from jalapeno.simulation import Pool, Role

ROUNDS = 2
"""How often what may beat the front is played out after the short list."""
LARGEST_WORKER = 72
"""Chips of the largest worker that is tried where nobody says."""
PIPELINES = (1, 2, 4, 8)
"""Stages of a pipeline that are tried."""
CONTEXTS = (1, 2, 4, 8)
"""Shares of the context that are tried for long ones."""
LONG_CONTEXT = 32_768
"""From this mean prompt on, sharing the context inside a rank is tried too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What is searched."""

    chips: tuple[int, ...]
    """Chips of a worker."""
    ways: Ways = field(default_factory=Ways)
    grid: Grid = field(default_factory=Grid)

    def __post_init__(self) -> None:
        if not self.chips or min(self.chips) < 1:
            raise UsageError(f"a worker has at least one chip; got {self.chips or 'none'}")


def space_for(subject: Subject, chips: Sequence[int] = (), up_to: int | None = None) -> Space:
    """Workers of these *chips*, or of all sizes worth trying *up_to* so many."""
    if up_to is not None and up_to < 1:
        raise UsageError(f"a worker has at least one chip; got up to {up_to}")
    most = min(up_to or LARGEST_WORKER, subject.system.chips)
    long = subject.mean_lengths[0] >= LONG_CONTEXT
    ways = Ways(pipelines=PIPELINES, contexts=CONTEXTS if long else (1,))
    return Space(chips=tuple(dict.fromkeys(chips)) or sizes(most), ways=ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """A subject as the closed form sees it, and the bench for what is played out."""

    bench: Bench
    explored: Explored
    options: tuple[Option, ...]


def prospect(subject: Subject, space: Space, more: Iterable[Option] = ()) -> Prospect:
    """Every plan of *space* by the closed form, and *more* options.

    Raises :class:`DoesNotFit` where no plan is possible, and says why.
    """
    explored = _look(subject, space)
    unified = (
        Option(
            (Pool(role=Role.UNIFIED, plan=item.plan, replicas=1),), item.concurrency, item.steady
        )
        for _, item in explored.found
    )
    return Prospect(bench=bench(subject), explored=explored, options=(*unified, *more))


def _look(subject: Subject, space: Space) -> Explored:
    most = longest(subject.lengths)
    if most > subject.model.context:
        raise BadScenario(
            f"requests of up to {most:,} tokens exceed the context window of "
            f"{subject.model.name}, {subject.model.context:,}: lower --isl or --osl"
        )
    prompt, output = subject.mean_lengths
    found = explore(
        subject.model,
        subject.system,
        subject.engine,
        plans(subject, space),
        Work(prompt=prompt, output=output, longest=most),
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
        below = ": slower gains nothing" if self.speed < self.slowest else ""
        return (
            f"unreachable: {self.speed:,.9g} token/s/user is outside of the front, "
            f"{self.slowest:,.4g} to {self.fastest:,.4g}{below}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """What was played out for a subject, and what it was chosen from."""

    prospect: Prospect
    limits: tuple[Limit, ...]
    points: tuple[Point, ...]
    """Those that keep the limits, by speed; one at least."""

    @property
    def bench(self) -> Bench:
        """Where the points were played."""
        return self.prospect.bench

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
        tokens, watts = chip(speed), read(lambda point: point.watts_per_chip)
        if per is Per.PACKAGE:  # the rate is what is drawn, and watts follow from it
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


def frontier(
    found: Prospect, limits: Sequence[Limit] = (), progress: Progress = silent
) -> Frontier:
    """The frontier of what the closed form has *found*, within *limits*.

    Raises :class:`OutOfReach`, with the best that is reached, where no run keeps the limits.
    """
    rig = found.bench
    stage = f"simulating {rig.subject.model.name} on {rig.subject.system.name}"
    options = likely(rig, found.options, limits)
    rig.play(short_list(options), progress, stage)
    for place in range(1, ROUNDS + 1):
        kept = _keeping(rig, limits)
        if kept:
            rig.play(promising(kept, options), progress, f"{stage}, round {place} of {ROUNDS}")
    if limits:
        for per in (Per.CHIP, Per.PACKAGE):  # the others are constants of the chip
            best_within(rig, found.options, limits, per, progress)
    points = sorted(_keeping(rig, limits), key=lambda p: (p.speed, p.tokens_per_s_per_chip))
    return Frontier(prospect=found, limits=tuple(limits), points=tuple(points))


def _keeping(rig: Bench, limits: Sequence[Limit]) -> list[Point]:
    """All that was played out and keeps *limits*."""
    return [p for p in rig.points.values() if all(limit.holds(p.report) for limit in limits)]
