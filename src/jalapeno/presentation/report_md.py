"""The reproduction as a page: what was run, every table, how to run any of it again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version

from jalapeno.analysis.references import ACCEPTANCE, ISL, OSL, RATIO
from jalapeno.analysis.reproduction import Outcome, Reproduction
from jalapeno.presentation.comparison_tables import (
    bands_table,
    comparison_table,
    constants_table,
    denominators_table,
    freedom,
    left_out_table,
    plans_table,
    watts_table,
)
from jalapeno.presentation.digits import counted, percent
from jalapeno.presentation.frontier import SOURCES
from jalapeno.presentation.names import laws_held, load
from jalapeno.presentation.overrides import overrides_of
from jalapeno.presentation.row_tables import (
    errors_table,
    layouts_table,
    rows_table,
)
from jalapeno.presentation.tables import Table, to_markdown

REPORT_HEADING = "The published comparison, recomputed"

PICTURES = """\
## Pictures

![Throughput per kilowatt against speed a user](frontier.svg)

![Where the mean end-to-end time goes](attribution.svg)

`frontier.html` shows each run's name under the pointer; it needs no network.
"""

WORDS = f"""\
The workload is InferenceX's 8K/1K: prompts of up to {ISL:,} and answers of up to {OSL:,} tokens, \
each drawn uniformly from {percent(RATIO)} % of that up, sent by clients that wait for an answer \
before they ask again. TBT of a request, also called TPOT, is the time after its first token over \
the tokens after it. Mixed throughput counts prompt and output tokens, over the TDP of all \
packages unless a table says otherwise. A residual is twin over published, less one. An advantage \
is Jalapeño's throughput over the reference's, or the reference's time over Jalapeño's."""
"""What the words of the tables mean."""


MTP_WORDS = f"""\
No constant was fitted to these rows. How many drafted tokens were accepted in them is not \
published; the twin takes what NVIDIA measured of the same model and draft layer on another \
workload (`{ACCEPTANCE}` of `jalapeno show deepseek-r1 --shelf models`), so an error is of that, \
too.
"""


def report_page(reproduction: Reproduction, runs: Sequence[Outcome]) -> str:
    """The page beside the raw logs, with pictures."""
    return _page(REPORT_HEADING, PICTURES, reproduction, runs)


def docs_section(reproduction: Reproduction, runs: Sequence[Outcome]) -> str:
    """The same tables as a page that may become a section of another."""
    made = (
        "`jalapeno reproduce` gives the same tables, with the raw logs of every run.\n\n"
        "![Throughput per kilowatt against speed a user](frontier.png)\n\n"
        "![Where the time of the quoted runs goes](attribution.png)\n"
    )
    return _page(REPORT_HEADING, made, reproduction, runs)


def _page(heading: str, after: str, reproduction: Reproduction, runs: Sequence[Outcome]) -> str:
    blocks = [
        f"# {heading}\n",
        _what_was_run(reproduction, runs),
        after,
        *_comparison(reproduction),
        *_rows(reproduction),
        *_layouts(reproduction),
        *_denominators(reproduction),
        *_fit(reproduction),
        *_runs(runs),
    ]
    return "\n".join(blocks)


def _what_was_run(reproduction: Reproduction, runs: Sequence[Outcome]) -> str:
    requests = sum(run.report.requests for run in runs)
    return f"""\
jalapeno {version("jalapeno-twin")} played out {counted(len(runs), "run")} with \
{counted(requests, "request")}: {counted(len(reproduction.rows), "measured row")}, \
{counted(len(reproduction.layouts), "layout")} that nobody measured in public, the plans behind \
{counted(len(reproduction.comparisons), "published comparison")}, and a frontier for each model. \
{counted(len(reproduction.mtp_rows), "row")} with multi-token prediction are beside what was \
measured, too; nothing is fitted to them.

{WORDS}

{SOURCES}
"""


def _comparison(reproduction: Reproduction) -> Iterable[str]:
    yield "## The published numbers\n"
    for comparison in reproduction.comparisons:
        yield to_markdown(comparison_table(comparison))
        yield to_markdown(plans_table(comparison), level=4)
    if reproduction.bands:
        yield to_markdown(bands_table(reproduction.bands))


def _rows(reproduction: Reproduction) -> Iterable[str]:
    yield "## Measured rows of InferenceX\n"
    yield from _table(rows_table(reproduction.rows))
    if reproduction.rows:
        yield to_markdown(errors_table(reproduction.rows))
    yield "## Measured with multi-token prediction\n"
    yield MTP_WORDS
    yield from _table(rows_table(reproduction.mtp_rows))
    if reproduction.mtp_rows:
        yield to_markdown(errors_table(reproduction.mtp_rows, "rows with multi-token prediction"))


def _layouts(reproduction: Reproduction) -> Iterable[str]:
    yield "## Public layouts without a public measurement\n"
    models = ", ".join(sorted({result.row.model for result in reproduction.layouts}))
    if models:
        yield (
            f"There is no public measurement of these layouts ({models}): the reference's "
            "published numbers for that model can be held against these simulations only.\n"
        )
    yield from _table(layouts_table(reproduction.layouts))


def _denominators(reproduction: Reproduction) -> Iterable[str]:
    yield "## Four denominators\n"
    yield to_markdown(denominators_table(reproduction.comparisons))
    yield to_markdown(watts_table(reproduction.comparisons))


def _fit(reproduction: Reproduction) -> Iterable[str]:
    yield "## What was fitted, and what that is worth\n"
    yield f"{freedom(reproduction)}\n"
    yield to_markdown(constants_table(reproduction))
    yield from _table(left_out_table(reproduction.left_out), level=3)


def _table(table: Table, level: int = 3) -> Iterable[str]:
    yield to_markdown(table, level) if table.rows else "None.\n"


def _runs(runs: Sequence[Outcome]) -> Iterable[str]:
    yield "## Run any of it again\n"
    yield (
        "A run is a folder `runs/<run>/`: `scenario.json` holds every fact it depends on, "
        "`requests.parquet` a row a request, `segments.parquet` a row a run of equal steps "
        "(times in picoseconds), `report.json` the numbers. From the folder of this report:\n\n"
        "```\njalapeno simulate runs/<run>/scenario.json\n```\n\n"
        "gives the same bytes, and `--set chip.hbm.bandwidth='20 TB/s'` asks what if.\n"
    )
    yield to_markdown(runs_table(runs))


def runs_table(runs: Iterable[Outcome]) -> Table:
    """Every run, with its laws."""
    return Table(
        title="all runs, and the conservation laws checked on each",
        headers=("run", "layout", "requests in flight", "requests", "laws", "overridden", "digest"),
        align="llrrlll",
        rows=tuple(
            (
                f"`{run.name}`",
                run.report.layout,
                load(run.scenario),
                f"{run.report.requests:,}",
                laws_held(run),
                ", ".join(f"{p} = {fact.text}" for p, fact in overrides_of(run.scenario).items()),
                f"`{run.report.digest}`",
            )
            for run in runs
        ),
    )
