"""``jalapeno compare``: systems side by side under every denominator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jalapeno.errors import UsageError
from jalapeno.presentation.arguments import Json, OutFolder, assignments
from jalapeno.presentation.console import remark, show, show_json, to_json
from jalapeno.presentation.files import Folder, atomic_folder
from jalapeno.presentation.frontier_command import SCENARIOS, write_scenarios
from jalapeno.presentation.option_groups import grouped
from jalapeno.presentation.posterior.bands import Bands, band_json, band_table, moved_for
from jalapeno.presentation.question_options import (
    LimitOptions,
    Precisely,
    SpaceOptions,
    Speeds,
    WorkOptions,
    precision_named,
    speeds_of,
)

if TYPE_CHECKING:
    from jalapeno.analysis.compare import Comparison
    from jalapeno.analysis.posterior.bands import Moved
    from jalapeno.analysis.subject import Subject
    from jalapeno.presentation.tables import Table

PAGE, DATA = "comparison.md", "comparison.json"
PICTURES = ("comparison.html", "comparison.svg", "comparison.png")
OURS = (PAGE, DATA, SCENARIOS, *PICTURES)
"""What the folder of a comparison holds."""
MOST = 4
"""Systems of one comparison: as many as a picture tells apart."""

Systems = Annotated[
    list[str],
    typer.Argument(
        metavar="SYSTEM[/ENGINE]...", help="Two to four, as in gb200-nvl72 or gb200-nvl72/sglang."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What is compared."""

    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="What they serve.")]
    precision: Precisely = "as-shipped"
    at: Speeds = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[SYSTEM:]PATH=VALUE",
            help="Replace a fact, of one system or of all; repeatable.",
        ),
    ] = None
    bands: Bands = True


@grouped
def compare_command(
    systems: Systems,
    asked: CompareOptions,
    work: WorkOptions,
    space: SpaceOptions,
    limits: LimitOptions,
    out: OutFolder = Path("out/compare"),
    as_json: Json = False,
) -> None:
    """Compare systems on a model: per chip, per kilowatt of four sorts, per dollar.

    Highest throughput, that at given speeds and within limits, and lowest latencies.  Each is in
    the formats that its engine's users run; --precision equal gives all the narrowest that every
    engine has kernels for.  Load is a closed loop, whose first wave comes all at once: for limits
    under requests that come at random, ask size.
    """
    # The simulator takes a second to import, which --help should not wait for.
    from jalapeno.analysis.compare import compare
    from jalapeno.analysis.frontier import space_for
    from jalapeno.analysis.frontier_split import split_options
    from jalapeno.presentation.compare_json import comparison_json
    from jalapeno.presentation.compare_tables import comparison_tables
    from jalapeno.presentation.progress import stages
    from jalapeno.presentation.tables import to_markdown

    speeds, kept = speeds_of(asked.at), limits.limits()
    subjects = subjects_of(systems, asked, work)
    asked_of = {}
    for name, subject in subjects.items():
        searched = space_for(subject, space.counts(), space.up_to)
        more = split_options(subject, searched) if space.split else ()
        asked_of[name] = (subject, searched, more)
    with atomic_folder(out, OURS) as folder:
        with stages() as progress:
            found = compare(asked_of, speeds, kept, progress)
        moved = {one.name: moved_for(one.subject, asked.bands) for one in found.sides}
        data, tables = comparison_json(found), comparison_tables(found)
        _add_bands(found, moved, data, tables)
        folder.write(DATA, to_json(data))
        _write(folder, found, speeds, moved)
        folder.write(PAGE, "\n".join(to_markdown(table, level=2) for table in tables))
    if as_json:
        show_json(data)
    else:
        show(tables)
    remark(f"files: {out}")


def subjects_of(
    systems: Sequence[str], asked: CompareOptions, work: WorkOptions
) -> dict[str, Subject]:
    """What is compared, by name; :class:`UsageError` where that makes no comparison."""
    from jalapeno import catalogue
    from jalapeno.analysis.subject import subject

    if not 2 <= len(systems) <= MOST:
        raise UsageError(f"a comparison is of two to {MOST} systems, got {len(systems)}")
    if len(set(systems)) < len(systems):
        raise UsageError(f"a system is named twice: {', '.join(systems)}")
    stacks = {}
    for name in systems:
        system, _, engine = name.partition("/")
        stacks[name] = (system, engine or catalogue.system(system).engine)
    settings = settings_by_system(asked.settings or (), systems)
    precision = precision_named(asked.precision, list(stacks.values()))
    return {
        name: subject(
            asked.model,
            system,
            engine,
            lengths=work.lengths(),
            overrides=settings[name],
            precision=precision,
        )
        for name, (system, engine) in stacks.items()
    }


def settings_by_system(
    texts: Sequence[str], systems: Sequence[str]
) -> Mapping[str, dict[str, str]]:
    """``[SYSTEM:]path=value`` texts for each of *systems*; without a system it is for all."""
    found: dict[str, list[str]] = {name: [] for name in systems}
    for text in texts:
        name, colon, _ = text.partition("=")[0].partition(":")
        if colon and name not in found:
            raise UsageError(
                f"--set {text}: {name!r} is not compared here; there are {', '.join(systems)}"
            )
        for system in (name,) if colon else systems:
            found[system].append(text.removeprefix(f"{name}:") if colon else text)
    return {name: assignments(own) for name, own in found.items()}


def _add_bands(
    found: Comparison,
    moved: Mapping[str, Moved | None],
    data: dict[str, Any],
    tables: list[Table],
) -> None:
    """Put the bands of those sides that have one into *data* and *tables*."""
    from jalapeno.analysis.objectives import Per

    for one, told in zip(found.sides, data["systems"], strict=True):
        own = moved[one.name]
        if own is None or one.frontier is None:
            continue
        told["band"] = {per.value: band_json(own.band(one.frontier, per)) for per in Per}
        tables.append(band_table(one.frontier, Per.TDP, own))


def _write(
    folder: Folder,
    found: Comparison,
    speeds: Sequence[float],
    moved: Mapping[str, Moved | None],
) -> None:
    """Picture, and the scenario of every run that is quoted."""
    from jalapeno.analysis.objectives import Per
    from jalapeno.presentation.compare_chart import TITLE, compare_chart
    from jalapeno.presentation.pictures import html, png, svg

    for place, one in enumerate(found.sides):
        quoted = [*one.lowest.values()]
        if one.frontier is not None:
            quoted += [*one.frontier.front(Per.CHIP), *one.frontier.front(Per.PACKAGE)]
        answers = [cells[place] for q in found.questions for cells in q.cells.values()]
        quoted += [cell.point for cell in answers if cell.point is not None]
        write_scenarios(folder, quoted, f"{SCENARIOS}/{one.name.replace('/', '-')}/")
    chart = compare_chart(found, speeds, moved)
    contents: list[str | bytes] = [html(chart, TITLE), svg(chart), png(chart)]
    for name, content in zip(PICTURES, contents, strict=True):
        folder.write(name, content)
