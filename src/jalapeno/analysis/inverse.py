"""Jalapeño's constants as an inverse problem: fitted to the twelve published numbers.

There are no logs, so the few constants of the engine are what makes the published numbers come
out; the fit goes through the closed form, with plans held and ramps taken from the simulation.
Twelve numbers against nine choices explain the results rather than predict them, which
:func:`leave_one_out` makes visible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from jalapeno import catalogue
from jalapeno.analysis.published import ENGINE
from jalapeno.analysis.reproduction import Comparison, LeftOut, Number
from jalapeno.catalogue import Engine
from jalapeno.mapping import Load, compile_price
from jalapeno.mapping.estimate import estimate_unified
from jalapeno.simulation.arrivals import ClosedLoop

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Constant:
    """One fitted constant, a share or a time in seconds, and the bounds of its fit."""

    path: str
    low: float
    high: float


MATURITY = "maturity."

CONSTANTS = (
    Constant("matrix_efficiency", 0.1, 0.95),
    Constant("maturity.gpt-oss-120b", 0.1, 1.5),
    Constant("maturity.kimi-k2.5", 0.1, 1.5),
    Constant("memory_efficiency", 0.3, 0.97),
    Constant("issue_layer_rest", 1e-6, 60e-6),
    Constant("issue_layer_load", 0.0, 60e-6),
    Constant("first_token_delay", 0.0, 0.6),
)
"""What is fitted.  The efficiency of KV reads follows the memory's; that of attention kernels is
published.  The maturity of DeepSeek-R1's kernels is the measure of the others' and stays one;
``issue_layer_load`` is fitted as what it adds to a layer at rest."""

CHOSEN = ("overlap", "chip.matrix.tile_rows")
"""Chosen by hand inside the ranges of their facts: with the fitted ones, nine choices."""

DELAY = len(CONSTANTS) - 1


def constants_of(engine: Engine) -> Floats:
    """The constants that *engine* has."""
    rest = engine.issue_layer_rest
    return np.array(
        [
            engine.matrix_efficiency,
            engine.maturity["gpt-oss-120b"],
            engine.maturity["kimi-k2.5"],
            engine.memory_efficiency,
            rest,
            engine.issue_layer_load - rest,
            engine.first_token_delay,
        ]
    )


def engine_with(engine: Engine, values: Sequence[float] | Floats) -> Engine:
    """*engine* with these constants, and what is tied to them."""
    named = dict(zip((constant.path for constant in CONSTANTS), values, strict=True))
    memory = float(named["memory_efficiency"])
    rest = float(named["issue_layer_rest"])
    maturity = {
        path.removeprefix(MATURITY): float(value)
        for path, value in named.items()
        if path.startswith(MATURITY)
    }
    return replace(
        engine,
        matrix_efficiency=float(named["matrix_efficiency"]),
        memory_efficiency=memory,
        kv_efficiency=memory,
        issue_layer_rest=rest,
        issue_layer_load=rest + float(named["issue_layer_load"]),
        first_token_delay=float(named["first_token_delay"]),
        maturity={**engine.maturity, **maturity},
    )


def closed_form(number: Number, engine: Engine) -> float:
    """What the closed form makes of the winning plan of *number*, in the number's unit."""
    scenario = number.outcome.scenario
    (pool,), arrivals = scenario.pools, scenario.traffic.arrivals
    assert isinstance(arrivals, ClosedLoop)
    prompts, outputs = scenario.traffic.lengths.draw(scenario.traffic.requests)
    load = Load(
        concurrency=arrivals.concurrency,
        prompt=float(prompts.mean()),
        output=float(outputs.mean()),
    )
    price = compile_price(scenario.model, pool.plan, scenario.system, engine)
    steady = estimate_unified(price, pool.replicas, load)
    match number.objective:
        case "min_e2e":
            return steady.e2e
        case "min_tbt":
            return steady.tpot * 1e3
        case _:
            return steady.tokens_per_s_per_chip / scenario.system.chip.power.tdp * 1e3


@dataclass(frozen=True, slots=True)
class Evidence:
    """The twelve numbers, their plans, and the ramp of each run over its steady state."""

    numbers: tuple[Number, ...]
    engine: Engine
    ramps: Floats
    """Simulated over closed form, at the catalogue's constants."""

    def residuals(self, values: Floats) -> Floats:
        """log(twin / published) of all numbers under *values*."""
        engine = engine_with(self.engine, values)
        twins = np.array([closed_form(number, engine) for number in self.numbers])
        logs: Floats = np.log(twins * self.ramps / [number.published for number in self.numbers])
        return logs


def gather(comparisons: Sequence[Comparison]) -> Evidence:
    """The evidence in *comparisons*."""
    numbers = tuple(number for comparison in comparisons for number in comparison.jalapeno)
    engine = numbers[0].outcome.scenario.engine
    ramps = [number.twin / closed_form(number, engine) for number in numbers]
    return Evidence(numbers, engine, np.array(ramps))


def fit(evidence: Evidence, without: int | None = None, delay: bool = True) -> Floats:
    """Constants that fit the numbers best (least squares of logarithms), one of them left out.

    Starts at the catalogue's constants.  With ``delay=False`` there is no first-token delay.
    """
    low = np.array([constant.low for constant in CONSTANTS])
    high = np.array([constant.high for constant in CONSTANTS])
    begin = constants_of(evidence.engine)
    keep = np.array([index != without for index in range(len(evidence.numbers))])

    def values(unit: Floats) -> Floats:
        found: Floats = low + np.clip(unit, 0.0, 1.0) * (high - low)
        if not delay:
            found[DELAY] = 0.0
        return found

    def residuals(unit: Floats) -> Floats:
        kept: Floats = evidence.residuals(values(unit))[keep]
        return kept

    first = np.clip((begin - low) / (high - low), 1e-3, 1.0 - 1e-3)
    solved = least_squares(
        residuals, first, bounds=(0.0, 1.0), diff_step=[1e-3] * len(first), max_nfev=6
    )
    return values(solved.x)


def leave_one_out(comparisons: Sequence[Comparison]) -> tuple[LeftOut, ...]:
    """Each published number, fitted with the others, left out, and without a first-token delay."""
    evidence = gather(comparisons)
    published = np.array([number.published for number in evidence.numbers])
    fitted = published * np.exp(evidence.residuals(fit(evidence)))
    bare = published * np.exp(evidence.residuals(fit(evidence, delay=False)))
    found = []
    for index, number in enumerate(evidence.numbers):
        residual = evidence.residuals(fit(evidence, without=index))[index]
        found.append(
            LeftOut(
                model=number.outcome.scenario.model.name,
                objective=number.objective,
                published=number.published,
                fitted=float(fitted[index]),
                predicted=number.published * math.exp(residual),
                without_delay=float(bare[index]),
            )
        )
    return tuple(found)


def constants_text() -> Mapping[str, str]:
    """Every fitted or chosen constant with its value and kind."""
    engine = catalogue.engine(ENGINE)
    chip = catalogue.chip("jalapeno")
    found = {}
    for constant in CONSTANTS:
        fact = engine.facts[constant.path]
        found[constant.path] = f"{fact.text} ({fact.kind.name.lower()})"
    overlap, rows = engine.facts["overlap"], chip.facts["matrix.tile_rows"]
    found["overlap"] = f"{overlap.text} ({overlap.kind.name.lower()})"
    found["chip.matrix.tile_rows"] = f"{rows.text} ({rows.kind.name.lower()})"
    return found
