"""Features: what a step has to move and to compute, from the catalogue's facts alone.

The amounts are those of the twin's own lowering at datasheet rates (every efficiency one, every
fixed cost nothing), added up by kind, so that a baseline and the twin disagree about physics and
never about how many bytes a model has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from jalapeno import catalogue
from jalapeno.analysis.evidence.checkpoints import served
from jalapeno.analysis.validation.rows import RATIO
from jalapeno.catalogue import Engine, Model
from jalapeno.cost.formulas import touched_experts
from jalapeno.cost.operator import ALL_REDUCE, EXPERTS
from jalapeno.mapping import Plan, batch
from jalapeno.mapping.lower import Placed, lower
from jalapeno.mapping.rates import Rates

PERFECT = (
    "matrix_efficiency",
    "prefill_attention_efficiency",
    "decode_attention_efficiency",
    "memory_efficiency",
    "kv_efficiency",
    "vector_efficiency",
    "link_efficiency",
    "imbalance",
)
"""What a datasheet promises whole."""

FREE = (
    "issue_phase",
    "issue_layer_rest",
    "issue_layer_load",
    "host_step",
    "host_sequence",
    "all_reduce_latency",
    "all_to_all_latency",
    "overlap",
)
"""What a datasheet knows nothing of."""


@dataclass(frozen=True, slots=True)
class Work:
    """Seconds at datasheet rates, of one chip in one step, by what takes them; and counts."""

    weights: float = 0.0
    """Reading weights: those of the experts touched, and all others."""
    kv: float = 0.0
    """Reading KV entries."""
    flops: float = 0.0
    """Matrix work of projections, experts and head."""
    attention: float = 0.0
    """Matrix work of attention."""
    phases: float = 0.0
    """How many dependent kernels run one after another: some for each layer."""
    collectives: float = 0.0
    """How many collectives among more than one chip."""
    link: float = 0.0
    """Bytes through a port over its rate."""

    def __add__(self, other: Work) -> Work:
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(Work)}
        return Work(**sums)

    def times(self, count: float) -> Work:
        """*count* such steps, one after another."""
        return Work(**{f.name: count * getattr(self, f.name) for f in fields(Work)})

    @property
    def roofline(self) -> float:
        """Seconds of a roofline of the whole step: memory beside matrix."""
        return max(self.weights + self.kv, self.flops + self.attention)


@cache
def ideal(name: str) -> Engine:
    """Engine *name* with every efficiency one and every fixed cost nothing."""
    engine = catalogue.engine(name)
    changes: dict[str, Any] = dict.fromkeys(PERFECT, 1.0)
    changes |= dict.fromkeys(FREE, 0.0)
    return replace(engine, **changes, maturity={})


@cache
def placed(system: str, model: str, precision: str, cut: tuple[int, int, int]) -> list[Placed]:
    """The operators of a step under *cut* (tp, dp, ep), at datasheet rates."""
    found, where, (tp, dp, ep) = catalogue.model(model), catalogue.system(system), cut
    engine = ideal("tensorrt-llm")
    plan = Plan(
        tp=tp,
        dp=dp,
        ep=tp * dp if dp > 1 and found.moe.experts else ep,
        max_running=1,
        max_tokens=1,
        precision=served(found, where.chip, engine, precision),
    )
    rates = Rates.of(where, engine, found)
    return lower(found, plan, rates)


def work_of(operators: Iterable[Placed], row: batch.Rows, ranks: int) -> Work:
    """The work of a step whose *row* of sums every one of *ranks* ranks has."""
    total = Work()
    for item in operators:
        total += _one(item, row, ranks).times(item.repeat)
    return total


def _one(item: Placed, row: batch.Rows, ranks: int) -> Work:
    number: Mapping[str, float] = item.operator.numbers
    get = number.get
    rows = float(row[item.rows]) * (ranks if item.scope else 1)
    if rows <= 0.0:
        return Work()
    if get("family", 0.0) == EXPERTS:
        touched = touched_experts(number["experts"], number["share"], rows)
        slots = rows * number["share"] * number["experts"]
        return Work(
            weights=touched * number["bytes_expert"] / number["bandwidth"],
            flops=slots * number["flops_row"] / number["rate"],
            phases=1.0,
        )
    if get("family", 0.0) >= ALL_REDUCE:
        group = number["group"]
        if group <= 1.0:
            return Work()
        sent = 2.0 * (group - 1.0) / group if number["family"] == ALL_REDUCE else 1.0
        return Work(collectives=1.0, link=sent * rows * number["link_row"] / number["link_rate"])
    pairs = float(row[item.pairs]) if item.pairs >= 0 else 0.0
    reads = float(row[item.reads]) if item.reads >= 0 else 0.0
    attention = pairs * get("useful_pair", 0.0) + reads * get("flops_read", 0.0)
    return Work(
        weights=get("bytes_fixed", 0.0) / number["bandwidth"],
        kv=reads * get("bytes_read", 0.0) / number["kv_bandwidth"],
        flops=rows * get("flops_row", 0.0) / number["rate"],
        attention=attention / number["rate"],
        phases=1.0,
    )


def decode_row(model: Model, sequences: float, prompt: float, output: float) -> batch.Rows:
    """Sums of a rank that decodes *sequences* at the mean context of such requests."""
    row = np.zeros(batch.columns(model.caps))
    row[batch.TOKENS] = row[batch.DECODE] = row[batch.SAMPLED] = sequences
    context = prompt + output / 2.0
    for index, cap in enumerate((batch.UNCAPPED, *model.caps)):
        row[batch.column(index, batch.DECODE_READS)] = sequences * min(context, cap)
    return row


def prefill_row(model: Model, prompt: float) -> batch.Rows:
    """Sums of a rank that takes one prompt whole."""
    item = batch.Item(cached=0, new=round(prompt), prefill=True, sampled=True)
    return batch.batch_row([item], model.caps)


@dataclass(frozen=True, slots=True)
class Features:
    """What a point asks of its GPUs: a decode step, one prompt, and who shares them."""

    step: Work
    """One decode step of a worker with its share of the requests in flight."""
    prompt: Work
    """One prompt, whole, on the pool that takes prompts."""
    sequences: float
    """Sequences that decode on a rank."""
    others: float
    """Prompts that interrupt one request's decoding, for each of its steps: ``sequences / OSL`` in
    a unified deployment, none where pools are split."""
    queue: float
    """Prompts sent at once by the first burst, for each rank that takes prompts."""


@cache
def features(
    model: str,
    system: str,
    precision: str,
    lengths: tuple[int, int],
    load: tuple[int, bool],
    pools: tuple[tuple[int, int, int, int], tuple[int, int, int, int]],
) -> Features:
    """Features of a point: nominal *lengths* (isl, osl), *load* (concurrency, whether pools are
    split) and *pools*, prefill and decode, of (workers, tp, dp, ep)."""
    found = catalogue.model(model)
    prompt, output = ((int(RATIO * n) + n) / 2.0 for n in lengths)
    concurrency, split = load
    front, back = pools
    sequences = max(1.0, concurrency / (back[0] * back[2]))
    cuts = [(pool[1], pool[2], pool[3]) for pool in pools]
    step = work_of(
        placed(system, model, precision, cuts[1]),
        decode_row(found, sequences, prompt, output),
        back[2],
    )
    alone = work_of(
        placed(system, model, precision, cuts[0]),
        prefill_row(found, prompt),
        1,
    )
    return Features(
        step=step,
        prompt=alone,
        sequences=sequences,
        others=0.0 if split else (sequences - 1.0) / output,
        queue=max(1.0, concurrency / (front[0] * front[2])),
    )


def features_of(row: Mapping[str, Any]) -> Features:
    """Features of a row with the columns ``MEASURED`` and ``LAYOUT``."""
    decode = tuple(int(row[f"decode_{what}"]) for what in ("workers", "tp", "dp", "ep"))
    split = row["mode"] == "split"
    prefill = (
        tuple(int(row[f"prefill_{what}"]) for what in ("workers", "tp", "dp", "ep"))
        if split
        else decode
    )
    return features(
        row["model"],
        row["system"],
        row["precision"],
        (row["isl"], row["osl"]),
        (row["concurrency"], split),
        (prefill, decode),
    )
