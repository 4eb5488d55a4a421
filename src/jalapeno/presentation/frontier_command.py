"""``jalapeno frontier``: what a system can do with a model, over all plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno.presentation.arguments import (
    EngineName,
    Json,
    ModelName,
    OutFolder,
    Settings,
    SystemName,
    assignments,
)
from jalapeno.presentation.console import remark, show, show_json, to_json
from jalapeno.presentation.files import Folder, atomic_folder
from jalapeno.presentation.option_groups import grouped
from jalapeno.presentation.posterior.bands import Bands, band_json, band_table, moved_for
from jalapeno.presentation.question_options import (
    LimitOptions,
    Precisely,
    SpaceOptions,
    Speeds,
    WorkOptions,
    per_named,
    precision_named,
    speeds_of,
)

if TYPE_CHECKING:
    from jalapeno.analysis.frontier import Frontier
    from jalapeno.analysis.frontier_points import Point
    from jalapeno.analysis.objectives import Per
    from jalapeno.analysis.posterior.bands import Moved
    from jalapeno.analysis.subject import Subject
    from jalapeno.presentation.tables import Table

PAGE, DATA, SCENARIOS = "frontier.md", "frontier.json", "scenarios"
PICTURES = ("frontier.html", "frontier.svg", "frontier.png")
OURS = (PAGE, DATA, SCENARIOS, *PICTURES)
"""What the folder of a frontier holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierOptions:
    """What is asked of the frontier."""

    engine: EngineName = None
    precision: Precisely = "as-shipped"
    per: Annotated[
        str,
        typer.Option(
            "--per",
            metavar="NAME",
            help="Throughput per chip, tdp, package, all-in or facility kW, or dollar.",
        ),
    ] = "chip"
    at: Speeds = None
    settings: Settings = None
    bands: Bands = True


@grouped
def frontier_command(
    model: ModelName,
    system: SystemName,
    asked: FrontierOptions,
    work: WorkOptions,
    space: SpaceOptions,
    limits: LimitOptions,
    out: OutFolder = Path("out/frontier"),
    as_json: Json = False,
) -> None:
    """Find the frontier of MODEL on SYSTEM: speed a user against throughput, over all plans.

    The closed form goes through every plan; those along the front are simulated in a closed loop
    as InferenceX measures, and the runs decide.  With limits, also the best plan that keeps them.
    """
    # The simulator takes a second to import, which --help should not wait for.
    from jalapeno.analysis.frontier import frontier, prospect, space_for
    from jalapeno.analysis.frontier_split import split_options
    from jalapeno.presentation.frontier_json import frontier_json
    from jalapeno.presentation.progress import stages
    from jalapeno.presentation.tables import to_markdown

    per, speeds, kept = per_named(asked.per), speeds_of(asked.at), limits.limits()
    subject = subject_of(model, system, asked, work)
    searched = space_for(subject, space.counts(), space.up_to)
    with atomic_folder(out, OURS) as folder:
        with stages() as progress:
            more = split_options(subject, searched) if space.split else ()
            found = frontier(prospect(subject, searched, more), kept, progress)
        moved = moved_for(found.bench.subject, asked.bands)
        data = frontier_json(found, per, speeds)
        tables = _tables(found, per, speeds)
        if moved is not None:
            data["band"] = band_json(moved.band(found, per))
            tables.append(band_table(found, per, moved))
        folder.write(PAGE, "\n".join(to_markdown(table, level=2) for table in tables))
        folder.write(DATA, to_json(data))
        _write(folder, found, per, speeds, moved)
    if as_json:
        show_json(data)
    else:
        show(tables)
    remark(f"files: {out}")


def subject_of(model: str, system: str, asked: FrontierOptions, work: WorkOptions) -> Subject:
    """What is asked about."""
    from jalapeno import catalogue
    from jalapeno.analysis.subject import subject

    engine = asked.engine or catalogue.system(system).engine
    return subject(
        model,
        system,
        engine,
        lengths=work.lengths(),
        overrides=assignments(asked.settings or ()),
        precision=precision_named(asked.precision, [(system, engine)]),
    )


def _tables(found: Frontier, per: Per, speeds: Sequence[float]) -> list[Table]:
    from jalapeno.presentation.frontier_tables import at_table, best_table, front_table

    tables = [front_table(found, per)]
    if speeds:
        tables.append(at_table(found, per, speeds))
    if found.limits:
        tables.append(best_table(found, per))
    return tables


def _write(
    folder: Folder, found: Frontier, per: Per, speeds: Sequence[float], moved: Moved | None
) -> None:
    """Picture, and the scenario of every point of the front."""
    from jalapeno.presentation.frontier_tables import title
    from jalapeno.presentation.pareto_chart import pareto_chart
    from jalapeno.presentation.pictures import html, png, svg

    write_scenarios(folder, found.front(per), f"{SCENARIOS}/")
    chart = pareto_chart(found, per, speeds, moved)
    contents: list[str | bytes] = [html(chart, title(found)), svg(chart), png(chart)]
    for name, content in zip(PICTURES, contents, strict=True):
        folder.write(name, content)


def write_scenarios(folder: Folder, points: Sequence[Point], place: str) -> None:
    """The scenario of each of *points*, named by its digest."""
    from jalapeno.simulation import dump_scenario

    for point in points:
        folder.write(f"{place}{point.report.digest}.json", dump_scenario(point.scenario))
