"""The facts that an answer rests on, and the same case with some of them changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from jalapeno.catalogue import (
    Fact,
    Tariff,
    engine_of,
    model_of,
    override_all,
    system_of,
    tariff_of,
    tree,
)
from jalapeno.errors import UnknownName, nearest
from jalapeno.simulation import Scenario
from jalapeno.units import render

USUAL = ("chip.*", "system.*", "engine.*", "tariff.*")
"""What is varied unless somebody says otherwise: what a model is made of is not uncertain."""

EXACT = 17
"""Significant digits after which a float is the same float when read back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is asked about: a scenario, and the power and price of its chips."""

    scenario: Scenario
    tariff: Tariff
    tariff_tree: Mapping[str, Any]


def case_of(scenario: Scenario) -> Case:
    """*scenario* at the catalogue's tariff; :class:`UnknownName` where its chip has none."""
    found = tree("tariffs", scenario.system.chip.name)
    return Case(scenario=scenario, tariff=tariff_of(found), tariff_tree=found)


def numbers_of(case: Case) -> dict[str, Fact]:
    """Every fact of *case* that is a number, by the path that ``--set`` takes.

    Where pools are on several sites, these are the facts of the main one; the others' stay.
    """
    scenario = case.scenario
    by_root = {
        "system": scenario.system.facts,
        "model": scenario.model.facts,
        "engine": scenario.engine.facts,
        "tariff": case.tariff.facts,
    }
    return {
        path if path.startswith("chip.") else f"{root}.{path}": fact
        for root, facts in by_root.items()
        for path, fact in facts.items()
        if not isinstance(fact.value, bool | str)
    }


def matching(facts: Mapping[str, Fact], patterns: Sequence[str]) -> dict[str, Fact]:
    """The *facts* whose path matches one of the shell *patterns*, in their order.

    Raises :class:`UnknownName` with the nearest path for a pattern that matches none.
    """
    for pattern in patterns:
        if not any(fnmatchcase(path, pattern) for path in facts):
            raise UnknownName(
                f"--facts {pattern}: no number of this scenario{nearest(pattern, facts)}\n"
                f"write patterns such as {', '.join(USUAL)}, chip.hbm.* or model.*"
            )
    return {
        path: fact
        for path, fact in facts.items()
        if any(fnmatchcase(path, pattern) for pattern in patterns)
    }


def changed(case: Case, values: Mapping[str, float]) -> Case:
    """*case* with the facts at these paths replaced by *values*, SI.

    What is not touched stays the same object.  The loader checks the rest as it does a user's
    ``--set``: raises :class:`BadFact` for what may not be, such as a share above one.
    """
    facts = numbers_of(case)
    texts: dict[str, dict[str, str]] = {}
    for path, value in values.items():
        root, _, rest = path.partition(".")
        root, rest = ("system", path) if root == "chip" else (root, rest)
        texts.setdefault(root, {})[rest] = written(value, facts[path])
    scenario, trees = case.scenario, dict(case.scenario.trees)
    for root in texts.keys() - {"tariff"}:
        trees[root] = override_all(trees[root], texts[root])
    if texts.keys() - {"tariff"}:
        scenario = replace(
            scenario,
            trees=trees,
            system=system_of(trees["system"]) if "system" in texts else scenario.system,
            model=model_of(trees["model"]) if "model" in texts else scenario.model,
            engine=engine_of(trees["engine"]) if "engine" in texts else scenario.engine,
        )
    if "tariff" not in texts:
        return replace(case, scenario=scenario)
    tariff = override_all(case.tariff_tree, texts["tariff"])
    return Case(scenario=scenario, tariff=tariff_of(tariff), tariff_tree=tariff)


def written(value: float, fact: Fact) -> str:
    """*value* as the text of *fact*, such as ``20 TB/s``; reading it back gives *value*."""
    return str(round(value)) if is_whole(fact) else render(value, fact.unit, EXACT)


def is_whole(fact: Fact) -> bool:
    """Whether *fact* is a count."""
    return isinstance(fact.value, int)
