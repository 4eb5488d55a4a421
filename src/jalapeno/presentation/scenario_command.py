"""``jalapeno scenario``: a deployment and its traffic become a scenario file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jalapeno.presentation.arguments import Json, ModelName, SystemName
from jalapeno.presentation.console import remark, show, show_json
from jalapeno.presentation.deployment_arguments import DeploymentOptions, TrafficOptions
from jalapeno.presentation.files import check_own, write_file
from jalapeno.presentation.option_groups import grouped
from jalapeno.presentation.tables import Table

if TYPE_CHECKING:
    from jalapeno.simulation import Scenario, Traffic

OutFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Where to; stdout by default.")
]


@grouped
def scenario_command(
    model: ModelName,
    system: SystemName,
    deployment: DeploymentOptions,
    traffic: TrafficOptions,
    out: OutFile = None,
    as_json: Json = False,
) -> None:
    """Write a scenario file: MODEL on SYSTEM, cut and loaded as the options say.

    It holds every fact, so that it can be read and run without the catalogue.  To run it at once:
    jalapeno scenario ... | jalapeno simulate -
    """
    # The simulator takes a second to import, which --help should not wait for.
    from jalapeno.presentation.deployment import check_deployment
    from jalapeno.presentation.deployment import deployment as deployed
    from jalapeno.presentation.traffic_options import traffic_from
    from jalapeno.simulation import dump_scenario, scenario_of

    if out is not None:
        check_own(out, is_scenario)
    made = deployed(model, system, deployment)
    scenario = scenario_of(made.trees, made.pools, traffic_from(traffic), traffic.seed, made.router)
    check_deployment(scenario)
    for line in remarks(scenario.traffic):
        remark(line)
    if out is None:
        print(dump_scenario(scenario), end="")
        return
    write_file(out, dump_scenario(scenario, out.parent))
    found = summary(scenario)
    if as_json:
        show_json({"file": str(out), **found})
    else:
        show([summary_table(found)])
        remark(f"file: {out}")


def remarks(traffic: Traffic) -> list[str]:
    """What to know about the traffic before one believes the numbers."""
    from jalapeno.simulation import TraceLengths

    lengths = traffic.lengths
    if traffic.repeats and isinstance(lengths, TraceLengths):
        return [
            f"{lengths.trace.name} has {len(lengths.trace):,} requests; its lengths begin again "
            f"to make {traffic.requests:,}"
        ]
    return []


def summary(scenario: Scenario) -> dict[str, Any]:
    """The scenario in a few words and numbers."""
    prompt, output = scenario.traffic.lengths.means
    return {
        "model": scenario.model.name,
        "system": scenario.system.name,
        "engine": scenario.engine.name,
        "layout": scenario.label,
        "chips": sum(pool.chips for pool in scenario.pools),
        "router": scenario.router.value,
        "lengths": scenario.traffic.lengths.label,
        "mean_prompt_tokens": prompt,
        "mean_output_tokens": output,
        "load": scenario.traffic.arrivals.label,
        "requests": scenario.traffic.requests,
        "digest": scenario.digest,
    }


def summary_table(found: dict[str, Any]) -> Table:
    """The summary for a terminal."""
    return Table(
        title="scenario",
        headers=("what", "value"),
        align="ll",
        rows=tuple(
            (name.replace("_", " "), f"{value:,}" if isinstance(value, int | float) else value)
            for name, value in found.items()
        ),
    )


def is_scenario(text: str) -> bool:
    """Whether *text* is a scenario file, which a newer one may replace."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and {"format", "system", "model", "engine"} <= set(tree)
