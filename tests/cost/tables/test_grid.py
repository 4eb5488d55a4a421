"""Grids: what they refuse, and that both lookups keep the laws of multilinear interpolation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.catalogue import Kind
from jalapeno.cost.tables import Grid
from jalapeno.cost.tables.grid import AXES, knots_around, lookup
from jalapeno.errors import BadFact

LINE = Grid((np.array([1.0, 2.0, 4.0]),), np.array([10.0, 12.0, 20.0]), Kind.MEASURED, "a test")


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    axes = tuple(
        np.array(sorted(draw(st.sets(st.integers(0, 4096), min_size=1, max_size=4))), dtype=float)
        for _ in range(draw(st.integers(1, AXES)))
    )
    size = math.prod(len(axis) for axis in axes)
    values = draw(st.lists(st.floats(1e-6, 1e-2), min_size=size, max_size=size))
    shape = tuple(len(axis) for axis in axes)
    return Grid(axes, np.array(values).reshape(shape), Kind.MEASURED, "drawn")


def points(grid: Grid) -> st.SearchStrategy[tuple[float, ...]]:
    """Points inside, at the knots and beyond."""
    return st.tuples(
        *(
            st.sampled_from([float(knot) for knot in axis]) | st.floats(0.0, 5000.0)
            for axis in grid.axes
        )
    )


def compiled_at(grid: Grid, point: tuple[float, ...]) -> float:
    padded = (0.0,) * (AXES - len(point)) + tuple(point)
    # behind other numbers, as in an array of many grids
    return lookup(np.concatenate([np.full(7, np.nan), grid.flat()]), 7, *padded)


@given(st.data())
def test_compiled_lookup_and_the_numpy_reference_agree(data: st.DataObject) -> None:
    grid = data.draw(grids())
    point = data.draw(points(grid))
    assert compiled_at(grid, point) == pytest.approx(grid.at(point), rel=1e-12)


@given(grids())
def test_a_grid_says_at_its_knots_what_was_measured_there(grid: Grid) -> None:
    for index in itertools.product(*(range(len(axis)) for axis in grid.axes)):
        knot = tuple(axis[i] for axis, i in zip(grid.axes, index, strict=True))
        assert compiled_at(grid, knot) == grid.at(knot) == grid.seconds[index]
        assert grid.covers(knot)


@given(st.data())
def test_between_knots_a_value_lies_between_the_values_of_its_cell(data: st.DataObject) -> None:
    grid = data.draw(grids())
    value = grid.at(data.draw(points(grid)))
    assert grid.seconds.min() * (1 - 1e-12) <= value <= grid.seconds.max() * (1 + 1e-12)


@given(st.data())
def test_beyond_the_outermost_knots_the_edge_answers(data: st.DataObject) -> None:
    grid = data.draw(grids())
    point = data.draw(points(grid))
    edge = tuple(float(np.clip(x, a[0], a[-1])) for a, x in zip(grid.axes, point, strict=True))
    assert grid.at(point) == grid.at(edge)
    assert grid.covers(point) == (edge == point)


@given(st.data())
def test_along_an_axis_a_value_is_affine_between_knots(data: st.DataObject) -> None:
    grid = data.draw(grids())
    point = list(data.draw(points(grid)))
    axis = data.draw(st.integers(0, len(point) - 1))
    low, high = knots_around(grid.flat(), 0, AXES - len(point) + axis, point[axis])
    if math.isinf(low) or math.isinf(high):
        return
    ends = []
    for x in (low, (low + high) / 2, high):
        point[axis] = x
        ends.append(grid.at(point))
    assert ends[1] == pytest.approx((ends[0] + ends[2]) / 2, rel=1e-9)


def test_a_grid_halves_the_way_between_two_knots() -> None:
    assert LINE.at((3.0,)) == 16.0
    assert compiled_at(LINE, (3.0,)) == 16.0


def test_knots_around_a_place_are_the_one_at_it_and_the_next() -> None:
    flat = LINE.flat()
    assert knots_around(flat, 0, 3, 0.5) == (-math.inf, 1.0)
    assert knots_around(flat, 0, 3, 1.0) == (1.0, 2.0)
    assert knots_around(flat, 0, 3, 3.9) == (2.0, 4.0)
    assert knots_around(flat, 0, 3, 4.0) == (4.0, math.inf)


def test_equal_grids_are_equal_and_digests_follow_the_numbers() -> None:
    again = Grid(LINE.axes, LINE.seconds, LINE.kind, LINE.source)
    assert again == LINE
    assert hash(again) == hash(LINE)
    assert again.digest == LINE.digest
    other = Grid(LINE.axes, LINE.seconds * 2.0, LINE.kind, LINE.source)
    assert other != LINE
    assert other.digest != LINE.digest
    assert Grid(LINE.axes, LINE.seconds, Kind.FITTED, LINE.source) != LINE


def test_nobody_can_change_a_grid() -> None:
    mine = np.array([1.0, 2.0])
    grid = Grid((mine,), np.array([1.0, 2.0]), Kind.MEASURED, "a test")
    mine[0] = 100.0
    assert grid.axes[0][0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        grid.seconds[0] = 3.0


@pytest.mark.parametrize(
    ("axes", "seconds", "says"),
    [
        ([], 1.0, "0 axes; a grid has one to 4"),
        ([[1.0]] * 5, [[[[[1.0]]]]], "5 axes"),
        ([[]], [], "axis 0 has shape (0,): give a list of knots"),
        ([[1.0, 1.0]], [1.0, 2.0], "axis 0 goes from 1 to 1: knots must strictly increase"),
        ([[1.0], [3.0, 2.0]], [[1.0, 2.0]], "axis 1 goes from 3 to 2"),
        ([[-1.0, 2.0]], [1.0, 2.0], "axis 0 has a knot that is not a number >= 0"),
        ([[1.0, math.inf]], [1.0, 2.0], "axis 0 has a knot that is not a number >= 0"),
        ([[1.0, 2.0]], [1.0], "shape (1,) for axes of (2,) knots"),
        ([[1.0], [7.0, 8.0]], [[1.0, 0.0]], "0.0 seconds at (1, 8), and 1 such values in all"),
        ([[1.0, 2.0]], [math.nan, 2.0], "nan seconds at (1)"),
    ],
)
def test_a_bad_grid_is_refused_and_says_where(axes: list[list[float]], seconds, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadFact) as caught:
        Grid(tuple(map(np.array, axes)), np.array(seconds), Kind.MEASURED, "the file")
    assert says in str(caught.value)
    assert "the file" in str(caught.value)
