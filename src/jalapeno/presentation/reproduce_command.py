"""``jalapeno reproduce``: the published comparison, recomputed, with its raw logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jalapeno.errors import LawBroken
from jalapeno.presentation.arguments import Json, OutFolder
from jalapeno.presentation.console import remark, results, show, show_json, to_json
from jalapeno.presentation.files import Folder, atomic_folder

if TYPE_CHECKING:
    from jalapeno.analysis.reproduction import Outcome, Reproduction
    from jalapeno.simulation import Journal

REPORT, DATA, RUNS = "report.md", "report.json", "runs"
PICTURES = ("frontier.html", "frontier.svg", "frontier.png", "attribution.svg", "attribution.png")
OURS = (REPORT, DATA, RUNS, *PICTURES)
"""What the folder of a reproduction holds."""


def reproduce_command(out: OutFolder = Path("out/reproduce"), as_json: Json = False) -> None:
    """Simulate the published comparison: Jalapeño, its references, and every measured row.

    Writes a report, pictures and the raw logs of every run to OUT, all of them or none.
    """
    # The simulator and the plots take seconds to import, which list and show should not wait for.
    from jalapeno.analysis.reproduce import reproduce
    from jalapeno.metrics import require
    from jalapeno.presentation.comparison_tables import bands_table, summary_tables
    from jalapeno.presentation.posterior.bands import usable_draws
    from jalapeno.presentation.progress import stages
    from jalapeno.presentation.reproduction_json import reproduction_json

    usable_draws()  # says so where they are old
    with atomic_folder(out, OURS) as folder:
        runs: dict[str, Outcome] = {}
        with stages() as progress:
            reproduction = reproduce(lambda run, log: _keep(folder, runs, run, log), progress)
        _check_logged(reproduction, runs)
        found = list(runs.values())
        data = reproduction_json(reproduction, found)
        _write(folder, reproduction, found)
        folder.write(DATA, to_json(data))
    if as_json:
        show_json(data)
    else:
        tables = summary_tables(reproduction.comparisons, results().width)
        show((*tables, bands_table(reproduction.bands)) if reproduction.bands else tables)
    _say_where(out)
    for run in found:
        require(run.report.checks)


def _keep(folder: Folder, runs: dict[str, Outcome], run: Outcome, journal: Journal) -> None:
    """Write the raw logs of a run as soon as there are any, and remember its report."""
    from jalapeno.presentation.runs import write_run

    if journal.scenario.digest == run.report.digest:
        runs[run.name] = run
        write_run(folder, journal, run.report, f"{RUNS}/{run.name}/")


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
    """Write report and pictures."""
    from jalapeno.presentation import frontier, time_bars
    from jalapeno.presentation.pictures import html, png, svg
    from jalapeno.presentation.report_md import report_page

    curves, bars = frontier.frontier_chart(reproduction), time_bars.time_bars(reproduction)
    page, *pictures = PICTURES
    contents: list[str | bytes] = [svg(curves), png(curves), svg(bars), png(bars)]
    folder.write(page, html(curves, frontier.TITLE))
    made = dict(zip(pictures, contents, strict=True))
    for name, content in made.items():
        folder.write(name, content)
    folder.write(REPORT, report_page(reproduction, runs))


def _say_where(out: Path) -> None:
    remark(f"report: {out / REPORT}")
    remark(f"pictures: {', '.join(str(out / name) for name in PICTURES)}")
    remark(f"raw logs: {out / RUNS}")
    remark(f"again: jalapeno simulate {out / RUNS}/<run>/scenario.json")
