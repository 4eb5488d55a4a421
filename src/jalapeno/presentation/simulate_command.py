"""``jalapeno simulate``: a scenario file becomes a report and raw logs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno.presentation.arguments import Json, OutFolder, Settings, assignments
from jalapeno.presentation.console import messages, remark, show, show_json

if TYPE_CHECKING:
    from jalapeno.simulation import Scenario

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A scenario file (JSON); - reads stdin.")
]
Reseed = Annotated[
    int | None, typer.Option("--seed", help="Of everything drawn at random; as in the file.")
]


def simulate_command(
    file: File,
    out: OutFolder = Path("out"),
    settings: Settings = None,
    seed: Reseed = None,
    as_json: Json = False,
) -> None:
    """Simulate a scenario file, print its report, and keep its raw logs in OUT/<digest>/.

    The same file gives the same bytes.
    """
    # The simulator takes a second to import, which list and show should not wait for.
    from jalapeno.metrics import measure, require
    from jalapeno.presentation.files import atomic_folder
    from jalapeno.presentation.overrides import overridden, overrides_of
    from jalapeno.presentation.report_tables import report_tables
    from jalapeno.presentation.runs import PAUSES, RUN_FILES, run_json, write_run
    from jalapeno.presentation.scenario_command import remarks
    from jalapeno.simulation import simulate

    scenario = overridden(_read(file), assignments(settings or ()))
    if seed is not None:
        scenario = replace(scenario, seed=seed, traffic=scenario.traffic.reseeded(seed))
    for line in remarks(scenario.traffic):
        remark(line)
    replaced = overrides_of(scenario)
    for path, fact in replaced.items():
        remark(f"overridden: {path} = {fact.text}")
    target = out / scenario.digest
    with atomic_folder(target, (*RUN_FILES, PAUSES)) as folder:
        with messages().status(f"simulating {describe(scenario)}"):
            journal = simulate(scenario)
            report = measure(journal)
        write_run(folder, journal, report)
    if as_json:
        show_json(run_json(scenario, report))
    else:
        show(report_tables(report, replaced))
    remark(f"files: {target}")
    require(report.checks)


def _read(file: Path) -> Scenario:
    from jalapeno.simulation import parse_scenario, read_scenario

    if str(file) == "-":
        return parse_scenario(sys.stdin.buffer.read(), "stdin", Path())
    return read_scenario(file)


def describe(scenario: Scenario) -> str:
    """The scenario in one line."""
    requests = scenario.traffic.requests
    return (
        f"{scenario.model.name} on {scenario.system.name}, {scenario.label}, {requests:,} requests"
    )
