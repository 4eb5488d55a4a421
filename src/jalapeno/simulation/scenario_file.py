"""The file of a scenario: JSON that holds the facts themselves, so that it needs no catalogue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from jalapeno.catalogue import tree
from jalapeno.errors import BadScenario, UsageError, instead
from jalapeno.mapping import Plan, Precision
from jalapeno.simulation.pools import MAIN, Pool, Preemption, Role, Router
from jalapeno.simulation.scenario import FORMAT, OTHERS, ROOTS, Scenario, scenario_of, to_json
from jalapeno.simulation.trace import trace_json
from jalapeno.simulation.traffic_file import check_types, traffic_of

READABLE = (1, 2, FORMAT)
"""Format 1 knew one site, one queue, no preemption, and fewer facts; format 2 no speculation."""

Choice = TypeVar("Choice", bound=StrEnum)


def from_json(data: Any, where: str = "scenario", folder: Path = Path()) -> Scenario:
    """Build a scenario from the content of its file; :class:`BadScenario` names what is wrong.

    Paths of traces are relative to *folder*.
    """
    if not isinstance(data, dict) or "format" not in data:
        raise BadScenario(f"{where}: not a scenario: it has no 'format'")
    version = data["format"]
    if type(version) is not int or version not in READABLE:
        raise BadScenario(
            f"{where}: format {version!r}; this version reads formats 1 to {FORMAT}: "
            "upgrade jalapeno, or write the scenario again"
        )
    try:
        pools = tuple(_pool(item) for item in data["pools"])
        trees = _trees(data)
        router = _chosen(Router, data.get("router", Router.SHARED))
        traffic = traffic_of(data["traffic"], where, folder)
        seed = data["seed"]
        if type(seed) is not int:
            raise TypeError(f"seed must be a whole number, got {seed!r}")
        for pool in pools:
            check_types(pool)
            check_types(pool.plan)
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
    """Read a scenario file; paths of traces are relative to its folder."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise BadScenario(f"{path}: cannot be read: {error.strerror}") from error
    return parse_scenario(text, str(path), path.parent)


def parse_scenario(text: bytes, where: str, folder: Path) -> Scenario:
    """The scenario in the *text* of a file; paths of traces are relative to *folder*."""
    try:
        data = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadScenario(f"{where}: not JSON: {error}") from error
    return from_json(data, where, folder)


def dump_scenario(scenario: Scenario, folder: Path | None = None) -> str:
    """The text of a scenario file; traces in or below its *folder* get relative paths."""
    return json.dumps(to_json(scenario, partial(trace_json, folder=folder)), indent=1) + "\n"
