"""Certainty: what the data fix of the unknowns, and what they leave open.

All of it is linear around the solution: in logarithms, with the derivatives and the robust weights
that the fit ended with.  The covariance takes points as independent.  Points of one curve are not,
so :mod:`.bootstrap` resamples whole curves; an interval is the wider of both.

Where two constants trade off along a curved valley both are too sure of themselves, and the pair
is what to look at: its correlation is told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jalapeno.analysis.calibration.constants import Constant
from jalapeno.analysis.calibration.fit import Fit, soft, soft_slope
from jalapeno.analysis.calibration.residuals import SCALE, Floats

NINETY = 1.6448536269514722
"""Standard deviations on either side of the mean that hold 90 % of a normal distribution."""

TOGETHER = 0.9
"""Correlation from which two constants are named as a pair."""

TELLING = 0.3
"""Component of a direction from which a constant is named in it."""

EDGE = 1e-3
"""Distance in logarithms at which a constant counts as at its bound."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two constants that the data hardly tell apart."""

    first: str
    second: str
    correlation: float
    fixed: str
    """What of the two the data fix: ``sum``, ``product`` or ``ratio``."""

    def __str__(self) -> str:
        return (
            f"{self.first} and {self.second}: correlation {self.correlation:.2f}: "
            f"the data fix their {self.fixed}"
        )


@dataclass(frozen=True, slots=True)
class Direction:
    """A combination of which the data say less than was known before them."""

    parts: tuple[tuple[str, float], ...]
    """Constants and their components, largest first, the first above zero."""
    share: float
    """Precision that the data have of it over that of priors and bounds; below one."""

    def __str__(self) -> str:
        if len(self.parts) == 1:
            return f"{self.parts[0][0]}: the data say less of it than its prior or its bounds"
        ups = [name for name, size in self.parts if size > 0.0]
        downs = [name for name, size in self.parts if size < 0.0]
        told = f"{_listed(ups)} up" + (f" with {_listed(downs)} down" if downs else " together")
        return f"{told}: the data do not tell it apart"


