"""Power: measured board watts of MI355X rows against the simulated packages'.

InferenceX samples every GPU's board power through the run (``amd-smi``) and states the mean over
GPUs and time.  The twin plays the same request list on the same layout with the engines that ship.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from jalapeno.analysis.threads import at_once
from jalapeno.analysis.validation.nonnegative import Floats, fit_nonnegative
from jalapeno.analysis.validation.rows import RATIO, mean_length
from jalapeno.analysis.validation.shipped import WATTS, needed
from jalapeno.analysis.validation.sift import sift
from jalapeno.analysis.validation.tiers import Asked, Data, Finding, Verdict
from jalapeno.catalogue import engine_of, model_of, system_of
from jalapeno.mapping import Plan, Precision
from jalapeno.metrics import measure
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

NAME, TITLE, MOST = "power", "Power: measured board watts of MI355X", 0.15

ENGINES = {"sglang": "sglang-rocm", "mori-sglang": "sglang-rocm", "atom": "atom"}
"""InferenceX's framework to the entry that stands for it."""

MXFP4 = ("experts", "shared", "dense")
"""Classes that AMD's four-bit checkpoint of DeepSeek-R1 has in MXFP4, weights and activations."""

SLOTS, TOKENS = 1024, 16384
"""Sequences and tokens of a rank: the recipes' values are not public, so nothing but memory binds
at these; chunks as SGLang's default on GPUs of this size."""

REQUESTS_PER_SLOT = 10
"""InferenceX sends ten requests for each in flight."""


def read_watts(content: bytes | None = None) -> pl.DataFrame:
    """The shipped rows with measured power: ``board_watts_per_gpu`` and what was run."""
    return pl.read_csv(
        io.BytesIO(needed(WATTS) if content is None else content), infer_schema_length=None
    )


def scenario_for(row: Mapping[str, Any]) -> Scenario:
    """The run behind a measured *row*: its request list, layout and formats."""
    facts = resolve(row["system"], row["model"], ENGINES[row["framework"]])
    engine, model = engine_of(facts["engine"]), model_of(facts["model"])
    precision = Precision.as_served(engine, model, system_of(facts["system"]).chip)
    if row["precision"] == "fp4":
        narrow = dict.fromkeys([*MXFP4, *(f"{name}_act" for name in MXFP4)], "mxfp4")
        precision = replace(precision, **narrow)
    split = row["prefill_tp"] is not None
    pools = [_pool(row, "decode", Role.DECODE if split else Role.UNIFIED, precision)]
    if split:
        pools.insert(0, _pool(row, "prefill", Role.PREFILL, precision))
    traffic = Traffic(
        lengths=Lengths(isl=row["isl"], osl=row["osl"], ratio=RATIO),
        arrivals=ClosedLoop(concurrency=row["concurrency"]),
        requests=row["concurrency"] * REQUESTS_PER_SLOT,
    )
    return scenario_of(facts, tuple(pools), traffic)


def _pool(row: Mapping[str, Any], name: str, role: Role, precision: Precision) -> Pool:
    plan = Plan(
        tp=row[f"{name}_tp"],
        dp=row[f"{name}_dp"],
        ep=row[f"{name}_ep"],
        max_running=SLOTS,
        max_tokens=TOKENS,
        precision=precision,
    )
    return Pool(role=role, plan=plan, replicas=row[f"{name}_workers"])


def simulated(row: Mapping[str, Any]) -> dict[str, float | str]:
    """Watts a GPU of a *row* as simulated, and what they are made of.

    ``running_share`` of all chip-seconds in a step, ``dynamic_watts`` of work (beside static and
    idle watts, on the mean over time), and how many times faster than simulated the row ran.
    """
    scenario = scenario_for(row)
    report = measure(simulate(scenario))
    (site,) = report.power.sites
    power = scenario.system.chip.power
    seconds = site.chips * report.throughput.duration_s
    running = 1.0 - site.idle_joules / (power.idle * seconds)
    dynamic = site.step_joules / seconds - power.static * running
    rate = row["total_tokens_per_s_per_gpu"] / report.throughput.tokens_per_s_per_chip
    return {
        "id": row["id"],
        "simulated_watts": report.power.package.watts_per_chip,
        "static_watts": power.static,
        "idle_watts": power.idle,
        "running_share": running,
        "dynamic_watts": dynamic,
        "speed_ratio": rate,
    }


