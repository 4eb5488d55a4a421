"""The scheduler test: runs of vLLM replayed request by request, under measured operator times.

Only scheduling, batching and the cache are tested: what a step takes is told by tables of the same
chip and model.  What tables do not tell is a constant a step (``engine.host_step``), fitted to each
run, and collectives, whose rate LLMServingSim calibrated; the test is also run without the former.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import minimize_scalar

from jalapeno import catalogue
from jalapeno.analysis.validation.vllm_runs import (
    VllmRun,
    latencies,
    prefix_hits,
    run_names,
    statistics,
    trace_of_run,
    vllm_run,
)
from jalapeno.mapping import Plan, Precision, compile_price
from jalapeno.simulation import (
    Journal,
    Pool,
    Preemption,
    Role,
    Scenario,
    TraceTimes,
    Traffic,
    resolve,
    scenario_of,
    simulate,
)
from jalapeno.simulation.lengths import TraceLengths

ENGINE = "vllm-0.19"
SECOND = 1e12
MOST_HOST_STEP = 10e-3
"""Seconds of host work a step beyond which no fit looks."""
SERIES = ("running", "waiting")

Array = npt.NDArray[np.float64] | npt.NDArray[np.int64]

SCHEMA = {
    **dict.fromkeys(("row", "hardware", "model", "system", "metric", "statistic"), pl.String()),
    **dict.fromkeys(("quantity", "unit"), pl.String()),
    **dict.fromkeys(("measured", "predicted", "error"), pl.Float64()),
    "assumptions": pl.String(),
}


def scenario_of_run(run: VllmRun, host_step: float | None = None) -> Scenario:
    """*run* as a scenario: vLLM's limits, its blocks, and the requests when it queued them.

    Decoding sequences come first and prompts share the rest of the token budget; where blocks run
    out the youngest gives way and finds again of its blocks what others did not take.  Prompts
    begin at what a prefix cache of the rank's size has of them.  *host_step*: seconds; None: as
    fitted to the run.
    """
    seconds = float(run.host_step.value) if host_step is None else host_step
    overrides = {"engine.host_step": f"{seconds!r} s"}
    if run.kv_blocks is not None:
        overrides["engine.memory_reserve"] = f"{_reserve(run, run.kv_blocks)!r} B"
    trees = resolve(run.system, run.model, ENGINE, overrides)
    plan = plan_of(run)
    scenario = scenario_of(
        trees,
        (
            Pool(
                role=Role.UNIFIED,
                plan=plan,
                replicas=1,
                preemption=Preemption.RECOMPUTE,
                prefix_caching=True,
            ),
        ),
        _traffic(run, run.kv_blocks),
    )
    if run.kv_blocks is None:
        blocks = compile_price(scenario.model, plan, scenario.system, scenario.engine).room.blocks
        return scenario_of(trees, scenario.pools, _traffic(run, blocks * plan.ranks))
    return scenario


def plan_of(run: VllmRun) -> Plan:
    """How *run* was cut over its chips, and vLLM's limits."""
    engine, model = catalogue.engine(ENGINE), catalogue.model(run.model)
    return Plan(
        tp=run.tp,
        dp=run.dp,
        ep=run.dp if run.dp > 1 else 1,
        max_running=run.max_num_seqs,
        max_tokens=run.max_num_batched_tokens,
        precision=Precision.as_served(engine, model, catalogue.system(run.system).chip),
    )


def _traffic(run: VllmRun, capacity: int | None) -> Traffic:
    trace = trace_of_run(run, prefix_hits(run, capacity))
    return Traffic(
        lengths=TraceLengths(trace=trace), arrivals=TraceTimes(trace=trace), requests=len(trace)
    )


def _reserve(run: VllmRun, blocks: int) -> float:
    """Bytes to keep back so that *blocks* KV blocks are left."""
    engine, model = catalogue.engine(ENGINE), catalogue.model(run.model)
    system = catalogue.system(run.system)
    space = compile_price(model, plan_of(run), system, engine).room
    # half a block more, lest rounding take one
    kept = (blocks + 0.5) * space.block_tokens * space.token_bytes
    return system.chip.hbm.capacity - space.weight_bytes - kept


