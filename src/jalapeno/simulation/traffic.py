"""Traffic: which requests come, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jalapeno.errors import BadScenario
from jalapeno.simulation.arrivals import Arrivals, ClosedLoop, Gamma, Poisson, TraceTimes
from jalapeno.simulation.lengths import AnyLengths, Lengths, LogNormal, TraceLengths

__all__ = [
    "AnyLengths",
    "Arrivals",
    "ClosedLoop",
    "Gamma",
    "Lengths",
    "LogNormal",
    "Poisson",
    "TraceLengths",
    "TraceTimes",
    "Traffic",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The requests of a run."""

    lengths: AnyLengths
    arrivals: Arrivals
    requests: int

    def __post_init__(self) -> None:
        if self.requests < 1:
            raise BadScenario(f"requests must be at least 1, got {self.requests}")
        if isinstance(self.arrivals, TraceTimes):
            self.arrivals.times(self.requests, 0)  # refuses more than there are

    @property
    def repeats(self) -> bool:
        """Whether a trace's lengths are used more than once, because more requests are asked for."""
        lengths = self.lengths
        in_order = isinstance(lengths, TraceLengths) and lengths.seed is None
        return in_order and self.requests > len(lengths.trace)

    def reseeded(self, seed: int) -> Traffic:
        """The same traffic with lengths drawn under another *seed*, where they are drawn."""
        if isinstance(self.lengths, TraceLengths) and self.lengths.seed is None:
            return self
        return replace(self, lengths=replace(self.lengths, seed=seed))
