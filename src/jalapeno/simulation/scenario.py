"""Scenario: everything a run depends on, in one immutable value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from jalapeno import catalogue
from jalapeno.catalogue import (
    Engine,
    Model,
    System,
    engine_of,
    model_of,
    override,
    system_of,
    tree,
)
from jalapeno.errors import BadScenario, UnknownName, unknown_name
from jalapeno.simulation.pools import MAIN, Pool, Preemption, Role, Router, check_roles
from jalapeno.simulation.trace import Trace, trace_json
from jalapeno.simulation.traffic import Traffic
from jalapeno.simulation.traffic_file import traffic_json

__all__ = [
    "FORMAT",
    "MAIN",
    "ROOTS",
    "Pool",
    "Preemption",
    "Role",
    "Router",
    "Scenario",
    "Site",
    "Trees",
    "resolve",
    "scenario_of",
    "set_fact",
    "to_json",
]

FORMAT = 3
"""Version of the scenario file that is written; a reader refuses newer ones."""

Trees = Mapping[str, Any]
"""``{"system", "model", "engine"}``, and ``"others"``: ``{site: {"system", "engine"}}``."""
ROOTS = ("system", "model", "engine")
OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where workers stand: a system, and the engine that serves there."""

    system: System
    engine: Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Resolved facts, pools, traffic and seed.  Equal scenarios give equal journals."""

    system: System
    model: Model
    engine: Engine
    others: Mapping[str, Site] = field(default_factory=dict)
    """Sites beside the main one, which is ``system`` and ``engine``."""
    pools: tuple[Pool, ...]
    """One or more unified ones; or one or more prefill and then one or more decode ones."""
    router: Router = Router.SHARED
    traffic: Traffic
    seed: int = 0
    trees: Trees
    """The facts as text, overrides applied: what a scenario file holds."""

    def __post_init__(self) -> None:
        check_roles(self.pools)
        if not 0 <= self.seed < 2**64:
            raise BadScenario(f"seed must be in [0, 2^64), got {self.seed}")
        if MAIN in self.others:
            raise BadScenario(
                f"a site beside {MAIN!r} needs a name of its own: {MAIN!r} is the scenario's system"
            )
        for pool in self.pools:
            self.site(pool)

    def site(self, pool: Pool) -> Site:
        """Where *pool* stands; :class:`UnknownName` where the scenario has no such site."""
        if pool.site == MAIN:
            return Site(system=self.system, engine=self.engine)
        if pool.site not in self.others:
            raise unknown_name("site", pool.site, (MAIN, *self.others))
        return self.others[pool.site]

    @property
    def split(self) -> bool:
        """Whether prompts and answers are computed in pools of their own."""
        return self.pools[0].role is Role.PREFILL

    @property
    def label(self) -> str:
        """Layout in short, a word a pool: ``P 1xTP1 + D 5xTEP4``, or ``4xTP8``."""
        letters = {Role.UNIFIED: "", Role.PREFILL: "P ", Role.DECODE: "D "}
        return " + ".join(f"{letters[pool.role]}{pool.label}" for pool in self.pools)

    @property
    def digest(self) -> str:
        """SHA-256 of everything the run depends on, first 16 hex digits: a trace's text, and not
        where it lies."""
        text = json.dumps(to_json(self, lambda trace: trace.sha256), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def resolve(
    system: str,
    model: str,
    engine: str,
    overrides: Mapping[str, str] | None = None,
    others: Mapping[str, tuple[str, str | None]] | None = None,
) -> Trees:
    """Trees of the named entries with *overrides* (``chip.hbm.bandwidth`` -> ``20 TB/s``) applied.

    *others*: site name -> (system, engine; None: the system's own).  Paths of overrides begin with
    ``chip``, ``system``, ``model`` or ``engine``; those of another site, ``others.west.engine...``.
    """
    trees: dict[str, Any] = {
        "system": tree("systems", system),
        "model": tree("models", model),
        "engine": tree("engines", engine),
    }
    if others:
        trees[OTHERS] = {
            name: {
                "system": tree("systems", where),
                "engine": tree("engines", under or catalogue.system(where).engine),
            }
            for name, (where, under) in others.items()
        }
    for path, text in (overrides or {}).items():
        set_fact(trees, path, text)
    return trees


def set_fact(trees: dict[str, Any], path: str, text: str) -> None:
    """Replace the fact at *path* in *trees* (a scenario file's content will do) by *text*.

    Raises :class:`UnknownName` with the nearest path where there is none.
    """
    roots: tuple[str, ...] = ROOTS
    place, rest = trees, path
    root, _, below = rest.partition(".")
    if root == OTHERS:
        name, _, rest = below.partition(".")
        sites = trees.get(OTHERS, {})
        if name not in sites:
            raise unknown_name("site", name, sites)
        trees[OTHERS] = {**sites, name: (place := dict(sites[name]))}
        roots = ("system", "engine")
        root, _, below = rest.partition(".")
    if root == "chip":
        root, below = "system", rest
    if root not in roots or not below:
        raise UnknownName(
            f"--set {path}: begin with one of chip, {', '.join(roots)}, as in chip.hbm.bandwidth"
        )
    place[root] = override(place[root], below, text)


def scenario_of(
    trees: Trees,
    pools: tuple[Pool, ...],
    traffic: Traffic,
    seed: int = 0,
    router: Router = Router.SHARED,
) -> Scenario:
    """Build a scenario from resolved *trees* (see :func:`resolve`)."""
    return Scenario(
        system=system_of(trees["system"]),
        model=model_of(trees["model"]),
        engine=engine_of(trees["engine"]),
        others={
            name: Site(system=system_of(site["system"]), engine=engine_of(site["engine"]))
            for name, site in trees.get(OTHERS, {}).items()
        },
        pools=pools,
        router=router,
        traffic=traffic,
        seed=seed,
        trees=trees,
    )


def to_json(scenario: Scenario, of_trace: Callable[[Trace], Any] = trace_json) -> dict[str, Any]:
    """The scenario as plain data: the content of its file; *of_trace* stands for a trace."""
    return {
        "format": FORMAT,
        **{root: scenario.trees[root] for root in ROOTS},
        OTHERS: scenario.trees.get(OTHERS, {}),
        "pools": [_pool_json(pool) for pool in scenario.pools],
        "router": scenario.router,
        "traffic": traffic_json(scenario.traffic, of_trace),
        "seed": scenario.seed,
    }


def _pool_json(pool: Pool) -> dict[str, Any]:
    """A pool as plain data; what it does not ask for is left out where files once lacked it."""
    data = asdict(pool)
    if not pool.prefix_caching:
        del data["prefix_caching"]
    return data
