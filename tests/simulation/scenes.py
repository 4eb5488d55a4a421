"""Small scenarios for the tests of the simulator, drawn or made to measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import override
from jalapeno.mapping import Plan, Precision
from jalapeno.mapping.memory import kv_bytes, weight_bytes
from jalapeno.simulation import (
    ClosedLoop,
    Gamma,
    Lengths,
    Poisson,
    Pool,
    Role,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
)

LAYOUTS = {
    "gpt-oss-120b": ("TP1", "TP2", "TEP2", "TEP4", "DEP2", "DEP4", "TP2DP2"),
    "deepseek-r1": ("TP4", "TEP4", "DEP4", "TP2DP2"),
    "kimi-k2.5": ("TP8", "TEP4", "DEP8", "TP4DP2"),
}
"""Cuts of each model that fit both systems."""
CUTS = {
    "TP1": (1, 1, 1),
    "TP2": (2, 1, 1),
    "TP4": (4, 1, 1),
    "TP8": (8, 1, 1),
    "TEP2": (2, 2, 1),
    "TEP4": (4, 4, 1),
    "DEP2": (1, 2, 2),
    "DEP4": (1, 4, 4),
    "DEP8": (1, 8, 8),
    "TP2DP2": (2, 4, 2),
    "TP4DP2": (4, 8, 2),
}
"""Layout -> (tp, ep, dp)."""
SYSTEMS = {"jalapeno-rack": "jalapeno-engine", "gb300-nvl72": "tensorrt-llm"}


@cache
def facts(system: str, model: str) -> Mapping[str, Any]:
    return resolve(system, model, SYSTEMS[system])


def plan(
    layout: str,
    model: str = "gpt-oss-120b",
    system: str = "jalapeno-rack",
    *,
    max_running: int = 4,
    max_tokens: int = 64,
) -> Plan:
    tp, ep, dp = CUTS[layout]
    engine, chip = catalogue.engine(SYSTEMS[system]), catalogue.system(system).chip
    return Plan(
        tp=tp,
        ep=ep,
        dp=dp,
        max_running=max_running,
        max_tokens=max_tokens,
        precision=Precision.as_served(engine, catalogue.model(model), chip),
    )


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What a small scenario is made of; :meth:`scenario` makes it."""

    model: str = "gpt-oss-120b"
    system: str = "jalapeno-rack"
    pools: tuple[tuple[Role, int, Plan], ...]
    traffic: Traffic
    seed: int = 0
    delay: str = "0 s"
    block_tokens: int = 16
    blocks: int | None = None
    """KV blocks of the rank that has the fewest; None: what the memory holds."""
    overrides: tuple[tuple[str, str], ...] = ()

    def scenario(self) -> Scenario:
        texts = {
            "engine.first_token_delay": self.delay,
            "engine.block_tokens": str(self.block_tokens),
            **dict(self.overrides),
        }
        if self.blocks is not None:
            texts["engine.memory_reserve"] = f"{self.reserve(self.blocks)} B"
        trees = dict(facts(self.system, self.model))
        for path, text in texts.items():
            root, _, rest = path.partition(".")
            root, rest = ("system", path) if root == "chip" else (root, rest)
            trees[root] = override(trees[root], rest, text)
        pools = tuple(
            Pool(role=role, plan=plan, replicas=replicas) for role, replicas, plan in self.pools
        )
        return scenario_of(trees, pools, self.traffic, self.seed)

    def reserve(self, blocks: int) -> int:
        """Memory to keep back so that the tightest rank has *blocks* blocks left."""
        model, chip = catalogue.model(self.model), catalogue.system(self.system).chip
        return min(
            int(
                chip.hbm.capacity
                - weight_bytes(model, plan)
                - (blocks + 0.5) * self.block_tokens * kv_bytes(model, plan)[0]
            )
            for _, _, plan in self.pools
        )


