"""Grids: what simulation takes from a table."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

from jalapeno.catalogue import Kind
from jalapeno.cost.tables import (
    OperatorTable,
    Origin,
    Table,
    checked,
    fastest_grid,
    grid_for,
    prompt_grid,
)
from jalapeno.errors import BadTable
from tests.cost.tables.worlds import (
    PEAKS,
    ROWS,
    attention_table,
    experts_table,
    gemm_table,
    lawful,
    prompt_table,
)

SITE: dict[str, str | int] = {"dtype": "bf16", "kernel": "law", "n": 1024, "k": 2048}
PROMPT: dict[str, str | int] = {
    "attention_dtype": "bf16",
    "kv_dtype": "bf16",
    "kernel": "law",
    "head_dim": 128,
    "window_tokens": 0,
    "heads": 16,
    "kv_heads": 8,
}


@cache
def gemms() -> OperatorTable:
    return OperatorTable(gemm_table(), PEAKS)


@cache
def prompts() -> OperatorTable:
    return OperatorTable(prompt_table(), PEAKS)


def test_the_grid_of_a_measured_site_is_the_measurements() -> None:
    grid = grid_for(gemms(), SITE)
    assert grid.kind is Kind.MEASURED
    np.testing.assert_array_equal(grid.axes[0], ROWS)
    assert [grid.at([rows]) for rows in ROWS] == [
        pytest.approx(gemms().seconds(SITE, [rows]).seconds) for rows in ROWS
    ]


def test_between_knots_grid_and_table_agree() -> None:
    grid = grid_for(gemms(), SITE)
    for rows in (2.0, 100.0, 3000.0):
        assert grid.at([rows]) == pytest.approx(gemms().seconds(SITE, [rows]).seconds)


def test_a_site_that_was_not_measured_is_derived() -> None:
    assert grid_for(gemms(), {**SITE, "n": 1500}).kind is Kind.DERIVED


def test_other_knots_may_be_asked_for_and_weaken_the_evidence_beyond_the_edge() -> None:
    grid = grid_for(gemms(), SITE, {"rows": [1, 100, 100_000]})
    assert grid.kind is Kind.ESTIMATED
    assert grid.axes[0].tolist() == [1.0, 100.0, 100_000.0]
    assert (np.diff(grid.seconds) > 0).all()
    assert grid_for(gemms(), SITE, {"rows": [1, 100]}).kind is Kind.DERIVED


def test_experts_and_decode_attention_have_their_axes() -> None:
    experts = OperatorTable(experts_table(), PEAKS)
    shape: dict[str, str | int] = {"dtype": "fp8", "kernel": "law", "distribution": "power_law_1.2"}
    shape |= {"hidden": 2048, "intermediate": 1024, "top_k": 4, "experts": 64, "tp": 1, "ep": 4}
    assert len(grid_for(experts, shape).axes) == 1
    decode = OperatorTable(attention_table(), PEAKS)
    assert grid_for(decode, {**PROMPT, "kv_dtype": "fp8"}).seconds.shape == (4, 4)


def test_an_unknown_axis_names_the_known_ones() -> None:
    with pytest.raises(BadTable, match="gemm has no axis tokens; it has rows"):
        grid_for(gemms(), SITE, {"tokens": [1]})


def test_between_knots_a_prompt_grows_with_its_pairs() -> None:
    grid = grid_for(prompts(), PROMPT)
    assert grid.kind is Kind.MEASURED
    shape = prompt_table().rows.filter(pl.col("heads") == 16, pl.col("sequences") == 1)
    asked = [1100, 4096, 6000]
    shape = shape.head(3).drop("time_us").with_columns(new_tokens=pl.Series(asked))
    truth = lawful("context_attention", shape).rows["time_us"].to_numpy() * 1e-6
    knots = [grid.at([1.0, float(n)]) for n in asked]
    np.testing.assert_allclose(knots, truth, rtol=0.12)
    # 4096 lies half way (in logarithms) between the knots 2048 and 8192: it has a knot of its own
    np.testing.assert_allclose(knots[1], truth[1], rtol=0.02)
    line = 0.5 * (grid.at([1.0, 2048.0]) + grid.at([1.0, 8192.0]))
    assert line > 1.3 * truth[1]


# ---- prompts after a cache


def test_without_a_cache_a_prompt_is_what_was_measured() -> None:
    grid = prompt_grid(prompts(), PROMPT, cached=[0.0])
    for at, new in enumerate(grid.axes[0]):
        assert grid.seconds[at, 0] == pytest.approx(prompts().seconds(PROMPT, [1, new]).seconds)
    assert grid.kind is Kind.MEASURED


def test_a_cache_makes_a_prompt_longer_and_less_certain() -> None:
    grid = prompt_grid(prompts(), PROMPT)
    assert grid.kind is Kind.ESTIMATED
    assert (np.diff(grid.seconds, axis=1) >= 0.0).all()
    assert (np.diff(grid.seconds, axis=0) >= 0.0).all()


def test_the_second_half_of_a_prompt_takes_three_times_the_first() -> None:
    # pairs: n^2 / 2 of the first half, n^2 / 2 + n^2 of the second, where matrix work binds
    grid = prompt_grid(prompts(), PROMPT, new=[65536.0], cached=[0.0, 65536.0])
    assert grid.seconds[0, 1] / grid.seconds[0, 0] == pytest.approx(3.0, rel=0.05)


def test_only_prompts_have_prompt_grids() -> None:
    with pytest.raises(BadTable, match="prompts have the axes sequences and new_tokens"):
        prompt_grid(gemms(), SITE)


# ---- the fastest kernel


def two_kernels(second_rows: list[int]) -> Table:
    """The law's GEMMs, and a kernel twice as fast up to 64 rows and twice as slow beyond."""
    first = gemm_table().rows
    scale = pl.when(pl.col("rows") <= 64).then(0.5).otherwise(2.0)
    second = first.filter(pl.col("rows").is_in(second_rows)).with_columns(
        pl.lit("small").alias("kernel"), pl.col("time_us") * scale
    )
    return checked(Origin("gemm", "round", "law", "1", "formula"), pl.concat([first, second]))


@pytest.mark.parametrize("rows", [ROWS, [1, 16, 64, 1024]])
def test_the_fastest_kernel_is_taken_at_each_knot(rows: list[int]) -> None:
    grid = fastest_grid(OperatorTable(two_kernels(rows), PEAKS), SITE)
    plain = grid_for(gemms(), SITE)
    assert grid.at([16]) == pytest.approx(0.5 * plain.at([16]))
    assert grid.at([1024]) == pytest.approx(plain.at([1024]))
    assert (np.diff(grid.seconds) >= 0.0).all()


def test_no_kernel_at_all_says_what_was_measured() -> None:
    with pytest.raises(BadTable, match=r"no variant dtype=fp8 kernel=any[\s\S]*dtype=bf16"):
        fastest_grid(gemms(), {**SITE, "dtype": "fp8"})
