"""Distribution: mean, percentiles and ends of a quantity; and what is undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
PICOSECONDS_A_MS = 1e9


@dataclass(frozen=True, slots=True)
class Distribution:
    """A quantity over many samples, in the unit that the name of the field says.

    Percentiles are interpolated linearly between order statistics, as ``numpy.percentile`` does
    by default and with it InferenceX's client (benchmark_serving.py).  Without a sample all are
    NaN.
    """

    mean: float
    median: float
    p90: float
    p95: float
    p99: float
    p999: float
    min: float
    max: float

    @classmethod
    def of(cls, mean: float, percentiles: Iterable[float], ends: tuple[float, float]) -> Self:
        """From the mean, what stands at the :data:`PERCENTILES`, and (min, max)."""
        median, p90, p95, p99, p999 = (float(value) for value in percentiles)
        least, most = (float(end) for end in ends)
        return cls(mean, median, p90, p95, p99, p999, least, most)


UNDEFINED = Distribution.of(math.nan, [math.nan] * len(PERCENTILES), (math.nan, math.nan))
"""The distribution of nothing."""


def distribution(values: Floats) -> Distribution:
    """Describe *values*."""
    if not len(values):
        return UNDEFINED
    middle = np.percentile(values, PERCENTILES)
    return Distribution.of(float(np.mean(values)), middle, (values.min(), values.max()))


def milliseconds(picoseconds: Integers) -> Floats:
    """Integer times of a journal in ms; exact below 2^53 ps, which is 2.5 hours."""
    return picoseconds / PICOSECONDS_A_MS


def ratio(amount: float, base: float) -> float:
    """``amount / base``, NaN where there is no base."""
    return amount / base if base else math.nan


def exact_dot(counts: Integers, times: Integers) -> int:
    """``sum(counts x times)`` without overflow, for counts that sum to less than 2^31.

    A million answers of a thousand tokens at 10 ms each are 1e19 ps, which int64 cannot hold;
    the halves of the times are summed apart.
    """
    high, low = times >> 32, times & 0xFFFFFFFF
    return (int(np.dot(counts, high)) << 32) + int(np.dot(counts, low))
