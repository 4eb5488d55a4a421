"""reproduce: simulate the published comparison and put it beside what was published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from jalapeno import catalogue
from jalapeno.analysis.curves import curves_of
from jalapeno.analysis.inverse import constants_text, leave_one_out
from jalapeno.analysis.posterior.quoted import banded
from jalapeno.analysis.posterior.shipped import shipped
from jalapeno.analysis.published import (
    Hunt,
    facts_for,
    frontier,
    hunt,
    scenario_of_candidate,
    short_list,
)
from jalapeno.analysis.references import scenario_for
from jalapeno.analysis.reproduction import (
    OBJECTIVES,
    Comparison,
    Number,
    Outcome,
    Reproduction,
    RowResult,
)
from jalapeno.catalogue import Claim, Row
from jalapeno.metrics import measure
from jalapeno.simulation import Journal, Scenario, simulate

OnRun = Callable[[Outcome, Journal], None]
OnProgress = Callable[[str, int, int], None]
WORKERS = 2
"""Threads that simulate side by side; the compiled loop lets go of the interpreter."""

FRONTIER_POINTS = 9
"""Plans simulated along Jalapeño's curve, beside the four that are quoted."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Runs scenarios, hands out their journals and tells how far it is."""

    on_run: OnRun
    on_progress: OnProgress

    def run(self, stage: str, jobs: Sequence[tuple[str, Scenario]]) -> list[Outcome]:
        """Simulate all *jobs* (name, scenario); outcomes in their order."""
        outcomes = []
        with ThreadPoolExecutor(WORKERS) as pool:
            self.on_progress(stage, 0, len(jobs))
            for done, (outcome, journal) in enumerate(pool.map(_job, jobs), 1):
                self.on_run(outcome, journal)
                self.on_progress(stage, done, len(jobs))
                outcomes.append(outcome)
        return outcomes

    def choose(
        self, stage: str, jobs: Sequence[tuple[str, list[Scenario]]], limits: Sequence[float]
    ) -> list[Outcome]:
        """Of each job's short list, the run with most throughput among those within the limit on
        mean TBT (ms); where none is within it, the fastest."""
        chosen = []
        flat = [(name, scenario) for name, listed in jobs for scenario in listed]
        with ThreadPoolExecutor(WORKERS) as pool:
            self.on_progress(stage, 0, len(flat))
            results = iter(pool.map(_job, flat))
            done = 0
            for (_, listed), limit in zip(jobs, limits, strict=True):
                tried = []
                for _ in listed:
                    tried.append(next(results))
                    done += 1
                    self.on_progress(stage, done, len(flat))
                outcome, journal = _best_within(tried, limit)
                self.on_run(outcome, journal)
                chosen.append(outcome)
        return chosen


def _job(job: tuple[str, Scenario]) -> tuple[Outcome, Journal]:
    name, scenario = job
    journal = simulate(scenario)
    return Outcome(name, scenario, measure(journal)), journal


def _best_within(tried: list[tuple[Outcome, Journal]], limit: float) -> tuple[Outcome, Journal]:
    within = [item for item in tried if item[0].report.latency.tpot_ms.mean <= limit]
    if within:
        return max(within, key=lambda item: item[0].tps_per_kw)
    return min(tried, key=lambda item: item[0].report.latency.tpot_ms.mean)


def reproduce(on_run: OnRun, on_progress: OnProgress) -> Reproduction:
    """Simulate references and Jalapeño on the published workload.

    *on_run* gets every run's outcome and journal, *on_progress* the stage, and how much of it is
    done.
    """
    bench = Bench(on_run, on_progress)
    claims = [catalogue.claim(name) for name in catalogue.names("claims")]
    claims = [claim for claim in claims if claim.name == claim.model]
    rows = catalogue.rows()
    measured = [row for row in rows if row.measured and not row.mtp]
    layouts = [row for row in rows if not row.measured]
    drafted = [row for row in rows if row.mtp]
    played = (*measured, *layouts, *drafted)
    names = [(row.name, scenario_for(row)) for row in played]
    outcomes = bench.run("measured rows and public layouts", names)
    everything = [_row_result(row, run) for row, run in zip(played, outcomes, strict=True)]
    results, mtp_rows = everything[: -len(drafted)], tuple(everything[-len(drafted) :])
    hunts = [_hunt(claim, on_progress, number, len(claims)) for number, claim in enumerate(claims)]
    quoted = _quoted(bench, hunts)
    comparisons = tuple(
        _compare(hunted.claim, runs, results) for hunted, runs in zip(hunts, quoted, strict=True)
    )
    drawn = bench.run("Jalapeño's frontier", list(_frontier_jobs(hunts, quoted)))
    on_progress("leave one out", 0, 1)
    left_out = leave_one_out(comparisons)
    on_progress("leave one out", 1, 1)
    return Reproduction(
        comparisons=comparisons,
        rows=tuple(results[: len(measured)]),
        layouts=tuple(results[len(measured) :]),
        mtp_rows=mtp_rows,
        curves=curves_of(comparisons, results, drafted, drawn),
        left_out=left_out,
        constants=constants_text(),
        bands=banded(comparisons, shipped()),
    )


