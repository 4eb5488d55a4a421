"""A measured row as a scenario: its layout, its formats, the request list of its client."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jalapeno import catalogue
from jalapeno.analysis.evidence.checkpoints import served
from jalapeno.analysis.validation.rows import RATIO
from jalapeno.catalogue import Engine, Model, System
from jalapeno.mapping import Plan, Precision
from jalapeno.simulation import ClosedLoop, Lengths, Pool, Role, Scenario, Traffic, resolve

REQUESTS_PER_SLOT = 10
"""InferenceX sends ten requests for each in flight."""

TOKENS = 8192
"""Tokens of a rank's step: assumed for every row, because most recipes are not public."""

SLOTS = 1024
"""Sequences of a rank, assumed likewise: few rows have more in flight, so memory binds first."""

UNIFIED = {"tensorrt-llm": "trtllm-serve"}
"""Entries that stand for an engine in unified pools; ``tensorrt-llm`` is the one behind Dynamo."""

AMD = {"sglang": "sglang-rocm", "mori-sglang": "sglang-rocm"}
"""Entries that stand for an engine on AMD's chips."""

EngineOf = Callable[[str, System, Model], Engine]
"""Engine entry by name, as it is to be on this system with this model."""


def as_catalogued(name: str, system: System, model: Model) -> Engine:
    """The engine as the catalogue has it."""
    return catalogue.engine(name)


def entry_for(engine: str, system: str, unified: bool) -> str:
    """Name of the catalogue's entry for *engine* on *system*, in unified or split pools."""
    name = engine
    if catalogue.system(system).chip.vendor == "AMD":
        name = AMD.get(name, name)
    return UNIFIED.get(name, name) if unified else name


def entry_name(row: Mapping[str, Any]) -> str:
    """Name of the catalogue's entry for the engine of *row*."""
    return entry_for(str(row["engine"]), row["system"], row["mode"] == "unified")


@dataclass(frozen=True, slots=True)
class Layout:
    """Workers of a pool: how many, and the cut of each."""

    workers: int
    tp: int
    dp: int
    ep: int

    @classmethod
    def of(cls, row: Mapping[str, Any], pool: str) -> Layout:
        """The *pool* (``prefill`` or ``decode``) of a row."""
        numbers = (int(row[f"{pool}_{name}"]) for name in ("workers", "tp", "dp", "ep"))
        return cls(*numbers)

    def plan(self, model: Model, precision: Precision, slots: int, tokens: int) -> Plan:
        """Its plan.  Under attention DP experts lie on all chips of the worker: where a row says
        that they are cut instead, it is priced as if they lay so.  Redundant experts fill groups
        that the model's own do not divide into."""
        ep = self.tp * self.dp if self.dp > 1 else self.ep
        experts = model.moe.experts
        return Plan(
            tp=self.tp,
            dp=self.dp,
            ep=ep if experts else 1,
            redundant=-experts % ep if experts else 0,
            max_running=slots,
            max_tokens=max(tokens, slots),
            precision=precision,
        )


@cache
def _facts(system: str, model: str, engine: str) -> tuple[System, Model, Mapping[str, Any]]:
    trees = resolve(system, model, engine)
    return catalogue.system(system), catalogue.model(model), trees


def scenario_for(row: Mapping[str, Any], engine_of: EngineOf = as_catalogued) -> Scenario:
    """The run behind *row* (columns ``MEASURED`` and ``LAYOUT``).

    Its digest is that of the catalogue's engine: what *engine_of* changes is not in it.
    """
    name = entry_name(row)
    system, model, trees = _facts(row["system"], row["model"], name)
    engine = engine_of(name, system, model)
    precision = served(model, system.chip, engine, row["precision"])
    back = Layout.of(row, "decode")
    ranks = back.workers * back.dp
    slots = min(SLOTS, math.ceil(row["concurrency"] / ranks))
    if row["mode"] == "split":
        front = Layout.of(row, "prefill")
        pools: tuple[Pool, ...] = (
            Pool(
                role=Role.PREFILL,
                plan=front.plan(model, precision, 1, max(TOKENS, row["isl"])),
                replicas=front.workers,
            ),
            Pool(
                role=Role.DECODE,
                plan=back.plan(model, precision, slots, slots),
                replicas=back.workers,
            ),
        )
    else:
        plan = back.plan(model, precision, slots, TOKENS)
        pools = (Pool(role=Role.UNIFIED, plan=plan, replicas=back.workers),)
    traffic = Traffic(
        lengths=Lengths(isl=row["isl"], osl=row["osl"], ratio=RATIO),
        arrivals=ClosedLoop(concurrency=row["concurrency"]),
        requests=row["concurrency"] * REQUESTS_PER_SLOT,
    )
    return Scenario(
        system=system, model=model, engine=engine, pools=pools, traffic=traffic, trees=trees
    )
