"""Offline throughput that NVIDIA publishes of TensorRT-LLM, against finite runs of the twin."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import polars as pl

from jalapeno import catalogue
from jalapeno.analysis.evidence.scenarios import entry_for
from jalapeno.analysis.validation.frames import side_by_side
from jalapeno.errors import BadPlan, DoesNotFit
from jalapeno.mapping import Plan, Precision
from jalapeno.mapping.memory import room
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

MODELS = {
    "DeepSeek-R1-0528": "deepseek-r1",
    "Llama-3.1-405B": "llama-3.1-405b",
    "Llama-3.1-8B": "llama-3.1-8b",
    "Llama-3.3-70B": "llama-3.3-70b",
    "Qwen3-235B-A22B": "qwen3-235b-a22b",
    "Qwen3-30B-A3B": "qwen3-30b-a3b",
    "gpt-oss-120b": "gpt-oss-120b",
    "gpt-oss-20b": "gpt-oss-20b",
}
SYSTEMS = {
    "B200": "b200-hgx",
    "GB200": "gb200-nvl72",
    "H100": "h100-hgx",
    "H200": "h200-hgx",
}
"""What the catalogue calls the models and systems of the table; it has no others of them."""

MOST_RUNNING, MOST_TOKENS = 2048, 8192
"""TensorRT-LLM's max_batch_size and max_num_tokens, which the commands leave at their defaults:
what these are is assumed."""

KV_SHARE = 0.95
"""Of the free memory: what the pages say they give to KV in many cases."""

QUANTISED = ("experts", "shared", "dense", "attention")
FORMATS = {"FP8": "fp8", "FP4": "nvfp4"}
"""Of the ModelOpt checkpoints: all linear layers; the head stays, and KV is FP8."""

OWN_FORMATS = ("gpt-oss-120b", "gpt-oss-20b")
"""Served in their own MXFP4, whatever the table's column says."""

WIDE_KV = {"kv": "bf16", "core": "bf16"}
"""Of checkpoints that say nothing of KV, as the commands leave its format to them: those of OpenAI,
and DeepSeek's own in FP8."""

