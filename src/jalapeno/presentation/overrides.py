"""``--set path=value``: any fact may be replaced, and the result says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jalapeno.catalogue import Fact, Facts, override
from jalapeno.errors import UnknownName, UsageError
from jalapeno.simulation import Scenario
from jalapeno.simulation.scenario import ROOTS, from_json, to_json

WITHOUT_EFFECT = ("engine.formats",)
"""Facts that a scenario's plans were made from: replaced there, they would change nothing."""


def overridden(scenario: Scenario, values: Mapping[str, str]) -> Scenario:
    """Return *scenario* with the facts at these paths replaced.

    Paths begin with ``chip``, ``system``, ``model`` or ``engine``.  Raises :class:`UnknownName`
    with the nearest path, :class:`BadFact` for a wrong unit, and :class:`UsageError` where the
    fact would change nothing in a scenario whose plans are made.
    """
    if not values:
        return scenario
    data: dict[str, Any] = to_json(scenario)
    for path, text in values.items():
        root, _, rest = path.partition(".")
        if root == "chip":
            root, rest = "system", path
        if root not in ROOTS or not rest:
            raise UnknownName(
                f"--set {path}: begin with one of chip, {', '.join(ROOTS)}, "
                "as in chip.hbm.bandwidth"
            )
        if path.startswith(WITHOUT_EFFECT):
            raise UsageError(
                f"--set {path}: without effect here, for the scenario's plans are made: "
                "change 'precision' of the plan in the scenario file"
            )
        data[root] = override(data[root], rest, text)
    return from_json(data)


def scenario_facts(scenario: Scenario) -> dict[str, Fact]:
    """Return every fact of *scenario* by the path that ``--set`` takes."""
    by_root: Mapping[str, Facts] = {
        "system": scenario.system.facts,
        "model": scenario.model.facts,
        "engine": scenario.engine.facts,
    }
    return {
        path if path.startswith("chip.") else f"{root}.{path}": fact
        for root, facts in by_root.items()
        for path, fact in facts.items()
    }


def overrides_of(scenario: Scenario) -> dict[str, Fact]:
    """Return the facts of *scenario* that someone replaced, by path."""
    return {path: fact for path, fact in scenario_facts(scenario).items() if fact.overridden}
