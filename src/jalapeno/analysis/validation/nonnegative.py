"""Non-negative fits of relative errors: few constants, each a time or a multiple of one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from jalapeno.errors import UsageError

Floats = npt.NDArray[np.float64]

ROUNDS = 20
FLOOR = 0.03
"""Relative errors below this weigh alike: the noise of a repeated measurement."""


def fit_nonnegative(features: Floats, measured: Floats) -> Floats:
    """Constants c >= 0 that make the mean of ``|features c / measured - 1|`` small.

    *features*: (points, constants); *measured*: (points,), positive.  Non-negative least squares
    (Lawson and Hanson; scipy), reweighted by ``1 / |error|`` until the sum is of absolute errors,
    so that a few pathological points do not bend the rest.  Columns without any entry get zero.
    Raises :class:`UsageError` for fewer points than constants.
    """
    points, constants = features.shape
    if points < constants:
        raise UsageError(
            f"{points} points cannot tell {constants} constants: give more rows to fit on"
        )
    scale = np.abs(features / measured[:, None]).max(axis=0)
    scale[scale == 0.0] = 1.0
    relative = features / measured[:, None] / scale
    weight = np.ones(points)
    found = np.zeros(constants)
    for _ in range(ROUNDS):
        found, _ = nnls(relative * weight[:, None], weight)
        error = np.abs(relative @ found - 1.0)
        weight = 1.0 / np.sqrt(np.maximum(error, FLOOR))
    result: Floats = found / scale
    return result
