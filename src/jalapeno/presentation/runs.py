"""A run's raw logs: one folder, the same bytes for the same scenario."""

from __future__ import annotations

import io
from typing import Any

import polars as pl

from jalapeno.metrics import Report
from jalapeno.presentation.console import to_json
from jalapeno.presentation.files import Folder
from jalapeno.presentation.overrides import overrides_of
from jalapeno.presentation.show_command import fact_json
from jalapeno.simulation import Journal, Scenario, dump_scenario
from jalapeno.simulation.read_journal import (
    PAUSES,
    REPORT,
    REQUESTS,
    RUN_FILES,
    SCENARIO,
    SEGMENTS,
)

__all__ = ["PAUSES", "RUN_FILES", "parquet", "run_json", "write_run"]

ROW_GROUP = 1 << 16
"""Rows of a Parquet row group: fixed, so that the bytes depend on the table alone."""


def write_run(folder: Folder, journal: Journal, report: Report, place: str = "") -> None:
    """Write scenario, journal and report of a run into *folder*, below *place* (``"runs/a/"``)."""
    folder.write(f"{place}{SCENARIO}", dump_scenario(journal.scenario))
    folder.write(f"{place}{REQUESTS}", parquet(journal.requests))
    folder.write(f"{place}{SEGMENTS}", parquet(journal.segment_table()))
    if journal.pauses.height:
        folder.write(f"{place}{PAUSES}", parquet(journal.pauses))
    folder.write(f"{place}{REPORT}", to_json(run_json(journal.scenario, report)))


def run_json(scenario: Scenario, report: Report) -> dict[str, Any]:
    """The report as JSON, with the facts that someone replaced."""
    replaced = {path: fact_json(fact) for path, fact in overrides_of(scenario).items()}
    return {**report.as_dict(), "overridden": replaced}


def parquet(table: pl.DataFrame) -> bytes:
    """Return *table* as a Parquet file.

    It is made in memory, so that a full disk shows as an ``OSError`` of our own writing and not
    as whatever polars makes of it.
    """
    file = io.BytesIO()
    table.write_parquet(file, compression="zstd", row_group_size=ROW_GROUP)
    return file.getvalue()
