"""Samples are even, in order, and keep step with no period."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.cost.tables.sample import spread


@given(st.integers(1, 5000), st.integers(1, 500))
def test_a_sample_has_its_size_and_the_order_of_the_rows(total: int, count: int) -> None:
    rows = pl.DataFrame({"at": range(total)})
    chosen = spread(rows, count)["at"].to_list()
    assert chosen == sorted(set(chosen))
    assert 0.6 * min(total, count) <= len(chosen) <= count or total <= count


@pytest.mark.parametrize("period", [7, 18, 27, 74])
def test_every_place_of_a_period_is_met_about_as_often(period: int) -> None:
    total = period * 1500
    rows = pl.DataFrame({"at": [index % period for index in range(total)]})
    counts = spread(rows, 1500).group_by("at").len()["len"]
    assert len(counts) == period
    assert counts.max() <= 2 * 1500 / period  # type: ignore[operator]


def test_few_rows_are_all_taken() -> None:
    rows = pl.DataFrame({"at": range(5)})
    assert spread(rows, 10).equals(rows)


def test_equal_questions_have_equal_answers() -> None:
    rows = pl.DataFrame({"at": range(1000)})
    assert spread(rows, 100).equals(spread(rows, 100))
