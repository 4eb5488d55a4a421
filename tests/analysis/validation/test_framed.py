"""Tiers made of a frame: errors are judged as they stand, and what is silent is counted."""

from __future__ import annotations

import math

import polars as pl
import pytest

from jalapeno.analysis.validation.framed import NEEDED, Bound, framed, judged
from jalapeno.analysis.validation.tiers import Data
from jalapeno.errors import UsageError


def frame() -> pl.DataFrame:
    errors = [0.1, -0.3, None, 0.02]
    return pl.DataFrame(
        {
            "row": ["a", "b", "c", "d"],
            "quantity": ["TPOT, mean", "TPOT, P99", "TPOT, P90", "TTFT"],
            "unit": ["ms"] * 4,
            "measured": [10.0] * 4,
            "predicted": [None if error is None else 10.0 * (1.0 + error) for error in errors],
            "error": errors,
            "assumptions": [""] * 4,
        }
    )


def data() -> Data:
    empty = pl.DataFrame()
    return Data(rows=empty, excluded=empty, source="")


@pytest.mark.parametrize(("statistic", "reached"), [("mean", 0.2), ("median", 0.2), ("max", 0.3)])
def test_a_bound_judges_its_quantities(statistic: str, reached: float) -> None:
    found = judged("T9", frame(), Bound("TPOT", 0.25, "TPOT", statistic))
    assert found.reached == pytest.approx(reached)
    assert found.met == (reached <= 0.25)
    assert (found.points, found.note) == (2, "1 without a prediction")


def test_a_bound_on_all_counts_all() -> None:
    assert judged("T9", frame(), Bound("all", 1.0)).points == 3


def test_nothing_predicted_is_a_miss() -> None:
    found = judged("T9", frame(), Bound("power", 0.1, "power"))
    assert math.isnan(found.reached)
    assert not found.met


def test_a_frame_becomes_a_tier() -> None:
    asked = framed("T9", "Nine", "10 %", frame, (Bound("TPOT", 0.25, "TPOT"), Bound("all", 0.1)))
    found = asked.run(data())
    assert [verdict.met for verdict in found.verdicts] == [True, False]
    assert found.frame.equals(frame())
    assert {verdict.tier for verdict in found.verdicts} == {"T9"}


@pytest.mark.parametrize("column", NEEDED)
def test_a_frame_without_a_column_is_refused(column: str) -> None:
    asked = framed("T9", "Nine", "10 %", lambda: frame().drop(column), (Bound("all", 0.1),))
    with pytest.raises(UsageError, match=f"no column {column}"):
        asked.run(data())


def test_an_unknown_statistic_is_refused() -> None:
    with pytest.raises(UsageError, match="no statistic 'mode'"):
        judged("T9", frame(), Bound("TPOT", 0.1, statistic="mode"))
