"""Arrivals: when requests are sent.  A closed loop waits for answers; an open stream does not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jalapeno.errors import BadScenario
from jalapeno.simulation.clock import DAY, DAYS
from jalapeno.simulation.columns import NEVER, PICOSECONDS
from jalapeno.simulation.streams import ARRIVALS, stream
from jalapeno.simulation.trace import Trace

Integers = npt.NDArray[np.int64]

MOST_CV, STEADY = 100.0, 1e-6
"""Beyond the one nearly all gaps are zero to the last digit, below the other all are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoop:
    """A fixed number of requests in flight: whoever finishes is followed by the next at once.

    A first-in first-out semaphore, as InferenceX's client has it.
    """

    concurrency: int

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise BadScenario(f"concurrency must be at least 1, got {self.concurrency}")

    @property
    def label(self) -> str:
        """In a few words."""
        return f"closed loop, {self.concurrency:,} in flight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisson:
    """Requests arrive at random, independent of the answers."""

    rate: float
    """Requests a second."""

    def __post_init__(self) -> None:
        _check_rate(self.rate)

    @property
    def label(self) -> str:
        """In a few words."""
        return f"open loop, {self.rate:g} requests/s at random (Poisson)"

    def times(self, count: int, seed: int) -> Integers:
        """Arrival times of *count* requests, picoseconds."""
        return _added(stream(seed, ARRIVALS).exponential(1.0 / self.rate, size=count))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gamma:
    """Requests arrive in bursts, or more evenly than at random, independent of the answers.

    Gaps are gamma distributed with shape ``1 / cv^2`` and mean ``1 / rate``: *cv* is their
    standard deviation over their mean.  1 is Poisson, request by request; above it arrivals come
    in bursts; 0 is a steady beat.  A longer stream begins with the shorter one.
    """

    rate: float
    """Requests a second."""
    cv: float

    def __post_init__(self) -> None:
        _check_rate(self.rate)
        if not 0.0 <= self.cv <= MOST_CV:
            raise BadScenario(f"cv of the gaps must be 0 to {MOST_CV:g}, got {self.cv}")

    @property
    def label(self) -> str:
        """In a few words."""
        return f"open loop, {self.rate:g} requests/s, gaps of cv {self.cv:g} (gamma)"

    def times(self, count: int, seed: int) -> Integers:
        """Arrival times of *count* requests, picoseconds."""
        if self.cv < STEADY:
            return _added(np.full(count, 1.0 / self.rate))
        shape = self.cv**-2
        gaps = stream(seed, ARRIVALS).standard_gamma(shape, size=count)
        return _added(gaps * (1.0 / (self.rate * shape)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTimes:
    """Requests arrive when those of a trace did, *speed* times as fast; the first one at once."""

    trace: Trace
    speed: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.speed < math.inf:
            raise BadScenario(f"speed must be positive and finite, got {self.speed}")

    @property
    def label(self) -> str:
        """In a few words."""
        how = "" if self.speed == 1.0 else f" sped up {self.speed:g} times"
        return f"open loop, times of {self.trace.name}{how}"

    def check(self, count: int) -> None:
        """Raise :class:`BadScenario` where the trace has fewer than *count* requests."""
        if count > len(self.trace):
            raise BadScenario(
                f"{self.trace.name} has the times of {len(self.trace):,} requests, {count:,} are "
                "asked for: ask for fewer, or give a rate"
            )

    def times(self, count: int, seed: int) -> Integers:
        """Arrival times of the first *count* requests, picoseconds, exact to a half.

        The *seed* plays no part.  Raises :class:`BadScenario` where the trace has fewer.
        """
        self.check(count)
        times = self.trace.times[:count]
        if self.speed == 1.0:
            return times.copy()
        _check_clock(float(times[-1]) / self.speed, count)
        # in whole numbers, for the last picoseconds of a day are beyond a float's digits
        over, under = self.speed.as_integer_ratio()
        exact = [(2 * time * under + over) // (2 * over) for time in times.tolist()]
        _check_clock(float(exact[-1]), count)
        return np.array(exact, dtype=np.int64)


OpenLoop = Poisson | Gamma | TraceTimes
Arrivals = ClosedLoop | OpenLoop


def _check_rate(rate: float) -> None:
    if not 0.0 < rate < math.inf:
        raise BadScenario(f"rate must be positive and finite, got {rate}")


def _added(gaps: npt.NDArray[np.float64]) -> Integers:
    """Times at the ends of *gaps* (s), in whole picoseconds."""
    with np.errstate(over="ignore"):  # it is refused in a moment
        times = np.rint(np.cumsum(gaps) * PICOSECONDS)
    _check_clock(float(times[-1]), len(times))
    return times.astype(np.int64)


def _check_clock(last: float, count: int) -> None:
    if not last < NEVER:
        raise BadScenario(
            f"the last of {count:,} requests would come after {last / DAY:,.4g} days; "
            f"the clock ends after {DAYS:.0f}: raise the rate or send fewer"
        )
