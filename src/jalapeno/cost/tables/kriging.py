"""Interpolation between shapes: kriging of logarithms that a roofline leaves over.

What a roofline misses varies smoothly with the shape.  Kriging (a Gaussian process; Cressie 1993,
ch. 3) with the covariance ``1 + exp(-distance)`` predicts it at a shape that was not measured as a
weighted sum over all that were, the nearest weighing most.  Far from all of them only the offset
that they share is left: there the calibrated roofline speaks.  Leaving a group of measurements out
needs no refit: with ``Q`` the inverse covariance, the errors of group b are ``Q_bb^-1 (Q y)_b``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

Array = npt.NDArray[np.float64]

NUGGET = 3e-3
"""Variance of the noise of one measurement, relative to that of the field."""

OFFSET = 1.0
"""Variance of what all measurements of a field share, relative to that of the field."""


DOUBT, DOUBTED = float(np.log(2.0)), 30.0
"""A place that stands apart from all others by more than this (in logs, at most knots of the load)
has this variance of noise: it speaks for itself, not for other shapes."""


@dataclass(frozen=True, slots=True, eq=False)
class Kriging:
    """A field over points in scaled coordinates (one unit is one length of correlation)."""

    points: Array
    """n x f."""
    weights: Array
    """``K^-1 y``."""

    def at(self, points: Array) -> Array:
        """The field at *points* (m x f); beyond the box of the data, that of the box's edge."""
        held = np.clip(points, self.points.min(axis=0), self.points.max(axis=0))
        field: Array = (OFFSET + np.exp(-cdist(held, self.points))) @ self.weights
        return field

    def distance(self, points: Array) -> tuple[Array, Array]:
        """(to the nearest measured point, to the box of all) of each of *points*, in lengths."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        outside = np.maximum(np.maximum(low - points, points - high), 0.0)
        return cdist(points, self.points).min(axis=1), np.sqrt((outside**2).sum(axis=1))


def noise(values: Array, doubt: bool) -> Array:
    """Variance of the noise of each place, from *values* (n x m knots): see :data:`DOUBT`."""
    if not doubt:
        return np.full(len(values), NUGGET)
    apart = np.abs(np.median(values - np.median(values, axis=0), axis=1))
    return np.where(apart > DOUBT, DOUBTED, NUGGET)


def covariance(points: Array, variance: Array) -> Array:
    """Covariance of measurements at *points* (n x f) whose noise has that *variance* (n)."""
    result: Array = OFFSET + np.exp(-cdist(points, points))
    result[np.diag_indices_from(result)] += variance
    return result


def krige(points: Array, values: Array, doubt: bool = False) -> list[Kriging]:
    """Return the fields through each column of *values* (n x m) at *points* (n x f).

    *doubt*: places that contradict all others have no say in them.
    """
    factor = cho_factor(covariance(points, noise(values, doubt)))
    return [Kriging(points, each) for each in cho_solve(factor, values).T]


def left_out(
    points: Array, values: Array, groups: npt.NDArray[np.int64], doubt: bool = False
) -> Array:
    """Errors (measured minus predicted) of *values* (n x m), each group left out in turn.

    Exactly those of fits without the group (whether a place is doubted is not judged anew).
    """
    inverse = np.linalg.inv(covariance(points, noise(values, doubt)))
    weighted = inverse @ values
    if len(np.unique(groups)) == len(groups):
        alone: Array = weighted / np.diag(inverse)[:, None]
        return alone
    errors = np.empty_like(values)
    for group in np.unique(groups):
        mine = np.flatnonzero(groups == group)
        errors[mine] = np.linalg.solve(inverse[np.ix_(mine, mine)], weighted[mine])
    return errors
