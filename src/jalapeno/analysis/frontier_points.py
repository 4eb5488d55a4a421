"""Options and points: a deployment under a load, as the closed form sees it and as played out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from jalapeno import catalogue
from jalapeno.analysis.objectives import Per, Rate, rate
from jalapeno.analysis.subject import Subject
from jalapeno.analysis.threads import MOST
from jalapeno.catalogue import Kind, Tariff
from jalapeno.mapping import SteadyState, StepPrice, compile_price
from jalapeno.metrics import Report, measure, require
from jalapeno.simulation import (
    AnyLengths,
    ClosedLoop,
    Lengths,
    LogNormal,
    Pool,
    Scenario,
    TraceLengths,
    Traffic,
    simulate,
)

REQUESTS_PER_SLOT = 10
"""InferenceX sends ten requests for every one in flight."""
MOST_REQUESTS = 40_960
"""Of one run, at the most, so that a frontier takes seconds: up to 4,096 in flight all are sent."""

Progress = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and how much there is."""


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody wants."""


@dataclass(frozen=True, slots=True)
class Option:
    """One deployment under a constant load, and what the closed form says of it."""

    pools: tuple[Pool, ...]
    concurrency: int
    steady: SteadyState

    @property
    def ranks(self) -> int:
        """Attention ranks (or micro-batches) of the workers that decode."""
        return self.pools[-1].plan.ranks

    @property
    def key(self) -> tuple[object, ...]:
        """The same for options that are the same run."""
        return (self.pools, self.concurrency)

    @property
    def cut(self) -> tuple[object, ...]:
        """The same for options that differ in load and budget only."""
        return tuple(
            (pool.role, pool.replicas, plan.tp, plan.ep, plan.dp, plan.pp, plan.cp, plan.label)
            for pool in self.pools
            for plan in (pool.plan,)
        )

    @property
    def chunk(self) -> int:
        """Prompt tokens that a rank takes in a step beside its running sequences."""
        plan = self.pools[0].plan
        return plan.max_tokens - plan.max_running

    def at(self, concurrency: int, chunk: int) -> Option:
        """The same deployment with slots for another load; the closed form is not asked anew.

        In split pools the prefill pool stays as it is but for its budget.
        """
        last = len(self.pools) - 1
        pools = []
        for place, pool in enumerate(self.pools):
            plan = pool.plan
            slots = plan.max_running
            if place == last:
                slots = -(-concurrency // (pool.replicas * plan.ranks))
            tokens = slots + (chunk if place == 0 else plan.max_tokens - plan.max_running)
            pools.append(replace(pool, plan=replace(plan, max_running=slots, max_tokens=tokens)))
        return replace(self, pools=tuple(pools), concurrency=concurrency)


@dataclass(frozen=True, slots=True)
class Point:
    """An option that was played out."""

    option: Option
    scenario: Scenario
    report: Report

    @property
    def speed(self) -> float:
        """Tokens a second for a user: 1000 / mean TBT in ms."""
        return self.report.latency.mean_tokens_per_s_per_user

    @property
    def tokens_per_s_per_chip(self) -> float:
        """Prompt and answer tokens."""
        return self.report.throughput.tokens_per_s_per_chip

    @property
    def watts_per_chip(self) -> float:
        """What the modelled packages draw, mean over chips and time."""
        return self.report.power.package.watts_per_chip

    @property
    def label(self) -> str:
        """Layout in short."""
        return self.scenario.label

    @property
    def chips(self) -> int:
        """Chips of the deployment."""
        return self.report.throughput.chips

    @property
    def requests_per_slot(self) -> float:
        """Requests sent for each in flight: fewer than ten where the run was capped."""
        return self.scenario.traffic.requests / self.option.concurrency


@dataclass(frozen=True, slots=True)
class Bench:
    """Where options of one subject are played out, each only once."""

    subject: Subject
    tariff: Tariff
    points: dict[tuple[object, ...], Point] = field(default_factory=dict)

    def play(
        self, options: Iterable[Option], progress: Progress = silent, stage: str = "simulating"
    ) -> tuple[Point, ...]:
        """The *options* as points, in order; compiled code lets one thread a core run."""
        wanted = list(options)
        new = {item.key: item for item in wanted if item.key not in self.points}
        with ThreadPoolExecutor(max(1, min(MOST, os.cpu_count() or 1))) as threads:
            made = threads.map(self._play, new.values())
            for done, (key, point) in enumerate(zip(new, made, strict=True), start=1):
                self.points[key] = point
                progress(stage, done, len(new))
        return tuple(self.points[item.key] for item in wanted)

    def _play(self, option: Option) -> Point:
        scenario = scenario_for(self.subject, option)
        report = measure(simulate(scenario), self.tariff)
        require(report.checks)
        return Point(option, scenario, report)

    def price(self, option: Option) -> StepPrice:
        """The compiled price of the workers of *option* that hold the cache."""
        subject = self.subject
        return compile_price(subject.model, option.pools[-1].plan, subject.system, subject.engine)

    def rate(self, per: Per, point: Point) -> Rate:
        """Throughput of *point* for the denominator *per*, with its range."""
        return rate(
            per,
            point.tokens_per_s_per_chip,
            point.watts_per_chip,
            self.tariff,
            point.report.power.package.kind,
        )


def bench(subject: Subject) -> Bench:
    """A bench for *subject* at the catalogue's tariff of its chip."""
    return Bench(subject, catalogue.tariff(subject.system.chip.name))


def scenario_for(subject: Subject, option: Option) -> Scenario:
    """*option* as InferenceX's client would measure it: a closed loop, the exact request list."""
    traffic = Traffic(
        lengths=subject.lengths,
        arrivals=ClosedLoop(concurrency=option.concurrency),
        requests=max(
            option.concurrency, min(option.concurrency * REQUESTS_PER_SLOT, MOST_REQUESTS)
        ),
    )
    return Scenario(
        system=subject.system,
        model=subject.model,
        engine=subject.engine,
        pools=option.pools,
        traffic=traffic,
        trees=subject.trees,
    )


def longest(lengths: AnyLengths) -> int:
    """Tokens of the longest request that *lengths* may draw, prompt and answer."""
    match lengths:
        case Lengths(isl=isl, osl=osl):
            return isl + osl
        case LogNormal(prompt_max=prompt, output_max=output):
            return prompt + output
        case TraceLengths(trace=trace):
            return int((trace.prompts + trace.outputs).max())


def evidence(points: Iterable[Point]) -> Kind:
    """The weakest evidence that any of *points* rests on."""
    return max(point.report.kind for point in points)
