"""Sifting: who contradicts himself is named, and nobody else."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.sift import FACTOR, contradicted, sift
from tests.analysis.validation.points import frame, grid, row


def test_rows_whose_throughput_follows_from_their_times_stay() -> None:
    found = sift(grid())
    assert found.rows.equals(grid())
    assert found.excluded.is_empty()


@given(st.floats(0.02, 50.0))
def test_a_rate_that_littles_law_forbids_is_left_out(times: float) -> None:
    rows = grid(8)
    first = pl.col("id") == "point-000"
    rate = pl.col("measured_tokens_per_s_per_gpu")
    bent = rows.with_columns(
        pl.when(first).then(rate * times).otherwise(rate).alias("measured_tokens_per_s_per_gpu")
    )
    found = sift(bent)
    allowed = 1.0 / FACTOR <= times <= FACTOR
    assert len(found.rows) + len(found.excluded) == len(rows)
    assert (len(found.excluded) == 0) == allowed
    if not allowed:
        (left,) = found.excluded.iter_rows(named=True)
        assert left["id"] == "point-000"
        assert "times what its concurrency, GPUs and times give" in left["reason"]


@pytest.mark.parametrize("bad", [math.nan, 0.0, -3.0, math.inf])
@pytest.mark.parametrize("column", ["measured_ttft_ms", "measured_tpot_ms"])
def test_what_is_no_time_is_left_out(column: str, bad: float) -> None:
    found = sift(frame([row(0), row(1) | {column: bad}]))
    assert found.rows["id"].to_list() == ["point-000"]
    assert found.excluded["reason"].to_list() == [
        "a time or a rate is missing or not a positive number"
    ]


def test_an_id_that_comes_twice_is_left_out_both_times() -> None:
    found = sift(frame([row(0), row(1), row(1)]))
    assert found.rows["id"].to_list() == ["point-000"]
    assert found.excluded["id"].to_list() == ["point-001", "point-001"]


def test_a_factor_of_one_would_leave_nothing_out_of_sight() -> None:
    with pytest.raises(ValueError, match="above 1"):
        sift(grid(), 1.0)


@pytest.mark.parametrize(
    "changes",
    [{"gpus": 8}, {"decode_tp": None}, {"mode": "split"}, {"mode": "split", "prefill_workers": 1}],
)
def test_gpus_that_are_not_those_of_the_layout_are_left_out(changes: dict[str, object]) -> None:
    found = sift(frame([row(0), row(1) | changes]))
    assert found.excluded.row(0) == (
        "point-001",
        "its layout is incomplete, or of other GPUs than it names",
    )


# ---- points against their own curve


def test_tokens_that_come_faster_under_more_load_are_a_contradiction() -> None:
    assert contradicted([4, 16, 64], [10.0, 12.0, 5.0]) == {2}


def test_of_one_slow_point_and_many_others_the_slow_one_goes() -> None:
    assert contradicted([16, 64, 64, 256], [60.0, 20.0, 20.0, 30.0]) == {0}


def test_points_of_nearly_one_load_do_not_contradict_each_other() -> None:
    assert contradicted([16, 32], [60.0, 20.0]) == set()


@given(st.lists(st.tuples(st.integers(1, 512), st.floats(1.0, 100.0)), max_size=12))
def test_what_is_left_agrees_and_what_rises_is_kept(points: list[tuple[int, float]]) -> None:
    loads, times = [load for load, _ in points], [time for _, time in points]
    gone = contradicted(loads, times)
    kept = [place for place in range(len(points)) if place not in gone]
    assert contradicted([loads[n] for n in kept], [times[n] for n in kept]) == set()
    assert contradicted(sorted(loads), sorted(times)) == set()


def test_rows_without_curves_are_not_held_against_each_other() -> None:
    rows = grid()
    assert sift(rows.drop("curve")).excluded.is_empty()
