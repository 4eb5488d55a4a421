"""MLPerf Inference on racks, against runs of the twin in the layouts of the submissions."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl

from jalapeno import catalogue
from jalapeno.analysis.evidence.scenarios import entry_for
from jalapeno.analysis.references import ACCEPTANCE
from jalapeno.analysis.validation.frames import side_by_side
from jalapeno.errors import BadPlan
from jalapeno.mapping import Plan, Precision, measured_acceptance
from jalapeno.metrics import Report, measure
from jalapeno.simulation import (
    ClosedLoop,
    LogNormal,
    Poisson,
    Pool,
    Role,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
    simulate,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is assumed of a data set's lengths; the mean answer is each run's own."""

    prompt_mean: float
    prompt_cv: float
    prompt_max: int
    output_cv: float
    output_max: int
    said: str


SHAPES = {
    "gpt-oss-120b": Shape(
        4638.0,
        0.5,
        15_330,
        0.7,
        32_768,
        "prompts of 4,638 tokens on the mean (NVIDIA sets budgets in multiples of it), cv 0.5, at "
        "most 15,330 (published); answers of the run's own mean, cv 0.7",
    ),
    "deepseek-r1": Shape(
        800.0,
        0.8,
        3_140,
        1.25,
        20_000,
        "prompts of 800 tokens on the mean, cv 0.8, at most 3,140 (published); answers of the "
        "run's own mean, at most 20,000, cv 1.25 (median and P90 of the data set: 2,108 and 9,500)",
    ),
}
"""Prompt lengths are not published but for the longest; R1's answers are, as quantiles."""

SPLIT_SHARE = 20.0
"""Mean residence times that a whole system with split pools is played for; a replica of the others
is played for all of its samples."""

DRAFTED = 3
"""Tokens that runs with multi-token prediction draft a step."""

SPECULATES = f"{DRAFTED} tokens drafted a step, accepted as measured on {ACCEPTANCE}; "


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """One pool of a submission."""

    count: int
    cut: str
    slots: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run of a submission."""

    name: str
    model: str
    system: str
    scenario: str
    chips: int
    tokens_per_s: float
    samples_per_s: float
    samples: int
    offered_per_s: float | None
    """None offline."""
    latencies: Mapping[str, float]
    """Mean TTFT and TPOT, ms; empty offline."""
    prefill: Workers | None
    workers: Workers
    mtp: bool

    @property
    def replicas(self) -> int:
        """How many equal parts the system falls into: its workers, or 1 with split pools."""
        return 1 if self.prefill else self.workers.count

    @property
    def output(self) -> float:
        """Mean answer, tokens."""
        return self.tokens_per_s / self.samples_per_s


@cache
def entries() -> tuple[Entry, ...]:
    """Return every run, in the order of the file."""
    text = (files("jalapeno.catalogue") / "data" / "rack" / "rows.csv").read_text("utf-8")
    return tuple(_entry(line) for line in csv.DictReader(io.StringIO(text)))


def _entry(line: Mapping[str, str]) -> Entry:
    online = bool(line["offered_per_s"])
    return Entry(
        name=f"{line['entry']}/{line['system']}x{line['chips']}/{line['model']}/{line['scenario']}",
        model=line["model"],
        system=line["system"],
        scenario=line["scenario"],
        chips=int(line["chips"]),
        tokens_per_s=float(line["tokens_per_s"]),
        samples_per_s=float(line["samples_per_s"]),
        samples=int(line["samples"]),
        offered_per_s=float(line["offered_per_s"]) if online else None,
        latencies={name: float(line[f"mean_{name}_ms"]) for name in ("ttft", "tpot") if online},
        prefill=_workers(line, "prefill_") if int(line["prefill_workers"]) else None,
        workers=_workers(line, ""),
        mtp=line["mtp"] == "true",
    )


def _workers(line: Mapping[str, str], prefix: str) -> Workers:
    return Workers(
        count=int(line[f"{prefix}workers"]),
        cut=line[f"{prefix}cut"],
        slots=int(line[f"{prefix}slots"]),
        tokens=int(line[f"{prefix}tokens"]),
    )


def scenario_for(entry: Entry) -> Scenario:
    """One replica of *entry* under its share of the load; the whole system with split pools."""
    engine = entry_for("tensorrt-llm", entry.system, unified=entry.prefill is None)
    trees = resolve(entry.system, entry.model, engine)
    drafting = (0, 0.0)
    if entry.mtp:
        model = catalogue.model(entry.model)
        drafting = (DRAFTED, measured_acceptance(model, ACCEPTANCE, DRAFTED))
    precision = Precision.as_served(
        catalogue.engine(engine), catalogue.model(entry.model), catalogue.system(entry.system).chip
    )
    if entry.prefill is None:
        pools: tuple[Pool, ...] = (_pool(Role.UNIFIED, entry.workers, 1, precision, drafting),)
    else:
        pools = (
            _pool(Role.PREFILL, entry.prefill, entry.prefill.count, precision, drafting),
            _pool(Role.DECODE, entry.workers, entry.workers.count, precision, drafting),
        )
    return scenario_of(trees, pools, traffic_of(entry))


def traffic_of(entry: Entry) -> Traffic:
    """Offline: all at once.  Else Poisson at the offered rate, as MLPerf's client has it."""
    shape = SHAPES[entry.model]
    lengths = LogNormal(
        prompt_mean=shape.prompt_mean,
        prompt_cv=shape.prompt_cv,
        prompt_max=shape.prompt_max,
        output_mean=entry.output,
        output_cv=shape.output_cv,
        output_max=shape.output_max,
    )
    if entry.offered_per_s is None:
        count = entry.samples // entry.replicas
        return Traffic(lengths=lengths, arrivals=ClosedLoop(concurrency=count), requests=count)
    rate = entry.offered_per_s / entry.replicas
    count = entry.samples // entry.replicas
    if entry.prefill is not None:
        residence = (entry.latencies["ttft"] + entry.latencies["tpot"] * entry.output) / 1e3
        count = min(count, int(SPLIT_SHARE * residence * rate))
    return Traffic(lengths=lengths, arrivals=Poisson(rate=rate), requests=count)


