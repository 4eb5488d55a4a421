"""Ramps: what playing a number out makes of its steady state.

A run begins and ends with fewer requests in flight than it is asked for, and its ranks are uneven;
the closed form knows neither.  The factor is taken once, at the catalogue's constants, from the
simulation of each number's best option; :func:`checked` says how far it moves over draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from jalapeno import catalogue
from jalapeno.analysis.posterior.evidence import Published
from jalapeno.analysis.posterior.likelihood import Judge, Ramp
from jalapeno.analysis.posterior.options import (
    E2E,
    TBT,
    THROUGHPUT,
    Listed,
    Try,
    at_limit,
    plan_of,
    table,
)
from jalapeno.analysis.posterior.unknowns import SYSTEM
from jalapeno.analysis.posterior.worlds import CAP, World
from jalapeno.analysis.published import ENGINE, MEASURED_ON, REQUESTS_PER_SLOT
from jalapeno.analysis.references import ISL, OSL, RATIO
from jalapeno.metrics import Report, measure
from jalapeno.simulation import (
    ClosedLoop,
    Lengths,
    Pool,
    Role,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
    simulate,
)

Run = Callable[[str, Sequence[Callable[[], "Played"]]], list["Played"]]
"""Runs jobs side by side, and tells how far it is."""


@dataclass(frozen=True, slots=True)
class Played:
    """One number played out beside its steady state."""

    number: Published
    one: Try
    ramp: Ramp
    report: Report


def scenario_for(listed: Listed, one: Try, world: World, overrides: Mapping[str, str]) -> Scenario:
    """The published run of *one*, under *overrides* of the catalogue's facts."""
    trees = resolve(
        SYSTEM,
        listed.of.model.name,
        ENGINE,
        {**MEASURED_ON, "chip.power.cap": CAP, **overrides},
    )
    traffic = Traffic(
        lengths=Lengths(isl=ISL, osl=OSL, ratio=RATIO),
        arrivals=ClosedLoop(concurrency=one.concurrency),
        requests=one.concurrency * REQUESTS_PER_SLOT,
    )
    plan = plan_of(one, world.precision(listed.of.model, listed.of.precision))
    pool = Pool(role=Role.UNIFIED, plan=plan, replicas=1)
    return scenario_of(trees, (pool,), traffic)


def best_try(listed: Listed, number: Published, world: World, slower: float = 1.0) -> Try:
    """The best option of *number* in *world*; at a limit, at the load that meets it."""
    options = listed.of_number(number)
    found = table(listed.of, world, listed.tries)
    logs, _ = options.read(found, world.system.chip.power.tdp, slower)
    curve = options.each[int(np.argmin(logs) if number.is_latency else np.argmax(logs))]
    if number.limit == math.inf:
        return curve[0]
    return at_limit(found, curve, number.limit / slower).one


def play(
    listed: Listed, number: Published, one: Try, world: World, overrides: Mapping[str, str]
) -> Played:
    """Simulate *one* as *number* was measured."""
    report = measure(simulate(scenario_for(listed, one, world, overrides)))
    steady = table(listed.of, world, [one]).row(one)
    tbt = report.latency.tpot_ms.mean / 1e3 / steady[TBT]
    match number.objective:
        case "min_e2e":
            value = report.latency.e2e_ms.mean / 1e3 / steady[E2E]
        case "min_tbt":
            value = tbt
        case _:
            value = report.throughput.tokens_per_s_per_chip / steady[THROUGHPUT]
    return Played(number, one, Ramp(value=float(value), tbt=float(tbt)), report)


def base_ramps(judge: Judge, run: Run) -> dict[str, Ramp]:
    """The ramp of every number at the catalogue's constants; *run* takes a stage and jobs."""
    world = World(judge.system, catalogue.engine(ENGINE), "MXFP8", "MXFP8")
    jobs = []
    for number in judge.numbers:
        listed = judge.listed[number.model]
        jobs.append(partial(play, listed, number, best_try(listed, number, world), world, {}))
    return {played.number.name: played.ramp for played in run("ramps", jobs)}
