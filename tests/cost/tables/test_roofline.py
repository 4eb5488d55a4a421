"""The calibrated roofline: it finds the constants of a world that obeys it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.cost.tables.roofline import LEAST_ROWS, Roofline, fit
from jalapeno.cost.tables.work import Work, work
from jalapeno.errors import BadTable
from tests.cost.tables.worlds import LAW, PEAKS, gemm_table


def single(matrix: float = 0.0, memory: float = 0.0) -> Work:
    none = np.zeros(1)
    return Work(np.array([matrix]), np.array([memory]), none, none, none)


def test_one_engine_alone_takes_its_time_over_its_efficiency() -> None:
    assert LAW.seconds(single(matrix=7e-4))[0] == pytest.approx(1e-3 + LAW.floor)
    assert LAW.seconds(single(memory=8e-4))[0] == pytest.approx(1e-3 + LAW.floor)


def test_no_work_takes_the_floor() -> None:
    assert LAW.seconds(single())[0] == LAW.floor


@given(st.floats(1e-9, 1.0), st.floats(1e-9, 1.0), st.floats(1.0, 12.0))
def test_both_engines_take_between_their_maximum_and_their_sum(
    matrix: float, memory: float, sharpness: float
) -> None:
    law = Roofline(1.0, 1.0, sharpness, 1e-12, 1e-12, 1e-12, 1.0)
    seconds = law.seconds(single(matrix, memory))[0]
    assert max(matrix, memory) * (1 - 1e-9) <= seconds <= (matrix + memory) * (1 + 1e-9) + 1e-11


def test_a_fit_finds_the_law_again() -> None:
    rows = gemm_table().rows
    load = work("gemm", rows, PEAKS)
    found = fit([load], [LAW.seconds(load)])
    np.testing.assert_allclose(found.seconds(load), LAW.seconds(load), rtol=0.02)
    assert found.matrix_efficiency == pytest.approx(LAW.matrix_efficiency, rel=0.05)
    assert found.memory_efficiency == pytest.approx(LAW.memory_efficiency, rel=0.05)


def test_a_tenth_of_wild_rows_hardly_moves_it() -> None:
    load = work("gemm", gemm_table().rows, PEAKS)
    seconds = LAW.seconds(load)
    seconds[::10] *= 5.0
    found = fit([load], [seconds]).seconds(load)
    assert np.median(np.abs(found / LAW.seconds(load) - 1.0)) < 0.03


def test_a_law_found_on_one_chip_holds_on_a_faster_one() -> None:
    rows = gemm_table().rows
    faster = replace(PEAKS, matrix={k: 3 * v for k, v in PEAKS.matrix.items()}, bandwidth=9e12)
    here, there = work("gemm", rows, PEAKS), work("gemm", rows, faster)
    found = fit([here], [LAW.seconds(here)])
    np.testing.assert_allclose(found.seconds(there), LAW.seconds(there), rtol=0.05)


def test_too_few_rows_for_the_constants_are_refused() -> None:
    load = work("gemm", gemm_table().rows.head(LEAST_ROWS - 1), PEAKS)
    with pytest.raises(BadTable, match=f"7 constants needs {LEAST_ROWS} measurements or more"):
        fit([load], [LAW.seconds(load)])
