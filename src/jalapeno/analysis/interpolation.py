"""Pareto fronts, and the curve through them: as InferenceX draws it, and never beyond its ends.

The curve is the monotone cubic Hermite spline of Steffen (1990, Astronomy and Astrophysics 239,
443), which d3 calls ``curveMonotoneX``: it goes through all knots, turns nowhere between them and
overshoots nowhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

CONSTANT = 1e-3
"""A numerator that varies by no more than this share is a constant (InferenceX)."""


def pareto_front(
    items: Sequence[T], x: Callable[[T], float], y: Callable[[T], float]
) -> tuple[T, ...]:
    """Those of *items* that no other has at least as much x and at least as much y of.

    Sorted by x, which rises, while y strictly falls: InferenceX's ``paretoFrontUpperLeft``.  Of
    equal ones the first stays.
    """
    front: list[T] = []
    for item in sorted(items, key=lambda one: (x(one), -y(one))):
        if front and x(front[-1]) == x(item):
            continue  # as fast, and no more of y
        while front and y(item) >= y(front[-1]):
            front.pop()
        front.append(item)
    return tuple(front)


@dataclass(frozen=True, slots=True)
class Curve:
    """A monotone cubic through knots of rising x."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    slopes: tuple[float, ...]

    def __call__(self, x: float) -> float:
        """The value at *x*; ValueError outside of the knots, for nothing is extrapolated."""
        if not self.reaches(x):
            raise ValueError(f"{x} is outside of the curve, {self.xs[0]} to {self.xs[-1]}")
        place = min(bisect_right(self.xs, x), len(self.xs) - 1) - 1
        if place < 0:  # a single knot
            return self.ys[0]
        width = self.xs[place + 1] - self.xs[place]
        t = (x - self.xs[place]) / width
        left, right = 1.0 - t, t
        # Hermite's basis: what each end is worth, and each end's slope
        ends = left * left * (1.0 + 2.0 * t) * self.ys[place]
        ends += right * right * (3.0 - 2.0 * t) * self.ys[place + 1]
        turns = left * left * t * self.slopes[place] - left * right * t * self.slopes[place + 1]
        return ends + width * turns

    def reaches(self, x: float) -> bool:
        """Whether *x* lies between the first knot and the last."""
        return self.xs[0] <= x <= self.xs[-1]


def curve(xs: Sequence[float], ys: Sequence[float]) -> Curve:
    """The monotone cubic through (*xs*, *ys*); ValueError where *xs* do not rise or none are."""
    if not xs or len(xs) != len(ys) or any(b <= a for a, b in pairwise(xs)):
        raise ValueError(f"a curve needs knots of rising x and a y for each, got {xs} and {ys}")
    return Curve(tuple(xs), tuple(ys), _slopes(xs, ys))


def _slopes(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, ...]:
    """Slope at each knot: Steffen's inside, and of a parabola without overshoot at the ends."""
    widths = [b - a for a, b in pairwise(xs)]
    secants = [(b - a) / h for a, b, h in zip(ys, ys[1:], widths, strict=False)]
    if not secants:
        return (0.0,)
    if len(secants) == 1:
        return (secants[0], secants[0])
    inner = [_inner(*pair) for pair in zip(secants, secants[1:], widths, widths[1:], strict=False)]
    first = 0.5 * (3.0 * secants[0] - inner[0])
    last = 0.5 * (3.0 * secants[-1] - inner[-1])
    return (first, *inner, last)


def _inner(before: float, after: float, left: float, right: float) -> float:
    """``(sgn s0 + sgn s1) min(|s0|, |s1|, |p| / 2)``, p the slope of the parabola through three."""
    if before * after <= 0.0:
        return 0.0
    parabola = (before * right + after * left) / (left + right)
    least = min(abs(before), abs(after), 0.5 * abs(parabola))
    return 2.0 * least if before > 0.0 else -2.0 * least


def reciprocal(rates: Curve, values: Sequence[float], x: float) -> float:
    """What costs *values* at the knots of *rates*, at *x*.

    A cost is something over a rate: where that something is the same at all knots (within
    :data:`CONSTANT`) it is divided by the rate at *x*, so that cost and rate agree; else the
    values have a curve of their own.
    """
    above = [value * rate for value, rate in zip(values, rates.ys, strict=True)]
    if max(above) - min(above) <= CONSTANT * max(above):
        return sum(above) / len(above) / rates(x)
    return curve(rates.xs, values)(x)
