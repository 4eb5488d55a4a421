"""Demand: how many requests come, how unevenly, and how many must be looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jalapeno.analysis.slo import CLOSING, WARM, Slo
from jalapeno.errors import UsageError
from jalapeno.simulation import Gamma, Poisson

BEYOND = 20
"""Requests above the percentile at the least: it is then known to about a quarter of what lies
above it (1 / sqrt(20))."""

TURNS = 10
"""Requests for every one in flight at the least, so that a run outlasts its ramps: InferenceX sends
as many."""

MOST_WIDER = 4.0
"""Bursts make neighbours alike, so more requests are looked at: as many times as the variance of
the gaps is larger than of Poisson arrivals, up to this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """An open load: requests come independently of the answers."""

    rate: float
    """Requests a second."""
    burst: float = 1.0
    """Standard deviation of the gaps over their mean: 1 is Poisson, more comes in bursts."""
    spare: int = 0
    """Replicas that may be lost without breaking a limit (N+k)."""

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < math.inf:
            raise UsageError(f"the rate must be positive, got {self.rate:g} requests/s")
        if self.spare < 0:
            raise UsageError(f"spare replicas must be at least 0, got {self.spare}")
        self.arrivals(self.rate)  # refuses a burst that is none

    def arrivals(self, rate: float) -> Poisson | Gamma:
        """Arrivals of this unevenness at *rate* requests a second."""
        return Poisson(rate=rate) if self.burst == 1.0 else Gamma(rate=rate, cv=self.burst)

    def requests(self, slo: Slo, in_flight: float) -> int:
        """Requests of a run that shows the percentiles of *slo* with *in_flight* in flight."""
        wider = min(max(1.0, self.burst**2), MOST_WIDER)
        judged = BEYOND / (1.0 - slo.percentile / 100.0) * wider
        return math.ceil(max(judged / (CLOSING - WARM), TURNS * in_flight))
