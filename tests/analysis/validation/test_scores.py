"""Scores: perfect predictions have none, and sums by hand agree."""

from __future__ import annotations

import math
import statistics

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.scores import (
    MEASURES,
    QUANTITIES,
    banded,
    errors,
    quantity,
    score,
    scores,
    worst,
)
from jalapeno.errors import UnknownName, UsageError
from tests.analysis.validation.points import grid, of_pairs, pairs, predicted


def test_perfect_predictions_miss_nothing() -> None:
    for name in QUANTITIES:
        found = score(predicted(grid()), name)
        assert found["points"] == 48
        assert found["missing"] == 0
        assert [found[key] for key in ("mape", "median", "p90", "bias")] == [0.0, 0.0, 0.0, 0.0]


@given(st.floats(0.1, 10.0))
def test_a_common_factor_is_the_error_and_its_logarithm_the_bias(factor: float) -> None:
    rows = predicted(grid(), factor)
    slow, fast = score(rows, "tpot"), score(rows, "interactivity")
    for key in ("mape", "median", "p90"):
        assert slow[key] == pytest.approx(abs(factor - 1.0), abs=1e-9)
        assert fast[key] == pytest.approx(abs(1.0 / factor - 1.0), abs=1e-9)
    assert slow["bias"] == pytest.approx(math.log(factor), abs=1e-9)
    assert fast["bias"] == pytest.approx(-math.log(factor), abs=1e-9)


def slow_p90(values: list[float]) -> float:
    """The value below which 90 % lie, between neighbours on a straight line."""
    place = 0.9 * (len(values) - 1)
    low, ordered = int(place), sorted(values)
    high = min(low + 1, len(values) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


@given(pairs)
def test_scores_are_those_of_a_loop(found: list[tuple[float, float]]) -> None:
    each = [abs(p / m - 1.0) for m, p in found]
    scored = score(of_pairs(found), "tpot")
    assert scored["mape"] == pytest.approx(statistics.fmean(each), rel=1e-9, abs=1e-12)
    assert scored["median"] == pytest.approx(statistics.median(each), rel=1e-9, abs=1e-12)
    logs = [math.log(p / m) for m, p in found]
    assert scored["bias"] == pytest.approx(statistics.fmean(logs), rel=1e-9, abs=1e-9)
    assert scored["p90"] == pytest.approx(slow_p90(each), rel=1e-9, abs=1e-12)


@given(pairs, st.floats(0.01, 100.0))
def test_units_do_not_matter(found: list[tuple[float, float]], unit: float) -> None:
    other = [(m * unit, p * unit) for m, p in found]
    for key in MEASURES:
        assert score(of_pairs(found))[key] == pytest.approx(score(of_pairs(other))[key], abs=1e-6)


@pytest.mark.parametrize("bad", [None, math.nan, math.inf, 0.0, -1.0])
def test_what_is_no_prediction_is_counted_and_does_not_bend_the_rest(bad: float | None) -> None:
    rows = predicted(grid(), 1.5)
    first = pl.col("id") == "point-000"
    spoilt = rows.with_columns(
        pl.when(first)
        .then(pl.lit(bad, pl.Float64))
        .otherwise("predicted_tpot_ms")
        .alias("predicted_tpot_ms")
    )
    found = score(spoilt, "tpot")
    assert (found["points"], found["missing"]) == (47, 1)
    assert found["mape"] == pytest.approx(0.5)


def test_nothing_to_score_is_no_score() -> None:
    rows = predicted(grid()).with_columns(pl.lit(None, pl.Float64).alias("predicted_tpot_ms"))
    found = score(rows)
    assert found["points"] == 0
    assert all(math.isnan(found[key]) for key in ("mape", "median", "p90", "bias"))


def test_slices_partition_the_points() -> None:
    rows = banded(predicted(grid(), 1.2))
    for column in ("model", "system", "engine", "mode", "band"):
        table = scores(rows, [column], ["tpot"])
        assert table["points"].sum() == len(rows)
        assert set(table[column]) == set(rows[column])
        weighted = (table["mape"] * table["points"]).sum() / len(rows)
        assert weighted == pytest.approx(score(rows)["mape"])


def test_every_concurrency_is_in_one_band() -> None:
    rows = pl.DataFrame({"concurrency": [1, 8, 9, 64, 65, 256, 257, 100_000]})
    assert banded(rows)["band"].to_list() == [
        *("1-8", "1-8", "9-64", "9-64", "65-256", "65-256", "257+", "257+")
    ]


def test_the_worst_come_worst_first_and_at_most_so_many() -> None:
    rows = of_pairs([(10.0, 11.0), (10.0, 30.0), (10.0, 5.0), (10.0, 10.0)])
    found = worst(rows, 3)
    assert found["ape"].to_list() == pytest.approx([2.0, 0.5, 0.1])
    assert found["id"][0] == "point-001"


def test_rows_without_a_prediction_are_never_among_the_worst() -> None:
    rows = predicted(grid()).with_columns(pl.lit(None, pl.Float64).alias("predicted_tpot_ms"))
    assert worst(rows).is_empty()


def test_an_unknown_quantity_or_column_is_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownName, match="tpot"):
        quantity("tpott")
    with pytest.raises(UsageError, match="no column 'nothing'"):
        scores(predicted(grid()), ["nothing"])


def test_errors_keep_every_row() -> None:
    rows = predicted(grid())
    assert errors(rows, "ttft")["id"].to_list() == rows["id"].to_list()
