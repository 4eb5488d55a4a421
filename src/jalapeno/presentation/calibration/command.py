"""``jalapeno calibrate``: an engine's constants fitted to measured points, with their certainty."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno import catalogue
from jalapeno.errors import UsageError
from jalapeno.presentation.arguments import Json, Seed
from jalapeno.presentation.console import remark, show, show_json
from jalapeno.presentation.digits import counted
from jalapeno.presentation.files import check_own, write_file
from jalapeno.presentation.options import takes

if TYPE_CHECKING:
    from jalapeno.analysis.calibration.calibrate import Data
    from jalapeno.analysis.evidence.sources.points import Told

DEPLOYMENT = "Where a file does not say"
SHIPPED = "InferenceX by SemiAnalysis, the points that ship"
OURS = "# Fitted by jalapeno calibrate"
"""How a file begins that this command may replace."""


def _told(flag: str, name: str, what: str) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(
        flag, metavar=name, help=what, rich_help_panel=DEPLOYMENT
    )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What ``jalapeno calibrate`` takes."""

    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DATA",
            help="Files of measured points: the cleaned table, InferenceX's results (JSON) or CSV "
            "export, AIPerf's profile. Those that ship where none is named.",
            show_default=False,
        ),
    ] = None
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine", metavar="NAME", help="Whose points; and whose a file's are that names none."
        ),
    ] = None
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="ENTRY", help="What is not fitted is from it; else from --engine's."
        ),
    ] = None
    only_system: Annotated[
        list[str] | None,
        typer.Option("--only-system", metavar="NAME", help="Only its points; repeatable."),
    ] = None
    only_model: Annotated[
        list[str] | None,
        typer.Option("--only-model", metavar="NAME", help="Only its points; repeatable."),
    ] = None
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the fitted entry (TOML).")
    ] = None
    bootstrap: Annotated[
        int,
        typer.Option("--bootstrap", min=0, max=100_000, help="Draws of whole curves; 0: none."),
    ] = 200
    seed: Seed = 0
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            min=1,
            max=1000,
            help="Derivatives made anew at the most; each plays every point once for each unknown.",
        ),
    ] = 12
    as_json: Json = False
    system: Annotated[str | None, _told("--system", "NAME", "Its system.")] = None
    model: Annotated[str | None, _told("--model", "NAME", "Its model.")] = None
    precision: Annotated[
        str | None, _told("--precision", "NAME", "Its checkpoint: fp4, fp8, int4 or bf16.")
    ] = None
    isl: Annotated[int | None, _told("--isl", "TOKENS", "Longest prompt that was drawn.")] = None
    osl: Annotated[int | None, _told("--osl", "TOKENS", "Longest answer that was drawn.")] = None
    concurrency: Annotated[int | None, _told("--concurrency", "N", "Requests in flight.")] = None
    workers: Annotated[int | None, _told("--workers", "N", "Replicas; 1 by default.")] = None
    tp: Annotated[int | None, _told("--tp", "N", "Tensor parallelism of a worker.")] = None
    dp: Annotated[int | None, _told("--dp", "N", "Attention ranks of one; 1 by default.")] = None
    ep: Annotated[int | None, _told("--ep", "N", "Expert parallelism; 1 by default.")] = None


@takes(Wanted)
def calibrate_command(asked: Wanted) -> None:
    """Fit an engine's constants to measured points: values, intervals, what the data leave open.

    Plays every point some dozens of times: seconds for a few, minutes for hundreds.
    """
    # The simulator takes seconds to import, which list and show should not wait for.
    from jalapeno.analysis.calibration.calibrate import Asked, calibrate
    from jalapeno.analysis.calibration.entry import entry_text
    from jalapeno.presentation.calibration.as_json import calibration_json
    from jalapeno.presentation.calibration.tables import tables
    from jalapeno.presentation.progress import stages

    if asked.out is not None:
        check_own(asked.out, lambda text: text.startswith(OURS))
    data = gathered(asked)
    base_name = asked.base or data.engine
    base = catalogue.engine(base_name)
    _say(data)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    name = asked.out.stem if asked.out is not None else f"{base.name}-fitted"
    with stages() as progress:
        found = calibrate(
            data,
            base,
            Asked(
                name=name,
                base=base_name,
                replicates=asked.bootstrap,
                seed=asked.seed,
                rounds=asked.rounds,
                as_of=today,
            ),
            progress,
        )
    if asked.out is not None:
        write_file(asked.out, entry_text(found.tree, f"{OURS[2:]}: {data.source}"))
        remark(f"file: {asked.out}")
    if asked.as_json:
        show_json(calibration_json(found))
    else:
        show(tables(found))


def gathered(asked: Wanted) -> Data:
    """The points that were asked for."""
    import polars as pl

    from jalapeno.analysis.calibration.calibrate import choose
    from jalapeno.analysis.evidence.sources.files import read_points
    from jalapeno.analysis.evidence.sources.points import Points

    paths = asked.data or []
    points = read_points(paths, _told_of(asked))
    rows = points.rows
    for column, names in (("system", asked.only_system), ("model", asked.only_model)):
        for name in names or ():
            if name not in set(rows[column]):
                raise UsageError(
                    f"--only-{column} {name}: no such points; there are "
                    f"{', '.join(sorted(set(rows[column]))) or 'none'}"
                )
        rows = rows.filter(pl.col(column).is_in(names)) if names else rows
    source = ", ".join(path.name for path in paths) or SHIPPED
    return choose(Points(rows, points.left_out), asked.engine, source)


def _told_of(asked: Wanted) -> Told:
    from jalapeno.analysis.evidence.sources.points import Told

    return Told(
        system=asked.system,
        model=asked.model,
        engine=asked.engine,
        precision=asked.precision,
        isl=asked.isl,
        osl=asked.osl,
        concurrency=asked.concurrency,
        workers=asked.workers,
        tp=asked.tp,
        dp=asked.dp,
        ep=asked.ep,
    )


def _say(data: Data) -> None:
    """What is fitted to, what is left out."""
    medians = f", {data.medians:,} of which state medians alone" if data.medians else ""
    remark(
        f"{data.engine}: {counted(len(data.rows), 'point')} on {counted(data.curves, 'curve')}"
        f"{medians}"
    )
    for name, why in data.left_out.iter_rows():
        remark(f"left out: {name}: {why}")
    if len(data.left_out):
        remark(f"left out: {counted(len(data.left_out), 'row')}")
    for name, count in data.others.items():
        remark(f"not asked for: {counted(count, 'point')} of {name}")
