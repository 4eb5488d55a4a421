"""The reproduction as JSON: every number of the report, unrounded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from jalapeno.analysis.reproduction import (
    OBJECTIVES,
    Comparison,
    Number,
    Reproduction,
    RowResult,
)
from jalapeno.analysis.reproduction import Outcome as Run
from jalapeno.presentation.names import unit_of
from jalapeno.presentation.runs import run_json


def reproduction_json(reproduction: Reproduction, runs: Iterable[Run]) -> dict[str, Any]:
    """Comparisons, rows, curves and fit; and the report of every run by its name."""
    return {
        "version": version("jalapeno-twin"),
        "comparisons": [_comparison(comparison) for comparison in reproduction.comparisons],
        "rows": [_row(result) for result in reproduction.rows],
        "layouts": [_row(result) for result in reproduction.layouts],
        "mtp_rows": [_row(result) for result in reproduction.mtp_rows],
        "curves": [asdict(curve) for curve in reproduction.curves],
        "left_out": [
            {**asdict(one), "unit": unit_of(one.objective)} for one in reproduction.left_out
        ],
        "constants": dict(reproduction.constants),
        "bands": [{**asdict(one), "unit": unit_of(one.objective)} for one in reproduction.bands],
        "runs": {run.name: run_json(run.scenario, run.report) for run in runs},
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    claim = comparison.claim
    advantages = {objective: comparison.ratios(objective) for objective in OBJECTIVES}
    return {
        "model": claim.model,
        "system": claim.system,
        "reference": claim.reference,
        "jalapeno": [_number(number) for number in comparison.jalapeno],
        "of_reference": [_number(number) for number in comparison.reference],
        "advantages": {
            objective: {"published": published, "twin": twin}
            for objective, (published, twin) in advantages.items()
        },
    }


def _number(number: Number) -> dict[str, Any]:
    return {
        "objective": number.objective,
        "unit": unit_of(number.objective),
        "published": number.published,
        "twin": number.twin,
        "residual": number.residual,
        "run": number.outcome.name,
    }


def _row(result: RowResult) -> dict[str, Any]:
    return {
        "row": asdict(result.row),
        "run": result.outcome.name,
        "errors": dict(result.errors),
    }
