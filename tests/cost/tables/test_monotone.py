"""More work never costs less, and what already says so is left alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from jalapeno.cost.tables.monotone import monotone

Array = npt.NDArray[np.float64]

TIMES = arrays(np.float64, array_shapes(max_dims=3, max_side=6), elements=st.floats(1e-7, 1e3))


@given(TIMES)
def test_the_result_never_falls_along_any_axis(times: Array) -> None:
    result = monotone(times)
    assert all(
        (np.diff(result, axis=axis) >= -1e-12 * result.max()).all() for axis in range(times.ndim)
    )


@given(TIMES)
def test_the_result_stays_between_the_least_and_the_greatest(times: Array) -> None:
    result = monotone(times)
    assert result.min() >= times.min() * (1 - 1e-12)
    assert result.max() <= times.max() * (1 + 1e-12)


@given(TIMES)
def test_doing_it_twice_is_doing_it_once(times: Array) -> None:
    once = monotone(times)
    np.testing.assert_allclose(monotone(once), once, rtol=1e-12)


@given(TIMES)
def test_what_is_monotone_stays_as_it_is(times: Array) -> None:
    sorted_ = times
    for axis in range(times.ndim):
        sorted_ = np.sort(sorted_, axis=axis)
    np.testing.assert_array_equal(monotone(sorted_), sorted_)


def test_a_dip_is_met_half_way() -> None:
    np.testing.assert_allclose(monotone(np.array([1.0, 4.0, 1.0, 4.0])), [1.0, 2.0, 2.0, 4.0])
