"""Fronts hold what nothing beats; the curve through one is d3's, and overshoots nowhere."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.interpolation import curve, pareto_front, reciprocal

Pair = tuple[float, float]
NUMBERS = st.floats(0.1, 1e5).map(lambda x: float(f"{x:.4g}"))
CLOUDS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=30)


def first(pair: Pair) -> float:
    return pair[0]


def second(pair: Pair) -> float:
    return pair[1]


def front_of(cloud: list[Pair]) -> tuple[Pair, ...]:
    return pareto_front(cloud, first, second)


def beaten(one: Pair, cloud: list[Pair]) -> bool:
    """The definition, word for word."""
    return any(other[0] >= one[0] and other[1] >= one[1] and other != one for other in cloud)


@st.composite
def knots(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    xs = sorted(set(draw(st.lists(NUMBERS, min_size=1, max_size=12))))
    ys = draw(st.lists(NUMBERS, min_size=len(xs), max_size=len(xs)))
    return xs, ys


FALLING = knots().map(lambda pair: (pair[0], sorted(pair[1], reverse=True)))


# ---- fronts


@given(CLOUDS)
def test_the_front_is_what_no_other_point_beats(cloud: list[Pair]) -> None:
    assert set(front_of(cloud)) == {one for one in cloud if not beaten(one, cloud)}


@given(CLOUDS)
def test_along_the_front_one_rises_and_the_other_falls(cloud: list[Pair]) -> None:
    front = front_of(cloud)
    assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(front))


@given(CLOUDS, st.randoms())
def test_the_front_does_not_depend_on_the_order(cloud: list[Pair], luck: object) -> None:
    mixed = sorted(cloud, key=lambda _: luck.random())  # type: ignore[attr-defined]
    assert front_of(mixed) == front_of(cloud)
    assert front_of(list(front_of(cloud))) == front_of(cloud)


def test_of_equal_points_the_first_stays() -> None:
    same = [(1.0, 2.0, "a"), (1.0, 2.0, "b")]
    assert pareto_front(same, lambda one: one[0], lambda one: one[1]) == (same[0],)


# ---- the curve


@given(knots())
def test_the_curve_goes_through_its_knots(pair: tuple[list[float], list[float]]) -> None:
    line = curve(*pair)
    for x, y in zip(*pair, strict=True):
        assert line(x) == pytest.approx(y)


@given(knots(), st.floats(0.0, 1.0))
def test_between_two_knots_it_never_leaves_their_heights(
    pair: tuple[list[float], list[float]], share: float
) -> None:
    xs, ys = pair
    line = curve(xs, ys)
    for place in range(len(xs) - 1):
        x = min(xs[place] + share * (xs[place + 1] - xs[place]), xs[place + 1])
        low, high = sorted(ys[place : place + 2])
        slack = 1e-9 * high
        assert low - slack <= line(x) <= high + slack


@given(FALLING)
def test_through_falling_knots_it_falls(pair: tuple[list[float], list[float]]) -> None:
    xs, ys = pair
    line = curve(xs, ys)
    values = [line(float(x)) for x in np.linspace(xs[0], xs[-1], 60).clip(xs[0], xs[-1])]
    assert all(b <= a + 1e-9 * ys[0] for a, b in pairwise(values))


@given(knots(), st.floats(0.1, 10.0), st.floats(0.1, 10.0))
def test_other_units_make_the_same_curve(
    pair: tuple[list[float], list[float]], wide: float, high: float
) -> None:
    xs, ys = pair
    line, scaled = curve(xs, ys), curve([wide * x for x in xs], [high * y for y in ys])
    middle = 0.5 * (xs[0] + xs[-1])
    inside = min(max(wide * middle, scaled.xs[0]), scaled.xs[-1])
    assert scaled(inside) == pytest.approx(high * line(middle), rel=1e-6)


def test_a_straight_line_stays_straight() -> None:
    line = curve([0.0, 1.0, 3.0, 7.0], [1.0, 3.0, 7.0, 15.0])
    assert [line(x) for x in (0.5, 2.0, 5.0)] == pytest.approx([2.0, 5.0, 11.0])


@pytest.mark.parametrize("x", [0.999, 3.001, -1.0, float("nan")])
def test_nothing_is_extrapolated(x: float) -> None:
    line = curve([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])
    assert not line.reaches(x)
    with pytest.raises(ValueError, match="outside of the curve"):
        line(x)


@pytest.mark.parametrize(("xs", "ys"), [([], []), ([1.0, 1.0], [1.0, 2.0]), ([1.0], [1.0, 2.0])])
def test_knots_must_rise_and_be_whole(xs: list[float], ys: list[float]) -> None:
    with pytest.raises(ValueError, match="knots of rising x"):
        curve(xs, ys)


def test_one_knot_is_a_curve_of_one_point() -> None:
    line = curve([2.0], [5.0])
    assert line(2.0) == 5.0
    assert not line.reaches(2.1)


# ---- against others


def steffen(xs: list[float], ys: list[float], x: float) -> float:
    """Steffen (1990), equations 2 to 11 and 24 to 27, written out with numpy."""
    h, s = np.diff(xs), np.diff(ys) / np.diff(xs)
    p = (s[:-1] * h[1:] + s[1:] * h[:-1]) / (h[:-1] + h[1:])
    inner = (np.sign(s[:-1]) + np.sign(s[1:])) * np.minimum(
        np.minimum(np.abs(s[:-1]), np.abs(s[1:])), 0.5 * np.abs(p)
    )
    d = np.concatenate([[(3 * s[0] - inner[0]) / 2], inner, [(3 * s[-1] - inner[-1]) / 2]])
    i = int(np.searchsorted(xs, x, side="right").clip(1, len(xs) - 1)) - 1
    a = (d[i] + d[i + 1] - 2 * s[i]) / h[i] ** 2
    b = (3 * s[i] - 2 * d[i] - d[i + 1]) / h[i]
    u = x - xs[i]
    return float(a * u**3 + b * u**2 + d[i] * u + ys[i])


@given(knots().filter(lambda pair: len(pair[0]) > 2), st.floats(0.0, 1.0))
def test_it_is_steffen_s_spline(pair: tuple[list[float], list[float]], share: float) -> None:
    xs, ys = pair
    x = min(xs[0] + share * (xs[-1] - xs[0]), xs[-1])
    assert curve(xs, ys)(x) == pytest.approx(steffen(xs, ys, x), rel=1e-6, abs=1e-6 * max(ys))


def drawn_by_d3(xs: list[float], ys: list[float]) -> list[list[complex]]:
    """Bezier control points, in pixels, of what Vega (which has d3 inside) draws."""
    rows = [{"x": x, "y": y} for x, y in zip(xs, ys, strict=True)]
    linear: dict[str, Any] = {"nice": False, "zero": False}
    chart = (
        alt.Chart(alt.Data(values=rows), width=1000, height=1000)  # type: ignore[no-untyped-call]
        .mark_line(interpolate="monotone")
        .encode(
            x=alt.X("x:Q", scale=alt.Scale(domain=[xs[0], xs[-1]], **linear)),
            y=alt.Y("y:Q", scale=alt.Scale(domain=[0, 2 * max(ys)], **linear)),
        )
    )
    page = io.StringIO()
    chart.save(page, format="svg")
    (path,) = [
        found
        for found in re.findall(r' d="(M[^"]*C[^"]*)"', page.getvalue())
        if found.count("C") == len(xs) - 1
    ]
    numbers = [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", path)]
    places = [complex(a, b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
    return [places[at : at + 4] for at in range(0, len(places) - 1, 3)]


def test_it_is_what_d3_draws() -> None:
    xs = [6.4, 13.1, 18.0, 36.3, 52.5, 75.4, 95.2, 117.0, 143.0, 204.0]
    ys = [1626.1, 1384.9, 1207.6, 842.2, 661.1, 336.9, 205.0, 205.0, 230.0, 2.8]
    line = curve(xs, ys)
    for piece in drawn_by_d3(xs, ys):
        for t in (0.1, 0.35, 0.5, 0.8):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            place = sum(w * point for w, point in zip(weights, piece, strict=True))
            x = xs[0] + place.real / 1000 * (xs[-1] - xs[0])
            y = (1 - place.imag / 1000) * 2 * max(ys)
            assert line(x) == pytest.approx(y, abs=0.01 * max(ys) / 10)


# ---- costs


@given(FALLING.filter(lambda pair: len(set(pair[1])) == len(pair[1])), st.floats(0.0, 1.0))
def test_a_cost_of_something_constant_is_that_over_the_rate(
    pair: tuple[list[float], list[float]], share: float
) -> None:
    xs, ys = pair
    rates = curve(xs, ys)
    x = min(xs[0] + share * (xs[-1] - xs[0]), xs[-1])
    costs = [7.0 / y for y in ys]
    assert reciprocal(rates, costs, x) == pytest.approx(7.0 / rates(x))


def test_other_costs_have_a_curve_of_their_own() -> None:
    rates = curve([1.0, 2.0, 3.0], [4.0, 2.0, 1.0])
    costs = [1.0, 3.0, 4.0]
    assert reciprocal(rates, costs, 1.5) == curve(rates.xs, costs)(1.5)