def replayed(journal: Journal) -> pl.DataFrame:
    """The requests of a replay with the columns of a run."""
    return journal.requests.select(
        "prompt",
        "output",
        queued_s=pl.col("arrival") / SECOND,
        scheduled_s=pl.col("admitted") / SECOND,
        first_s=pl.col("first") / SECOND,
        last_s=pl.col("end") / SECOND,
    )


def compare_run(run: VllmRun, host_step: float | None = None) -> pl.DataFrame:
    """Fifteen statistics of *run* beside those of its replay: TTFT, TPOT and E2E, ms.

    ``error`` is predicted over measured less one.
    """
    scenario = scenario_of_run(run, host_step)
    told = latencies(run.requests)
    found = latencies(replayed(simulate(scenario)))
    host = scenario.engine.host_step
    assumed = f"{host * 1e3:.3g} ms of host a step, fitted" if host else "no constant fitted"
    return pl.DataFrame(
        list(_lines(run, told, found, f"{assumed}; prefix hits of an LRU cache")), schema=SCHEMA
    )


def _lines(
    run: VllmRun, told: pl.DataFrame, found: pl.DataFrame, assumptions: str
) -> Iterator[dict[str, Any]]:
    for metric in told.columns:
        predicted = statistics(found[metric])
        for statistic, value in statistics(told[metric]).items():
            yield {
                "row": run.name,
                "hardware": run.hardware,
                "model": run.model,
                "system": run.system,
                "metric": metric,
                "statistic": statistic,
                "quantity": f"{metric}, {statistic}",
                "unit": "ms",
                "measured": value,
                "predicted": predicted[statistic],
                "error": predicted[statistic] / value - 1.0,
                "assumptions": assumptions,
            }


def compare_runs(names: Iterable[str] = (), host: bool = True) -> pl.DataFrame:
    """:func:`compare_run` of the runs called *names*, or of all; *host*: with the fitted constants,
    or with none."""
    chosen = tuple(names) or run_names()
    return pl.concat([compare_run(vllm_run(name), None if host else 0.0) for name in chosen])


def mean_errors(frame: pl.DataFrame) -> pl.DataFrame:
    """Mean absolute error by metric over all runs and statistics, and over all metrics."""
    error = pl.col("error").abs().mean()
    by = frame.group_by("metric", maintain_order=True).agg(error)
    return pl.concat([by, frame.select(pl.lit("all").alias("metric"), error)])


def fit_host_step(run: VllmRun) -> float:
    """Seconds of host work a step with which the fifteen statistics of *run* err least, on the mean
    of absolute errors; to 10 us, and none where none errs least."""

    def error(seconds: float) -> float:
        found = compare_run(run, round(float(seconds), 5))["error"].abs().mean()
        assert isinstance(found, float)
        return found

    coarse = [MOST_HOST_STEP * share / 20 for share in range(21)]
    start = min(coarse, key=error)
    width = coarse[1]
    bounds = (max(0.0, start - width), start + width)
    best = round(float(minimize_scalar(error, bounds=bounds, options={"xatol": 1e-5}).x), 5)
    return min((0.0, start, best), key=error)


def series_correlation(run: VllmRun, host_step: float | None = None) -> dict[str, float]:
    """Correlation of running and of waiting requests over time, second by second, between *run* and
    its replay; NaN where one does not change.

    Running are those that decode in the step at that time, and whose prompts are in it.
    """
    journal = simulate(scenario_of_run(run, host_step))
    requests, steps = replayed(journal), journal.segment_table().sort("start")
    times = run.series["t"].to_numpy()
    queued, done = (np.sort(requests[name].to_numpy()) for name in ("queued_s", "last_s"))
    come, gone = (np.searchsorted(each, times, "right") for each in (queued, done))
    prompts = pl.max_horizontal(pl.col("sampled") - pl.col("decoding"), pl.lit(1))
    at = np.searchsorted(steps["start"].to_numpy() / SECOND, times, "right") - 1
    seated = steps.select(
        pl.col("decoding") + pl.when(pl.col("prefill") > 0).then(prompts).otherwise(0)
    )
    running = np.minimum(seated.to_series().to_numpy()[np.maximum(at, 0)], come - gone)
    found = {"running": running, "waiting": come - gone - running}
    return {name: _correlation(run.series[name].to_numpy(), found[name]) for name in SERIES}


def _correlation(one: Array, other: Array) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.corrcoef(one, other)[0, 1])
