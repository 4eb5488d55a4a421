"""``jalapeno validate``: predictions against everything that was measured."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from jalapeno.errors import UsageError
from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import remark, results, show, show_json, to_json
from jalapeno.presentation.files import Folder, atomic_folder, check_file, write_file
from jalapeno.presentation.options import takes

if TYPE_CHECKING:
    from jalapeno.analysis.validation.drift import Drift
    from jalapeno.analysis.validation.tiers import Data, Finding, OnProgress
    from jalapeno.simulation import Journal

REPORT, DATA, POINTS = "report.md", "validation.json", "predictions.parquet"
PICTURES = ("predicted.png", "predicted.svg", "errors.png", "errors.svg")
OURS = (REPORT, DATA, POINTS, *PICTURES)
"""What the folder of a validation holds."""

COMPARISON = "The published comparison, recomputed"
TWIN = "twin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What ``jalapeno validate`` takes."""

    tier: Annotated[
        list[str] | None,
        typer.Option("--tier", metavar="NAME", help="Only this tier; repeatable."),
    ] = None
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol",
            metavar="NAME",
            help="Only this protocol; repeatable. With --data, datasheet unless named.",
        ),
    ] = None
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Measured points in place of those that ship."),
    ] = None
    tables: Annotated[
        Path | None,
        typer.Option("--tables", metavar="DIR", help="Operator tables, not the package's."),
    ] = None
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path("out/validate")
    as_json: Json = False
    docs: Annotated[
        Path | None,
        typer.Option("--docs", metavar="FILE", help="Also write it as a page, with reproduce's."),
    ] = None
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FILE", help="Record the twin's predictions in FILE."),
    ] = None
    refit: Annotated[
        Path | None,
        typer.Option("--refit", metavar="FILE", help="Fit the twin anew; record its fits in FILE."),
    ] = None
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="FILE", help="Compare with this record."),
    ] = None


@takes(Validation)
def validate_command(asked: Validation) -> None:
    """Hold predictions against measurements: tiers, protocols, baselines, drift.

    Writes a report, pictures and every prediction to OUT, all of them or none.
    """
    # The simulator and the plots take seconds to import, which list and show should not wait for.
    from jalapeno.analysis.calibration.recorded import write_fits
    from jalapeno.analysis.calibration.twin import fitter
    from jalapeno.analysis.validation.suite import gather, validate
    from jalapeno.presentation.progress import stages
    from jalapeno.presentation.validation.as_json import validation_json

    for path in (asked.docs, asked.record, asked.refit):
        if path is not None:
            check_file(path)
    recorded = _recorded(asked.against)
    with atomic_folder(asked.out, OURS) as folder, stages() as progress:
        fitting = fitter(progress, anew=asked.refit is not None)
        data = gather(asked.data, asked.protocol or (), progress, asked.tables, fitting)
        findings = validate(data, asked.tier or ())
        found = Found(data, findings, _drift(findings, recorded))
        content = validation_json(data, findings, found.drifted)
        folder.write(DATA, to_json(content))
        pictures = _write(folder, found)
        page = "" if asked.docs is None else _with_comparison(found, pictures, progress)
    if asked.docs is not None:
        _write_page(asked.docs, page, pictures)
    if asked.record is not None:
        _record(asked.record, findings)
    if asked.refit is not None:
        write_file(asked.refit, write_fits(fitting.made))
    if asked.as_json:
        show_json(content)
    else:
        _show(found)
    if fitting.stale:
        remark(
            f"{len(fitting.stale)} of {len(fitting.made)} fits on record were made with other "
            "physics: held-out predictions are of their constants; make them anew with --refit FILE"
        )
    remark(f"report: {asked.out / REPORT}")
    for made in (asked.docs, asked.record, asked.refit):
        if made is not None:
            remark(f"written: {made}")


@dataclass(frozen=True, slots=True)
class Found:
    """What a validation found."""

    data: Data
    findings: Sequence[Finding]
    drifted: Drift | None


def _recorded(against: Path | None) -> pl.DataFrame | None:
    """The record to compare with, or None where none ships and none is named."""
    from jalapeno.analysis.validation.drift import read_record
    from jalapeno.analysis.validation.shipped import RECORDED, shipped

    if against is None:
        content = shipped(RECORDED)
        return None if content is None else read_record(content, RECORDED)
    try:
        return read_record(against.read_bytes(), str(against))
    except OSError as error:
        raise UsageError(f"--against {against}: cannot be read: {error.strerror}") from error


