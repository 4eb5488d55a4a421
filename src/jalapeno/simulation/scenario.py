"""Scenario: everything a run depends on, in one immutable value and one file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

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
from jalapeno.errors import BadPlan, BadScenario, UnknownName
from jalapeno.mapping import Plan, Precision
from jalapeno.simulation.traffic import ClosedLoop, Lengths, Poisson, Traffic

FORMAT = 1
"""Version of the scenario file; a reader refuses newer ones."""

Trees = Mapping[str, Any]
ROOTS = ("system", "model", "engine")


class Role(StrEnum):
    """What a pool does for a request."""

    UNIFIED = "unified"
    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Workers of one plan and role."""

    role: Role
    plan: Plan
    replicas: int

    def __post_init__(self) -> None:
        if self.replicas < 1:
            raise BadPlan(f"a pool needs at least one replica, got {self.replicas}")

    @property
    def chips(self) -> int:
        """Chips of all workers."""
        return self.replicas * self.plan.chips

    @property
    def label(self) -> str:
        """Such as ``5xTEP4``."""
        return f"{self.replicas}x{self.plan.label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Resolved facts, pools, traffic and seed.  Equal scenarios give equal journals."""

    system: System
    model: Model
    engine: Engine
    pools: tuple[Pool, ...]
    traffic: Traffic
    seed: int = 0
    trees: Trees
    """The facts as text, overrides applied: what a scenario file holds."""

    def __post_init__(self) -> None:
        roles = [pool.role for pool in self.pools]
        if roles not in ([Role.UNIFIED], [Role.PREFILL, Role.DECODE]):
            raise BadPlan(
                "pools must be one unified, or prefill then decode; "
                f"got {', '.join(roles) or 'none'}"
            )
        if not 0 <= self.seed < 2**64:
            raise BadScenario(f"seed must be in [0, 2^64), got {self.seed}")
        chips = sum(pool.chips for pool in self.pools)
        if chips > self.system.chips:
            raise BadPlan(
                f"{self.label} needs {chips} chips; {self.system.name} has {self.system.chips}: "
                "fewer replicas, or a larger system"
            )

    @property
    def label(self) -> str:
        """Layout in short: ``P 1xTP1 + D 5xTEP4``, or ``4xTP8``."""
        if len(self.pools) == 1:
            return self.pools[0].label
        return f"P {self.pools[0].label} + D {self.pools[1].label}"

    @property
    def digest(self) -> str:
        """SHA-256 of everything the run depends on, first 16 hex digits."""
        text = json.dumps(to_json(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def resolve(
    system: str, model: str, engine: str, overrides: Mapping[str, str] | None = None
) -> Trees:
    """Trees of the named entries with *overrides* (``chip.hbm.bandwidth`` -> ``20 TB/s``) applied.

    Paths begin with ``chip``, ``system``, ``model`` or ``engine``.
    """
    trees: dict[str, Any] = {
        "system": tree("systems", system),
        "model": tree("models", model),
        "engine": tree("engines", engine),
    }
    for path, text in (overrides or {}).items():
        root, _, rest = path.partition(".")
        if root == "chip":
            root, rest = "system", path
        if root not in ROOTS or not rest:
            raise UnknownName(
                f"--set {path}: begin with one of chip, {', '.join(ROOTS)}, "
                "as in chip.hbm.bandwidth"
            )
        trees[root] = override(trees[root], rest, text)
    return trees


def scenario_of(trees: Trees, pools: tuple[Pool, ...], traffic: Traffic, seed: int = 0) -> Scenario:
    """Build a scenario from resolved *trees* (see :func:`resolve`)."""
    return Scenario(
        system=system_of(trees["system"]),
        model=model_of(trees["model"]),
        engine=engine_of(trees["engine"]),
        pools=pools,
        traffic=traffic,
        seed=seed,
        trees=trees,
    )


def to_json(scenario: Scenario) -> dict[str, Any]:
    """The scenario as plain data: the content of its file."""
    arrivals = scenario.traffic.arrivals
    kind = "closed_loop" if isinstance(arrivals, ClosedLoop) else "poisson"
    return {
        "format": FORMAT,
        **{root: scenario.trees[root] for root in ROOTS},
        "pools": [asdict(pool) for pool in scenario.pools],
        "traffic": {
            "lengths": asdict(scenario.traffic.lengths),
            "arrivals": {"kind": kind, **asdict(arrivals)},
            "requests": scenario.traffic.requests,
        },
        "seed": scenario.seed,
    }


def from_json(data: Any, where: str = "scenario") -> Scenario:
    """Build a scenario from the content of its file; :class:`BadScenario` names what is wrong."""
    if not isinstance(data, dict) or "format" not in data:
        raise BadScenario(f"{where}: not a scenario: it has no 'format'")
    if data["format"] != FORMAT:
        raise BadScenario(
            f"{where}: format {data['format']!r}; this version reads format {FORMAT}: "
            "upgrade jalapeno, or write the scenario again"
        )
    try:
        pools = tuple(_pool(item) for item in data["pools"])
        arrivals = dict(data["traffic"]["arrivals"])
        kinds: dict[str, type[ClosedLoop] | type[Poisson]] = {
            "closed_loop": ClosedLoop,
            "poisson": Poisson,
        }
        kind = arrivals.pop("kind")
        if kind not in kinds:
            raise BadScenario(f"{where}: arrivals of kind {kind!r}; there are {', '.join(kinds)}")
        traffic = Traffic(
            lengths=Lengths(**data["traffic"]["lengths"]),
            arrivals=kinds[kind](**arrivals),
            requests=data["traffic"]["requests"],
        )
        trees = {root: dict(data[root].items()) for root in ROOTS}
        seed = data["seed"]
        _whole({"seed": seed})
        for shape in (traffic, traffic.lengths, traffic.arrivals, *pools, *(p.plan for p in pools)):
            _whole({f.name: getattr(shape, f.name) for f in fields(shape) if f.type == "int"})
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadScenario(f"{where}: missing, unknown or mistyped entry: {error}") from error
    return scenario_of(trees, pools, traffic, seed)


def _whole(numbers: Mapping[str, object]) -> None:
    """Raise TypeError for a count that is none: JSON has one sort of number for all."""
    for name, value in numbers.items():
        if type(value) is not int:
            raise TypeError(f"{name} must be a whole number, got {value!r}")


def _pool(item: Mapping[str, Any]) -> Pool:
    plan = dict(item["plan"])
    precision = Precision(**plan.pop("precision"))
    role = Role(item["role"])
    return Pool(role=role, plan=Plan(**plan, precision=precision), replicas=item["replicas"])


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadScenario(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadScenario(f"{path}: not JSON: {error}") from error
    return from_json(data, str(path))


def dump_scenario(scenario: Scenario) -> str:
    """The text of a scenario file."""
    return json.dumps(to_json(scenario), indent=1) + "\n"