def blocks_needed(tokens: int, block_tokens: int = 16) -> int:
    """Blocks that a request of *tokens* may need, the windows of gpt-oss included."""
    return -(-tokens // block_tokens) + -(-128 // block_tokens)


def unified(
    plan: Plan, traffic: Traffic, *, replicas: int = 1, delay: str = "0 s", seed: int = 0
) -> Scenario:
    """One pool of *replicas* on the Jalapeño rack, gpt-oss."""
    pools = ((Role.UNIFIED, replicas, plan),)
    return Scene(pools=pools, traffic=traffic, delay=delay, seed=seed).scenario()


def closed(
    requests: int, concurrency: int, isl: int, osl: int, *, ratio: float = 1.0, seed: int = 0
) -> Traffic:
    """A closed loop of *requests* requests."""
    lengths = Lengths(isl=isl, osl=osl, ratio=ratio, seed=seed)
    return Traffic(lengths=lengths, arrivals=ClosedLoop(concurrency=concurrency), requests=requests)


def poisson(
    requests: int, rate: float, isl: int, osl: int, *, ratio: float = 1.0, seed: int = 0
) -> Traffic:
    """An open stream of *requests* requests, *rate* a second."""
    lengths = Lengths(isl=isl, osl=osl, ratio=ratio, seed=seed)
    return Traffic(lengths=lengths, arrivals=Poisson(rate=rate), requests=requests)


@st.composite
def plans(draw: st.DrawFn, model: str, system: str) -> Plan:
    """Few slots and tiny budgets; every slot's token fits the budget."""
    running = draw(st.integers(1, 6), label="max_running")
    tokens = draw(st.sampled_from((0, 1, 7, 31, 100, 400)), label="tokens beside the slots'")
    return plan(
        draw(st.sampled_from(LAYOUTS[model]), label="layout"),
        model,
        system,
        max_running=running,
        max_tokens=running + tokens,
    )


@st.composite
def traffics(draw: st.DrawFn) -> Traffic:
    """Prompts on both sides of a window of 128 tokens; answers from a single token on."""
    lengths = Lengths(
        isl=draw(st.one_of(st.integers(1, 40), st.integers(100, 180), st.integers(200, 900))),
        osl=draw(st.one_of(st.just(1), st.integers(2, 12), st.integers(20, 160))),
        ratio=draw(st.sampled_from((0.01, 0.3, 0.8, 1.0))),
        seed=draw(st.integers(0, 1000)),
    )
    arrivals = draw(
        st.one_of(
            st.builds(ClosedLoop, concurrency=st.integers(1, 12)),
            st.builds(Poisson, rate=st.sampled_from((0.5, 5.0, 50.0, 500.0, 1e6))),
            st.builds(Gamma, rate=st.sampled_from((5.0, 50.0)), cv=st.sampled_from((0.0, 4.0))),
        )
    )
    return Traffic(lengths=lengths, arrivals=arrivals, requests=draw(st.integers(1, 25)))


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Small deployments of all sorts."""
    model = draw(st.sampled_from(sorted(LAYOUTS)))
    system = draw(st.sampled_from(sorted(SYSTEMS)))
    roles = draw(st.sampled_from(((Role.UNIFIED,), (Role.PREFILL, Role.DECODE))))
    pools = tuple((role, draw(st.integers(1, 3)), draw(plans(model, system))) for role in roles)
    traffic = draw(traffics())
    block_tokens = draw(st.sampled_from((16, 64)))
    blocks: int | None = None
    if draw(st.booleans(), label="little memory"):
        prompts, outputs = traffic.lengths.draw(traffic.requests)
        needed = blocks_needed(int((prompts + outputs).max()), block_tokens)
        blocks = needed + draw(st.integers(0, 2 * needed), label="blocks to spare")
    return Scene(
        model=model,
        system=system,
        pools=pools,
        traffic=traffic,
        seed=draw(st.integers(0, 9)),
        delay=draw(st.sampled_from(("0 s", "3 ms", "0.27 s"))),
        block_tokens=block_tokens,
        blocks=blocks,
        overrides=draw(st.sampled_from(ODDITIES)),
    )


ODDITIES: tuple[tuple[tuple[str, str], ...], ...] = (
    (),
    (("engine.transfer_latency", "0 s"),),
    (("engine.transfer_latency", "40 ms"),),
    (("engine.decode_attention_efficiency", "0.001"),),
    (("engine.decode_attention_efficiency", "0.4"),),
    (("engine.decode_attention_efficiency", "0.7"),),
    (("chip.power.cap", "450 W"),),
)
"""Overrides that bring others to the front: slow attention, or as slow as memory (so that one
overtakes the other as contexts grow), a clock held down, fast and slow KV transfers."""