ASSUMPTIONS = (
    f"all requests at once; max_batch_size {MOST_RUNNING:,} and max_num_tokens {MOST_TOKENS:,}, "
    f"assumed; no sequence starts without KV for its whole length, in {KV_SHARE:.0%} of the free "
    "memory"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offline:
    """One published point."""

    name: str
    model: str
    """As the table has it, and so the next two."""
    gpu: str
    parallelism: str
    quant: str
    gpus: int
    isl: int
    osl: int
    requests: int
    per_gpu: float
    """Output tokens a second and GPU."""

    @property
    def covered(self) -> bool:
        """Whether the catalogue has its model and system."""
        return self.model in MODELS and self.gpu in SYSTEMS


@cache
def rows() -> tuple[Offline, ...]:
    """Return every published point, in the order of the file."""
    text = (files("jalapeno.catalogue") / "data" / "offline" / "rows.csv").read_text("utf-8")
    return tuple(_row(line) for line in csv.DictReader(io.StringIO(text)))


def _row(line: Mapping[str, str]) -> Offline:
    version = "v1.1" if "developer-guide" in line["source"] else "v1.0"
    parts = ("model", "gpu", "parallelism", "quant", "isl", "osl")
    return Offline(
        name="/".join((version, *(line[part] for part in parts))),
        model=line["model"],
        gpu=line["gpu"],
        parallelism=line["parallelism"],
        quant=line["quant"],
        gpus=int(line["num_gpus"]),
        isl=int(line["isl"]),
        osl=int(line["osl"]),
        requests=int(line["num_requests"]),
        per_gpu=float(line["out_tok_per_s_per_gpu"]),
    )


def scenario_for(row: Offline) -> Scenario:
    """The run behind *row*.

    Raises :class:`DoesNotFit` or :class:`BadPlan` where the twin cannot lay it out.
    """
    trees = resolve(SYSTEMS[row.gpu], MODELS[row.model], engine_for(row))
    traffic = Traffic(
        lengths=Lengths(isl=row.isl, osl=row.osl, ratio=1.0),
        arrivals=ClosedLoop(concurrency=row.requests),
        requests=row.requests,
    )

    def of(plan: Plan) -> Scenario:
        return scenario_of(trees, (Pool(role=Role.UNIFIED, plan=plan, replicas=1),), traffic)

    return of(_without_eviction(row, of, plan_for(row)))


def engine_for(row: Offline) -> str:
    """TensorRT-LLM as it is in unified pools."""
    return entry_for("tensorrt-llm", SYSTEMS[row.gpu], unified=True)


def plan_for(row: Offline) -> Plan:
    """TPn, or DEPn: attention data parallelism with experts over all GPUs."""
    cut = re.fullmatch(r"(TP|DEP)(\d+)", row.parallelism)
    if cut is None:
        raise BadPlan(f"{row.parallelism}: the table's other cuts are of systems unknown here")
    size = int(cut[2])
    spread = cut[1] == "DEP"
    return Plan(
        tp=1 if spread else size,
        dp=size if spread else 1,
        ep=size if spread else 1,
        max_running=MOST_RUNNING,
        max_tokens=MOST_TOKENS,
        precision=precision_for(row),
    )


def precision_for(row: Offline) -> Precision:
    """As the checkpoint of the table's column has it."""
    model = catalogue.model(MODELS[row.model])
    chip = catalogue.system(SYSTEMS[row.gpu]).chip
    served = Precision.as_served(catalogue.engine(engine_for(row)), model, chip)
    if model.name in OWN_FORMATS:
        return replace(served, **WIDE_KV)
    if model.name == "deepseek-r1" and row.quant == "FP4":
        return served
    wide = FORMATS[row.quant]
    weights = dict.fromkeys(QUANTISED, wide)
    operands = {f"{name}_act": wide for name in QUANTISED}
    kv = WIDE_KV if model.name == "deepseek-r1" else {}
    return replace(served, **weights, **operands, **kv)


def _without_eviction(row: Offline, of: Callable[[Plan], Scenario], plan: Plan) -> Plan:
    """*plan* with no more slots than sequences fit whole (TensorRT-LLM: GUARANTEED_NO_EVICT)."""
    scenario = of(plan)
    space = room(scenario.model, plan, scenario.system, scenario.engine)
    fitting = int(KV_SHARE * space.blocks) // space.blocks_for(row.isl + row.osl)
    wanted = -(-row.requests // plan.ranks)
    if fitting < 1:
        raise DoesNotFit(f"{row.name}: no sequence of {row.isl + row.osl:,} tokens fits")
    return replace(plan, max_running=min(MOST_RUNNING, wanted, fitting))


def offline_throughput(pick: Callable[[Offline], bool] = lambda row: True) -> pl.DataFrame:
    """Return published and simulated output tokens/s a GPU, a row a point that *pick* likes.

    Columns are :data:`.frames.COLUMNS`, then ``isl``, ``osl`` and ``parallelism``.
    Points whose model or system the catalogue lacks, or that do not fit, have no prediction.
    """
    lines = []
    for row in rows():
        if pick(row):
            predicted, said = _predicted(row)
            lines.append(
                {
                    "row": row.name,
                    "model": MODELS.get(row.model, row.model),
                    "system": SYSTEMS.get(row.gpu, row.gpu),
                    "quantity": "output throughput",
                    "unit": "token/s/GPU",
                    "measured": row.per_gpu,
                    "predicted": predicted,
                    "assumptions": said,
                    "isl": row.isl,
                    "osl": row.osl,
                    "parallelism": row.parallelism,
                }
            )
    more = {"isl": pl.Int64, "osl": pl.Int64, "parallelism": pl.String}
    return side_by_side(lines, more)


def _predicted(row: Offline) -> tuple[float | None, str]:
    if not row.covered:
        return None, "not predicted: the catalogue has no such model or system"
    try:
        scenario = scenario_for(row)
    except (BadPlan, DoesNotFit) as error:
        return None, f"not predicted: {error}"
    rates = measure(simulate(scenario)).throughput
    running = scenario.pools[0].plan.max_running
    per_gpu = rates.output_tokens / rates.duration_s / row.gpus
    return per_gpu, f"{ASSUMPTIONS}: {running:,} at once on a rank"