def twin_rows(findings: Sequence[Finding]) -> pl.DataFrame | None:
    """What the twin says of every point, whole curves held out; None where it did not play that."""
    for finding in findings:
        if {"protocol", "contender"} <= set(finding.frame.columns):
            wanted = (pl.col("protocol") == "curves") & (pl.col("contender") == TWIN)
            rows = finding.frame.filter(wanted)
            return None if rows.is_empty() else rows
    return None


def _drift(findings: Sequence[Finding], recorded: pl.DataFrame | None) -> Drift | None:
    from jalapeno.analysis.validation.drift import drift

    today = twin_rows(findings)
    return None if today is None or recorded is None else drift(recorded, today)


def _record(path: Path, findings: Sequence[Finding]) -> None:
    from jalapeno.analysis.validation.drift import record

    today = twin_rows(findings)
    if today is None:
        raise UsageError(
            f"--record {path}: the twin predicted nothing with whole curves held out: let tier T2 "
            "and protocol curves run"
        )
    write_file(path, record(today, version("jalapeno-twin")))


def _write(folder: Folder, found: Found) -> dict[str, str | bytes]:
    """Write report, predictions and pictures; returns the pictures that a page shows."""
    from jalapeno.presentation.validation.page import shown, validation_page

    made: dict[str, str | bytes] = {}
    for finding in found.findings:
        drawn = shown(finding)
        if drawn is not None:
            made = _pictures(finding, *drawn)
            predictions = io.BytesIO()
            finding.frame.write_parquet(predictions)
            folder.write(POINTS, predictions.getvalue())
    for name, content in made.items():
        folder.write(name, content)
    kept = {name: content for name, content in made.items() if name.endswith(".png")}
    page = validation_page(found.data, found.findings, found.drifted, list(kept))
    folder.write(REPORT, page)
    return kept


def _pictures(finding: Finding, who: str, rows: pl.DataFrame) -> dict[str, str | bytes]:
    from jalapeno.analysis.validation.scores import SLICES, score
    from jalapeno.presentation.pictures import png, svg
    from jalapeno.presentation.validation.plots import caption, predicted_chart, slices_chart

    title = caption(score(rows), f"{who}, whole curves held out")
    by_slice = {name: finding.tables[name] for name in (f"by {column}" for column in SLICES)}
    contenders = list(dict.fromkeys([who, "linear", "affine"]))
    played = set(finding.frame["contender"])
    one = predicted_chart(rows, title)
    other = slices_chart(by_slice, [name for name in contenders if name in played])
    return dict(zip(PICTURES, (png(one), svg(one), png(other), svg(other)), strict=True))


def _with_comparison(found: Found, pictures: dict[str, str | bytes], progress: OnProgress) -> str:
    """The page of the documentation; the pictures of the comparison join *pictures*."""
    from jalapeno.analysis.reproduce import reproduce
    from jalapeno.analysis.reproduction import Outcome
    from jalapeno.metrics import require
    from jalapeno.presentation import frontier, time_bars
    from jalapeno.presentation.pictures import png
    from jalapeno.presentation.report_md import docs_section
    from jalapeno.presentation.validation.page import validation_page, with_section

    page = validation_page(found.data, found.findings, found.drifted, list(pictures))
    runs: dict[str, Outcome] = {}

    def keep(run: Outcome, journal: Journal) -> None:
        if journal.scenario.digest == run.report.digest:
            runs[run.name] = run

    reproduction = reproduce(keep, progress)
    for run in runs.values():
        require(run.report.checks)
    pictures["frontier.png"] = png(frontier.frontier_chart(reproduction))
    pictures["attribution.png"] = png(time_bars.time_bars(reproduction))
    return with_section(page, COMPARISON, docs_section(reproduction, list(runs.values())))


def _write_page(path: Path, page: str, pictures: dict[str, str | bytes]) -> None:
    write_file(path, page)
    for name, content in pictures.items():
        write_file(path.parent / name, content)


def _show(found: Found) -> None:
    from jalapeno.presentation.validation.tables import brief, drift_words, verdict_table

    listed = [verdict_table(found.findings)]
    for finding in found.findings:
        listed += brief(finding)
    show([table for table in listed if table.rows])
    console = results()
    for finding in found.findings:
        for note in finding.notes:
            console.print(f"{finding.tier}: {note}", markup=False)
    if found.drifted is not None:
        console.print(f"drift: {drift_words(found.drifted)}", markup=False)
