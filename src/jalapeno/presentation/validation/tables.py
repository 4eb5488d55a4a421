"""Findings as tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import polars as pl

from jalapeno.analysis.validation.drift import Drift
from jalapeno.analysis.validation.end_to_end import EVERYONE
from jalapeno.analysis.validation.framed import NEEDED
from jalapeno.analysis.validation.rows import PARTS, SHARES
from jalapeno.analysis.validation.scores import QUANTITIES
from jalapeno.analysis.validation.tiers import Finding, Verdict
from jalapeno.presentation.digits import UNDEFINED, counted, deviation, number, percent
from jalapeno.presentation.tables import Table

SHOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tpot", ("mape", "median", "p90", "bias")),
    ("ttft", ("mape", "median")),
    ("throughput", ("mape", "median")),
    ("interactivity", ("mape",)),
)
"""Which measures of which quantity a table of scores shows."""

WORDS = {"mape": "MAPE", "median": "median APE", "p90": "P90", "bias": "bias"}

SCORE_NOTE = (
    "APE is |predicted / measured - 1|, MAPE its mean, P90 its 90th percentile, bias the mean "
    "logarithm of predicted over measured (above zero: predicted too high); all in %."
)
RANKING = "order of configurations"

TELLING = 0.1
"""Shares of a predicted TPOT below this are not worth a word."""


def verdict_table(findings: Iterable[Finding]) -> Table:
    """Every target, what was reached, and whether that is within it; misses first."""
    verdicts = [verdict for finding in findings for verdict in finding.verdicts]
    rows = [verdict_row(verdict) for verdict in sorted(verdicts, key=lambda one: one.met)]
    return Table(
        title="targets",
        headers=("tier", "measure", "target", "reached", "verdict", "points", "remark"),
        align="klrrlrl",
        rows=tuple(rows),
    )


def verdict_row(verdict: Verdict) -> tuple[str, ...]:
    """A verdict in words."""
    sign = "≤" if verdict.at_most else "≥"
    return (
        verdict.tier,
        verdict.measure,
        f"{sign} {_in_unit(verdict.target, verdict.unit, bound=True)}",
        _in_unit(verdict.reached, verdict.unit),
        "met" if verdict.met else "MISSED",
        f"{verdict.points:,}",
        verdict.note,
    )


def _in_unit(value: float, unit: str, *, bound: bool = False) -> str:
    if not math.isfinite(value):
        return UNDEFINED
    if unit == "%":
        return f"{100.0 * value:.4g} %" if bound else f"{percent(value)} %"
    text = f"{value:.4g}" if bound else number(value)
    return f"{text} {unit}".rstrip()


def scores_table(title: str, scored: pl.DataFrame, first: Mapping[str, str]) -> Table:
    """A table of scores: a row for each combination of the columns *first* (name to header)."""
    headers = [*first.values(), "points", "no prediction"]
    for name, measures in SHOWN:
        headers += [f"{QUANTITIES[name].title} {WORDS[measure]}" for measure in measures]
    rows = []
    for key, group in scored.group_by(list(first), maintain_order=True):
        by_name = {one["quantity"]: one for one in group.iter_rows(named=True)}
        tpot = by_name["tpot"]
        cells = [str(part) for part in key]
        cells += [f"{tpot['points']:,}", f"{tpot['missing']:,}"]
        cells += [
            _share(by_name[name][measure], signed=measure == "bias")
            for name, measures in SHOWN
            for measure in measures
        ]
        rows.append(tuple(cells))
    return Table(
        title=title,
        headers=tuple(headers),
        align="k" * len(first) + "r" * (len(headers) - len(first)),
        rows=tuple(rows),
    )


def _share(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return UNDEFINED
    return deviation(value) if signed else percent(value)


def ranking_table(found: pl.DataFrame) -> Table:
    """How well each contender orders configurations."""
    return Table(
        title=RANKING,
        headers=(
            *("protocol", "contender", "tau, model and system", "groups"),
            *("tau, one workload", "tau, equal concurrency", "groups"),
        ),
        align="llrrrrr",
        rows=tuple(
            (
                row["protocol"],
                row["contender"],
                _tau(row["tau_model_system"]),
                f"{row['groups']:,}",
                _tau(row["tau_workload"]),
                _tau(row["tau_equal"]),
                f"{row['groups_equal']:,}",
            )
            for row in found.iter_rows(named=True)
        ),
        note=(
            "Median over groups of Kendall's tau-b of output tokens/s/GPU, 1 for the same order. "
            "Groups: all points of a model on a system; those of one workload (isl, osl); of one "
            "workload at one concurrency, where load explains nothing (three configurations or "
            "more)."
        ),
    )


def _tau(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else UNDEFINED


def worst_table(title: str, rows: pl.DataFrame) -> Table:
    """Points with the largest errors of TPOT, and what the prediction consists of."""
    return Table(
        title=title,
        headers=(
            *("deployment", "in flight", "version", "TPOT measured, ms", "predicted, ms"),
            *("APE %", "TTFT measured, ms", "predicted, ms", "predicted TPOT consists of"),
        ),
        align="lrlrrrrrl",
        rows=tuple(
            (
                row["curve"],
                f"{row['concurrency']:,}",
                row["engine_version"],
                number(row["measured_tpot_ms"]),
                number(row["predicted_tpot_ms"]),
                percent(row["ape"]),
                number(row["measured_ttft_ms"]),
                _number(row["predicted_ttft_ms"]),
                attribution(row),
            )
            for row in rows.iter_rows(named=True)
        ),
    )


def attribution(row: Mapping[str, object]) -> str:
    """Parts of a predicted TPOT, largest first: ``memory 52 %, issue 20 %``."""
    shares = [
        (float(value), part)
        for part, name in zip(PARTS, SHARES, strict=True)
        if isinstance(value := row.get(name), float) and value >= TELLING
    ]
    told = ", ".join(f"{part} {100.0 * value:.0f} %" for value, part in sorted(shares)[::-1])
    return told or UNDEFINED


def _number(value: float | None) -> str:
    return UNDEFINED if value is None else number(value)


def excluded_table(excluded: pl.DataFrame) -> Table:
    """Measured rows that contradict themselves."""
    return Table(
        title="left out",
        headers=("row", "why"),
        align="ll",
        rows=tuple(excluded.select("id", "reason").iter_rows()),
    )


def drift_table(found: Drift) -> Table:
    """The predictions that moved most since they were recorded."""
    return Table(
        title="biggest movers",
        headers=(
            *("deployment", "in flight", "TPOT measured, ms", "recorded, ms", "today, ms"),
            *("TTFT recorded, ms", "today, ms", "moved %"),
        ),
        align="lrrrrrrr",
        rows=tuple(
            (
                row["curve"],
                f"{row['concurrency']:,}",
                number(row["measured_tpot_ms"]),
                number(row["tpot_then_ms"]),
                number(row["tpot_now_ms"]),
                _number(row["ttft_then_ms"]),
                _number(row["ttft_now_ms"]),
                percent(row["moved"]),
            )
            for row in found.movers.iter_rows(named=True)
        ),
    )


def drift_words(found: Drift) -> str:
    """What moved, in a sentence or two."""
    points = counted(found.both, "point")
    moved = f"{found.moved:,} moved by more than {percent(found.share)} %"
    gone = f"{found.appeared:,} are new and {found.vanished:,} are gone"
    if not found.both:
        return f"No point is in both the record of {found.version} and today's: {gone}."
    change = f"{percent(found.then['mape'])} % then and {percent(found.now['mape'])} % now"
    return (
        f"Of {points} predicted by {found.version} and today, {moved}; {gone}. Their TPOT MAPE was "
        f"{change} (median APE {percent(found.then['median'])} % and "
        f"{percent(found.now['median'])} %)."
    )


def side_by_side_table(frame: pl.DataFrame) -> Table:
    """Measured and predicted of a tier that compares figure by figure."""
    return Table(
        title="",
        headers=("row", "quantity", "unit", "measured", "predicted", "error %", "assumptions"),
        align="lllrrrl",
        rows=tuple(
            (
                row["row"],
                row["quantity"],
                row["unit"],
                _number(row["measured"]),
                _number(row["predicted"]),
                UNDEFINED if row["error"] is None else deviation(row["error"]),
                row["assumptions"],
            )
            for row in frame.iter_rows(named=True)
        ),
    )


def operators_table(scored: pl.DataFrame) -> Table:
    """Errors of operators by protocol, family and system."""
    return Table(
        title="by system",
        headers=("protocol", "family", "system", "points", "median APE %", "MAPE %", "P90 %"),
        align="lllrrrr",
        rows=tuple(
            (
                row["protocol"],
                row["family"].replace("_", " "),
                row["system"],
                f"{row['n']:,}",
                *(
                    f"{row[name]:.1f}"
                    for name in ("median_ape_percent", "mean_ape_percent", "p90_ape_percent")
                ),
            )
            for row in scored.iter_rows(named=True)
        ),
    )


def power_table(frame: pl.DataFrame) -> Table:
    """Measured and simulated watts of every row."""
    return Table(
        title="board watts a GPU",
        headers=(
            *("row", "measured, W", "simulated, W", "APE %", "of which work, W"),
            *("at the measured speed, W", "measured over simulated tokens/s"),
        ),
        align="lrrrrrr",
        rows=tuple(
            (
                row["id"],
                number(row["board_watts_per_gpu"]),
                number(row["simulated_watts"]),
                percent(row["ape"]),
                number(row["dynamic_watts"]),
                number(row["watts_at_measured_speed"]),
                number(row["speed_ratio"]),
            )
            for row in frame.iter_rows(named=True)
        ),
    )


def tables_of(finding: Finding) -> list[Table]:
    """All tables of a finding, whatever tier it is of."""
    if "board_watts_per_gpu" in finding.frame.columns:
        return [power_table(finding.frame)]
    if set(NEEDED) <= set(finding.frame.columns):
        return [side_by_side_table(finding.frame)]
    if "family" in finding.frame.columns:
        return [operators_table(table) for table in finding.tables.values()]
    return end_to_end_tables(finding)


def end_to_end_tables(finding: Finding) -> list[Table]:
    """Scores by part of the rows and by slice, and the ranking."""
    found = []
    for title, scored in finding.tables.items():
        by = title.removeprefix("by ").removeprefix("each ").removesuffix(" left out")
        if title == "ranking":
            found.append(ranking_table(scored))
        elif title == EVERYONE:
            found.append(scores_table(title, scored, {"slice": "rows", "contender": "contender"}))
        elif "protocol" in scored.columns:
            first = {"protocol": "protocol", "slice": "rows", "contender": "contender"}
            found.append(scores_table(title, scored, first))
        else:
            found.append(scores_table(title, scored, {"slice": by, "contender": "contender"}))
    return found


BRIEF = ("by part", EVERYONE)
"""Scores that a terminal shows; slices are in the report."""

FEW = ("points", "no prediction", "TPOT MAPE", "TPOT median APE", "TTFT median APE")
"""Of these a terminal shows no other columns than these and throughput's MAPE."""


MOST = 80
"""Rows of a table that a terminal shows; longer ones are in the report."""


def brief(finding: Finding) -> list[Table]:
    """The tables of a finding that a terminal shows."""
    found = tables_of(finding)
    if "protocol" not in finding.frame.columns or "family" in finding.frame.columns:
        return [table for table in found if len(table.rows) <= MOST]
    few = {*FEW, f"{QUANTITIES['throughput'].title} MAPE", "protocol", "rows", "contender"}
    short = [
        table.columns(
            [place for place, header in enumerate(table.headers) if header in few], table.title
        )
        for table in found
        if table.title in BRIEF
    ]
    return [*short, *(table for table in found if table.title == RANKING)]
