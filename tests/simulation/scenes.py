"""Small scenarios for the tests of the simulator, drawn or made to measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Model, model_of
from jalapeno.mapping import Plan, Precision
from jalapeno.mapping.memory import kv_bytes, weight_bytes
from jalapeno.simulation import (
    ClosedLoop,
    Gamma,
    Lengths,
    Poisson,
    Pool,
    Preemption,
    Role,
    Router,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
    set_fact,
)

LAYOUTS = {
    "gpt-oss-120b": ("TP1", "TP2", "TEP2", "TEP4", "DEP2", "DEP4", "TP2DP2", "PP2"),
    "deepseek-r1": ("TP4", "TEP4", "DEP4", "TP2DP2"),
    "kimi-k2.5": ("TP8", "TEP4", "DEP8", "TP4DP2"),
}
"""Cuts of each model that fit both systems."""
CUTS: Mapping[str, Mapping[str, Any]] = {
    "TP1": {},
    "TP2": {"tp": 2},
    "TP4": {"tp": 4},
    "TP8": {"tp": 8},
    "TEP2": {"tp": 2, "ep": 2},
    "TEP4": {"tp": 4, "ep": 4},
    "DEP2": {"ep": 2, "dp": 2},
    "DEP4": {"ep": 4, "dp": 4},
    "DEP8": {"ep": 8, "dp": 8},
    "TP2DP2": {"tp": 2, "ep": 4, "dp": 2},
    "TP4DP2": {"tp": 4, "ep": 8, "dp": 2},
    "PP2": {"pp": 2},
}
SYSTEMS = {"jalapeno-rack": "jalapeno-engine", "gb300-nvl72": "tensorrt-llm"}


DRAFT: Mapping[str, Any] = {
    "layers": 1,
    "modules": 1,
    "joined": 2,
}
"""A draft layer for models that come without."""


@cache
def facts(system: str, model: str) -> Mapping[str, Any]:
    """With the other system as a site called west."""
    west = next(name for name in SYSTEMS if name != system)
    return resolve(system, model, SYSTEMS[system], others={"west": (west, SYSTEMS[west])})


def plan(
    layout: str,
    model: str = "gpt-oss-120b",
    system: str = "jalapeno-rack",
    *,
    max_running: int = 4,
    max_tokens: int = 64,
) -> Plan:
    engine, chip = catalogue.engine(SYSTEMS[system]), catalogue.system(system).chip
    return Plan(
        **CUTS[layout],
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
    """KV blocks of the rank that has the fewest, at each site; None: what the memory holds."""
    overrides: tuple[tuple[str, str], ...] = ()
    west: tuple[int, ...] = ()
    """Numbers of the pools that stand on the other system."""
    router: Router = Router.SHARED
    preemption: Preemption = Preemption.NONE
    """Of all pools but prefill ones."""
    prefix_caching: bool = False
    """Of those that prefill again whoever gave way."""
    drafted: int = 0
    """Tokens that every pool drafts."""
    accepted: float = 0.0
    """Mean tokens a step then."""

    def scenario(self) -> Scenario:
        trees = dict(facts(self.system, self.model))
        if not self.west:
            del trees["others"]
        if self.drafted and "draft" not in trees["model"]:
            trees["model"] = trees["model"] | {"draft": DRAFT}
        for path, text in (("engine.first_token_delay", self.delay), *self.overrides):
            set_fact(trees, path, text)
        for site, numbers in self.sites().items():
            set_fact(trees, f"{site}engine.block_tokens", str(self.block_tokens))
            if self.blocks is not None:
                reserve = self.reserve(site, numbers, model_of(trees["model"]), self.blocks)
                set_fact(trees, f"{site}engine.memory_reserve", f"{reserve} B")
        pools = tuple(
            Pool(
                role=role,
                plan=self.drafting(plan),
                replicas=replicas,
                site="west" if number in self.west else "main",
                preemption=Preemption.NONE if role is Role.PREFILL else self.preemption,
                prefix_caching=self.prefix_caching
                and role is not Role.PREFILL
                and self.preemption is Preemption.RECOMPUTE,
            )
            for number, (role, replicas, plan) in enumerate(self.pools)
        )
        return scenario_of(trees, pools, self.traffic, self.seed, self.router)

    def drafting(self, plan: Plan) -> Plan:
        """*plan* with speculation, and a budget that every slot's tokens fit into."""
        if not self.drafted:
            return plan
        more = plan.max_running * self.drafted
        return replace(
            plan,
            max_tokens=plan.max_tokens + more,
            draft_tokens=self.drafted,
            acceptance_length=self.accepted,
        )

    def sites(self) -> dict[str, list[int]]:
        """Where paths of facts begin -> the pools that are there."""
        numbers = range(len(self.pools))
        here = [number for number in numbers if number not in self.west]
        sites = {"": here, "others.west.": list(self.west)}
        return {site: numbers for site, numbers in sites.items() if numbers}

    def reserve(self, site: str, numbers: list[int], model: Model, blocks: int) -> int:
        """Memory to keep back so that the tightest rank of a site has *blocks* blocks left."""
        others = [name for name in SYSTEMS if name != self.system]
        chip = catalogue.system(others[0] if site else self.system).chip
        return min(
            int(
                chip.hbm.capacity
                - weight_bytes(model, plan)
                - (blocks + 0.5) * self.block_tokens * kv_bytes(model, plan)[0]
            )
            for _, _, bare in (self.pools[number] for number in numbers)
            for plan in (self.drafting(bare),)
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
def speculation(draw: st.DrawFn, scene: Scene) -> Scene:
    """*scene* with tokens drafted, of which none, some or all are accepted."""
    drafted = draw(st.integers(1, 5), label="drafted")
    share = draw(st.sampled_from((0.0, 0.05, 1 / 3, 0.608, 0.9, 1.0)), label="accepted share")
    blocks = scene.blocks
    if blocks is not None:  # the last step of the longest may reach so far beyond
        blocks += -(-drafted // scene.block_tokens)
    return replace(scene, drafted=drafted, accepted=1.0 + drafted * share, blocks=blocks)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Small deployments of all sorts."""
    model = draw(st.sampled_from(sorted(LAYOUTS)))
    system = draw(st.sampled_from(sorted(SYSTEMS)))
    (other,) = (name for name in SYSTEMS if name != system)
    roles = draw(st.sampled_from(STAGES), label="roles")
    west = tuple(number for number in range(len(roles)) if draw(st.integers(0, 3)) == 0)
    pools = tuple(
        (role, draw(st.integers(1, 3)), draw(plans(model, other if number in west else system)))
        for number, role in enumerate(roles)
    )
    traffic = draw(traffics())
    block_tokens = draw(st.sampled_from((1, 3, 16, 64)))
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
        west=west,
        router=draw(st.sampled_from(Router)),
        preemption=draw(st.sampled_from(Preemption)),
    )


@st.composite
def tight_scenes(draw: st.DrawFn) -> Scene:
    """Many that preempt: long answers, more slots than there are blocks for."""
    roles = draw(st.sampled_from(STAGES[:2]), label="roles")
    layout = draw(st.sampled_from(("TP1", "DEP2", "PP2")))
    running = draw(st.integers(3, 8), label="max_running")
    beside = draw(st.sampled_from((0, 5, 40)), label="tokens beside the slots'")
    here = plan(layout, max_running=running, max_tokens=running + beside)
    lengths = Lengths(
        isl=draw(st.one_of(st.integers(1, 30), st.integers(100, 150))),
        osl=draw(st.integers(40, 160)),
        ratio=draw(st.sampled_from((0.01, 0.5, 1.0))),
        seed=draw(st.integers(0, 1000)),
    )
    concurrency, rate = draw(st.integers(4, 14)), draw(st.sampled_from((50.0, 500.0, 1e6)))
    arrivals: ClosedLoop | Poisson = ClosedLoop(concurrency=concurrency)
    if draw(st.booleans(), label="open"):
        arrivals = Poisson(rate=rate)
    block_tokens = draw(st.sampled_from((1, 4, 16)))
    windows = draw(st.integers(0, 3)) == 0
    overrides = draw(st.sampled_from(HOSTS)) + (() if windows else NO_WINDOWS)
    if len(roles) > 1:
        setup = draw(st.sampled_from(("0 s", "5 ms", "40 ms")))
        overrides += (("engine.transfer_latency", setup),)
    needed = blocks_needed(lengths.isl + lengths.osl, block_tokens)
    needed -= 0 if windows else blocks_needed(0, block_tokens)
    preemption = draw(st.sampled_from((Preemption.RECOMPUTE, Preemption.SWAP)))
    return Scene(
        pools=tuple((role, draw(st.integers(1, 2)), here) for role in roles),
        traffic=Traffic(lengths=lengths, arrivals=arrivals, requests=draw(st.integers(8, 40))),
        delay=draw(st.sampled_from(("0 s", "3 ms"))),
        block_tokens=block_tokens,
        blocks=needed + draw(st.integers(0, needed), label="blocks to spare"),
        overrides=overrides,
        router=draw(st.sampled_from(Router)),
        preemption=preemption,
        prefix_caching=preemption is Preemption.RECOMPUTE and draw(st.booleans()),
    )


STAGES = (
    (Role.UNIFIED,),
    (Role.PREFILL, Role.DECODE),
    (Role.UNIFIED, Role.UNIFIED),
    (Role.PREFILL, Role.DECODE, Role.DECODE),
    (Role.PREFILL, Role.PREFILL, Role.DECODE),
)

NO_WINDOWS = (("model.attention.window_layers", "0"),)
"""Without them a sequence takes no blocks that do not depend on its length."""

HOSTS: tuple[tuple[tuple[str, str], ...], ...] = (
    (),
    (("chip.host.bandwidth", "20 GB/s"),),
    (("chip.host.bandwidth", "300 MB/s"),),
    (("chip.host.capacity", "4 MB"),),
    (("chip.host.capacity", "12 MB"), ("chip.host.bandwidth", "3 GB/s")),
)
"""Hosts that are fast and slow, large and small; a cache of gpt-oss is some megabytes."""

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