def _hunt(claim: Claim, on_progress: OnProgress, number: int, total: int) -> Hunt:
    if number == 0:
        on_progress("search of plans", 0, total)
    hunted = hunt(claim, facts_for(claim))
    on_progress("search of plans", number + 1, total)
    return hunted


def _quoted(bench: Bench, hunts: Sequence[Hunt]) -> list[list[Outcome]]:
    jobs, limits = [], []
    for hunted in hunts:
        for objective in OBJECTIVES:
            scenarios = [
                scenario_of_candidate(hunted.trees, item) for item in short_list(hunted, objective)
            ]
            jobs.append((f"{hunted.claim.system}/{hunted.claim.model}/{objective}", scenarios))
            limit = hunted.claim.reference_min_tbt * 1e3
            limits.append(limit if objective == "at_reference_tbt" else float("inf"))
    chosen = bench.choose("Jalapeño's published points", jobs, limits)
    size = len(OBJECTIVES)
    return [chosen[size * number : size * (number + 1)] for number in range(len(hunts))]


def _frontier_jobs(
    hunts: Sequence[Hunt], quoted: Sequence[Sequence[Outcome]]
) -> Iterable[tuple[str, Scenario]]:
    """Runs along each curve, those left out that are quoted anyway."""
    for hunted, runs in zip(hunts, quoted, strict=True):
        known = {run.scenario.digest for run in runs}
        for number, item in enumerate(frontier(hunted, FRONTIER_POINTS), 1):
            scenario = scenario_of_candidate(hunted.trees, item)
            if scenario.digest not in known:
                yield f"{hunted.claim.system}/{hunted.claim.model}/frontier-{number}", scenario


def _row_result(row: Row, outcome: Outcome) -> RowResult:
    report = outcome.report
    twin = {
        "tput_per_gpu": report.throughput.tokens_per_s_per_chip,
        "mean_tpot_ms": report.latency.tpot_ms.mean,
        "mean_ttft_ms": report.latency.ttft_ms.mean,
        "median_ttft_ms": report.latency.ttft_ms.median,
        "mean_e2e_s": report.latency.e2e_ms.mean / 1e3,
    }
    errors = {
        name: twin[name] / value - 1.0 for name, value in row.measured.items() if name in twin
    }
    return RowResult(row=row, outcome=outcome, errors=errors)


def _compare(claim: Claim, runs: Sequence[Outcome], results: Sequence[RowResult]) -> Comparison:
    ours = (
        claim.peak_tps_per_kw,
        claim.min_e2e,
        claim.min_tbt * 1e3,
        claim.tps_per_kw_at_reference_tbt,
    )
    theirs = (
        claim.reference_peak_tps_per_kw,
        claim.reference_min_e2e,
        claim.reference_min_tbt * 1e3,
        claim.reference_tps_per_kw_at_its_tbt,
    )
    candidates = [
        item.outcome
        for item in results
        if (item.row.model, item.row.system) == (claim.model, claim.reference)
    ]
    return Comparison(
        claim=claim,
        jalapeno=tuple(map(_number, OBJECTIVES, ours, runs)),
        reference=tuple(
            _number(objective, published, _winner(objective, candidates))
            for objective, published in zip(OBJECTIVES, theirs, strict=True)
        ),
    )


def _number(objective: str, published: float, outcome: Outcome) -> Number:
    twin = outcome.value(objective)
    return Number(objective=objective, published=published, twin=twin, outcome=outcome)


def _winner(objective: str, outcomes: Sequence[Outcome]) -> Outcome:
    """The run a vendor would quote: best of each number by itself, whatever the others are."""
    if objective == "peak":
        return max(outcomes, key=lambda item: item.tps_per_kw)
    if objective == "min_e2e":
        return min(outcomes, key=lambda item: item.report.latency.e2e_ms.mean)
    return min(outcomes, key=lambda item: item.report.latency.tpot_ms.mean)
