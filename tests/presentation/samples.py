"""A reproduction made by hand: plausible numbers, no simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import polars as pl

from jalapeno import catalogue
from jalapeno.analysis.references import scenario_for
from jalapeno.analysis.reproduction import (
    OBJECTIVES,
    Comparison,
    Curve,
    CurvePoint,
    LeftOut,
    Number,
    Outcome,
    Reproduction,
    RowResult,
)
from jalapeno.catalogue import Claim, Row
from jalapeno.mapping import Plan, Precision
from jalapeno.metrics import Attribution, Distribution, Report, measure
from jalapeno.metrics.attribution import CAUSES, PARTS_AND_WAITS, TO_FIRST
from jalapeno.simulation import (
    ClosedLoop,
    Journal,
    Lengths,
    Pool,
    Role,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
)
from tests.metrics import journals

PARTS = dict.fromkeys(PARTS_AND_WAITS, 0.0) | {
    "matrix": 0.22,
    "vector": 0.02,
    "memory": 0.31,
    "communication": 0.12,
    "issue": 0.17,
    "imbalance": 0.04,
    "throttle": 0.03,
    "front_end": 0.05,
    "queue": 0.04,
}
"""Shares of the mean E2E."""


def spread(mean: float) -> Distribution:
    """A distribution about *mean*."""
    steps = (1.0, 0.97, 1.3, 1.45, 1.8, 2.1, 0.5, 2.3)
    return Distribution(*(mean * step for step in steps))


def scenario(
    model: str = "gpt-oss-120b",
    *,
    tp: int = 2,
    concurrency: int = 4,
    overrides: Mapping[str, str] | None = None,
) -> Scenario:
    """A worker of *tp* chips of a Jalapeño rack in a closed loop."""
    trees = resolve("jalapeno-rack", model, "jalapeno-engine", overrides)
    engine, chip = catalogue.engine("jalapeno-engine"), catalogue.chip("jalapeno")
    plan = Plan(
        tp=tp,
        max_running=concurrency,
        max_tokens=4096,
        precision=Precision.as_served(engine, catalogue.model(model), chip),
    )
    traffic = Traffic(
        lengths=Lengths(isl=8192, osl=1024),
        arrivals=ClosedLoop(concurrency=concurrency),
        requests=2,
    )
    return scenario_of(trees, (Pool(role=Role.UNIFIED, plan=plan, replicas=1),), traffic)


@cache
def by_hand(pools: int) -> Journal:
    return journals.two_requests() if pools == 1 else journals.one_moved()


def journal(of: Scenario) -> Journal:
    """One or two requests made by hand, as if *of* had made them."""
    hand = by_hand(len(of.pools))
    chips = [pool.plan.chips for pool in of.pools]
    column = pl.Series("chips", [chips[pool] for pool in hand.workers["pool"]])
    return replace(hand, scenario=of, workers=hand.workers.with_columns(column))


def attribution(e2e: float, ttft: float, shares: Mapping[str, float] = PARTS) -> Attribution:
    """Labels in *shares* of the means, ms."""
    causes = dict.fromkeys(CAUSES, 0.0)
    first = {"front_end": 0.2, "queue": 0.1, "own_prefill": 0.7}
    ours = {name: ttft * first.get(name, 0.0) for name in TO_FIRST}
    causes |= ours | {"own_decode": 0.9 * (e2e - ttft), "interference": 0.1 * (e2e - ttft)}
    return Attribution(
        requests=40,
        e2e_by_cause_ms=causes,
        e2e_by_part_ms={part: e2e * share for part, share in shares.items()},
        ttft_by_cause_ms=ours,
        ttft_by_part_ms={part: ttft * share for part, share in shares.items()},
    )


def report(
    of: Scenario, *, per_kw: float, e2e_s: float, tbt_ms: float, ttft_ms: float = 60.0
) -> Report:
    """A report of *of* that quotes these numbers."""
    measured = measure(journal(of))
    latency = replace(
        measured.latency,
        ttft_ms=spread(ttft_ms),
        tpot_ms=spread(tbt_ms),
        e2e_ms=spread(e2e_s * 1e3),
        mean_tokens_per_s_per_user=1000.0 / tbt_ms,
    )
    tdp = measured.power.package_tdp
    chip = per_kw * tdp.watts_per_chip / 1e3
    by_tdp = replace(tdp, tokens_per_s_per_kw=per_kw, joules_per_token=1e3 / per_kw)
    return replace(
        measured,
        requests=40,
        requests_done=40,
        latency=latency,
        throughput=replace(measured.throughput, tokens_per_s_per_chip=chip),
        power=replace(measured.power, package_tdp=by_tdp),
        attribution=attribution(e2e_s * 1e3, ttft_ms),
    )


def row_result(row: Row, off: float = 0.05) -> RowResult:
    """A row whose twin is *off* everywhere (or, unmeasured, some number)."""
    found = row.measured
    tdp = catalogue.tariff(row.system.split("-")[0]).tdp
    tbt = found.get("mean_tpot_ms", 8.0) * (1.0 + off)
    ttft = found.get("mean_ttft_ms", found.get("median_ttft_ms", 500.0)) * (1.0 + off)
    of = scenario_for(row)
    made = report(
        of,
        per_kw=found.get("tput_per_gpu", 1000.0) * (1.0 + off) / tdp * 1e3,
        e2e_s=(ttft + 920 * tbt) / 1e3,
        tbt_ms=tbt,
        ttft_ms=ttft,
    )
    figures = ("tput_per_gpu", "mean_tpot_ms", "mean_ttft_ms", "median_ttft_ms")
    return RowResult(
        row=row,
        outcome=Outcome(row.name, of, made),
        errors={name: off for name in figures if name in found},
    )


def published(claim: Claim, side: str) -> tuple[float, float, float, float]:
    """The four numbers of Jalapeño or of the ``reference``, in the units of the comparison."""
    if side == "jalapeno":
        found = (claim.peak_tps_per_kw, claim.min_e2e, claim.min_tbt)
        return (*found[:2], found[2] * 1e3, claim.tps_per_kw_at_reference_tbt)
    return (
        claim.reference_peak_tps_per_kw,
        claim.reference_min_e2e,
        claim.reference_min_tbt * 1e3,
        claim.reference_tps_per_kw_at_its_tbt,
    )


def numbers(values: Sequence[float], outcomes: Sequence[Outcome], off: float) -> tuple[Number, ...]:
    return tuple(
        Number(objective=objective, published=value, twin=value * (1.0 + off), outcome=outcome)
        for objective, value, outcome in zip(OBJECTIVES, values, outcomes, strict=True)
    )


def outcome(claim: Claim, objective: str, off: float, place: int) -> Outcome:
    """A run of Jalapeño for one published number."""
    peak, e2e, tbt, at_tbt = published(claim, "jalapeno")
    slow, fast = 25.0 * tbt, tbt * (1.0 + off)
    per_kw, speed, whole = {
        "peak": (peak * (1.0 + off), slow, 40.0 * e2e),
        "min_e2e": (0.02 * peak, fast, e2e * (1.0 + off)),
        "min_tbt": (0.015 * peak, fast, e2e * (1.0 + off)),
        "at_reference_tbt": (at_tbt * (1.0 + off), claim.reference_min_tbt * 1e3, 3.0 * e2e),
    }[objective]
    of = scenario(
        claim.model, tp=2**place, concurrency=4 + place, overrides={"chip.stepping": "A0"}
    )
    name = f"{claim.system}/{claim.model}/{objective}"
    return Outcome(name, of, report(of, per_kw=per_kw, e2e_s=whole, tbt_ms=speed))


def comparison(claim: Claim, rows: Sequence[RowResult], off: float = 0.03) -> Comparison:
    """The comparison of *claim*, the twin *off* everywhere."""
    ours = [outcome(claim, objective, off, place) for place, objective in enumerate(OBJECTIVES)]
    theirs = [row.outcome for row in rows if row.row.model == claim.model]
    fastest = min(theirs, key=lambda run: run.report.latency.tpot_ms.mean)
    best = max(theirs, key=lambda run: run.tps_per_kw)
    return Comparison(
        claim=claim,
        jalapeno=numbers(published(claim, "jalapeno"), ours, off),
        reference=numbers(published(claim, "reference"), [best, fastest, fastest, fastest], -off),
    )


def curves(made: Comparison, rows: Sequence[RowResult], mtp: Sequence[Row]) -> list[Curve]:
    """Simulated, measured and published curves of one model."""
    claim = made.claim
    peak, _, tbt, at_tbt = published(claim, "jalapeno")
    low, high = 12.0, 1000.0 / tbt
    shares = [place / 9 for place in range(10)]
    ours = [
        CurvePoint(
            tokens_per_s_per_user=low * (high / low) ** share,
            tps_per_kw=peak * (1.0 - share**1.5 * 0.985),
            label=f"frontier-{share:.1f}",
        )
        for share in shares
    ]
    mine = [result for result in rows if result.row.model == claim.model]
    theirs = [
        point(run.outcome.tokens_per_s_per_user, run.outcome.tps_per_kw, run.row.name)
        for run in mine
    ]
    tdp = catalogue.tariff(claim.reference.split("-")[0]).tdp / 1e3
    speed = 1.0 / claim.reference_min_tbt

    def of(row: Row) -> CurvePoint:
        figures = row.measured
        return point(1000.0 / figures["mean_tpot_ms"], figures["tput_per_gpu"] / tdp, row.name)

    sources = [
        (claim.system, "simulated", ours),
        (claim.reference, "simulated", theirs),
        (claim.reference, "measured", [of(run.row) for run in mine if run.row.measured]),
        (claim.reference, "measured, MTP", [of(row) for row in mtp if row.model == claim.model]),
        (claim.system, "published", [point(speed, at_tbt, "at the reference's best TBT")]),
        (
            claim.reference,
            "published",
            [point(speed, claim.reference_tps_per_kw_at_its_tbt, "reference at its best TBT")],
        ),
    ]
    return [
        Curve(model=claim.model, system=system, source=source, points=tuple(points))
        for system, source, points in sources
        if points
    ]


def point(speed: float, rate: float, label: str) -> CurvePoint:
    return CurvePoint(tokens_per_s_per_user=speed, tps_per_kw=rate, label=label)


CLAIMS = ("deepseek-r1", "gpt-oss-120b", "kimi-k2.5")
"""Those without multi-token prediction."""


@cache
def reproduction() -> Reproduction:
    """All of it, with every row, claim and published number of the catalogue."""
    every = catalogue.rows()
    plain = [row for row in every if not row.mtp]
    results = [row_result(row, 0.01 * (place % 9 - 4)) for place, row in enumerate(plain)]
    mtp = [row for row in every if row.mtp]
    drafted = [row_result(row, 0.02 * (place % 5 - 2)) for place, row in enumerate(mtp)]
    made = [comparison(catalogue.claim(name), results) for name in CLAIMS]
    return Reproduction(
        comparisons=tuple(made),
        rows=tuple(result for result in results if result.row.measured),
        layouts=tuple(result for result in results if not result.row.measured),
        mtp_rows=tuple(drafted),
        curves=tuple(curve for one in made for curve in curves(one, results, mtp)),
        left_out=tuple(left_out(one) for one in made[1].jalapeno),
        constants={"matrix_efficiency": "0.62 (fitted)", "overlap": "0.5 (assumed)"},
    )


@cache
def small() -> Reproduction:
    """One comparison and two rows: enough where it is about files, quicker to make."""
    plain = [row for row in catalogue.rows() if row.model == "gpt-oss-120b"]
    results = [row_result(plain[0]), row_result(plain[11])]
    made = comparison(catalogue.claim("gpt-oss-120b"), results)
    return Reproduction(
        comparisons=(made,),
        rows=tuple(results),
        layouts=(),
        mtp_rows=(),
        curves=tuple(curves(made, results, ())),
        left_out=tuple(left_out(one) for one in made.jalapeno),
        constants={"matrix_efficiency": "0.62 (fitted)"},
    )


def left_out(number: Number) -> LeftOut:
    """A number that the fit meets within a percent, and the others predict within a quarter."""
    return LeftOut(
        model=number.outcome.scenario.model.name,
        objective=number.objective,
        published=number.published,
        fitted=number.published * 1.01,
        predicted=number.published * 1.25,
        without_delay=number.published * 0.8,
    )


def outcomes(of: Reproduction) -> dict[str, Outcome]:
    """Every run of *of* by name."""
    numbers_ = [n for one in of.comparisons for n in (*one.jalapeno, *one.reference)]
    found = [number.outcome for number in numbers_]
    found += [result.outcome for result in (*of.rows, *of.layouts)]
    return {run.name: run for run in found}
