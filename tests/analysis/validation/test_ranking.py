"""Ranking: the same order is one, the reverse minus one, and a unit changes nothing."""

from __future__ import annotations

import math
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.ranking import FEWEST, median_taus, tau, taus
from jalapeno.analysis.validation.rows import with_throughput
from tests.analysis.validation.points import frame, grid, predicted, row

distinct = st.lists(st.integers(1, 10_000), min_size=FEWEST, max_size=20, unique=True)


def slow_tau(one: list[float], other: list[float]) -> float:
    """Tau-b by its definition, over all pairs."""
    signs = [
        ((a > b) - (a < b), (c > d) - (c < d))
        for (a, c), (b, d) in combinations(zip(one, other, strict=True), 2)
    ]
    agree = sum(left * right for left, right in signs)
    lefts, rights = (sum(abs(pair[side]) for pair in signs) for side in (0, 1))
    return agree / math.sqrt(lefts * rights)


@given(distinct)
def test_the_same_order_is_one_and_the_reverse_minus_one(values: list[int]) -> None:
    numbers = [float(value) for value in values]
    assert tau(numbers, numbers) == pytest.approx(1.0)
    assert tau(numbers, [-value for value in numbers]) == pytest.approx(-1.0)


@given(distinct, st.floats(0.001, 1000.0), st.floats(-1000.0, 1000.0))
def test_any_scale_and_offset_leave_it(values: list[int], scale: float, offset: float) -> None:
    numbers = [float(value) for value in values]
    shuffled = sorted(numbers, key=lambda value: value % 7)
    moved = [math.log(value) * scale + offset for value in shuffled]
    assert tau(numbers, moved) == pytest.approx(tau(numbers, shuffled))


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=FEWEST, max_size=15))
def test_ties_count_as_the_definition_says(found: list[tuple[int, int]]) -> None:
    one, other = ([float(pair[side]) for pair in found] for side in (0, 1))
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert math.isnan(tau(one, other))
    else:
        assert tau(one, other) == pytest.approx(slow_tau(one, other))


def test_two_points_have_no_order_worth_a_number() -> None:
    assert math.isnan(tau([1.0, 2.0], [1.0, 2.0]))


def test_perfect_predictions_rank_every_group_perfectly() -> None:
    found = median_taus(predicted(grid()))
    assert found["tau_all"] == pytest.approx(1.0)
    assert found["groups_tau_all"] > 3


def test_a_factor_on_all_times_changes_no_rank() -> None:
    assert median_taus(predicted(grid(), 3.0))["tau_all"] == pytest.approx(1.0)


def levels(order: list[float]) -> pl.DataFrame:
    """Three configurations at concurrency 8, and the same three far above at 64.

    *order*: predicted TPOT of the three, at both.
    """
    rows = [
        row(number, curve=f"c{number % 3}", concurrency=8 if number < 3 else 64)
        | {"measured_tpot_ms": 4.0 + number % 3}
        for number in range(6)
    ]
    made = frame(rows).with_columns(
        pl.Series("predicted_tpot_ms", [*order, *order]),
        pl.col("measured_ttft_ms").alias("predicted_ttft_ms"),
    )
    return with_throughput(made)


def test_load_explains_much_of_the_loose_tau_and_nothing_of_the_strict_one() -> None:
    (found,) = taus(levels([6.0, 5.0, 4.0])).iter_rows(named=True)
    assert found["tau_equal"] == pytest.approx(-1.0)
    assert found["tau_all"] > 0.0  # 64 in flight still beat 8
    assert found["pairs"] == 6


def test_groups_are_what_a_user_does_not_choose() -> None:
    rows = predicted(grid())
    assert len(taus(rows, ("model", "system"))) == rows.select("model", "system").n_unique()
    assert taus(rows)["points"].sum() == len(rows)


def test_rows_without_a_prediction_do_not_rank() -> None:
    rows = predicted(grid()).with_columns(
        pl.when(pl.col("model") == "deepseek-r1")
        .then(None)
        .otherwise("predicted_tokens_per_s_per_gpu")
        .alias("predicted_tokens_per_s_per_gpu")
    )
    assert "deepseek-r1" not in taus(rows)["model"].to_list()
