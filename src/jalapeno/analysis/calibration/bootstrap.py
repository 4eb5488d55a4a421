"""Bootstrap over whole curves: the fit again, on curves drawn with replacement.

A replicate plays nothing.  Residuals are taken as linear around the fit, with its derivatives, and
the robust loss, priors and bounds are those of the fit: the chord method without its new residuals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from jalapeno.analysis.calibration.certainty import Certainty, within
from jalapeno.analysis.calibration.fit import Fit, OnStage, silent, soft, soft_slope
from jalapeno.analysis.calibration.residuals import Floats
from jalapeno.errors import UsageError

STAGE = "curves drawn anew"
EVALUATIONS = 30
"""Of a replicate at the most; each is a product of matrices."""

QUANTILES = (0.05, 0.95)
"""Ends of a 90 % interval."""


def draws(
    fit: Fit, curves: Sequence[str], replicates: int, seed: int, on_stage: OnStage = silent
) -> Floats:
    """(replicates, unknowns): logarithms refitted to as many curves, drawn with replacement.

    *curves* names the curve of each row of *fit*.  All draws are moved by the same amount, so that
    the linear refit of the curves as they are lies at the fit itself.  Raises :class:`UsageError`
    where there is one curve only.
    """
    names, number = np.unique(np.asarray(curves), return_inverse=True)
    if len(names) < 2:
        raise UsageError(
            f"{len(names)} curve: nothing to draw from; use --bootstrap 0, or give points of more "
            "deployments"
        )
    rng = np.random.default_rng(seed)
    as_is = refitted(fit, np.ones(len(number)))
    found = np.empty((replicates, len(fit.x)))
    for place in range(replicates):
        times = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))
        found[place] = fit.x + refitted(fit, times[number].astype(np.float64)) - as_is
        on_stage(STAGE, place + 1, replicates)
    return found


def refitted(fit: Fit, times: npt.NDArray[np.float64]) -> Floats:
    """Logarithms of least loss where each row counts so many *times*, residuals being linear."""
    counts = (times > 0.0) & fit.answered
    left, slopes = fit.left[counts], fit.slopes[counts]
    root = np.sqrt(times[counts])[:, None]
    low, high = fit.problem.bounds

    def stacked(x: Floats) -> Floats:
        own = root * soft(left + slopes @ (x - fit.x))
        return np.concatenate([own.ravel(), fit.problem.prior(x)])

    def jacobian(x: Floats) -> Floats:
        own = (root * soft_slope(left + slopes @ (x - fit.x)))[:, :, None] * slopes
        return np.concatenate([own.reshape(-1, len(x)), fit.problem.prior_slopes(x)])

    begin = np.clip(fit.x, low + 1e-9, high - 1e-9)
    solved = least_squares(
        stacked, begin, jac=jacobian, bounds=(low, high), x_scale=0.3, max_nfev=EVALUATIONS
    )
    found: Floats = solved.x
    return found


def interval(known: Certainty, drawn: Floats | None) -> tuple[Floats, Floats]:
    """90 % intervals of the values: the covariance's, and where *drawn* reach further, theirs.

    Curves differ by more than their points do, which only the draws know; what no curve concerns
    never moves in the draws, which only the covariance knows.
    """
    low, high = known.interval
    if drawn is None or not len(drawn):
        return low, high
    ends = np.quantile(drawn, QUANTILES, axis=0)
    least, most = within(known.constants, known.x, ends[0], ends[1])
    return np.minimum(low, least), np.maximum(high, most)
