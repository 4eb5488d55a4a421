"""T1, operators: what the measured tables answer for shapes and systems held out of them."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl

from jalapeno.analysis.validation.operators import validate_operators
from jalapeno.analysis.validation.tiers import Asked, Data, Finding, Verdict
from jalapeno.cost.tables.aiconfigurator import table_files
from jalapeno.errors import MissingExtra

NAME, TITLE = "T1", "Operators: measured tables with shapes and systems held out"

SITES, SYSTEMS = "site held out", "system left out"
TARGETS = (
    (SITES, "gemm", "median_ape_percent", 0.04),
    (SITES, "context_attention", "median_ape_percent", 0.04),
    (SITES, "generation_attention", "median_ape_percent", 0.04),
    (SITES, "moe", "median_ape_percent", 0.08),
    (SYSTEMS, "gemm", "mean_ape_percent", 0.20),
    (SYSTEMS, "context_attention", "mean_ape_percent", 0.25),
    (SYSTEMS, "generation_attention", "mean_ape_percent", 0.25),
    (SYSTEMS, "moe", "mean_ape_percent", 0.25),
)
"""Protocol, family, column, most: shapes by interpolation, systems by a calibrated roofline."""

WORDS = {"median_ape_percent": "median APE", "mean_ape_percent": "MAPE"}


def verdicts(scored: pl.DataFrame) -> tuple[Verdict, ...]:
    """Every target against the scores over all dtypes, regimes and systems."""
    pooled = scored.filter(
        pl.all_horizontal(pl.col(name) == "all" for name in ("dtype", "regime", "system"))
    )
    found = []
    for protocol, family, column, most in TARGETS:
        rows = pooled.filter((pl.col("protocol") == protocol) & (pl.col("family") == family))
        reached = float(rows[column][0]) / 100.0 if len(rows) else math.nan
        found.append(
            Verdict(
                tier=NAME,
                measure=f"{family.replace('_', ' ')}, {protocol}: {WORDS[column]}",
                target=most,
                reached=reached,
                points=int(rows["n"][0]) if len(rows) else 0,
            )
        )
    return tuple(found)


def by_system(scored: pl.DataFrame) -> pl.DataFrame:
    """Scores over all dtypes and regimes, a row a protocol, family and system."""
    return scored.filter((pl.col("dtype") == "all") & (pl.col("regime") == "all"))


def run(data: Data) -> Finding:
    """Score the tables of the folder that *data* names, or of the installed package.

    Where there are none, nothing is compared and a note says so.
    """
    data.on_progress("operators", 0, 1)
    try:
        files = table_files(data.tables)
    except MissingExtra as missing:
        empty = pl.DataFrame(schema={"protocol": pl.String, "family": pl.String})
        return Finding(
            tier=NAME, title=TITLE, frame=empty, verdicts=(), notes=(f"Not run: {missing}.",)
        )
    scored = validate_operators(files)
    data.on_progress("operators", 1, 1)
    return Finding(
        tier=NAME,
        title=TITLE,
        frame=scored,
        verdicts=verdicts(scored),
        notes=(_source(data.tables),),
        tables={"by system": by_system(scored)},
    )


def _source(folder: Path | None) -> str:
    where = "the package aiconfigurator-core" if folder is None else folder.name
    return f"Tables of NVIDIA's AIConfigurator (Apache-2.0), from {where}: TensorRT-LLM's kernels."


TIER = Asked(
    NAME,
    TITLE,
    "median APE 4 % on shapes held out (experts 8 %); MAPE 20 % on systems held out (25 %)",
    run,
)
