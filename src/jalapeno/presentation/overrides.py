"""``--set path=value``: any fact may be replaced, and the result says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jalapeno.catalogue import Fact, Facts
from jalapeno.errors import UsageError
from jalapeno.simulation import Scenario, set_fact
from jalapeno.simulation.scenario import OTHERS, to_json
from jalapeno.simulation.scenario_file import from_json

WITHOUT_EFFECT = re.compile(rf"({OTHERS}\.[^.]+\.)?engine\.formats")
"""Facts that a scenario's plans were made from: replaced there, they would change nothing."""


def overridden(scenario: Scenario, values: Mapping[str, str]) -> Scenario:
    """Return *scenario* with the facts at these paths replaced.

    Paths begin with ``chip``, ``system``, ``model`` or ``engine``; those of another site with
    ``others`` and its name.  Raises :class:`UnknownName` with the nearest path, :class:`BadFact`
    for a wrong unit, and :class:`UsageError` where the fact would change nothing in a scenario
    whose plans are made.
    """
    if not values:
        return scenario
    data: dict[str, Any] = to_json(scenario)
    for path, text in values.items():
        if WITHOUT_EFFECT.match(path):
            raise UsageError(
                f"--set {path}: without effect here, for the scenario's plans are made: "
                "change 'precision' of the plan in the scenario file"
            )
        set_fact(data, path, text)
    return from_json(data)


def scenario_facts(scenario: Scenario) -> dict[str, Fact]:
    """Return every fact of *scenario* by the path that ``--set`` takes."""
    found = _paths("", scenario.system.facts, scenario.engine.facts)
    found |= {f"model.{path}": fact for path, fact in scenario.model.facts.items()}
    for name, site in scenario.others.items():
        found |= _paths(f"{OTHERS}.{name}.", site.system.facts, site.engine.facts)
    return found


def _paths(site: str, system: Facts, engine: Facts) -> dict[str, Fact]:
    """The facts of a site by path, which begins with *site*."""
    named = {
        path if path.startswith("chip.") else f"system.{path}": system[path] for path in system
    }
    named |= {f"engine.{path}": fact for path, fact in engine.items()}
    return {f"{site}{path}": fact for path, fact in named.items()}


def overrides_of(scenario: Scenario) -> dict[str, Fact]:
    """Return the facts of *scenario* that someone replaced, by path."""
    return {path: fact for path, fact in scenario_facts(scenario).items() if fact.overridden}
