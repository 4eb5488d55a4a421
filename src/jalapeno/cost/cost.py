"""Cost: what an operator, a step or a run takes, with where the time went and how sure we are.

``a + b`` is *a, then b*.  ``a | b`` is *a while b*: the longer one counts and the shorter hides
behind it, but the busy seconds and the joules of both are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jalapeno.catalogue import Kind

PARTS = ("matrix", "vector", "memory", "communication", "issue", "imbalance", "throttle")
"""What bound the time: the engine that was waited for, exposed communication, issue and host
overhead, waiting for the slowest rank, and the clock held down by the power cap."""

RESOURCES = ("matrix", "vector", "memory", "link")
"""What can be busy, whether anything waited for it or not."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds and joules of one chip.  ``parts`` add up to ``seconds``; ``busy`` need not."""

    seconds: float = 0.0
    joules: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    kind: Kind = Kind.MEASURED

    @classmethod
    def of(cls, part: str, seconds: float, joules: float = 0.0, kind: Kind = Kind.MEASURED) -> Cost:
        """A cost bound by one part; the resource of that name (if it is one) is busy throughout."""
        resource = "link" if part == "communication" else part
        busy = {resource: seconds} if resource in RESOURCES else {}
        return cls(seconds, joules, {part: seconds}, busy, kind)

    def __add__(self, other: Cost) -> Cost:
        """This, then *other*."""
        return Cost(
            self.seconds + other.seconds,
            self.joules + other.joules,
            _sum(self.parts, other.parts),
            _sum(self.busy, other.busy),
            max(self.kind, other.kind),
        )

    def __or__(self, other: Cost) -> Cost:
        """This while *other*: the longer is exposed; of two equal ones, this."""
        longer = self if self.seconds >= other.seconds else other
        return Cost(
            longer.seconds,
            self.joules + other.joules,
            dict(longer.parts),
            _sum(self.busy, other.busy),
            max(self.kind, other.kind),
        )

    def __mul__(self, times: float) -> Cost:
        """This, *times* times over."""
        return Cost(
            self.seconds * times,
            self.joules * times,
            {name: value * times for name, value in self.parts.items()},
            {name: value * times for name, value in self.busy.items()},
            self.kind,
        )


def _sum(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in {**a, **b}}