def compared(rows: pl.DataFrame) -> pl.DataFrame:
    """*rows* with what was simulated, ``ape`` of the watts, and ``watts_at_measured_speed``.

    The last is what the same energies would draw had the twin been as fast as the measured run.
    """
    found = pl.DataFrame(at_once(simulated, list(rows.iter_rows(named=True))))
    resting = pl.col("idle_watts") * (1.0 - pl.col("running_share"))
    static = pl.col("static_watts") * pl.col("running_share")
    return rows.join(found, on="id", maintain_order="left").with_columns(
        (pl.col("simulated_watts") / pl.col("board_watts_per_gpu") - 1.0).abs().alias("ape"),
        (resting + static + pl.col("dynamic_watts") * pl.col("speed_ratio")).alias(
            "watts_at_measured_speed"
        ),
    )


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Static watts and a factor on the energies of work that explain the rows best."""

    static_watts: float
    factor: float
    fitted: float
    """MAPE on the very rows."""
    held_out: float
    """MAPE of each deployment with both fitted to the others; NaN where there is only one."""


def what_binds(frame: pl.DataFrame) -> Diagnosis:
    """Fit static watts and one factor on all dynamic energies, at the measured speed."""
    resting = (frame["idle_watts"] * (1.0 - frame["running_share"])).to_numpy()
    work = (frame["dynamic_watts"] * frame["speed_ratio"]).to_numpy()
    features = np.column_stack([frame["running_share"].to_numpy(), work])
    measured = frame["board_watts_per_gpu"].to_numpy()

    def missed(found: Floats) -> Floats:
        left: Floats = np.abs((features @ found + resting) / measured - 1.0)
        return left

    found = fit_nonnegative(features, measured - resting)
    deployment = frame["id"].str.replace(r"-c\d+-", "-").to_numpy()
    left_out = []
    for name in np.unique(deployment):
        inside = deployment == name
        if np.count_nonzero(~inside) >= features.shape[1]:
            others = fit_nonnegative(features[~inside], (measured - resting)[~inside])
            left_out += missed(others)[inside].tolist()
    static, factor = found.tolist()
    held_out = float(np.mean(left_out)) if left_out else math.nan
    return Diagnosis(static, factor, float(missed(found).mean()), held_out)


def contradictions(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(rows that Little's law allows, ``id`` and ``reason`` of the others)."""
    prompt, answer = mean_length("isl"), mean_length("osl")
    output = pl.col("total_tokens_per_s_per_gpu") * answer / (prompt + answer)
    sifted = sift(
        rows.with_columns(
            pl.when(pl.col("prefill_tp").is_null())
            .then(pl.lit("unified"))
            .otherwise(pl.lit("split"))
            .alias("mode"),
            pl.col("median_ttft_ms").alias("measured_ttft_ms"),
            pl.col("median_tpot_ms").alias("measured_tpot_ms"),
            output.alias("measured_tokens_per_s_per_gpu"),
        )
    )
    return sifted.rows, sifted.excluded


def run(data: Data) -> Finding:
    """Simulate the shipped rows that carry measured watts, and judge."""
    rows, excluded = contradictions(read_watts())
    data.on_progress("power", 0, len(rows))
    frame = compared(rows)
    data.on_progress("power", len(rows), len(rows))
    return finding(frame, excluded)


def finding(frame: pl.DataFrame, excluded: pl.DataFrame) -> Finding:
    """The finding of a compared *frame*."""
    error = float(frame["ape"].mean())  # type: ignore[arg-type]  # of floats
    sped = frame["watts_at_measured_speed"] / frame["board_watts_per_gpu"]
    cause = what_binds(frame)
    given = float(frame["static_watts"][0])
    speculative = int(frame["speculative"].sum())
    notes = [
        f"{name}: left out, {reason}."
        for name, reason in excluded.select("id", "reason").iter_rows()
    ]
    notes += [
        f"{speculative} rows ran with multi-token prediction; they are simulated with one token a "
        "step.",
        f"Had every run been as fast as measured, the same energies would miss by "
        f"{100 * float((sped - 1.0).abs().mean()):.1f} %.",  # type: ignore[arg-type]
        f"What binds is the energy of work: static {cause.static_watts:.0f} W (the entry says "
        f"{given:.0f} W) and {cause.factor:.1f} times the dynamic energies would leave "
        f"{100 * cause.fitted:.1f} % on these rows, and {100 * cause.held_out:.1f} % on "
        "deployments that they were not fitted to. A diagnosis: the verdict is on the entries "
        "as they ship.",
    ]
    verdict = Verdict(
        tier=NAME,
        measure="board watts a GPU, MAPE",
        target=MOST,
        reached=error,
        points=len(frame),
        note=f"{len(excluded)} left out: contradicts itself" if len(excluded) else "",
    )
    return Finding(tier=NAME, title=TITLE, frame=frame, verdicts=(verdict,), notes=tuple(notes))


TIER = Asked(NAME, TITLE, "MAPE of board watts a GPU at most 15 %", run)
