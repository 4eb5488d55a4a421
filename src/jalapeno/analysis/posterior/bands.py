"""Bands: the interval of what was simulated at the catalogue's constants, from the shipped draws.

For each draw the closed form says by which factor speed and throughput of a deployment change
against the catalogue's constants; the simulation is moved by that factor.  Plans that nobody tried
at the catalogue's constants are missing, and where they would win a band is too low.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import t as student

from jalapeno.analysis.frontier import Frontier
from jalapeno.analysis.frontier_points import Option
from jalapeno.analysis.objectives import Per
from jalapeno.analysis.posterior.likelihood import DEGREES
from jalapeno.analysis.posterior.scores import Interval, interval
from jalapeno.analysis.posterior.shipped import Draws
from jalapeno.analysis.posterior.unknowns import LOADED, SYSTEM, Floats, named
from jalapeno.analysis.posterior.worlds import World, world_of
from jalapeno.analysis.published import ENGINE
from jalapeno.analysis.subject import Subject
from jalapeno.analysis.threads import at_once
from jalapeno.catalogue import Engine, Fact, System
from jalapeno.errors import DoesNotFit
from jalapeno.mapping import Load, SteadyState, compile_price, estimate
from jalapeno.mapping.precision import Precision
from jalapeno.simulation import Pool

DRAWN = 40
"""Draws behind a band, unless somebody says otherwise."""
REPEATS = 9
"""Errors of the twin that are looked at for each draw: at equal shares of their distribution."""
POINTS = 24
"""Speeds at which a band is read."""
REACHED = 0.95
"""Share of the draws that must be as fast as a point of the band."""


def covers(system: str, engine: str) -> bool:
    """Whether the draws are of this system and engine."""
    return system.startswith(SYSTEM.partition("-")[0]) and engine == ENGINE


def draws_for(
    draws: Draws, facts: Mapping[str, Fact], count: int = DRAWN
) -> list[dict[str, float]]:
    """The first *count* draws by path; what a user has set himself stays as he set it.

    *facts*: by the path that ``--set`` takes.
    """
    held = {path for path, fact in facts.items() if fact.overridden}
    return [
        {path: value for path, value in named(row).items() if path not in held}
        for row in draws.values[:count]
    ]


def facts_of(system: System, engine: Engine) -> dict[str, Fact]:
    """Facts by the path that ``--set`` takes."""
    return dict(system.facts) | {f"engine.{path}": fact for path, fact in engine.facts.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class BandPoint:
    """The band at one speed."""

    speed: float
    """token/s/user"""
    rate: Interval
    """Throughput, in the unit of what it was made from."""
    reached: float
    """Share of the draws that are as fast."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What the draws make of a subject's deployments."""

    subject: Subject
    draws: tuple[Mapping[str, float], ...]
    seen: dict[tuple[object, ...], Floats] = field(default_factory=dict)
    """By key of an option: (draws, 4), factors on TBT, throughput, package draw and end-to-end
    latency; NaN where it does not fit."""

    def factors(self, options: Sequence[Option]) -> Floats:
        """(options, draws, 4): by what each draw changes each of *options*."""
        new = [one for one in options if one.key not in self.seen]
        served = Precision.as_served(
            self.subject.engine, self.subject.model, self.subject.system.chip
        )

        def under(option: Option) -> Floats:
            base = np.array(_steady(self.subject, option.pools, option.concurrency))
            found = [_in_world(self.subject, option, values, served) for values in self.draws]
            factors: Floats = np.array(found) / base
            return factors

        for one, found in zip(new, at_once(under, new), strict=True):
            self.seen[one.key] = found
        return np.array([self.seen[one.key] for one in options])

    def band(self, found: Frontier, per: Per) -> tuple[BandPoint, ...]:
        """The band of a frontier's front for the denominator *per*, with the twin's own error.

        All that was simulated counts, for what the catalogue's constants beat may win under others.
        """
        front, points = found.front(per), found.points
        moved = self.factors([point.option for point in points])
        rates = moved[:, :, 1] / (moved[:, :, 2] if per is Per.PACKAGE else 1.0)
        return band(
            np.array([point.speed for point in points])[:, None] / moved[:, :, 0],
            np.array([found.bench.rate(per, point).value for point in points])[:, None] * rates,
            self.errors(LOADED),
            [point.speed for point in front],
        )

    def errors(self, path: str) -> Floats:
        """(draws, repeats): factors by which the twin may be off; *path*: the scale's unknown."""
        scale = np.array([values[path] for values in self.draws])[:, None]
        places = (np.arange(REPEATS) + 0.5) / REPEATS
        found: Floats = np.exp(scale * student.ppf(places, DEGREES)[None, :])
        return found


