"""``jalapeno fit``: what it says, on a fit of our own making."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np
import pytest

from jalapeno import catalogue
from jalapeno.analysis.fit_references import Fitted
from jalapeno.catalogue import Row
from jalapeno.presentation.fit_command import constants_table
from tests.presentation.conftest import Call

VALUES = {"matrix_efficiency": 0.5, "issue_phase": 3.25e-6}


@pytest.fixture
def fitting(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Row]]:
    """Replaces the fit, which takes minutes; what rows it was asked for."""
    asked: list[Sequence[Row]] = []

    def fit_references(
        rows: Sequence[Row], most: int, on_progress: Callable[[int, float], None]
    ) -> Fitted:
        asked.append(rows)
        on_progress(most, 0.125)
        return Fitted(VALUES, 0.0625, np.zeros((len(rows), 3)))

    module = ModuleType("jalapeno.analysis.fit_references")
    module.fit_references = fit_references  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "jalapeno.analysis.fit_references", module)
    return asked


def test_it_fits_to_the_measured_rows_without_mtp(call: Call, fitting: list[Sequence[Row]]) -> None:
    assert call("fit").code == 0
    (rows,) = fitting
    assert len(rows) == 23
    assert not any(row.mtp for row in rows)
    assert all(row.measured for row in rows)


def test_constants_are_shown_beside_the_catalogues_with_units(
    call: Call, fitting: list[Sequence[Row]]
) -> None:
    called = call("fit", "--most", 2)
    assert fitting
    assert "matrix_efficiency" in called.out
    assert "3.25 us" in called.out
    assert catalogue.engine("tensorrt-llm").facts["issue_phase"].text in called.out
    assert called.err == "evaluation 2: sum of squares 0.1250\n"


def test_json_has_constants_cost_and_the_error_of_every_row(
    call: Call, fitting: list[Sequence[Row]]
) -> None:
    found = json.loads(call("fit", "--json").out)
    assert found["constants"] == VALUES
    assert found["cost"] == 0.0625
    assert set(found["log_errors"]) == {row.name for row in fitting[0]}


def test_no_iterations_are_a_wrong_use(call: Call) -> None:
    called = call("fit", "--most", 0)
    assert called.code == 2
    assert called.out == ""


def test_the_table_says_how_to_try_the_constants() -> None:
    table = constants_table(catalogue.engine("tensorrt-llm").facts, VALUES)
    assert [row[0] for row in table.rows] == list(VALUES)
    assert {row[3] for row in table.rows} == {"fitted"}
    assert "--set engine." in table.note
