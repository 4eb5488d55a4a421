"""Traffic: which requests come, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jalapeno.errors import BadScenario
from jalapeno.simulation.arrivals import Arrivals, TraceTimes
from jalapeno.simulation.lengths import AnyLengths, TraceLengths

MOST_REQUESTS = 10_000_000
"""Of one run: half a kilobyte each while it runs, and some more when it is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The requests of a run."""

    lengths: AnyLengths
    arrivals: Arrivals
    requests: int

    def __post_init__(self) -> None:
        if self.requests < 1:
            raise BadScenario(f"requests must be at least 1, got {self.requests}")
        if self.requests > MOST_REQUESTS:
            raise BadScenario(
                f"requests must be at most {MOST_REQUESTS:,}, got {self.requests:,}: a run keeps "
                "all of them in memory"
            )
        if isinstance(self.arrivals, TraceTimes):
            self.arrivals.check(self.requests)

    @property
    def repeats(self) -> bool:
        """Whether a trace's lengths are used more than once, for there are more requests."""
        lengths = self.lengths
        if not isinstance(lengths, TraceLengths) or lengths.seed is not None:
            return False
        return self.requests > len(lengths.trace)

    def reseeded(self, seed: int) -> Traffic:
        """The same traffic with lengths drawn under another *seed*, where they are drawn."""
        if isinstance(self.lengths, TraceLengths) and self.lengths.seed is None:
            return self
        return replace(self, lengths=replace(self.lengths, seed=seed))