def moved_by(subject: Subject, draws: Draws, count: int = DRAWN) -> Moved | None:
    """What *draws* make of *subject*; None where they are of another system or engine."""
    if not covers(subject.system.name, subject.engine.name):
        return None
    facts = facts_of(subject.system, subject.engine)
    return Moved(subject, tuple(draws_for(draws, facts, count)))


def _in_world(
    subject: Subject, option: Option, values: Mapping[str, float], served: Precision
) -> tuple[float, ...]:
    """What *option* does under a draw; formats that the user chose stay."""
    world = world_of(values, subject.system, subject.engine)
    pools = option.pools
    if subject.precision == served:
        precision = world.precision(subject.model, served)
        pools = tuple(replace(one, plan=replace(one.plan, precision=precision)) for one in pools)
    try:
        return _steady(subject, pools, option.concurrency, world)
    except DoesNotFit:
        return (float("nan"),) * 4


def _steady(
    subject: Subject, pools: Sequence[Pool], concurrency: int, world: World | None = None
) -> tuple[float, ...]:
    """(TBT, throughput, watts, end-to-end latency)."""
    system, engine = (world.system, world.engine) if world else (subject.system, subject.engine)
    prompt, output = subject.mean_lengths
    prices = tuple(compile_price(subject.model, pool.plan, system, engine) for pool in pools)
    load = Load(concurrency=concurrency, prompt=prompt, output=output)
    found: SteadyState = estimate(prices, tuple(pool.replicas for pool in pools), load)
    return found.tpot, found.tokens_per_s_per_chip, found.watts_per_chip, found.e2e


def band(
    speeds: Floats, rates: Floats, errors: Floats, front: Sequence[float], points: int = POINTS
) -> tuple[BandPoint, ...]:
    """The band of a front whose points are at *speeds* and *rates*, (points, draws), under draws.

    Each draw's own front is read at common speeds, within those of the *front* as it is: below its
    slowest point nothing more is gained, beyond its fastest there is nothing.  The band ends where
    a twentieth of the draws is not as fast any more.  *errors*: (draws, repeats), factors.
    """
    at = np.geomspace(min(front), max(front), points)
    read = np.array([read_front(s, r, at) for s, r in zip(speeds.T, rates.T, strict=True)])
    made = []
    for place, speed in enumerate(at):
        there = ~np.isnan(read[:, place])
        share = float(there.mean())
        if share >= REACHED:
            values = (read[there, place][:, None] * errors[there]).ravel()
            made.append(BandPoint(speed=float(speed), rate=interval(values), reached=share))
    return tuple(made)


def read_front(speeds: Floats, rates: Floats, at: Floats) -> Floats:
    """The front of points read *at* speeds, interpolated in logarithms; NaN beyond its fastest."""
    there = ~(np.isnan(speeds) | np.isnan(rates))
    if not there.any():
        return np.full(len(at), np.nan)
    order = np.argsort(-speeds[there], kind="stable")
    fast, most = speeds[there][order], np.maximum.accumulate(rates[there][order])
    xs, ys = np.log(fast[::-1]), np.log(most[::-1])
    found: Floats = np.exp(np.interp(np.log(at), xs, ys))
    found[at > fast[0] * (1.0 + 1e-12)] = np.nan
    return found