@dataclass(frozen=True, slots=True)
class Certainty:
    """What is known of the unknowns, in logarithms."""

    constants: tuple[Constant, ...]
    x: Floats
    covariance: Floats
    spread: float
    """Standard deviation of what is left over of a residual after the robust weights."""
    effective: float
    """Unknowns that the data determine: the trace of what maps measured onto fitted."""
    learnt: Floats
    """Share of each unknown's variance before the data (prior or bounds) that they took away."""
    open: tuple[Direction, ...]
    """Combinations that the data do not tell apart, the least known first."""

    @property
    def errors(self) -> Floats:
        """Standard errors of the logarithms."""
        found: Floats = np.sqrt(np.diag(self.covariance))
        return found

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """90 % intervals of the values, no further than the bounds."""
        reach = NINETY * self.errors
        return within(self.constants, self.x, self.x - reach, self.x + reach)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Pairs of constants with a correlation beyond :data:`TOGETHER`, closest first."""
        errors = self.errors
        found = []
        for i, one in enumerate(self.constants):
            for j in range(i):
                other, both = self.constants[j], self.covariance[i, j] / (errors[i] * errors[j])
                if abs(both) > TOGETHER:
                    fixed = what_is_fixed(other, one, float(both))
                    found.append(Pair(other.path, one.path, float(both), fixed))
        return tuple(sorted(found, key=lambda pair: -abs(pair.correlation)))

    def at_bound(self, place: int) -> bool:
        """Whether the constant at *place* lies at one of its bounds."""
        constant, x = self.constants[place], float(self.x[place])
        edges = (math.log(constant.low), math.log(constant.high))
        return min(abs(x - edge) for edge in edges) < EDGE


def certainty(fit: Fit) -> Certainty:
    """Covariance of *fit*'s unknowns: the inverse of ``J'J / s^2 + priors``.

    J are the derivatives times the slope of the soft loss; ``s^2`` is the variance of what is left
    over, ``sum soft^2 / (residuals - effective unknowns)``; a prior counts by its spread.
    Of a constant without one all is known that its bounds say, as of a uniform distribution between
    them.  So an unknown that no point concerns keeps the spread it had before, and every matrix can
    be inverted.
    """
    constants = fit.problem.constants
    jacobian = weighted_slopes(fit)
    left = soft(fit.left)
    before = prior_precision(fit)
    data = jacobian.T @ jacobian
    effective = float(np.trace(np.linalg.solve(data / SCALE**2 + before, data / SCALE**2)))
    counted = 2 * int(fit.answered.sum())
    spread = math.sqrt(float((left**2).sum()) / max(counted - effective, 1.0))
    normal = data / max(spread, 1e-9) ** 2
    covariance = np.linalg.inv(normal + before).astype(np.float64)
    widths = np.array([width(constant) for constant in constants])
    return Certainty(
        constants=constants,
        x=fit.x,
        covariance=covariance,
        spread=spread,
        effective=effective,
        learnt=1.0 - np.diag(covariance) / widths**2,
        open=open_directions(constants, normal, widths),
    )


def weighted_slopes(fit: Fit) -> Floats:
    """(2 rows, unknowns): derivatives of the residuals after the soft loss; nothing for rows
    without an answer."""
    found = soft_slope(fit.left)[:, :, None] * np.nan_to_num(fit.slopes)
    found[~fit.answered] = 0.0
    return found.reshape(-1, found.shape[2])


def prior_precision(fit: Fit) -> Floats:
    """(unknowns, unknowns): inverse covariance before any point, of priors, peaks and bounds."""
    slopes = fit.problem.prior_slopes(fit.x) / SCALE
    free = [
        0.0 if math.isfinite(constant.spread) else width(constant) ** -2
        for constant in fit.problem.constants
    ]
    found: Floats = slopes.T @ slopes + np.diag(free)
    return found


def width(constant: Constant) -> float:
    """Standard deviation of the logarithm before any point: the prior's, or of a uniform
    distribution between the bounds."""
    if math.isfinite(constant.spread):
        return constant.spread
    return math.log(constant.high / constant.low) / math.sqrt(12.0)


def open_directions(
    constants: Sequence[Constant], normal: Floats, widths: Floats
) -> tuple[Direction, ...]:
    """Eigenvectors of the normal matrix, in units of *widths*, whose eigenvalue is below one."""
    values, vectors = np.linalg.eigh(normal * np.outer(widths, widths))
    found = []
    for value, vector in zip(values, vectors.T, strict=True):
        if value >= 1.0:
            break
        order = np.argsort(-np.abs(vector))
        sign = math.copysign(1.0, vector[order[0]])
        parts = [
            (constants[place].path, float(sign * vector[place]))
            for place in order
            if abs(vector[place]) >= TELLING or place == order[0]
        ]
        found.append(Direction(tuple(parts), max(float(value), 0.0)))
    return tuple(found)


def what_is_fixed(one: Constant, other: Constant, correlation: float) -> str:
    """What of two correlated constants is known better than they are.

    Of logarithms it is the sum, hence a product, where the correlation is negative, and the ratio
    where it is positive; times trade off by their sum.
    """
    if correlation > 0.0:
        return "ratio"
    return "sum" if is_time(one) and is_time(other) else "product"


def is_time(constant: Constant) -> bool:
    """Whether it is a time, in seconds; all others are shares and factors."""
    return not constant.table and not constant.path.endswith(("efficiency", "share"))


def within(
    constants: Sequence[Constant], x: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Values of *low* and *high* (logarithms), no further than the bounds and around *x*."""
    least = np.log([constant.low for constant in constants])
    most = np.log([constant.high for constant in constants])
    return (
        np.exp(np.minimum(np.maximum(low, least), x)),
        np.exp(np.maximum(np.minimum(high, most), x)),
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
