"""Drift: a record read back shows no drift, and what moved is counted."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.drift import COLUMNS, drift, read_record, record
from jalapeno.errors import BadFact
from tests.analysis.validation.points import grid, predicted


def recorded(rows: pl.DataFrame, version: str = "1.0") -> pl.DataFrame:
    return read_record(record(rows, version).encode(), "the record")


def test_a_record_is_read_back_to_six_digits() -> None:
    rows = predicted(grid(), 1.0 / 3.0)
    back = recorded(rows)
    assert tuple(back.columns) == COLUMNS
    assert back["tpot_ms"].to_list() == pytest.approx(
        rows.sort("id")["predicted_tpot_ms"].to_list(), rel=1e-5
    )


def test_nothing_moved_where_nothing_changed() -> None:
    rows = predicted(grid(), 1.3)
    found = drift(recorded(rows), rows)
    assert (found.both, found.moved, found.appeared, found.vanished) == (48, 0, 0, 0)
    assert found.better == pytest.approx(0.0, abs=1e-5)
    assert found.version == "1.0"


@given(st.floats(0.5, 2.0))
def test_a_common_factor_moves_all_or_none(factor: float) -> None:
    found = drift(recorded(predicted(grid())), predicted(grid(), factor))
    if abs(factor - 1.0) > 0.0201:
        assert found.moved == 48
    elif abs(factor - 1.0) < 0.0199:
        assert found.moved == 0


def test_errors_before_and_after_are_on_the_points_of_both() -> None:
    found = drift(recorded(predicted(grid(), 1.5).head(20)), predicted(grid(), 1.1).tail(40))
    assert (found.both, found.appeared, found.vanished) == (12, 28, 8)
    assert found.then["mape"] == pytest.approx(0.5, abs=1e-5)
    assert found.now["mape"] == pytest.approx(0.1)
    assert found.better == pytest.approx(0.4, abs=1e-5)


def test_the_biggest_movers_come_first() -> None:
    rows = predicted(grid())
    moved = rows.with_columns(
        pl.when(pl.col("id") == "point-007")
        .then(pl.col("predicted_ttft_ms") * 4.0)
        .when(pl.col("id") == "point-003")
        .then(pl.col("predicted_ttft_ms") * 1.5)
        .otherwise("predicted_ttft_ms")
        .alias("predicted_ttft_ms")
    )
    found = drift(recorded(rows), moved, most=2)
    assert found.movers["id"].to_list() == ["point-007", "point-003"]
    assert found.movers["moved"].to_list() == pytest.approx([3.0, 0.5], rel=1e-4)
    assert found.moved == 2


def test_refusals_are_not_recorded() -> None:
    rows = predicted(grid()).with_columns(
        pl.when(pl.col("id") == "point-000")
        .then(None)
        .otherwise("predicted_tpot_ms")
        .alias("predicted_tpot_ms")
    )
    assert "point-000" not in recorded(rows)["id"].to_list()


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "id,version,ttft_ms,tpot_ms\na,1,2,3\na,1,2,3\n"]
)
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(BadFact, match="the record: not a record of predictions"):
        read_record(text.encode(), "the record")
