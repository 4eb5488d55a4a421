"""Interpolation between shapes: kriging of logarithms that a roofline leaves over.

What a roofline misses varies smoothly with the shape.  Kriging (a Gaussian process with the
covariance ``exp(-distance)``; Cressie 1993, ch. 3) predicts it at a shape that was not measured as
a weighted mean of all that were, the nearest weighing most, and far from all of them goes back to
the median: there the calibrated roofline speaks.  Leaving a group of measurements out needs no
refit: with ``Q`` the inverse covariance, the errors of group b are ``Q_bb^-1 (Q y)_b``.
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


@dataclass(frozen=True, slots=True, eq=False)
class Kriging:
    """A field over points in scaled coordinates (one unit is one length of correlation)."""

    points: Array
    """n x f."""
    median: float
    weights: Array
    """``K^-1 (y - median)``."""

    def at(self, points: Array) -> Array:
        """The field at *points* (m x f); beyond the box of the data, that of the box's edge."""
        held = np.clip(points, self.points.min(axis=0), self.points.max(axis=0))
        field: Array = self.median + np.exp(-cdist(held, self.points)) @ self.weights
        return field

    def distance(self, points: Array) -> tuple[Array, Array]:
        """(to the nearest measured point, to the box of all) of each of *points*, in lengths."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        outside = np.maximum(np.maximum(low - points, points - high), 0.0)
        return cdist(points, self.points).min(axis=1), np.sqrt((outside**2).sum(axis=1))


def covariance(points: Array) -> Array:
    """Covariance of measurements at *points* (n x f), noise included."""
    result: Array = np.exp(-cdist(points, points))
    result[np.diag_indices_from(result)] += NUGGET
    return result


def krige(points: Array, values: Array) -> list[Kriging]:
    """Return the fields through each column of *values* (n x m) at *points* (n x f)."""
    medians = np.median(values, axis=0)
    weights = cho_solve(cho_factor(covariance(points)), values - medians)
    return [
        Kriging(points, float(median), each)
        for median, each in zip(medians, weights.T, strict=True)
    ]


def left_out(points: Array, values: Array, groups: npt.NDArray[np.int64]) -> Array:
    """Errors (measured minus predicted) of *values*, n or n x m, each group left out in turn.

    Exactly those of fits without the group, but for the median, which is that of all.
    """
    inverse = np.linalg.inv(covariance(points))
    weighted = inverse @ (values - np.median(values, axis=0))
    errors = np.empty_like(values)
    for group in np.unique(groups):
        mine = np.flatnonzero(groups == group)
        errors[mine] = np.linalg.solve(inverse[np.ix_(mine, mine)], weighted[mine])
    return errors
