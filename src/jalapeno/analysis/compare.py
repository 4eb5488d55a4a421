"""Systems side by side: the same model and requests under every denominator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jalapeno.analysis.frontier import (
    Frontier,
    Iso,
    Prospect,
    Space,
    Unreachable,
    frontier,
    prospect,
)
from jalapeno.analysis.frontier_points import Option, Point, Progress, silent
from jalapeno.analysis.objectives import Limit, Per, Rate
from jalapeno.analysis.objectives_search import describe, lowest
from jalapeno.analysis.subject import Subject
from jalapeno.errors import OutOfReach, UsageError

LATENCIES = ("tbt", "e2e")
"""Whose lowest mean is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One system of a comparison."""

    name: str
    prospect: Prospect
    frontier: Frontier | None
    """None where no run keeps the limits."""
    said: str
    """Why there is no frontier."""
    lowest: Mapping[str, Point]
    """Of each latency, the run with the lowest mean."""

    @property
    def subject(self) -> Subject:
        """What is asked about."""
        return self.prospect.bench.subject

    @property
    def points(self) -> tuple[Point, ...]:
        """All that was played out."""
        return tuple(self.prospect.bench.points.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one system does for one denominator, or why it cannot."""

    rate: Rate | None
    said: str
    """The run behind it, or why there is none."""
    point: Point | None = None
    """The run; None where it is read off a curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One condition, and what each system does under it for each denominator."""

    title: str
    cells: Mapping[Per, tuple[Cell, ...]]
    """In the order of the sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Who does most for a denominator."""

    winner: int
    """Place of the side."""
    lead: float
    """Its rate over the next best one's; infinite where it is the only one."""
    settled: bool
    """Whether it leads wherever in their ranges the others' denominators and its own are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Sides and questions."""

    sides: tuple[Side, ...]
    limits: tuple[Limit, ...]
    questions: tuple[Question, ...]


def verdict(cells: Sequence[Cell]) -> Verdict | None:
    """Who has the highest rate among *cells*; None where nobody has one."""
    rated = [(place, cell.rate) for place, cell in enumerate(cells) if cell.rate is not None]
    if not rated:
        return None
    rated.sort(key=lambda item: item[1].value, reverse=True)
    (winner, best), *others = rated
    if not others:
        return Verdict(winner=winner, lead=float("inf"), settled=True)
    return Verdict(
        winner=winner,
        lead=best.value / others[0][1].value,
        settled=best.low > max(other.high for _, other in others),
    )


def compare(
    asked: Mapping[str, tuple[Subject, Space, Sequence[Option]]],
    speeds: Sequence[float] = (),
    limits: Sequence[Limit] = (),
    progress: Progress = silent,
) -> Comparison:
    """Subjects by name, each with its space and more options than the space has.

    Asked are the highest throughput, that at *speeds*, both within *limits*, and the lowest
    latencies.  A system that cannot do what is asked says so in its cell; raises
    :class:`OutOfReach` where none keeps the limits.
    """
    if len(asked) < 2:
        raise UsageError(f"a comparison needs two systems at least, got {', '.join(asked)}")
    sides = tuple(
        side(name, prospect(subject, space, more), limits, progress)
        for name, (subject, space, more) in asked.items()
    )
    if all(one.frontier is None for one in sides):
        raise OutOfReach("\n".join(one.said for one in sides))
    questions = [_peak(sides, limits), *(_at(sides, speed, limits) for speed in speeds)]
    return Comparison(sides=sides, limits=tuple(limits), questions=tuple(questions))


def side(name: str, found: Prospect, limits: Sequence[Limit], progress: Progress) -> Side:
    """One system with its frontier within *limits*, or why it has none."""
    made, said = None, ""
    try:
        made = frontier(found, limits, progress)
    except OutOfReach as error:
        said = str(error)
    fastest = {what: lowest(found.bench, found.options, what) for what in LATENCIES}
    return Side(name=name, prospect=found, frontier=made, said=said, lowest=fastest)


def _conditions(limits: Sequence[Limit]) -> str:
    return " with " + " and ".join(limit.label for limit in limits) if limits else ""


def _peak(sides: Sequence[Side], limits: Sequence[Limit]) -> Question:
    def cell(found: Frontier, per: Per) -> Cell:
        point = found.peak(per)
        return Cell(rate=found.bench.rate(per, point), said=describe(point), point=point)

    title = f"highest throughput{_conditions(limits)}"
    return Question(title=title, cells=_cells(sides, cell))


def _at(sides: Sequence[Side], speed: float, limits: Sequence[Limit]) -> Question:
    def cell(found: Frontier, per: Per) -> Cell:
        read = found.at(per, speed)
        if isinstance(read, Unreachable):
            return Cell(rate=None, said=str(read))
        return Cell(rate=read.rate, said=_between(read))

    title = f"throughput at {speed:,.9g} token/s/user{_conditions(limits)}"
    return Question(title=title, cells=_cells(sides, cell))


def _between(found: Iso) -> str:
    knots = dict.fromkeys(describe(point) for point in found.between)
    return f"{'between ' if len(knots) > 1 else ''}{' and '.join(knots)}"


def _cells(
    sides: Sequence[Side], cell: Callable[[Frontier, Per], Cell]
) -> dict[Per, tuple[Cell, ...]]:
    return {
        per: tuple(
            Cell(rate=None, said=one.said) if one.frontier is None else cell(one.frontier, per)
            for one in sides
        )
        for per in Per
    }
