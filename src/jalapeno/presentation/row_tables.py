"""Measured rows as tables: what was measured, what the twin says, how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from jalapeno.analysis.reproduction import RowResult
from jalapeno.catalogue import Row
from jalapeno.metrics import Report
from jalapeno.presentation.digits import UNDEFINED, deviation, number, percent
from jalapeno.presentation.names import budget, load
from jalapeno.presentation.tables import Table

FIGURES: Mapping[str, Callable[[Report], float]] = {
    "tput_per_gpu": lambda report: report.throughput.tokens_per_s_per_chip,
    "mean_tpot_ms": lambda report: report.latency.tpot_ms.mean,
    "mean_ttft_ms": lambda report: report.latency.ttft_ms.mean,
    "median_ttft_ms": lambda report: report.latency.ttft_ms.median,
}
"""The measured figures that are compared, and where a report has them."""

TTFT = ("mean_ttft_ms", "median_ttft_ms")
"""The time to first token of a row: its mean, or its median where no mean is public."""

LITTLE = "†"
"""Marks a row whose slots are not in its recipe but follow from Little's law."""


def ttft_figure(row: Row) -> str:
    """Which of :data:`TTFT` is compared for *row*."""
    return next((name for name in TTFT if name in row.measured), TTFT[0])


def is_little(row: Row) -> bool:
    """True where Little's law gave the slots of a pool."""
    return "little" in (row.prefill.slots_kind, row.decode.slots_kind)


def rows_table(results: Iterable[RowResult]) -> Table:
    """Measured rows beside the twin."""
    return Table(
        title="",
        headers=(
            *("row", "layout", "requests in flight"),
            *("tokens/s/GPU, measured", "twin", "error, %"),
            *("mean TPOT ms, measured", "twin", "error, %"),
            *("mean TTFT ms, measured", "twin", "error, %"),
        ),
        align="llrrrrrrrrrr",
        rows=tuple(_row(result) for result in results),
        note=f"{LITTLE} the public recipe does not say how many requests a worker may run; slots "
        "follow from the measured rates by Little's law, so such a row is no independent test of "
        "concurrency. *(median)* stands where no mean TTFT is public.",
    )


def _row(result: RowResult) -> tuple[str, ...]:
    row, report = result.row, result.outcome.report
    ttft = ttft_figure(row)
    cells: list[str] = []
    for figure in ("tput_per_gpu", "mean_tpot_ms", ttft):
        measured, error = row.measured.get(figure), result.errors.get(figure)
        mark = " *(median)*" if figure == TTFT[1] else ""
        cells += (
            UNDEFINED if measured is None else number(measured, 4) + mark,
            number(FIGURES[figure](report), 4),
            UNDEFINED if error is None else deviation(error),
        )
    name = f"{row.name} {LITTLE}" if is_little(row) else row.name
    return (name, report.layout, load(result.outcome.scenario), *cells)


def errors_table(results: Sequence[RowResult], of: str = "the rows") -> Table:
    """Median and largest absolute error, over all rows, by model, and by how slots are known.

    *of*: what the rows are, for the title.
    """
    groups = {f"all {len(results)} rows": list(results)}
    for result in results:
        groups.setdefault(result.row.model, []).append(result)
    groups["slots in the public recipe"] = [r for r in results if not is_little(r.row)]
    groups[f"{LITTLE} slots by Little's law"] = [r for r in results if is_little(r.row)]
    return Table(
        title=f"absolute error over {of}, %",
        headers=(
            *("rows", "count"),
            *(
                "throughput, median",
                "largest",
                "TPOT, median",
                "largest",
                "TTFT, median",
                "largest",
            ),
        ),
        align="lrrrrrrr",
        rows=tuple(
            (name, str(len(found)), *_errors(found)) for name, found in groups.items() if found
        ),
    )


def _errors(results: Sequence[RowResult]) -> list[str]:
    cells = []
    for figures in (("tput_per_gpu",), ("mean_tpot_ms",), TTFT):
        each = [absolute_error(result, figures) for result in results]
        known = [error for error in each if not math.isnan(error)]
        cells += [percent(median(known)), percent(max(known))] if known else [UNDEFINED] * 2
    return cells


def absolute_error(result: RowResult, figures: Iterable[str]) -> float:
    """|error| of the first of these *figures* that the row has; NaN where it has none."""
    return next((abs(result.errors[name]) for name in figures if name in result.errors), math.nan)


def layouts_table(results: Iterable[RowResult]) -> Table:
    """Public layouts that nobody measured in public, simulated."""
    rows = tuple(
        (
            result.row.name,
            result.outcome.report.layout,
            load(result.outcome.scenario),
            budget(result.outcome.scenario),
            *(number(FIGURES[figure](result.outcome.report)) for figure in list(FIGURES)[:3]),
            number(result.outcome.tps_per_kw),
        )
        for result in results
    )
    return Table(
        title="",
        headers=(
            *("layout", "pools", "requests in flight", "budget, tokens a step"),
            *("twin: tokens/s/GPU", "mean TPOT, ms", "mean TTFT, ms", "token/s/kW of TDP"),
        ),
        align="llrrrrrr",
        rows=rows,
    )
