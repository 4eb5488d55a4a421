"""Non-negative fits: what made the data is found, and outliers do not bend it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.nonnegative import fit_nonnegative
from jalapeno.errors import UsageError

constants = st.lists(st.floats(0.0, 100.0), min_size=1, max_size=4).filter(
    lambda found: max(found) > 0.1
)


def sample(count: int) -> np.ndarray:
    return np.random.default_rng(7).uniform(0.1, 10.0, (60, count))


@given(constants)
def test_exact_data_give_back_the_constants(found: list[float]) -> None:
    features = sample(len(found))
    measured = features @ found
    fitted = fit_nonnegative(features, measured)
    assert features @ fitted == pytest.approx(measured, rel=1e-6)
    assert (fitted >= 0.0).all()


@given(constants, st.floats(1e-6, 1e6))
def test_units_of_time_scale_the_constants(found: list[float], unit: float) -> None:
    features = sample(len(found))
    measured = features @ found
    one, other = (fit_nonnegative(features, measured * scale) for scale in (1.0, unit))
    assert other == pytest.approx(one * unit, rel=1e-4, abs=1e-6 * unit)


def test_a_few_pathological_points_hardly_matter() -> None:
    features = sample(2)
    measured = features @ [2.0, 3.0]
    spoilt = measured.copy()
    spoilt[:5] *= 20.0
    assert fit_nonnegative(features, spoilt) == pytest.approx([2.0, 3.0], rel=0.05)


def test_what_would_be_negative_is_nothing() -> None:
    features = sample(2)
    measured = features @ [5.0, -0.2]
    assert fit_nonnegative(features, measured)[1] == 0.0


def test_a_feature_that_nobody_has_is_nothing() -> None:
    features = np.column_stack([sample(1), np.zeros(60)])
    assert fit_nonnegative(features, features[:, 0] * 2.0) == pytest.approx([2.0, 0.0])


def test_fewer_points_than_constants_are_refused() -> None:
    with pytest.raises(UsageError, match="2 points cannot tell 3 constants"):
        fit_nonnegative(np.ones((2, 3)), np.ones(2))
