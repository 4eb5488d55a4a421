"""The closed form beside the simulator: the same deployment under the same load, played out.

Requests are in a closed loop; rates and latencies are of the middle of the run.  The worst that was
measured stands beside each tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from jalapeno.mapping import Load, SteadyState, compile_price, estimate
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
from tests.mapping.worlds import SYSTEMS, World, plan_of

GPT, R1, K2 = "gpt-oss-120b", "deepseek-r1", "kimi-k2.5"
JALAPENO, GB200, GB300 = "jalapeno-rack", "gb200-nvl72", "gb300-nvl72"

Part = tuple[World, int, int, int]
"""A pool: world, replicas, slots and tokens of a rank."""

SHORT: Mapping[str, str] = {"engine.first_token_delay": "5 ms"}
"""Little time between a request's end and the next one's start, in which others would catch up."""


def scenario(
    parts: tuple[Part, ...], concurrency: int, lengths: tuple[int, int], ratio: float = 1.0
) -> Scenario:
    """A closed loop of some turns; with a *ratio* below one lengths differ, and turns are more."""
    roles = (Role.UNIFIED,) if len(parts) == 1 else (Role.PREFILL, Role.DECODE)
    pools = tuple(
        Pool(
            role=role,
            plan=replace(plan_of(world), max_running=slots, max_tokens=tokens),
            replicas=replicas,
        )
        for role, (world, replicas, slots, tokens) in zip(roles, parts, strict=True)
    )
    model, system, *_ = parts[0][0]
    traffic = Traffic(
        lengths=Lengths(isl=lengths[0], osl=lengths[1], ratio=ratio),
        arrivals=ClosedLoop(concurrency=concurrency),
        requests=concurrency * (8 if ratio == 1.0 else 24),
    )
    return scenario_of(resolve(system, model, SYSTEMS[system], SHORT), pools, traffic)


def played(run: Scenario) -> tuple[float, float, Load]:
    """(requests/s, mean TPOT, the load with the mean lengths that were drawn)."""
    requests = simulate(run).requests.sort("end")
    begin, end = requests.height // 3, 5 * requests.height // 6
    middle, ends = requests[begin:end], requests["end"].to_numpy() / 1e12
    decoding = (middle["end"] - middle["first"]).to_numpy() / 1e12
    assert isinstance(run.traffic.arrivals, ClosedLoop)
    load = Load(
        concurrency=run.traffic.arrivals.concurrency,
        prompt=float(requests["prompt"].to_numpy().mean()),
        output=float(requests["output"].to_numpy().mean()),
    )
    tpot = np.mean(decoding / (middle["output"].to_numpy() - 1))
    return (end - begin) / float(ends[end] - ends[begin]), float(tpot), load


def foretold(run: Scenario, load: Load) -> SteadyState:
    """What the closed form says of the same scenario."""
    prices = (compile_price(run.model, pool.plan, run.system, run.engine) for pool in run.pools)
    return estimate(tuple(prices), tuple(pool.replicas for pool in run.pools), load)


def errors(run: Scenario) -> tuple[float, float]:
    """(throughput, TPOT) of the closed form over the simulator's, less one."""
    rate, tpot, load = played(run)
    state = foretold(run, load)
    return state.requests_per_s / rate - 1, state.tpot / tpot - 1


# ---- requests of equal length

ONE_RANK: tuple[tuple[Part, tuple[int, int]], ...] = (
    (((GPT, JALAPENO, 1, 1, 1), 1, 256, 2048), (1024, 256)),
    (((GPT, JALAPENO, 8, 1, 1), 1, 256, 2048), (7373, 922)),
    (((GPT, GB200, 4, 4, 1), 1, 256, 8192), (7373, 922)),
    (((R1, GB300, 8, 8, 1), 1, 128, 4096), (2000, 500)),
    (((R1, JALAPENO, 2, 1, 1), 1, 64, 2048), (2000, 500)),
    (((K2, JALAPENO, 8, 2, 1), 2, 64, 1024), (4000, 500)),
)


