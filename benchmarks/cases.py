"""The cases: a scenario each, simulated and measured, percentiles included."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from jalapeno import catalogue
from jalapeno.mapping import Plan, Precision
from jalapeno.mapping.estimate import Load, estimate_unified
from jalapeno.mapping.search import layouts
from jalapeno.mapping.step import compile_price
from jalapeno.metrics import measure, require
from jalapeno.simulation import (
    ClosedLoop,
    Lengths,
    LogNormal,
    Poisson,
    Pool,
    Role,
    Router,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
    simulate,
)

MODEL, ENGINE = "gpt-oss-120b", "jalapeno-engine"
LENGTHS = Lengths(isl=8192, osl=1024, ratio=0.8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One simulation to time."""

    name: str
    goal_s: float
    """Seconds it may take, after compilation."""
    scenario: Callable[[], Scenario]
    stream: bool = False
    """Segments go to disk instead of memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What a case took."""

    name: str
    requests: int
    simulate_s: float
    measure_s: float
    peak_gib: float
    fastest_s: float
    """The shortest of the rounds; the other figures are of the median round."""

    @property
    def seconds(self) -> float:
        """Journal and percentiles included."""
        return self.simulate_s + self.measure_s


def as_served() -> Precision:
    """The formats of Jalapeño's engine."""
    chip = catalogue.chip("jalapeno")
    return Precision.as_served(catalogue.engine(ENGINE), catalogue.model(MODEL), chip)


def plan(tp: int, dp: int, running: int, budget: int) -> Plan:
    """A plan for gpt-oss-120b in the formats of Jalapeño's engine."""
    precision = as_served()
    ep = tp * dp if dp > 1 else 1
    return Plan(tp=tp, ep=ep, dp=dp, max_running=running, max_tokens=budget, precision=precision)


def closed(concurrency: int, requests: int, budget: int) -> Scenario:
    """A closed loop on one TP8 replica."""
    return scenario_of(
        resolve("jalapeno-rack", MODEL, ENGINE),
        (Pool(role=Role.UNIFIED, plan=plan(8, 1, concurrency, budget), replicas=1),),
        Traffic(lengths=LENGTHS, arrivals=ClosedLoop(concurrency=concurrency), requests=requests),
    )


def pod(requests: int) -> Scenario:
    """256 TP8 replicas on the 2,048 chips of a pod, sixteen requests in flight on each."""
    return scenario_of(
        resolve("jalapeno-pod", MODEL, ENGINE),
        (Pool(role=Role.UNIFIED, plan=plan(8, 1, 64, 8192), replicas=256),),
        Traffic(lengths=LENGTHS, arrivals=ClosedLoop(concurrency=4096), requests=requests),
    )


def burst(requests: int) -> Scenario:
    """An open-loop burst on DEP16 whose KV cache is full: all but a sixth of the HBM kept back."""
    trees = resolve("jalapeno-rack", MODEL, ENGINE, {"engine.memory_reserve": "200 GiB"})
    return scenario_of(
        trees,
        (Pool(role=Role.UNIFIED, plan=plan(1, 16, 256, 2048), replicas=1),),
        Traffic(lengths=LENGTHS, arrivals=Poisson(rate=2000.0), requests=requests),
    )


def azure(requests: int, router: Router = Router.SHARED, rate: float = 1500.0) -> Scenario:
    """An open loop of lengths like Azure's conversations over 64 replicas of one chip each."""
    lengths = LogNormal(
        prompt_mean=1155.0,
        prompt_cv=0.96,
        prompt_max=14050,
        output_mean=211.0,
        output_cv=0.77,
        output_max=1000,
        seed=0,
    )
    return scenario_of(
        resolve("jalapeno-rack", MODEL, ENGINE),
        (Pool(role=Role.UNIFIED, plan=plan(1, 1, 256, 8192), replicas=64),),
        Traffic(lengths=lengths, arrivals=Poisson(rate=rate), requests=requests),
        router=router,
    )


CASES = (
    Case(
        name="1,000 requests, concurrency 64, one replica",
        goal_s=0.020,
        scenario=lambda: closed(64, 1000, 8192),
    ),
    Case(
        name="1,000,000 requests, concurrency 256, one replica, budget 8,192",
        goal_s=5.0,
        scenario=lambda: closed(256, 1_000_000, 8192),
    ),
    Case(
        name="1,000,000 requests, concurrency 256, one replica, budget 2,048",
        goal_s=5.0,
        scenario=lambda: closed(256, 1_000_000, 2048),
    ),
    Case(
        name="1,000,000 requests, concurrency 256, segments streamed to disk",
        goal_s=30.0,
        scenario=lambda: closed(256, 1_000_000, 8192),
        stream=True,
    ),
    Case(
        name="1,000,000 requests over 256 replicas (2,048 chips)",
        goal_s=20.0,
        scenario=lambda: pod(1_000_000),
    ),
    Case(
        name="100,000 requests, open-loop burst, DEP16, KV cache full",
        goal_s=20.0,
        scenario=lambda: burst(100_000),
    ),
    Case(
        name="1,000,000 requests like Azure's, open loop, 64 replicas, one queue",
        goal_s=20.0,
        scenario=lambda: azure(1_000_000),
    ),
    Case(
        name="1,000,000 requests like Azure's, open loop, 64 replicas, least loaded",
        goal_s=20.0,
        scenario=lambda: azure(1_000_000, Router.LEAST_LOADED),
    ),
)


def warm(case: Case) -> None:
    """Compile everything the case needs, on a small run of its own kind."""
    require(measure(simulate(closed(8, 40, 8192))).checks)
    if "DEP16" in case.name:
        require(measure(simulate(burst(64))).checks)


ROUNDS = 3


def time_case(case: Case) -> Timing:
    """Simulate and measure *case* after compilation; the median of three rounds."""
    warm(case)
    rounds = sorted((_once(case) for _ in range(ROUNDS)), key=lambda timing: timing.seconds)
    return replace(rounds[ROUNDS // 2], fastest_s=rounds[0].seconds)


def _once(case: Case) -> Timing:
    scenario = case.scenario()
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        journal = simulate(scenario, Path(folder) if case.stream else None)
        simulated = time.perf_counter()
        report = measure(journal)
        end = time.perf_counter()
    require(report.checks)
    return Timing(
        name=case.name,
        requests=report.requests_done,
        simulate_s=simulated - begin,
        measure_s=end - simulated,
        peak_gib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        fastest_s=end - begin,
    )


def plans_per_second(seconds: float = 2.0) -> float:
    """Plans compiled and estimated a second, each under another load."""
    model, system = catalogue.model(MODEL), catalogue.system("jalapeno-rack")
    engine = catalogue.engine(ENGINE)
    plans = [
        Plan(
            tp=tp,
            ep=ep,
            dp=dp,
            max_running=64,
            max_tokens=budget,
            precision=as_served(),
        )
        for chips in (1, 2, 4, 8)
        for tp, ep, dp in layouts(chips)
        for budget in (512, 2048, 8192)
    ]
    count, begin = 0, 0.0
    while not begin or time.perf_counter() - begin < seconds:
        for item in plans:
            load = Load(concurrency=1 + count % 64, prompt=7372.5, output=921.5)
            estimate_unified(compile_price(model, item, system, engine), 1, load)
            count += 1
        if not begin:  # the first round compiled the code
            count, begin = 0, time.perf_counter()
    return count / (time.perf_counter() - begin)
