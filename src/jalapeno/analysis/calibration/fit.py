"""Robust least squares over the points of an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from jalapeno.analysis.calibration.residuals import SCALE, Floats, Problem
from jalapeno.catalogue import Engine
from jalapeno.errors import UsageError

ROUNDS = 12
"""Derivatives made anew at the most, in a full fit."""

SETTLED = 1e-4
"""Relative change of the loss at which a fit ends: what times jump by hides anything finer."""

OnStage = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

Mask = npt.NDArray[np.bool_]
Slopes = npt.NDArray[np.float64]
"""(rows, 2, unknowns)."""


def silent(stage: str, done: int, total: int) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A solved problem."""

    problem: Problem
    x: Floats
    """Logarithms of the unknowns."""
    left: Floats
    """(rows, 2): what is left over, NaN for rows whose plan does not fit."""
    slopes: Slopes
    """(rows, 2, unknowns): derivatives there."""

    @property
    def engine(self) -> Engine:
        """The engine with the fitted values."""
        return self.problem.engine_at(self.x)

    @property
    def values(self) -> Floats:
        """The unknowns' values, in SI."""
        found: Floats = np.exp(self.x)
        return found

    @property
    def answered(self) -> Mask:
        """Rows that were played."""
        return np.asarray(np.isfinite(self.left).all(axis=1), dtype=np.bool_)


def fit(
    problem: Problem,
    on_stage: OnStage = silent,
    rounds_most: int = ROUNDS,
    begin: Floats | None = None,
) -> Fit:
    """Minimise ``sum soft_l1(residuals / 0.1) + sum (priors)^2`` over all rows (scipy, trust
    region), in *rounds_most* evaluations from *begin* (where the entry stands, if None).

    Raises :class:`UsageError` for fewer points than constants.
    """
    needed = sum(constant.table == "" for constant in problem.constants)
    if len(problem.rows) < needed:
        raise UsageError(
            f"{problem.engine.name}: {len(problem.rows)} points cannot tell {needed} constants: "
            "give more rows to fit on"
        )
    unknowns, rounds = len(problem.constants), 0
    last: list[Slopes] = []

    def slopes(x: Floats, left: Floats) -> Slopes:
        nonlocal rounds
        rounds += 1
        stage = f"derivatives, round {rounds}"
        last[:] = [problem.derivatives(x, left, lambda done: on_stage(stage, done, unknowns))]
        return last[0]

    x, left = _solve(
        problem, problem.begin if begin is None else begin, slopes, rounds_most, on_stage
    )
    return Fit(problem, x, left, last[0])


def _solve(
    problem: Problem,
    begin: Floats,
    slopes: Callable[[Floats, Floats], Slopes],
    most: int,
    on_stage: OnStage,
) -> tuple[Floats, Floats]:
    """(unknowns, residuals there) of least loss, in *most* evaluations."""
    count = len(problem.rows)
    low, high = problem.bounds
    seen: dict[bytes, Floats] = {}

    def left_at(x: Floats) -> Floats:
        if x.tobytes() not in seen:
            seen[x.tobytes()] = problem.residuals(x, lambda done: on_stage("points", done, count))
        return seen[x.tobytes()]

    def stacked(x: Floats) -> Floats:
        return np.concatenate([soft(left_at(x)).ravel(), problem.prior(x)])

    def jacobian(x: Floats) -> Floats:
        left = left_at(x)
        own = soft_slope(left)[:, :, None] * np.nan_to_num(slopes(x, left))
        return np.concatenate([own.reshape(-1, len(x)), problem.prior_slopes(x)])

    solved = least_squares(
        stacked,
        np.clip(begin, low + 1e-9, high - 1e-9),
        jac=jacobian,
        bounds=(low, high),
        x_scale=0.3,
        ftol=SETTLED,
        max_nfev=most,
    )
    return solved.x, left_at(solved.x)


def soft(left: Floats) -> Floats:
    """Residuals whose squares add up to the soft L1 loss: ``s sqrt(2 (sqrt(1 + (r/s)^2) - 1))``
    with the sign of r; NaN (a row without an answer) counts nothing."""
    ratio = np.nan_to_num(left) / SCALE
    # root - 1 is ratio^2 / (root + 1), which does not cancel near zero
    root = np.sqrt(1.0 + ratio**2)
    found: Floats = SCALE * ratio * np.sqrt(2.0 / (root + 1.0))
    return found


def soft_slope(left: Floats) -> Floats:
    """Derivative of :func:`soft`: one at zero, falling as one over the root of the residual."""
    ratio = np.nan_to_num(left) / SCALE
    root = np.sqrt(1.0 + ratio**2)
    # (root - 1) = ratio^2 / (root + 1), which does not cancel near zero
    found: Floats = np.sqrt((root + 1.0) / 2.0) / root
    return found
