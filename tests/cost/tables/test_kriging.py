"""Kriging: through the data, back to the roofline, and leaving out is refitting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.cost.tables.kriging import covariance, krige, left_out, noise

Array = npt.NDArray[np.float64]


def some(seed: int, count: int = 12, columns: int = 2) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    points = random.uniform(0.0, 3.0, (count, 2))
    values = np.stack([np.sin(points @ random.normal(size=2)) for _ in range(columns)], axis=1)
    return points, values


def test_the_field_meets_what_was_measured() -> None:
    points, values = some(1)
    for column, field in enumerate(krige(points, values)):
        np.testing.assert_allclose(field.at(points), values[:, column], atol=0.02)


def test_between_two_like_points_it_is_like_both() -> None:
    points = np.array([[0.0], [0.5], [3.0]])
    (field,) = krige(points, np.array([[0.2], [0.2], [-0.4]]))
    assert field.at(np.array([[0.25]]))[0] == pytest.approx(0.2, abs=0.03)


def test_an_offset_that_all_share_goes_far() -> None:
    points, _ = some(2)
    (field,) = krige(points, np.full((12, 1), 0.3))
    assert field.at(np.array([[1.5, 1.5]]))[0] == pytest.approx(0.3, abs=0.03)


def test_beyond_the_box_the_field_of_its_edge_holds() -> None:
    points, values = some(3)
    field = krige(points, values)[0]
    corner = points.max(axis=0)
    np.testing.assert_allclose(field.at(corner[None, :] + 5.0), field.at(corner[None, :]))


def test_the_distance_is_none_at_a_point_and_grows_beyond_the_box() -> None:
    points, values = some(4)
    field = krige(points, values)[0]
    near, outside = field.distance(points)
    assert near.max() == outside.max() == 0.0
    beyond = points.max(axis=0)[None, :] + np.array([[3.0, 4.0]])
    assert field.distance(beyond)[1][0] == pytest.approx(5.0)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_leaving_out_is_fitting_without(seed: int, doubt: bool) -> None:
    points, values = some(seed)
    if doubt:
        values[3] += 2.0
    groups = np.arange(12) // 3
    errors = left_out(points, values, groups, doubt)
    variance = noise(values, doubt)
    for group in range(4):
        out = groups == group
        weights = np.linalg.solve(covariance(points[~out], variance[~out]), values[~out])
        between = covariance(points, variance)[np.ix_(out, ~out)]
        np.testing.assert_allclose(errors[out], values[out] - between @ weights, atol=1e-9)


def test_groups_of_one_take_the_short_way_to_the_same_answer() -> None:
    points, values = some(5)
    alone = left_out(points, values, np.arange(12))
    pairs = np.stack(
        [left_out(points, values, np.where(np.arange(12) == i, 1, 0))[i] for i in range(12)]
    )
    np.testing.assert_allclose(alone, pairs, atol=1e-9)


def test_a_place_that_contradicts_all_others_does_not_mislead_them() -> None:
    points = np.linspace(0.0, 1.0, 9)[:, None]
    values = np.zeros((9, 3))
    values[4] = 1.6  # five times as long
    trusting, doubting = krige(points, values)[0], krige(points, values, doubt=True)[0]
    between = np.array([[0.45]])
    assert trusting.at(between)[0] > 0.4
    assert abs(doubting.at(between)[0]) < 0.05


def test_a_place_is_doubted_by_most_knots_not_by_one() -> None:
    values = np.zeros((9, 3))
    values[4, 0] = 5.0
    assert (noise(values, True) == noise(values, False)).all()
    values[4, 1] = 5.0
    assert np.flatnonzero(noise(values, True) != noise(values, False)).tolist() == [4]
