"""Measured beside predicted."""

from __future__ import annotations

import polars as pl
import pytest

from jalapeno.analysis.validation.frames import COLUMNS, error_of, side_by_side


def line(
    measured: float | None, predicted: float | None, unit: str = "token/s"
) -> dict[str, object]:
    names = {name: "x" for name in COLUMNS if name != "error"}
    return {**names, "measured": measured, "predicted": predicted, "unit": unit}


def test_an_error_is_relative_but_for_shares() -> None:
    assert error_of(line(200.0, 150.0)) == pytest.approx(-0.25)
    assert error_of(line(0.96, 0.95, "share")) == pytest.approx(-0.01)


def test_what_is_not_predicted_has_no_error() -> None:
    assert error_of(line(200.0, None)) is None
    assert error_of(line(None, 200.0)) is None


def test_a_frame_has_the_columns_in_order_and_those_of_its_own_after() -> None:
    made = side_by_side([{**line(1.0, None), "isl": 8}], {"isl": pl.Int64})
    assert made.columns == [*COLUMNS, "isl"]
    assert made["error"].to_list() == [None]
    assert side_by_side([]).columns == list(COLUMNS)
