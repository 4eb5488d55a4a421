"""Asking a table: measured, between, beyond, and what each answer rests on."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.catalogue import Kind
from jalapeno.cost.tables import Basis, OperatorTable
from jalapeno.errors import BadTable
from tests.cost.tables.worlds import (
    N_AND_K,
    PEAKS,
    ROWS,
    attention_table,
    gemm_table,
    lawful,
    shapes,
)

LOADS = st.floats(1.0, 50_000.0)


@cache
def gemms() -> OperatorTable:
    return OperatorTable(gemm_table(), PEAKS)


@cache
def heads() -> OperatorTable:
    return OperatorTable(attention_table(), PEAKS)


def site(n: int = 1024, k: int = 2048) -> dict[str, str | int]:
    return {"dtype": "bf16", "kernel": "law", "n": n, "k": k}


def group(count: int = 32) -> dict[str, str | int]:
    return {
        "attention_dtype": "bf16",
        "kv_dtype": "fp8",
        "kernel": "law",
        "head_dim": 128,
        "window_tokens": 0,
        "heads": count,
        "kv_heads": 8,
    }


@pytest.mark.parametrize("rows", ROWS)
def test_what_was_measured_is_the_answer(rows: int) -> None:
    table = gemms().table.rows
    at = (table["n"] == 1024) & (table["k"] == 2048) & (table["rows"] == rows)
    answer = gemms().seconds(site(), [rows])
    assert answer.basis is Basis.MEASURED
    assert answer.distance == 0.0
    assert answer.seconds == pytest.approx(table.filter(at)["time_us"][0] * 1e-6)
    assert answer.source == "gemm on round, law 1 (made by a formula)"


@pytest.mark.parametrize(("n", "k"), [(512, 512), (1024, 4096), (4096, 1024), (2048, 2048)])
def test_a_site_that_was_left_out_is_found_between_the_others(n: int, k: int) -> None:
    truth, without = gemms(), OperatorTable(gemm_table(without=(n, k)), PEAKS)
    for rows in ROWS:
        answer = without.seconds(site(n, k), [rows])
        assert answer.basis is Basis.INTERPOLATED
        assert 0.0 < answer.distance < 1.0
        assert answer.seconds == pytest.approx(truth.seconds(site(n, k), [rows]).seconds, rel=0.04)


@settings(max_examples=60, deadline=None)
@given(LOADS, st.sampled_from(N_AND_K), st.integers(100, 20_000))
def test_more_rows_never_cost_less(rows: float, n: int, k: int) -> None:
    here = gemms().seconds(site(n, k), [rows]).seconds
    assert gemms().seconds(site(n, k), [rows * 1.3]).seconds >= here * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.floats(1.0, 500.0), st.floats(2.0, 50_000.0))
def test_more_sequences_and_longer_contexts_never_cost_less(count: float, context: float) -> None:
    here = heads().seconds(group(), [count, context]).seconds
    assert heads().seconds(group(), [count * 1.2, context]).seconds >= here * (1 - 1e-9)
    assert heads().seconds(group(), [count, context * 1.2]).seconds >= here * (1 - 1e-9)


@pytest.mark.parametrize("edge", [ROWS[0], ROWS[-1]])
def test_the_answer_is_continuous_at_the_edges(edge: int) -> None:
    inside, at, outside = (
        gemms().seconds(site(), [edge * scale]).seconds for scale in (1 - 1e-7, 1.0, 1 + 1e-7)
    )
    assert inside == pytest.approx(at, rel=1e-5)
    assert outside == pytest.approx(at, rel=1e-5)


def test_beyond_the_edge_the_roofline_says_how_times_grow() -> None:
    rows = [ROWS[-1], 8 * ROWS[-1]]
    answer = gemms().seconds(site(), [rows[1]])
    assert answer.basis is Basis.EDGE
    assert answer.distance == pytest.approx(np.log(8))
    shape = shapes(dtype=["bf16"], kernel=["law"], n=[1024], k=[2048], rows=rows)
    last, there = lawful("gemm", shape).rows["time_us"]
    grown = answer.seconds / gemms().seconds(site(), [rows[0]]).seconds
    assert grown == pytest.approx(there / last, rel=0.1)


def test_the_distance_grows_with_what_lies_between() -> None:
    near = gemms().seconds(site(), [1.1 * 1024])
    middle = gemms().seconds(site(), [2 * 1024])
    assert near.basis is middle.basis is Basis.INTERPOLATED
    assert 0.0 < near.distance < middle.distance == pytest.approx(np.log(2))


def test_a_shape_beyond_all_measured_ones_is_an_edge() -> None:
    answer = gemms().seconds(site(n=200_000), [64])
    assert answer.basis is Basis.EDGE
    assert answer.distance > 0.5


def test_an_answer_is_as_weak_as_its_basis() -> None:
    kinds = [each.kind for each in Basis]
    assert kinds == [Kind.MEASURED, Kind.DERIVED, Kind.ESTIMATED]
    assert kinds == sorted(kinds)


def test_a_shape_between_two_groups_of_heads_lies_between_their_times() -> None:
    loads = [(4.0, 1024.0), (64.0, 8192.0)]
    for load in loads:
        fewer, between, more = (heads().seconds(group(n), load).seconds for n in (16, 24, 32))
        assert fewer * 0.99 <= between <= more * 1.01


def test_loads_that_nobody_measured_together_are_told_apart() -> None:
    frame = attention_table().rows
    kept = frame.filter(
        (frame["sequences"].cast(float) * frame["context_tokens"].cast(float)) < 100_000
    )
    table = OperatorTable(lawful("generation_attention", kept.drop("time_us")), PEAKS)
    surface = table.surface(group())
    assert surface.basis[0, 0] == Basis.MEASURED
    assert surface.basis[-1, -1] == Basis.EDGE
    truth = heads().surface(group()).grid.seconds
    np.testing.assert_allclose(surface.grid.seconds, truth, rtol=0.25)


def test_noise_in_the_measurements_does_not_make_more_work_cheaper() -> None:
    rows = gemm_table().rows
    shaken = np.random.default_rng(7).normal(0.0, 0.08, len(rows))
    noisy = rows.with_columns(time_us=rows["time_us"] * np.exp(shaken))
    table = OperatorTable(lawful("gemm", rows.drop("time_us")), PEAKS)
    table = OperatorTable(type(table.table)(table.table.origin, noisy), PEAKS)
    grid = table.surface(site()).grid
    assert (np.diff(grid.seconds) >= 0.0).all()
    truth = gemms().surface(site()).grid.seconds
    assert np.abs(grid.seconds / truth - 1.0).max() < 0.3


def test_a_few_rows_are_enough_to_ask() -> None:
    frame = shapes(dtype=["bf16"], kernel=["law"], n=[1024], k=[1024], rows=[1, 64])
    answer = OperatorTable(lawful("gemm", frame), PEAKS).seconds(site(1024, 1024), [32])
    assert answer.basis is Basis.INTERPOLATED
    assert answer.seconds > 0.0


def test_a_variant_that_was_not_measured_names_those_that_were() -> None:
    with pytest.raises(
        BadTable, match=r"no variant dtype=fp8 kernel=law[\s\S]*dtype=bf16 kernel=law"
    ):
        gemms().seconds({**site(), "dtype": "fp8"}, [1])


def test_a_shape_without_a_column_says_which() -> None:
    with pytest.raises(BadTable, match="shape lacks 'k'; needed: dtype, kernel, n, k"):
        gemms().seconds({"dtype": "bf16", "kernel": "law", "n": 64}, [1])


@pytest.mark.parametrize("load", [[], [1.0, 2.0], [0.0], [-1.0], [float("nan")], [float("inf")]])
def test_a_load_is_one_number_above_zero_an_axis(load: list[float]) -> None:
    with pytest.raises(BadTable, match="give a number above zero for each of rows"):
        gemms().seconds(site(), load)
