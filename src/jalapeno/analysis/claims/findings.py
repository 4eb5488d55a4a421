"""One finding: Jalapeño over a baseline, by one metric and one denominator."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jalapeno.analysis.bill import Range
from jalapeno.analysis.claims.denominators import Denominator
from jalapeno.analysis.claims.verdict import Verdict
from jalapeno.catalogue import Kind


class Metric(StrEnum):
    """What is compared."""

    PEAK = "peak throughput"
    """Each at its best, at whatever speed a user: Jalapeño's is not published."""
    SAME_SPEED = "throughput at one speed"
    """Both at a speed a user at which Jalapeño's throughput is published."""
    OUTRIGHT = "throughput at that speed against the other's peak"
    """Jalapeño at that speed, the baseline at whatever speed suits it."""
    E2E = "lowest end-to-end latency"
    TBT = "lowest time between tokens"

    @property
    def is_time(self) -> bool:
        """Whether less is better, and there is nothing to divide by."""
        return self in (Metric.E2E, Metric.TBT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A ratio, what it rests on, and the sentence that it supports or does not."""

    model: str
    claim: str
    """Name of the claim whose numbers of Jalapeño these are."""
    baseline: str
    system: str
    precision: str
    mtp: bool
    equal_precision: bool
    metric: Metric
    per: Denominator | None
    """None for times."""
    speed: float | None
    """Tokens a second and user, for the two metrics that have one."""
    jalapeno: Range
    """Tokens a second for each unit of the denominator, tokens for a dollar, or seconds."""
    reference: Range
    ratio: Range
    """More than 1: Jalapeño is better."""
    least: bool
    """True where the ratio is a lower bound: the baseline has no row as fast as this."""
    verdict: Verdict
    sentence: str
    sources: tuple[str, ...]
    """Jalapeño's number, then the baseline's."""

    @property
    def kind(self) -> Kind:
        """The weakest evidence in it."""
        return self.ratio.kind
