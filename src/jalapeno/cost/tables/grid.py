"""Grid: measured seconds at the knots of one to four axes, multilinear between them.

A grid compiles to a flat line of numbers (:meth:`Grid.flat`), so that tables of any shape lie in
one array and compiled code reads them without allocation.  Between knots the value is affine in
each axis while the others stand still; beyond the outermost knots a grid says nothing: what is
done there is the price's business (:mod:`jalapeno.mapping.measured`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jalapeno.catalogue import Kind
from jalapeno.errors import BadFact
from jalapeno.jit import compiled, inlined

AXES = 4
"""Axes of a flat grid: those that a grid lacks come first, of one knot each."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Seconds over the product of *axes*; equal grids have equal numbers and evidence."""

    axes: tuple[Array, ...]
    """One to four, each of strictly increasing knots >= 0."""
    seconds: Array
    """Shape: the knots of each axis.  Finite and > 0."""
    kind: Kind
    source: str

    def __post_init__(self) -> None:
        axes = tuple(_frozen(axis) for axis in self.axes)
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "seconds", _frozen(self.seconds))
        if not 1 <= len(axes) <= AXES:
            raise BadFact(f"{self._label}: {len(axes)} axes; a grid has one to {AXES}")
        for number, axis in enumerate(axes):
            self._check_axis(number, axis)
        shape = tuple(len(axis) for axis in axes)
        if self.seconds.shape != shape:
            raise BadFact(
                f"{self._label}: seconds of shape {self.seconds.shape} for axes of {shape} knots: "
                "give one value for each combination"
            )
        bad = ~(np.isfinite(self.seconds) & (self.seconds > 0.0))
        if bad.any():
            at = tuple(int(index) for index in np.argwhere(bad)[0])
            knots = ", ".join(f"{axis[index]:g}" for axis, index in zip(axes, at, strict=True))
            raise BadFact(
                f"{self._label}: {self.seconds[at]} seconds at ({knots}), and {int(bad.sum())} "
                "such values in all: each must be finite and above zero; leave out such knots"
            )

    @property
    def _label(self) -> str:
        return f"grid of {self.source}" if self.source else "grid without a source"

    def _check_axis(self, number: int, axis: Array) -> None:
        """Raise :class:`BadFact` unless *axis* has finite, strictly increasing knots >= 0."""
        if axis.ndim != 1 or len(axis) == 0:
            raise BadFact(
                f"{self._label}: axis {number} has shape {axis.shape}: give a list of knots"
            )
        if not np.isfinite(axis).all() or (axis < 0.0).any():
            raise BadFact(f"{self._label}: axis {number} has a knot that is not a number >= 0")
        falls = np.flatnonzero(np.diff(axis) <= 0.0)
        if len(falls):
            first = int(falls[0])
            raise BadFact(
                f"{self._label}: axis {number} goes from {axis[first]:g} to {axis[first + 1]:g}: "
                "knots must strictly increase"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[bytes, Kind, str]:
        return self.flat().tobytes(), self.kind, self.source

    @property
    def digest(self) -> str:
        """SHA-256 of the numbers, in hex: equal for equal axes and seconds."""
        return hashlib.sha256(self.flat().tobytes()).hexdigest()

    def covers(self, point: Sequence[float]) -> bool:
        """Whether *point*, a number an axis, lies between the outermost knots of every axis."""
        return all(axis[0] <= x <= axis[-1] for axis, x in zip(self.axes, point, strict=True))

    def at(self, point: Sequence[float]) -> float:
        """Seconds at *point*, a number an axis; beyond the outermost knots those of the edge.

        Multilinear: ``sum over corners of the cell of value x product of weights``.
        """
        values = self.seconds
        for axis, x in zip(self.axes, point, strict=True):
            index = min(max(int(np.searchsorted(axis, x, "right")) - 1, 0), max(len(axis) - 2, 0))
            if len(axis) == 1:
                values = values[0]
                continue
            share = (x - axis[index]) / (axis[index + 1] - axis[index])
            share = min(max(share, 0.0), 1.0)
            values = (1.0 - share) * values[index] + share * values[index + 1]
        return float(values)

    def flat(self) -> Array:
        """The grid as one line: knots of each of four axes (count), all knots, all values."""
        axes = (*(np.zeros(1) for _ in range(AXES - len(self.axes))), *self.axes)
        counts = np.array([len(axis) for axis in axes], dtype=np.float64)
        return np.concatenate([counts, *axes, self.seconds.ravel()])


def _frozen(numbers: Array) -> Array:
    """A read-only copy in floats."""
    copy = np.array(numbers, dtype=np.float64)
    copy.setflags(write=False)
    return copy


@inlined
def place(flat: Array, first: int, count: int, x: float) -> tuple[int, float]:
    """(knot below, share of the way to the next) of *x* among *count* knots from *first* on.

    At a knot it is the cell above, for a growing *x* goes on into that one; what is beyond the
    outermost knots stands at them.
    """
    if count == 1:
        return 0, 0.0
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if flat[first + middle] <= x:
            low = middle
        else:
            high = middle
    below, above = flat[first + low], flat[first + low + 1]
    return low, min(max((x - below) / (above - below), 0.0), 1.0)


@compiled
def lookup(flat: Array, start: int, x0: float, x1: float, x2: float, x3: float) -> float:
    """Seconds at (x0 ... x3) of the flat grid that begins at *start*; beyond it, of its edge."""
    first = start + AXES
    n0, n1 = int(flat[start]), int(flat[start + 1])
    n2, n3 = int(flat[start + 2]), int(flat[start + 3])
    i0, s0 = place(flat, first, n0, x0)
    i1, s1 = place(flat, first + n0, n1, x1)
    i2, s2 = place(flat, first + n0 + n1, n2, x2)
    i3, s3 = place(flat, first + n0 + n1 + n2, n3, x3)
    values = first + n0 + n1 + n2 + n3
    total = 0.0
    for corner in range(2**AXES):
        b0, b1, b2, b3 = corner & 1, corner >> 1 & 1, corner >> 2 & 1, corner >> 3
        weight = s0 if b0 else 1.0 - s0
        weight *= s1 if b1 else 1.0 - s1
        weight *= s2 if b2 else 1.0 - s2
        weight *= s3 if b3 else 1.0 - s3
        if weight > 0.0:
            index = ((i0 + b0) * n1 + i1 + b1) * n2 + i2 + b2
            total += weight * flat[values + index * n3 + i3 + b3]
    return total


@compiled
def knots_around(flat: Array, start: int, axis: int, x: float) -> tuple[float, float]:
    """Knots of *axis* (0 to 3 of the flat grid at *start*) below *x*, or at it, and above.

    ``(-inf, lowest)`` below all, ``(highest, inf)`` from the highest on.
    """
    first = start + AXES
    for before in range(axis):
        first += int(flat[start + before])
    count = int(flat[start + axis])
    if x < flat[first]:
        return -math.inf, flat[first]
    if x >= flat[first + count - 1]:
        return flat[first + count - 1], math.inf
    low, _ = place(flat, first, count, x)
    return flat[first + low], flat[first + low + 1]


@compiled
def clamp(flat: Array, start: int, axis: int, x: float) -> float:
    """*x*, or the nearest of the outermost knots of *axis* (0 to 3 of the flat grid at *start*)."""
    first = start + AXES
    for before in range(axis):
        first += int(flat[start + before])
    last = first + int(flat[start + axis]) - 1
    return float(min(max(x, flat[first]), flat[last]))
