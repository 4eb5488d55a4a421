"""Jalapeño's constants as an inverse problem: fitted to the twelve published numbers.

There are no logs, so the few constants of the engine are what makes the published numbers come
out; the fit goes through the closed form, with plans held and ramps taken from the simulation.
Twelve numbers against nine choices explain the results rather than predict them, which
:func:`leave_one_out` makes visible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from jalapeno import catalogue
from jalapeno.analysis.published import ENGINE, facts_for
from jalapeno.analysis.reproduction import Comparison, LeftOut, Number
from jalapeno.catalogue import Engine, Tariff, engine_of, model_of, system_of
from jalapeno.mapping import Load, compile_price
from jalapeno.mapping.estimate import estimate_unified
from jalapeno.simulation.scenario import Trees
from jalapeno.simulation.traffic import ClosedLoop

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Constant:
    """One fitted constant: a share or a time, and the facts that follow it."""

    path: str
    low: float
    high: float
    seconds: bool = False
    also: tuple[str, ...] = ()
    """Facts tied to this one."""

    def text(self, value: float) -> str:
        """The value as an override."""
        return f"{value:.9g} s" if self.seconds else f"{value:.9g}"


CONSTANTS = (
    Constant(
        "matrix_efficiency",
        0.1,
        0.95,
        also=("prefill_attention_efficiency", "decode_attention_efficiency"),
    ),
    Constant("maturity.gpt-oss-120b", 0.1, 1.5),
    Constant("maturity.kimi-k2.5", 0.1, 1.5),
    Constant("memory_efficiency", 0.3, 0.97, also=("kv_efficiency",)),
    Constant("issue_layer_rest", 1e-6, 60e-6, seconds=True),
    Constant("issue_layer_load", 0.0, 60e-6, seconds=True),
    Constant("first_token_delay", 0.0, 0.6, seconds=True),
)
"""What is fitted.  The maturity of DeepSeek-R1's kernels is the measure of the others' and stays
one; ``issue_layer_load`` is fitted as what it adds to a layer at rest."""

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


def overrides_for(values: Sequence[float] | Floats) -> dict[str, str]:
    """The constants as overrides of the engine's facts."""
    named = dict(zip((constant.path for constant in CONSTANTS), values, strict=True))
    named["issue_layer_load"] += named["issue_layer_rest"]
    found: dict[str, str] = {}
    for constant in CONSTANTS:
        for path in (constant.path, *constant.also):
            found[f"engine.{path}"] = constant.text(named[constant.path])
    return found


def closed_form(number: Number, trees: Trees, tariff: Tariff) -> float:
    """What the closed form makes of the winning plan of *number*, in the number's unit."""
    scenario = number.outcome.scenario
    model, system, engine = (
        model_of(trees["model"]),
        system_of(trees["system"]),
        engine_of(trees["engine"]),
    )
    (pool,), arrivals = scenario.pools, scenario.traffic.arrivals
    assert isinstance(arrivals, ClosedLoop)
    prompts, outputs = scenario.traffic.lengths.draw(scenario.traffic.requests)
    load = Load(
        concurrency=arrivals.concurrency,
        prompt=float(prompts.mean()),
        output=float(outputs.mean()),
    )
    price = compile_price(model, pool.plan, system, engine)
    steady = estimate_unified(price, pool.replicas, load)
    match number.objective:
        case "min_e2e":
            return steady.e2e
        case "min_tbt":
            return steady.tpot * 1e3
        case _:
            return steady.tokens_per_s_per_chip / tariff.tdp * 1e3


@dataclass(frozen=True, slots=True)
class Evidence:
    """The twelve numbers, their plans, and the ramp of each run over its steady state."""

    numbers: tuple[tuple[str, Number], ...]
    """(claim, number)"""
    ramps: Floats
    """Simulated over closed form, at the catalogue's constants."""

    def residuals(self, values: Floats) -> Floats:
        """log(twin / published) of all numbers under *values*."""
        overrides = overrides_for(values)
        tariff = catalogue.tariff("jalapeno")
        trees = {name: facts_for(catalogue.claim(name), overrides) for name, _ in self.numbers}
        twins = [closed_form(number, trees[name], tariff) for name, number in self.numbers]
        published = [number.published for _, number in self.numbers]
        logs: Floats = np.log(np.array(twins) * self.ramps / np.array(published))
        return logs


def gather(comparisons: Sequence[Comparison]) -> Evidence:
    """The evidence in *comparisons*."""
    numbers = tuple(
        (comparison.claim.name, number)
        for comparison in comparisons
        for number in comparison.jalapeno
    )
    tariff = catalogue.tariff("jalapeno")
    ramps = [
        number.twin / closed_form(number, facts_for(catalogue.claim(name)), tariff)
        for name, number in numbers
    ]
    return Evidence(numbers, np.array(ramps))


def fit(evidence: Evidence, without: int | None = None, delay: bool = True) -> Floats:
    """Constants that fit the numbers best (least squares of logarithms), one of them left out.

    Starts at the catalogue's constants.  With ``delay=False`` there is no first-token delay.
    """
    low = np.array([constant.low for constant in CONSTANTS])
    high = np.array([constant.high for constant in CONSTANTS])
    begin = constants_of(catalogue.engine(ENGINE))
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
        residuals, first, bounds=(0.0, 1.0), diff_step=[1e-3] * len(first), max_nfev=12
    )
    return values(solved.x)


def leave_one_out(comparisons: Sequence[Comparison]) -> tuple[LeftOut, ...]:
    """Each published number, fitted with the others, left out, and without a first-token delay."""
    evidence = gather(comparisons)
    published = np.array([number.published for _, number in evidence.numbers])
    fitted = published * np.exp(evidence.residuals(fit(evidence)))
    bare = published * np.exp(evidence.residuals(fit(evidence, delay=False)))
    found = []
    for index, (_, number) in enumerate(evidence.numbers):
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
