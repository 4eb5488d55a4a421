"""The file of a scenario: JSON that holds the facts themselves, so that it needs no catalogue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from jalapeno.catalogue import tree
from jalapeno.errors import BadScenario, UsageError, instead
from jalapeno.mapping import Plan, Precision
from jalapeno.simulation.pools import MAIN, Pool, Preemption, Role, Router
from jalapeno.simulation.scenario import FORMAT, OTHERS, ROOTS, Scenario, scenario_of, to_json
from jalapeno.simulation.traffic import ClosedLoop, Lengths, Poisson, Traffic

READABLE = (1, FORMAT)
"""Format 1 knew one site, one queue, no preemption, and fewer facts."""

Choice = TypeVar("Choice", bound=StrEnum)


def from_json(data: Any, where: str = "scenario") -> Scenario:
    """Build a scenario from the content of its file; :class:`BadScenario` names what is wrong."""
    if not isinstance(data, dict) or "format" not in data:
        raise BadScenario(f"{where}: not a scenario: it has no 'format'")
    version = data["format"]
    if type(version) is not int or version not in READABLE:
        raise BadScenario(
            f"{where}: format {version!r}; this version reads formats 1 to {FORMAT}: "
            "upgrade jalapeno, or write the scenario again"
        )
    try:
        trees = _trees(data)
        pools = tuple(_pool(item) for item in data["pools"])
        router = _chosen(Router, data.get("router", Router.SHARED))
        traffic = _traffic(data["traffic"], where)
        seed = data["seed"]
        _whole({"seed": seed})
        for shape in (traffic, traffic.lengths, traffic.arrivals, *pools, *(p.plan for p in pools)):
            _whole({f.name: getattr(shape, f.name) for f in fields(shape) if f.type == "int"})
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadScenario(f"{where}: missing, unknown or mistyped entry: {error}") from error
    if version == 1:
        trees = _completed(trees, where)
    return scenario_of(trees, pools, traffic, seed, router)


def _trees(data: Mapping[str, Any]) -> dict[str, Any]:
    trees = {root: dict(data[root].items()) for root in ROOTS}
    others = {
        name: {root: dict(site[root].items()) for root in ("system", "engine")}
        for name, site in data.get(OTHERS, {}).items()
    }
    return trees | {OTHERS: others} if others else trees


def _completed(trees: dict[str, Any], where: str) -> dict[str, Any]:
    """Trees of format 1 with the facts that came later, as the catalogue has them by name."""
    system, engine = trees["system"], trees["engine"]
    chip = dict(system["chip"])
    try:
        if "host" not in chip:
            chip["host"] = tree("chips", chip["name"])["host"]
        if "activations" not in engine:
            engine = engine | {"activations": tree("engines", engine["name"])["activations"]}
    except (KeyError, UsageError) as error:
        raise BadScenario(
            f"{where}: format 1 lacks facts that came later, and the catalogue cannot fill them "
            f"in: {error}: write the scenario again"
        ) from error
    filled = {"engine": engine["name"]} | system | {"chip": chip}
    return trees | {"system": filled, "engine": engine}


def _traffic(data: Mapping[str, Any], where: str) -> Traffic:
    arrivals = dict(data["arrivals"])
    kinds: dict[str, type[ClosedLoop] | type[Poisson]] = {
        "closed_loop": ClosedLoop,
        "poisson": Poisson,
    }
    kind = arrivals.pop("kind")
    if kind not in kinds:
        raise BadScenario(f"{where}: arrivals of kind {kind!r}; there are {', '.join(kinds)}")
    return Traffic(
        lengths=Lengths(**data["lengths"]),
        arrivals=kinds[kind](**arrivals),
        requests=data["requests"],
    )


def _whole(numbers: Mapping[str, object]) -> None:
    """Raise TypeError for a count that is none: JSON has one sort of number for all."""
    for name, value in numbers.items():
        if type(value) is not int:
            raise TypeError(f"{name} must be a whole number, got {value!r}")


def _chosen(kind: type[Choice], word: object) -> Choice:
    """The member of *kind* called *word*; ValueError names the nearest and all."""
    names = [member.value for member in kind]
    if word not in names:
        raise ValueError(f"no {kind.__name__.lower()} {word!r}{instead(str(word), names)}")
    return kind(word)


def _pool(item: Mapping[str, Any]) -> Pool:
    entries = dict(item)
    plan, site = dict(entries.pop("plan")), entries.pop("site", MAIN)
    if not isinstance(site, str):
        raise TypeError(f"site must be a name, got {site!r}")
    return Pool(
        role=_chosen(Role, entries.pop("role")),
        plan=Plan(precision=Precision(**plan.pop("precision")), **plan),
        site=site,
        preemption=_chosen(Preemption, entries.pop("preemption", Preemption.NONE)),
        **entries,
    )


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
