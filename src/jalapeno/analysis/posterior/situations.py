"""What was never published of Jalapeño: other loads and lengths, and tails.

A situation is one deployment under one load.  The closed form answers for every draw; a few draws
are played out, for tails and to see how far the closed form is from the simulation there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jalapeno.analysis.posterior.options import Layout, Served
from jalapeno.analysis.posterior.unknowns import SYSTEM, Floats, named
from jalapeno.analysis.posterior.worlds import CAP, World, overrides_of
from jalapeno.analysis.published import ENGINE, MEASURED_ON, REQUESTS_PER_SLOT
from jalapeno.analysis.references import RATIO
from jalapeno.mapping import Load, Plan, SteadyState, compile_price
from jalapeno.mapping.estimate import estimate_unified
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

BUDGET = 2048
"""Tokens of a step, a rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One replica of a layout with a constant number of requests in flight."""

    model: str
    layout: Layout
    concurrency: int
    isl: int
    osl: int

    @property
    def lengths(self) -> Lengths:
        """As InferenceX draws them."""
        return Lengths(isl=self.isl, osl=self.osl, ratio=RATIO)

    @property
    def name(self) -> str:
        """In short: model, lengths, layout, load."""
        tp, ep, dp = self.layout
        layout = f"DEP{ep}" if dp > 1 else f"TP{tp}"
        lengths = f"{self.isl // 1024}k/{self.osl // 1024}k"
        return f"{self.model}, {lengths}, {layout}, {self.concurrency} in flight"

    def plan(self, of: Served, world: World) -> Plan:
        """The plan in *world*."""
        tp, ep, dp = self.layout
        slots = -(-self.concurrency // dp)
        precision = world.precision(of.model, of.precision)
        return Plan(
            tp=tp, ep=ep, dp=dp, max_running=slots, max_tokens=slots + BUDGET, precision=precision
        )


def situations(models: Sequence[str]) -> tuple[Situation, ...]:
    """A request alone, a batch of 64, and 256 short ones, on eight chips each."""
    alone, spread = (8, 1, 1), (1, 8, 8)
    each = ((alone, 1, 8192, 1024), (spread, 64, 8192, 1024), (spread, 256, 1024, 1024))
    return tuple(
        Situation(model=model, layout=layout, concurrency=flight, isl=isl, osl=osl)
        for model in models
        for layout, flight, isl, osl in each
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number of a situation."""

    name: str
    unit: str
    report: Callable[[Report], float]
    steady: Callable[[SteadyState], float] | None = None
    """From the closed form; None for a tail."""
    is_ttft: bool = False


METRICS = (
    Metric(
        name="mean TTFT",
        unit="ms",
        report=lambda found: found.latency.ttft_ms.mean,
        steady=lambda found: found.ttft * 1e3,
        is_ttft=True,
    ),
    Metric(
        name="P99 TTFT", unit="ms", report=lambda found: found.latency.ttft_ms.p99, is_ttft=True
    ),
    Metric(
        name="mean TBT",
        unit="ms",
        report=lambda found: found.latency.tpot_ms.mean,
        steady=lambda found: found.tpot * 1e3,
    ),
    Metric(name="P99 TBT", unit="ms", report=lambda found: found.latency.tpot_ms.p99),
    Metric(
        name="throughput",
        unit="token/s/chip",
        report=lambda found: found.throughput.tokens_per_s_per_chip,
        steady=lambda found: found.tokens_per_s_per_chip,
    ),
    Metric(
        name="package draw",
        unit="W/chip",
        report=lambda found: found.power.package.watts_per_chip,
        steady=lambda found: found.watts_per_chip,
    ),
)


def steady_answers(of: Served, situation: Situation, world: World) -> dict[str, float]:
    """What the closed form says in *world*, by metric."""
    price = compile_price(of.model, situation.plan(of, world), world.system, world.engine)
    prompt, output = situation.lengths.means
    load = Load(concurrency=situation.concurrency, prompt=prompt, output=output)
    found = estimate_unified(price, 1, load)
    return {one.name: one.steady(found) for one in METRICS if one.steady is not None}


def scenario_for(
    of: Served, situation: Situation, world: World, overrides: Mapping[str, str]
) -> Scenario:
    """*situation* as a run, under *overrides* of the catalogue's facts."""
    facts = {**MEASURED_ON, "chip.power.cap": CAP, **overrides}
    traffic = Traffic(
        lengths=situation.lengths,
        arrivals=ClosedLoop(concurrency=situation.concurrency),
        requests=situation.concurrency * REQUESTS_PER_SLOT,
    )
    pool = Pool(role=Role.UNIFIED, plan=situation.plan(of, world), replicas=1)
    trees = resolve(SYSTEM, situation.model, ENGINE, facts)
    return scenario_of(trees, (pool,), traffic)


def simulated_answers(
    of: Served, situation: Situation, world: World, values: Floats
) -> dict[str, float]:
    """What the simulation of one draw, a row of *values*, says, by metric."""
    scenario = scenario_for(of, situation, world, overrides_of(named(values)))
    report = measure(simulate(scenario))
    return {one.name: float(one.report(report)) for one in METRICS}


def columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    """Answers of many draws, by metric."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
