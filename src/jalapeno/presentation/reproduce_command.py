"""``jalapeno reproduce``: the published comparison, recomputed, with its raw logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno.errors import LawBroken
from jalapeno.presentation.arguments import Json, OutFolder
from jalapeno.presentation.console import remark, results, show, show_json, to_json
from jalapeno.presentation.files import Folder, atomic_folder, check_file, write_file

if TYPE_CHECKING:
    from jalapeno.analysis.reproduction import Outcome, Reproduction
    from jalapeno.simulation import Journal

REPORT, DATA, RUNS = "report.md", "report.json", "runs"
PICTURES = ("frontier.html", "frontier.svg", "frontier.png", "attribution.svg", "attribution.png")
OURS = (REPORT, DATA, RUNS, *PICTURES)
"""What the folder of a reproduction holds."""

DocsFile = Annotated[
    Path | None, typer.Option("--docs", metavar="FILE", help="Also write the tables as a page.")
]


def reproduce_command(
    out: OutFolder = Path("out/reproduce"), as_json: Json = False, docs: DocsFile = None
) -> None:
    """Simulate the published comparison: Jalapeño, its references, and every measured row.

    Writes a report, pictures and the raw logs of every run to OUT, all of them or none.
    """
    # The simulator and the plots take seconds to import, which list and show should not wait for.
    from jalapeno.analysis.reproduce import reproduce
    from jalapeno.metrics import require
    from jalapeno.presentation.comparison_tables import summary_tables
    from jalapeno.presentation.progress import stages
    from jalapeno.presentation.report_md import docs_page
    from jalapeno.presentation.reproduction_json import reproduction_json

    if docs is not None:
        check_file(docs)
    with atomic_folder(out, OURS) as folder:
        runs: dict[str, Outcome] = {}
        with stages() as progress:
            reproduction = reproduce(lambda name, run: _keep(folder, runs, name, run), progress)
        _check_logged(reproduction, runs)
        found = list(runs.values())
        data = reproduction_json(reproduction, found)
        _write(folder, reproduction, found)
        folder.write(DATA, to_json(data))
    if docs is not None:
        write_file(docs, docs_page(reproduction, found))
    if as_json:
        show_json(data)
    else:
        show(summary_tables(reproduction.comparisons, results().width))
    _say_where(out, docs)
    for run in found:
        require(run.report.checks)


def _keep(folder: Folder, runs: dict[str, Outcome], name: str, journal: Journal) -> None:
    """Write the raw logs of a run as soon as there are any, and remember its report."""
    from jalapeno.analysis.reproduction import Outcome
    from jalapeno.metrics import measure
    from jalapeno.presentation.runs import write_run

    runs[name] = Outcome(name, journal.scenario, measure(journal))
    write_run(folder, journal, runs[name].report, f"{RUNS}/{name}/")


def _check_logged(reproduction: Reproduction, runs: dict[str, Outcome]) -> None:
    """Raise :class:`LawBroken` where a quoted run has no raw logs, or those of another scenario."""
    numbers = [n for c in reproduction.comparisons for n in (*c.jalapeno, *c.reference)]
    quoted = [number.outcome for number in numbers]
    quoted += [result.outcome for result in (*reproduction.rows, *reproduction.layouts)]
    for outcome in quoted:
        logged = runs.get(outcome.name)
        if logged is None or logged.report.digest != outcome.report.digest:
            raise LawBroken(f"the raw logs of {outcome.name!r} are missing or of another scenario")


def _write(folder: Folder, reproduction: Reproduction, runs: list[Outcome]) -> None:
    from jalapeno.presentation import frontier, time_bars
    from jalapeno.presentation.pictures import html, png, svg
    from jalapeno.presentation.report_md import report_page

    curves, bars = frontier.frontier_chart(reproduction), time_bars.time_bars(reproduction)
    page, *pictures = PICTURES
    contents: list[str | bytes] = [svg(curves), png(curves), svg(bars), png(bars)]
    folder.write(page, html(curves, frontier.TITLE))
    for name, content in zip(pictures, contents, strict=True):
        folder.write(name, content)
    folder.write(REPORT, report_page(reproduction, runs))


def _say_where(out: Path, docs: Path | None) -> None:
    remark(f"report: {out / REPORT}")
    remark(f"pictures: {', '.join(str(out / name) for name in PICTURES)}")
    remark(f"raw logs: {out / RUNS}")
    remark(f"again: jalapeno simulate {out / RUNS}/<run>/scenario.json")
    if docs is not None:
        remark(f"page: {docs}")
