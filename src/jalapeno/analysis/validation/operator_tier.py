"""Tier T1: operators held out of NVIDIA's measured tables, against their targets."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from jalapeno.analysis.validation.operators import (
    TABLES,
    across_systems,
    between_loads,
    held_out,
    measured_tables,
)
from jalapeno.analysis.validation.tiers import Asked, Data, Finding, Verdict
from jalapeno.cost.tables.aiconfigurator import TableFile, table_files
from jalapeno.errors import MissingExtra

NAME, TITLE = "T1", "Operators: sites, loads and systems held out of measured tables"

SITE_MOST = {"gemm": 0.04, "context_attention": 0.04, "generation_attention": 0.04, "moe": 0.08}
"""Family -> greatest median error with whole sites held out."""

SYSTEM_MOST = {"gemm": 0.20, "context_attention": 0.25, "generation_attention": 0.25, "moe": 0.25}
"""Family -> greatest mean error of a calibrated roofline on a system it was not fitted on."""

TARGET = (
    "sites held out: median error of GEMM and attention at most 4 %, of experts 8 %; "
    "systems held out: mean error of GEMM at most 20 %, of the others 25 %"
)


def run(data: Data) -> Finding:
    """Score the tables of the extra ``[tables]``; where it is not installed, say so and no more."""
    try:
        files = table_files()
    except MissingExtra as error:
        return Finding(
            tier=NAME, title=TITLE, frame=pl.DataFrame(), verdicts=(), notes=(f"{error}.",)
        )
    return scored(files, data)


def scored(files: Sequence[TableFile], data: Data) -> Finding:
    """The finding of the tables in *files*."""
    parts = []
    for done, table in enumerate(TABLES):
        data.on_progress("operators", done, len(TABLES))
        measured = measured_tables(files, table)
        parts += [held_out(measured), between_loads(measured), across_systems(measured)]
    data.on_progress("operators", len(TABLES), len(TABLES))
    return finding(pl.concat(parts))


def finding(frame: pl.DataFrame) -> Finding:
    """Judge the scores of a *frame* (:func:`~.operators.scores`)."""
    whole = frame.filter(*(pl.col(name) == "all" for name in ("dtype", "regime", "system")))
    verdicts = tuple(
        _verdict(protocol, family, row)
        for row in whole.filter(pl.col("protocol") != "load held out").iter_rows(named=True)
        for protocol, family in ((row["protocol"], row["family"]),)
    )
    by_dtype = frame.filter(
        pl.col("dtype") != "all", *(pl.col(name) == "all" for name in ("regime", "system"))
    )
    by_system = frame.filter(
        pl.col("system") != "all", *(pl.col(name) == "all" for name in ("dtype", "regime"))
    )
    notes = (
        "TensorRT-LLM 1.3.0rc20 on H100, H200, B200, B300, GB200 and GB300, of aiconfigurator-core "
        "(NVIDIA, Apache-2.0).",
        "A site held out is predicted from the other sites of its own system, dtype and kernel; no "
        "other system's table is used. The seven constants of its roofline have seen it.",
    )
    return Finding(
        tier=NAME,
        title=TITLE,
        frame=frame,
        verdicts=verdicts,
        notes=notes,
        tables={"By dtype": by_dtype, "By system": by_system},
    )


def _verdict(protocol: str, family: str, row: dict[str, float]) -> Verdict:
    sites = protocol == "site held out"
    return Verdict(
        tier=NAME,
        measure=f"{family.replace('_', ' ')}, {protocol}: {'median' if sites else 'mean'} error",
        target=(SITE_MOST if sites else SYSTEM_MOST)[family],
        reached=row["median_ape_percent" if sites else "mean_ape_percent"] / 100.0,
        points=int(row["n"]),
    )


TIER = Asked(NAME, TITLE, TARGET, run)
