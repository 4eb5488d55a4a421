"""A calibrated roofline: what is achieved of the datasheet, a few constants a family and dtype.

``t = ((matrix / e_m)^p + (memory / e_b)^p)^(1/p) + floor + waves x wave + depth x step +
passes / e_q``: a soft maximum of the two engines, a fixed cost (launch, first fill), what each
work item adds, what a core does one after the other, and passes before the operator.  Each term
grows with the work, so more work never costs less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from jalapeno.cost.tables.work import Work
from jalapeno.errors import BadTable

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Roofline:
    """Constants of one family and dtype."""

    matrix_efficiency: float
    """Share of the matrix peak."""
    memory_efficiency: float
    """Share of the memory bandwidth."""
    sharpness: float
    """p >= 1: 1 adds the two engines, infinity is the classic maximum."""
    floor: float
    """Seconds of every call."""
    wave: float
    """Seconds a wave of work items."""
    step: float
    """Seconds a thousand elements that one core goes through."""
    pass_efficiency: float
    """Share of the memory bandwidth in passes before the operator."""

    def seconds(self, work: Work) -> Array:
        """Seconds of each shape."""
        p = self.sharpness
        matrix = work.matrix / self.matrix_efficiency
        memory = work.memory / self.memory_efficiency
        greater, lesser = np.maximum(matrix, memory), np.minimum(matrix, memory)
        # the greater is taken out, so that no power under- or overflows
        ratio = lesser / np.maximum(greater, 1e-300)
        engines = greater * (1.0 + ratio**p) ** (1.0 / p)
        rest = self.floor + work.waves * self.wave + work.depth * self.step
        result: Array = engines + rest + work.passes / self.pass_efficiency
        return result


_START = Roofline(0.6, 0.7, 2.5, 5e-6, 5e-7, 1e-7, 0.6)
_LOW = Roofline(0.02, 0.05, 1.0, 1e-7, 1e-12, 1e-12, 0.02)
_HIGH = Roofline(1.2, 1.2, 12.0, 1e-4, 1e-4, 1e-4, 20.0)
"""Bounds: efficiencies a little above one allow for clocks above the datasheet's and for caches."""

LEAST_ROWS = 40
"""Fewer measurements than this do not carry seven constants."""


def fit(works: Sequence[Work], seconds: Sequence[Array]) -> Roofline:
    """Return the constants that fit measurements of one or more systems, in logarithms.

    *works* and *seconds*: one entry a system, arrays of one length each.  Least squares with a
    soft L1 loss on ``log(predicted / measured)``.  Raises ``BadTable`` for too few rows.
    """
    count = sum(len(each) for each in seconds)
    if count < LEAST_ROWS:
        raise BadTable(
            f"a roofline of {len(fields(Roofline))} constants needs {LEAST_ROWS} measurements "
            f"or more, there are {count}"
        )
    measured = np.concatenate([np.log(each) for each in seconds])
    joined = Work(*(np.concatenate(parts) for parts in zip(*map(_arrays, works), strict=True)))

    def residuals(logs: Array) -> Array:
        result: Array = np.log(Roofline(*np.exp(logs)).seconds(joined)) - measured
        return result

    bounds = tuple(np.log(np.array(astuple(end))) for end in (_LOW, _HIGH))
    start = np.log(np.array(astuple(_START)))
    found = least_squares(residuals, start, bounds=bounds, loss="soft_l1", f_scale=0.1, max_nfev=60)
    return Roofline(*(float(value) for value in np.exp(found.x)))


def _arrays(work: Work) -> tuple[Array, ...]:
    return (work.matrix, work.memory, work.waves, work.depth, work.passes)
