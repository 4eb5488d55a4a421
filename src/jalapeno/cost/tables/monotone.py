"""More work never costs less: noise that says otherwise is taken out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def monotone(seconds: Array) -> Array:
    """Return *seconds* made non-decreasing along every axis.

    The geometric mean of the least monotone array above it and the greatest below it; both are
    monotone, so their mean is; what is monotone already stays as it is.
    """
    above, below = seconds, seconds
    for axis in range(seconds.ndim):
        above = np.maximum.accumulate(above, axis=axis)
        below = np.flip(np.minimum.accumulate(np.flip(below, axis), axis=axis), axis)
    return np.where(above == below, seconds, np.sqrt(above * below))
