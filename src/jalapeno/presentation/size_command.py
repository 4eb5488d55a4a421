"""``jalapeno size``: how many chips a demand takes within limits on latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno.errors import JalapenoError, UsageError, unknown_name
from jalapeno.presentation.arguments import (
    EngineName,
    Json,
    ModelName,
    OutFolder,
    Settings,
    assignments,
)
from jalapeno.presentation.console import remark, show, show_json, to_json
from jalapeno.presentation.files import atomic_folder
from jalapeno.presentation.option_groups import grouped
from jalapeno.presentation.size_options import (
    DemandOptions,
    LimitOptions,
    demand_from,
    lengths_from,
    slo_from,
)

if TYPE_CHECKING:
    from jalapeno.analysis.size import Least, Sizing

ANSWER, SCENARIO, PICTURE = "answer.json", "scenario.json", "latency.png"
OURS = (ANSWER, SCENARIO, PICTURE)
"""What the folder of a sizing holds."""

Systems = Annotated[
    list[str],
    typer.Argument(metavar="SYSTEM...", help="One, or several to choose from."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Where to look, and for what."""

    engine: EngineName = None
    chips: Annotated[
        str | None,
        typer.Option(
            "--chips-per-replica",
            metavar="N,N,...",
            help="Sizes of a replica to look at; powers of two up to 64 by default.",
        ),
    ] = None
    least: Annotated[
        str,
        typer.Option(
            "--least",
            help="Of what to take the least among systems: chips, kw (all-in) or dollars. On one "
            "system they fall together.",
        ),
    ] = "kw"
    settings: Settings = None


@grouped
def size_command(
    model: ModelName,
    systems: Systems,
    demand: DemandOptions,
    limits: LimitOptions,
    search: SearchOptions,
    out: OutFolder = Path("out/size"),
    as_json: Json = False,
) -> None:
    """Size a fleet: the fewest chips that serve MODEL at a rate within limits on latency.

    Plans of unified replicas are short-listed in closed form and simulated; the answer is verified
    by a simulation of its own. Writes it, a picture and the verified scenario to OUT.
    """
    # The simulator and the plots take seconds to import, which --help should not wait for.
    from jalapeno.presentation.pictures import png
    from jalapeno.presentation.size_chart import size_chart
    from jalapeno.presentation.size_json import size_json
    from jalapeno.presentation.size_tables import size_tables
    from jalapeno.simulation import dump_scenario

    least = _least(search.least)
    with atomic_folder(out, OURS) as folder:
        found = _sized(model, systems, demand, limits, search)
        found.sort(key=lambda one: one.cost(least))
        answer = found[0]
        data = size_json(answer)
        if len(found) > 1:
            data["others"] = [size_json(one) for one in found[1:]]
        folder.write(ANSWER, to_json(data))
        folder.write(SCENARIO, dump_scenario(answer.fleet.scenario))
        folder.write(PICTURE, png(size_chart(answer)))
    if as_json:
        show_json(data)
    else:
        show(size_tables(found, least))
    remark(f"files: {out}")


def _sized(
    model: str,
    systems: Sequence[str],
    demand: DemandOptions,
    limits: LimitOptions,
    search: SearchOptions,
) -> list[Sizing]:
    """The sizing of every system that can serve the demand; raises where none can."""
    from jalapeno.analysis.shortlist import CHIPS
    from jalapeno.analysis.size import size
    from jalapeno.analysis.subject import subject
    from jalapeno.presentation.progress import stages

    chips = CHIPS if search.chips is None else _counts(search.chips)
    slo, asked, lengths = slo_from(limits), demand_from(demand), lengths_from(demand)
    subjects = [
        subject(
            model,
            system,
            search.engine,
            lengths=lengths,
            overrides=assignments(search.settings or ()),
        )
        for system in dict.fromkeys(systems)
    ]
    for path, text in assignments(search.settings or ()).items():
        remark(f"overridden: {path} = {text}")
    found: list[Sizing] = []
    refusals: list[tuple[str, JalapenoError]] = []
    for one in subjects:
        with stages() as progress:
            try:
                found.append(size(one, asked, slo, chips=chips, on_progress=progress))
            except UsageError:
                raise
            except JalapenoError as error:
                refusals.append((one.system.name, error))
    if not found:
        raise refusals[0][1]
    for name, why in refusals:
        remark(f"{name} is left out: {why}")
    return found


def _least(word: str) -> Least:
    from jalapeno.analysis.size import Least

    names = [one.value for one in Least]
    if word not in names:
        raise unknown_name("quantity (in --least)", word, names)
    return Least(word)


def _counts(text: str) -> tuple[int, ...]:
    """Numbers between commas; :class:`UsageError` for what is none."""
    try:
        counts = {int(word) for word in text.split(",")}
    except ValueError:
        counts = {0}
    if min(counts) < 1:
        raise UsageError(
            f"--chips-per-replica {text}: write numbers between commas, as in "
            "--chips-per-replica 4,8,16"
        )
    return tuple(sorted(counts))
