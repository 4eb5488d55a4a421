"""Bands: the interval of what was simulated at the catalogue's constants, from the shipped draws.

For each draw the closed form says by which factor speed and throughput of a deployment change
against the catalogue's constants; the simulation is moved by that factor.  Plans are held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jalapeno.analysis.frontier_points import Option
from jalapeno.analysis.posterior.scores import Interval, interval
from jalapeno.analysis.posterior.shipped import Draws
from jalapeno.analysis.posterior.unknowns import SYSTEM, Floats, named
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
class Factors:
    """By what draws change deployments: (draws, deployments) each, NaN where one does not fit."""

    tbt: Floats
    throughput: Floats


def factors(
    subject: Subject, options: Sequence[Option], draws: Sequence[dict[str, float]]
) -> Factors:
    """How TBT and throughput of *options* change under each of *draws*."""
    base = np.array([_steady(subject, option.pools, option.concurrency) for option in options])
    served = Precision.as_served(subject.engine, subject.model, subject.system.chip)

    def under(values: dict[str, float]) -> Floats:
        world = world_of(values, subject.system, subject.engine)
        return np.array([_in_world(subject, option, world, served) for option in options])

    found = np.array(at_once(under, draws)) / base
    return Factors(tbt=found[:, :, 0], throughput=found[:, :, 1])


def _in_world(
    subject: Subject, option: Option, world: World, served: Precision
) -> tuple[float, float]:
    """(TBT, throughput) of *option* in *world*; formats that the user chose stay."""
    pools = option.pools
    if subject.precision == served:
        precision = world.precision(subject.model, served)
        pools = tuple(_with_precision(pool, precision) for pool in pools)
    try:
        return _steady(subject, pools, option.concurrency, world)
    except DoesNotFit:
        return float("nan"), float("nan")


def _with_precision(pool: Pool, precision: Precision) -> Pool:
    return replace(pool, plan=replace(pool.plan, precision=precision))


def _steady(
    subject: Subject, pools: Sequence[Pool], concurrency: int, world: World | None = None
) -> tuple[float, float]:
    system, engine = (world.system, world.engine) if world else (subject.system, subject.engine)
    prompt, output = subject.mean_lengths
    prices = tuple(compile_price(subject.model, pool.plan, system, engine) for pool in pools)
    load = Load(concurrency=concurrency, prompt=prompt, output=output)
    found: SteadyState = estimate(prices, tuple(pool.replicas for pool in pools), load)
    return found.tpot, found.tokens_per_s_per_chip


@dataclass(frozen=True, slots=True, kw_only=True)
class BandPoint:
    """The band at one speed."""

    speed: float
    """token/s/user"""
    rate: Interval
    """Throughput, in the unit of what it was made from."""
    reached: float
    """Share of the draws that are as fast."""


def band(
    speeds: Sequence[float], rates: Sequence[float], found: Factors, points: int = 24
) -> tuple[BandPoint, ...]:
    """The band of a front with these *speeds* (rising) and *rates*.

    Each draw moves every point of the front, and its own front is read at common speeds: below its
    slowest point nothing more is gained, beyond its fastest there is nothing.  The band ends where
    a twentieth of the draws is not as fast any more.
    """
    xs, ys = np.asarray(speeds), np.asarray(rates)
    at = np.geomspace(xs.min(), xs.max(), points)
    moved_speeds, moved_rates = xs / found.tbt, ys * found.throughput
    read = np.array([read_front(s, r, at) for s, r in zip(moved_speeds, moved_rates, strict=True)])
    made = []
    for place, speed in enumerate(at):
        column = read[:, place]
        there = column[~np.isnan(column)]
        share = len(there) / len(column)
        if share > REACHED:
            made.append(BandPoint(speed=float(speed), rate=interval(there), reached=share))
    return tuple(made)


REACHED = 0.95


def read_front(speeds: Floats, rates: Floats, at: Floats) -> Floats:
    """The front of points read *at* speeds, interpolated in logarithms; NaN beyond its fastest."""
    there = ~(np.isnan(speeds) | np.isnan(rates))
    if not there.any():
        return np.full(len(at), np.nan)
    order = np.argsort(-speeds[there], kind="stable")
    fast, most = speeds[there][order], np.maximum.accumulate(rates[there][order])
    xs, ys = np.log(fast[::-1]), np.log(most[::-1])
    found: Floats = np.exp(np.interp(np.log(at), xs, ys))
    found[at > fast[0]] = np.nan
    return found
