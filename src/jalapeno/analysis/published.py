"""Jalapeño's published points: the plan is searched, then played out as the harness would.

The closed form goes through the space; a short list per objective is simulated with the exact
request list, and the simulation decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jalapeno.analysis.references import ISL, OSL, RATIO
from jalapeno.analysis.reproduction import OBJECTIVES
from jalapeno.catalogue import Claim, engine_of, model_of, system_of
from jalapeno.errors import DoesNotFit
from jalapeno.mapping import Precision, StepPrice
from jalapeno.mapping.search import Candidate, Space, best, compiled_plans, search
from jalapeno.simulation import (
    ClosedLoop,
    Lengths,
    Pool,
    Role,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
)
from jalapeno.simulation.scenario import Trees

ENGINE = "jalapeno-engine"
MEASURED_ON = {"chip.stepping": "A0"}
"""SemiAnalysis: the published results ran on A0 silicon; the peaks on the slides are B0's."""

FIXED_CHIPS: Mapping[tuple[str, str], int] = {("deepseek-r1", "min_tbt"): 8}
"""Published: R1 exceeded 700 tokens/s/user on a system of eight chips."""

SPACE = Space(chips=(1, 2, 4, 8, 16, 32))
REQUESTS_PER_SLOT = 10
"""InferenceX sends ten requests for every one in flight."""

MARGINS = (1.0, 0.96, 0.92, 0.88, 0.84)
"""Limits on TBT, as shares of the reference's, for the short list: ramps and uneven ranks make a
run slower than its steady state."""

Found = Sequence[tuple[StepPrice, Candidate]]
Score = Callable[[Candidate], float]


@dataclass(frozen=True, slots=True)
class Hunt:
    """The search space of one model, looked through by the closed form."""

    claim: Claim
    trees: Trees
    lengths: tuple[float, float]
    """Mean prompt and answer, tokens."""
    found: Found


def facts_for(claim: Claim, overrides: Mapping[str, str] | None = None) -> Trees:
    """Resolved facts of Jalapeño on the model of *claim*, as it was measured."""
    return resolve(claim.system, claim.model, ENGINE, {**MEASURED_ON, **(overrides or {})})


def mean_lengths() -> tuple[float, float]:
    """Mean prompt and answer of the published workload."""
    low_in, low_out = int(ISL * RATIO), int(OSL * RATIO)
    return (low_in + ISL) / 2.0, (low_out + OSL) / 2.0


def hunt(claim: Claim, trees: Trees, space: Space = SPACE) -> Hunt:
    """Look through *space* for the model of *claim*."""
    model, system, engine = (
        model_of(trees["model"]),
        system_of(trees["system"]),
        engine_of(trees["engine"]),
    )
    precision = Precision.as_served(engine, model, system.chip)
    prices = list(compiled_plans(model, system, engine, precision, space.chips))
    lengths = mean_lengths()
    return Hunt(claim, trees, lengths, search(prices, space, lengths))


def short_list(hunted: Hunt, objective: str) -> list[Candidate]:
    """The candidates of *objective* that are worth a simulation, the most promising first."""
    claim = hunted.claim
    fixed = FIXED_CHIPS.get((claim.model, objective))
    found = [item for item in hunted.found if fixed is None or item[1].plan.chips == fixed]
    match objective:
        case "peak":
            return [best(found, _throughput(math.inf), hunted.lengths)]
        case "min_e2e":
            return [min(_alone(found, objective), key=lambda item: item.steady.e2e)]
        case "min_tbt":
            lone = _alone(found, objective)
            return [min(lone, key=lambda item: (item.steady.tpot, item.steady.e2e))]
        case "at_reference_tbt":
            limits = [claim.reference_min_tbt * margin for margin in MARGINS]
            listed = [best(found, _throughput(limit), hunted.lengths) for limit in limits]
            return list(dict.fromkeys(listed))
        case _:
            raise ValueError(f"no objective {objective!r}; there are {', '.join(OBJECTIVES)}")


def _alone(found: Found, objective: str) -> list[Candidate]:
    """The candidates with a single request in flight."""
    lone = [item for _, item in found if item.concurrency == 1]
    if not lone:
        raise DoesNotFit(
            f"no plan of the search serves one request alone, as {objective} asks: let the space "
            "have concurrency 1 and the number of chips that was published"
        )
    return lone


def _throughput(limit: float) -> Score:
    """Tokens/s per chip, where the mean TBT is at most *limit* seconds."""

    def score(item: Candidate) -> float:
        steady = item.steady
        return steady.tokens_per_s_per_chip if steady.tpot <= limit else -math.inf

    return score


def scenario_of_candidate(trees: Trees, item: Candidate) -> Scenario:
    """One replica of the candidate's plan under the published workload."""
    traffic = Traffic(
        lengths=Lengths(isl=ISL, osl=OSL, ratio=RATIO),
        arrivals=ClosedLoop(concurrency=item.concurrency),
        requests=item.concurrency * REQUESTS_PER_SLOT,
    )
    return scenario_of(trees, (Pool(role=Role.UNIFIED, plan=item.plan, replicas=1),), traffic)


def frontier(hunted: Hunt, points: int) -> list[Candidate]:
    """About *points* candidates (two at least) that nothing beats on speed a user and throughput
    a chip."""
    if points < 2 or not hunted.found:
        raise DoesNotFit(
            f"a frontier of {points} points over {len(hunted.found)} candidates: two points and "
            "one candidate at least; widen the space"
        )
    ranked = sorted(
        (item for _, item in hunted.found),
        key=lambda item: (item.steady.tpot, -item.steady.tokens_per_s_per_chip),
    )
    front: list[Candidate] = []
    for item in ranked:
        rate = item.steady.tokens_per_s_per_chip
        if not front or rate > front[-1].steady.tokens_per_s_per_chip:
            front.append(item)
    fastest, slowest = front[0].steady.tpot, front[-1].steady.tpot
    chosen = []
    for step in range(points):
        wanted = fastest * (slowest / fastest) ** (step / (points - 1))
        chosen.append(min(front, key=lambda item: abs(math.log(item.steady.tpot / wanted))))
    return list(dict.fromkeys(chosen))
