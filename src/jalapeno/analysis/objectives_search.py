"""The best deployment within limits: the closed form ranks, runs decide.

Options of one cut and chunk are a *column*: its loads in order.  More load means more throughput
and longer latencies, so in a column the last load that keeps the limits is sought; columns that
cannot beat the best run so far are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from jalapeno.analysis.frontier_points import (
    REQUESTS_PER_SLOT,
    Bench,
    Option,
    Point,
    Progress,
    silent,
)
from jalapeno.analysis.objectives import Limit, Per
from jalapeno.errors import OutOfReach

MOST_RUNS = 40
"""Runs of one search, at the most."""
ROUND = 8
"""Runs between two looks at what they say."""
HOPE = {True: 1.1, False: 1.6}
"""How much better than the closed form says a deployment of one rank (True), or of several, may be:
ranks that keep step wait less for each other than independent ones."""
BURST = {"p95": 0.95, "p99": 0.99, "p99.9": 0.999}
"""Percentiles that lie in the first wave, a tenth of the requests, which all come at once."""
LAST_RESORT = 0.3
"""The same for columns that should not keep the limits at any load: they are tried last."""
CLOSEST = 4
"""Options played out for each limit when none is kept, to say what can be reached."""


@dataclass(slots=True)
class Column:
    """One cut and chunk at rising loads."""

    options: Sequence[Option]
    start: int
    """Place of the highest load that should keep the limits, or of the lowest."""
    hope: float
    """How much better than the closed form says it may be."""
    scores: Sequence[float]
    """What the closed form promises."""
    played: dict[int, tuple[float, bool]] = field(default_factory=dict)
    """By place: (score, whether it keeps the limits)."""

    def next(self) -> tuple[int, float] | None:
        """(place of the load to be played next, what it promises); None where all is known."""
        if not self.played:
            return self.start, self.hope * self.scores[self.start]
        kept = [place for place, (_, keeps) in self.played.items() if keeps]
        beside = max(kept) if kept else min(self.played)
        place = beside + 1 if kept else beside - 1
        if place in self.played or not 0 <= place < len(self.options):
            return None
        return place, self.played[beside][0] * self.scores[place] / self.scores[beside]


def best_within(
    rig: Bench,
    options: Sequence[Option],
    limits: Sequence[Limit],
    per: Per,
    progress: Progress = silent,
) -> Point:
    """The run with the most throughput for *per* that keeps all *limits*.

    Raises :class:`OutOfReach`, with the best that is reached, where none does.
    """
    columns = _columns(rig, options, limits, per)
    stage = f"searching {rig.subject.system.name} within limits, per {per}"
    best = _better(rig, per, limits, tuple(rig.points.values()))
    runs = 0
    while runs < MOST_RUNS:
        due = _due(columns, 0.0 if best is None else rig.rate(per, best).value)
        if not due:
            break
        points = rig.play([column.options[place] for column, place in due])
        for (column, place), point in zip(due, points, strict=True):
            keeps = all(limit.holds(point.report) for limit in limits)
            column.played[place] = (rig.rate(per, point).value, keeps)
        best = _better(rig, per, limits, (*points, *([best] if best else [])))
        runs += len(due)
        progress(stage, runs, MOST_RUNS)
    if best is None:
        rig.play(_nearest(rig, options, limits))
        best = _better(rig, per, limits, tuple(rig.points.values()))
    if best is None:
        raise _out_of_reach(rig, options, limits)
    progress(stage, MOST_RUNS, MOST_RUNS)
    return _refined(rig, best, limits, per)


def _due(columns: Sequence[Column], beaten: float) -> list[tuple[Column, int]]:
    """The most promising columns with the place to be played next."""
    asked = [(column, found) for column in columns if (found := column.next()) is not None]
    hopeful = [(column, *found) for column, found in asked if found[1] > 1.005 * beaten]
    hopeful.sort(key=lambda item: item[2], reverse=True)
    return [(column, place) for column, place, _ in hopeful[:ROUND]]


def _better(rig: Bench, per: Per, limits: Sequence[Limit], points: Sequence[Point]) -> Point | None:
    kept = [point for point in points if all(limit.holds(point.report) for limit in limits)]
    return max(kept, key=lambda point: rig.rate(per, point).value, default=None)


def _refined(rig: Bench, best: Point, limits: Sequence[Limit], per: Per) -> Point:
    """*best*, or what is better beside it off the grid: more load, another chunk.

    Only what is found stays on the bench: points a hair apart make no curve.
    """
    aside = Bench(rig.subject, rig.tariff, dict(rig.points))
    for growth in (1.25, 1.12, 1.06):
        own = best.option
        more = max(own.concurrency + 1, round(own.concurrency * growth))
        near = [own.at(more, own.chunk)]
        near += [own.at(own.concurrency, round(own.chunk * c)) for c in (1 / growth, growth)]
        holding = [item for item in near if _holds(rig, item)]
        best = _better(rig, per, limits, (best, *aside.play(holding))) or best
    rig.points[best.option.key] = best
    return best


def _holds(rig: Bench, option: Option) -> bool:
    """Whether the caches hold all requests of *option* at once."""
    price = rig.price(option)
    prompt, output = rig.subject.mean_lengths
    held = price.room.blocks // price.room.blocks_for(int(prompt + output) + 1)
    return option.pools[-1].plan.max_running <= held


def _columns(
    rig: Bench, options: Sequence[Option], limits: Sequence[Limit], per: Per
) -> list[Column]:
    grouped: dict[tuple[object, ...], list[Option]] = {}
    for option in options:
        grouped.setdefault((option.cut, option.chunk), []).append(option)
    columns = []
    for group in grouped.values():
        group.sort(key=lambda option: option.concurrency)
        expected = [_excess_expected(rig, group[0], option, limits) for option in group]
        keeping = [place for place, excess in enumerate(expected) if excess <= 1.0]
        hope = HOPE[group[0].ranks == 1]
        if not keeping and expected[0] > hope**2:
            continue
        columns.append(
            Column(
                group,
                max(keeping, default=0),
                hope if keeping else LAST_RESORT,
                [_promise(option, per) for option in group],
            )
        )
    return columns


def _excess_expected(rig: Bench, alone: Option, option: Option, limits: Sequence[Limit]) -> float:
    """What the closed form expects over the limit, for the limit that it exceeds most."""
    return max((expect(rig, alone, option, one) / one.ms for one in limits), default=0.0)


def likely(rig: Bench, options: Sequence[Option], limits: Sequence[Limit]) -> tuple[Option, ...]:
    """Those of *options* that may keep *limits*; all where none may, for runs decide."""
    least: dict[tuple[object, ...], Option] = {}
    for option in sorted(options, key=lambda one: one.concurrency):
        least.setdefault((option.cut, option.chunk), option)
    found = tuple(
        option
        for option in options
        if _excess_expected(rig, least[option.cut, option.chunk], option, limits)
        <= HOPE[option.ranks == 1]
    )
    return found or tuple(options)


def _nearest(rig: Bench, options: Sequence[Option], limits: Sequence[Limit]) -> list[Option]:
    """The options that should come nearest to keeping all *limits*, each at its own least load."""
    ranked = sorted(options, key=lambda one: _excess_expected(rig, one, one, limits))
    return ranked[: 2 * CLOSEST]


def _promise(option: Option, per: Per) -> float:
    steady = option.steady
    tokens = steady.tokens_per_s_per_chip
    return tokens / steady.watts_per_chip if per is Per.PACKAGE else tokens


def expect(rig: Bench, alone: Option, option: Option, limit: Limit) -> float:
    """What *limit* looks at, ms, by the closed form; *alone* is the same cut at its least load.

    The closed form knows means.  The first wave of a closed loop comes all at once and is served
    prompt after prompt, which is what high percentiles of TTFT see.
    """
    steady = option.steady
    match limit.what:
        case "tbt":
            return 1e3 * steady.tpot
        case "e2e":
            mean = steady.e2e
        case _:
            mean = steady.ttft
    if limit.at not in BURST:
        return 1e3 * mean
    pool = option.pools[0]
    delay = rig.subject.engine.first_token_delay
    wave = -(-option.concurrency // (pool.replicas * pool.plan.ranks))
    share = 1.0 - REQUESTS_PER_SLOT * (1.0 - BURST[limit.at])
    last = delay + share * wave * (alone.steady.ttft - delay)
    return 1e3 * (mean + max(0.0, last - steady.ttft))


def lowest(rig: Bench, options: Sequence[Option], what: str, tried: int = 6) -> Point:
    """The run of the lowest mean TBT (``tbt``), TTFT or E2E: a few of the least loaded options."""
    limit = Limit(what=what, at="mean", ms=1.0)
    ranked = sorted(options, key=lambda option: expect(rig, option, option, limit))
    return min(rig.play(ranked[:tried]), key=lambda point: limit.value(point.report))


def _out_of_reach(rig: Bench, options: Sequence[Option], limits: Sequence[Limit]) -> OutOfReach:
    """What can be reached of each limit, and which of them cannot be kept at all."""
    said: list[str] = []
    for limit in limits:
        ranked = sorted(options, key=lambda one: expect(rig, one, one, limit))
        rig.play(ranked[:CLOSEST])
        least = min(rig.points.values(), key=lambda point: limit.value(point.report))
        reached = f"{limit.name} of {limit.value(least.report):,.4g} ms ({describe(least)})"
        if not limit.holds(least.report):
            said.append(reached)
    subject = rig.subject
    asked = " and ".join(limit.label for limit in limits)
    start = f"no plan of {subject.model.name} on {subject.system.name} has {asked}"
    if said:
        return OutOfReach(
            f"{start}: the lowest reached is {', and a '.join(said)}: raise "
            "that limit, allow more chips, or shorten the requests"
        )
    nearest = min(rig.points.values(), key=lambda point: _excess(point, limits))
    return OutOfReach(
        f"{start}: each alone can be kept, but not together; the nearest is {describe(nearest)} "
        f"with {', '.join(_reads(limit, nearest) for limit in limits)}: raise one of them, allow "
        "more chips, or shorten the requests"
    )


def _excess(point: Point, limits: Sequence[Limit]) -> float:
    return max(limit.value(point.report) / limit.ms for limit in limits)


def _reads(limit: Limit, point: Point) -> str:
    return f"{limit.name} {limit.value(point.report):,.4g} ms"


def describe(point: Point) -> str:
    """A run in short: layout and load."""
    return f"{point.label}, {point.option.concurrency:,} in flight"