def _pool(
    role: Role,
    workers: Workers,
    replicas: int,
    precision: Precision,
    drafting: tuple[int, float],
) -> Pool:
    cut = re.fullmatch(r"(TP|DEP)(\d+)", workers.cut)
    if cut is None:
        raise BadPlan(f"no cut {workers.cut!r}: TPn or DEPn")
    size, spread = int(cut[2]), cut[1] == "DEP"
    plan = Plan(
        tp=1 if spread else size,
        dp=size if spread else 1,
        ep=size if spread else 1,
        max_running=workers.slots,
        max_tokens=workers.tokens,
        precision=precision,
        draft_tokens=drafting[0],
        acceptance_length=drafting[1],
    )
    return Pool(role=role, plan=plan, replicas=replicas)


def rack_scale(pick: Callable[[Entry], bool] = lambda entry: True) -> pl.DataFrame:
    """Return measured and simulated numbers of the runs that *pick* likes.

    A row a run and quantity: output tokens/s of the whole system, and where requests arrive one by
    one, mean TTFT and TPOT.  Columns are :data:`.frames.COLUMNS`, then ``scenario`` and ``layout``.
    Where requests arrive one by one, throughput counts up to the last arrival and a mean latency
    more, as MLPerf's load generator counts up to the end of the last request sent; while the system
    keeps up it is the load, and the latencies are the test.
    """
    lines: list[dict[str, Any]] = []
    for entry in filter(pick, entries()):
        lines += _lines(entry)
    return side_by_side(lines, {"scenario": pl.String, "layout": pl.String})


def _lines(entry: Entry) -> list[dict[str, Any]]:
    scenario = scenario_for(entry)
    report = measure(simulate(scenario))
    told = [("output throughput", "token/s", entry.tokens_per_s, _throughput)]
    if entry.latencies:
        told += [
            ("mean TTFT", "ms", entry.latencies["ttft"], _ttft),
            ("mean TPOT", "ms", entry.latencies["tpot"], _tpot),
        ]
    return [
        {
            "row": f"{entry.name}/{quantity}",
            "model": entry.model,
            "system": entry.system,
            "quantity": quantity,
            "unit": unit,
            "measured": measured,
            "predicted": predict(report, entry),
            "assumptions": assumptions(entry, scenario),
            "scenario": entry.scenario,
            "layout": scenario.label,
        }
        for quantity, unit, measured, predict in told
    ]


def _throughput(report: Report, entry: Entry) -> float:
    rates, seconds = report.throughput, report.throughput.duration_s
    if entry.offered_per_s is not None:
        sending = report.requests * entry.replicas / entry.offered_per_s
        seconds = min(seconds, sending + report.latency.e2e_ms.mean / 1e3)
    return rates.output_tokens / seconds * entry.replicas


def _ttft(report: Report, entry: Entry) -> float:
    return report.latency.ttft_ms.mean


def _tpot(report: Report, entry: Entry) -> float:
    return report.latency.tpot_ms.mean


def assumptions(entry: Entry, scenario: Scenario) -> str:
    """What a prediction rests on beside the submission's own configuration."""
    part = "the whole system" if entry.replicas == 1 else f"one of {entry.replicas} equal replicas"
    count = scenario.traffic.requests
    said = f"{SPECULATES if entry.mtp else ''}{SHAPES[entry.model].said}"
    return f"{said}; {part}, {count:,} of {entry.samples:,} samples"
