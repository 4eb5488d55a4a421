"""The fit of an engine's constants to measured rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jalapeno import catalogue
from jalapeno.analysis.fit_references import (
    FREE,
    TTFT_CONCURRENCY,
    engine_with,
    fit_references,
    residuals,
)
from jalapeno.analysis.references import scenario_for
from jalapeno.catalogue import Kind, Row
from jalapeno.metrics import measure
from jalapeno.simulation import simulate

ENGINE = catalogue.engine("tensorrt-llm")
SMALL = [row for row in catalogue.rows() if row.measured and not row.mtp and row.concurrency <= 16]


def played(row: Row, **constants: float) -> Row:
    """*row* as if a system with these constants had been measured."""
    engine = replace(ENGINE, **constants)  # type: ignore[arg-type]
    report = measure(simulate(replace(scenario_for(row), engine=engine)))
    measured = {
        "tput_per_gpu": report.throughput.tokens_per_s_per_chip,
        "mean_tpot_ms": report.latency.tpot_ms.mean,
        "mean_ttft_ms": report.latency.ttft_ms.mean,
    }
    return replace(row, measured=measured)


def test_what_is_fitted_is_marked_so_and_lies_between_its_bounds() -> None:
    for name, (low, high) in FREE.items():
        fact = ENGINE.facts[name]
        assert fact.kind is Kind.FITTED, name
        assert low <= getattr(ENGINE, name) <= high, name


def test_a_loaded_layer_costs_what_one_at_rest_does() -> None:
    changed = engine_with(ENGINE, {"issue_layer_rest": 7e-6})
    assert changed.issue_layer_rest == changed.issue_layer_load == 7e-6
    assert engine_with(ENGINE, {"host_step": 1e-4}).issue_layer_load == ENGINE.issue_layer_load


def test_rows_that_the_engine_made_leave_nothing_over() -> None:
    made = [played(row) for row in SMALL[:2]]
    assert np.abs(residuals(made, ENGINE)).max() < 1e-12


def test_a_slower_engine_leaves_less_throughput_and_more_tpot() -> None:
    made = [played(row) for row in SMALL[:2]]
    slow = engine_with(ENGINE, {"issue_phase": 5e-6})
    for throughput, tpot, _ in residuals(made, slow):
        assert throughput < 0.0 < tpot


def test_ttft_counts_only_where_there_is_hardly_a_queue() -> None:
    busy = next(row for row in SMALL if row.concurrency > TTFT_CONCURRENCY)
    assert residuals([busy], ENGINE)[0, 2] == 0.0


def test_a_constant_that_made_the_rows_is_found_again() -> None:
    made = [played(row, issue_phase=3.0e-6) for row in SMALL[:3]]
    told: list[tuple[int, float]] = []
    fitted = fit_references(
        made, ("issue_phase",), most=6, on_progress=lambda count, cost: told.append((count, cost))
    )
    assert fitted.values["issue_phase"] == pytest.approx(3.0e-6, rel=0.01)
    assert np.abs(fitted.residuals).max() < 0.01
    assert fitted.cost < 1e-4
    assert [count for count, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][1] < told[0][1]