@pytest.mark.parametrize("concurrency", [2, 8, 64, 300])
@pytest.mark.parametrize(("part", "lengths"), ONE_RANK, ids=str)
def test_unified_workers_of_one_rank_do_what_was_foretold(
    part: Part, lengths: tuple[int, int], concurrency: int
) -> None:
    # measured: throughput within 6.4 %, TPOT within 8.8 % (eight at once on one chip)
    rate, tpot = errors(scenario((part,), concurrency, lengths))
    assert abs(rate) < 0.1
    assert abs(tpot) < 0.1


SPLIT: tuple[tuple[tuple[Part, ...], tuple[int, int]], ...] = (
    (
        (((GPT, GB200, 1, 1, 1), 1, 1, 8192), ((GPT, GB200, 4, 4, 1), 2, 64, 64)),
        (7373, 922),
    ),
    (
        (((R1, GB300, 4, 4, 1), 2, 1, 8192), ((R1, GB300, 1, 8, 8), 1, 32, 32)),
        (7373, 922),
    ),
    (
        (((K2, GB300, 4, 4, 1), 1, 1, 8192), ((K2, GB300, 8, 8, 1), 1, 64, 64)),
        (7373, 922),
    ),
    (
        (((GPT, JALAPENO, 1, 1, 1), 2, 1, 8192), ((GPT, JALAPENO, 2, 2, 1), 1, 64, 64)),
        (2000, 500),
    ),
)


@pytest.mark.parametrize("concurrency", [1, 8, 64, 400])
@pytest.mark.parametrize(("parts", "lengths"), SPLIT, ids=str)
def test_split_pools_do_what_was_foretold(
    parts: tuple[Part, ...], lengths: tuple[int, int], concurrency: int
) -> None:
    # measured: throughput within 7.6 % where prefill is nearly saturated, TPOT within 3.0 %
    rate, tpot = errors(scenario(parts, concurrency, lengths))
    assert abs(rate) < 0.1
    assert abs(tpot) < 0.1


# ---- several ranks, which prompts of equal length keep in step

RANKS: tuple[tuple[Part, tuple[int, int]], ...] = (
    (((R1, JALAPENO, 1, 8, 8), 1, 64, 2048), (2000, 500)),
    (((R1, GB300, 2, 8, 4), 1, 64, 2048), (2000, 500)),
    (((K2, GB300, 1, 16, 16), 1, 64, 2048), (1000, 300)),
)


@pytest.mark.parametrize("concurrency", [8, 64])
@pytest.mark.parametrize(("part", "lengths"), RANKS, ids=str)
def test_ranks_whose_requests_differ_do_what_was_foretold(
    part: Part, lengths: tuple[int, int], concurrency: int
) -> None:
    # measured, lengths from 30 % up: throughput within 1.6 %, TPOT within 1.4 %
    rate, tpot = errors(scenario((part,), concurrency, lengths, ratio=0.3))
    assert abs(rate) < 0.05
    assert abs(tpot) < 0.05


@pytest.mark.parametrize(("part", "lengths"), RANKS, ids=str)
def test_ranks_in_step_do_no_worse_than_foretold(part: Part, lengths: tuple[int, int]) -> None:
    # prompts of equal length come to all ranks at once, where the closed form expects chance:
    # measured, throughput 19-36 % better than foretold, TPOT 24-60 %
    rate, tpot = errors(scenario((part,), 64, lengths))
    assert rate < 0.02
    assert tpot > -0.02


# ---- many short prompts


def test_short_prompts_that_share_a_step_are_served_no_slower_than_foretold() -> None:
    # the closed form has one prompt a rank in a step: measured, four times the throughput foretold,
    # and twice the TPOT, because more of them decode at once
    part = ((GPT, JALAPENO, 1, 1, 1), 1, 256, 4096)
    rate, _ = errors(scenario((part,), 256, (128, 32), ratio=0.8))
    assert rate < 0.02
