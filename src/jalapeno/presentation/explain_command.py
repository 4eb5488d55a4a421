"""``jalapeno explain``: what took the time of a run, of a percentile, of a request."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno.errors import UsageError, instead
from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import messages, remark, results, show, show_json

if TYPE_CHECKING:
    from jalapeno.analysis.explain import Metric

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
MetricWord = Annotated[str, typer.Option("--metric", help="Latency to explain: ttft, tbt or e2e.")]
Percentile = Annotated[
    float | None, typer.Option(help="Explain the requests around this percentile.")
]
BandWord = Annotated[
    str | None, typer.Option("--band", metavar="LOW-HIGH", help="Explain a band, such as 95-100.")
]
Request = Annotated[
    int | None,
    typer.Option(help="Explain one request, by its place in the order of sending, from 0."),
]
Picture = Annotated[
    Path | None,
    typer.Option("--out", metavar="PICTURE", help="Draw it too: a .svg, .png or .html file."),
]


def explain_command(
    run: Run,
    metric: MetricWord = "e2e",
    percentile: Percentile = None,
    band: BandWord = None,
    request: Request = None,
    out: Picture = None,
    as_json: Json = False,
) -> None:
    """Explain where the time of a run went, of a percentile of its requests, or of one request.

    RUN is a folder that jalapeno simulate or reproduce wrote.  Nothing is simulated again.
    """
    # The simulator takes a second to import, which list and show should not wait for.
    from jalapeno.analysis.explanation import Scope, explain
    from jalapeno.metrics import measure, require
    from jalapeno.presentation.explain_advice import helps
    from jalapeno.presentation.explain_chart import explain_chart
    from jalapeno.presentation.explain_json import explain_json
    from jalapeno.presentation.explain_tables import explain_tables
    from jalapeno.presentation.explain_words import contrast, sentence, who
    from jalapeno.presentation.picture_file import check_picture, write_picture
    from jalapeno.presentation.simulate_command import describe
    from jalapeno.simulation import read_journal

    asked = metric_of(metric)
    scope = Scope(percentile=percentile, band=ends_of(band), request=request)
    if out is not None:
        check_picture(out)
    with messages().status(f"reading {run}"):
        journal = read_journal(run)
        report = measure(journal)
        require(report.checks)
        found = explain(journal, report, asked, scope)
    advice = helps(found, journal.scenario, report)
    if out is not None:
        write_picture(out, explain_chart(found, describe(journal.scenario)), sentence(found))
        remark(f"picture: {out}")
    if as_json:
        show_json(explain_json(found, report, advice))
        return
    console = results()
    for line in (f"{sentence(found)} ({who(found)})", contrast(found), ""):
        console.print(line, soft_wrap=True, markup=False)
    show(explain_tables(found, advice))


def metric_of(word: str) -> Metric:
    """The metric called *word*; :class:`UsageError` lists all."""
    from jalapeno.analysis.explain import Metric

    known = [each.value for each in Metric]
    if word not in known:
        raise UsageError(f"--metric: no metric {word!r}{instead(word, known)}")
    return Metric(word)


def ends_of(word: str | None) -> tuple[float, float] | None:
    """The two percentiles of ``95-100``; :class:`UsageError` for anything else."""
    if word is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)", word.strip())
    if found is None:
        raise UsageError(f"--band {word}: write two percentiles, as in --band 95-100")
    return float(found[1]), float(found[2])
