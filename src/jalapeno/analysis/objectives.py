"""What is wanted of a deployment: tokens for a chip, a kilowatt or a dollar, within limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from jalapeno.catalogue import Fact, Kind, Tariff
from jalapeno.errors import UsageError
from jalapeno.metrics import Distribution, Report


class Per(StrEnum):
    """What throughput is divided by."""

    CHIP = "chip"
    TDP = "tdp"
    """A kilowatt of the package's thermal design power: the vendor's denominator."""
    PACKAGE = "package"
    """A kilowatt that the modelled packages draw."""
    ALL_IN = "all-in"
    """A kilowatt of IT power: package, host, network, conversion."""
    FACILITY = "facility"
    """A kilowatt of the facility: IT power times PUE."""
    DOLLAR = "dollar"
    """A dollar at the tariff's price of a chip-hour."""


UNITS: Mapping[Per, str] = {
    Per.CHIP: "token/s/chip",
    Per.TDP: "token/s/kW of package TDP",
    Per.PACKAGE: "token/s/kW of modelled package draw",
    Per.ALL_IN: "token/s/kW of all-in IT power",
    Per.FACILITY: "token/s/kW of facility power",
    Per.DOLLAR: "Mtoken/$",
}
"""Tokens are mixed: prompt and answer."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Throughput for a denominator, with its range and the weakest evidence for the denominator."""

    value: float
    low: float
    high: float
    kind: Kind

    @property
    def certain(self) -> bool:
        """Whether nothing is said about a range."""
        return self.low == self.high


def rate(per: Per, tokens_per_s: float, watts: float, tariff: Tariff, drawn: Kind) -> Rate:
    """*tokens_per_s* of a chip that draws *watts*, for the denominator *per*.

    The range is the tariff's: from low to high where it states them, else what other sources say.
    *drawn*: the evidence for *watts*.  Raises nothing; a chip that draws nothing has rate infinity.
    """
    match per:
        case Per.CHIP:
            return Rate(tokens_per_s, tokens_per_s, tokens_per_s, Kind.DERIVED)
        case Per.PACKAGE:
            value = tokens_per_s / (watts / 1e3) if watts else float("inf")
            return Rate(value, value, value, drawn)
        case Per.DOLLAR:
            return _over(3600.0 * tokens_per_s / 1e6, tariff, "price")
        case Per.TDP:
            return _over(1e3 * tokens_per_s, tariff, "tdp")
        case Per.ALL_IN:
            return _over(1e3 * tokens_per_s, tariff, "all_in")
        case Per.FACILITY:
            return _over(1e3 * tokens_per_s, tariff, "all_in", "pue")


def _over(amount: float, tariff: Tariff, *names: str) -> Rate:
    """*amount* over the product of the tariff's facts of these *names*, from dear to cheap."""
    value, low, high, kind = amount, amount, amount, Kind.MEASURED
    for name in names:
        own = float(getattr(tariff, name))
        least, most = bounds(tariff.facts.get(name), own)
        value, low, high = value / own, low / most, high / least
        # a tariff made by hand, without facts, is assumed
        kind = max(kind, tariff.facts[name].kind if name in tariff.facts else Kind.ASSUMED)
    return Rate(value, low, high, kind)


def bounds(fact: Fact | None, value: float) -> tuple[float, float]:
    """(least, most) of *fact*: its range, or what other sources say, its own *value* included."""
    if fact is None:
        return value, value
    ends = [end for end in (fact.low, fact.high) if end is not None]
    said = ends or [other.value for other in fact.alternatives]
    return min([value, *said]), max([value, *said])


PERCENTILES: Mapping[str, str] = {
    "mean": "mean",
    "p50": "median",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p999",
}
"""How a percentile is written, and its name in a distribution."""


def percentile(name: str) -> str:
    """The percentile called *name*, "99" or "p99"; :class:`UsageError` lists them."""
    found = name if name in PERCENTILES else f"p{name}"
    if found not in PERCENTILES:
        raise UsageError(f"no percentile {name!r}; there are {', '.join(PERCENTILES)}")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """An upper limit on one latency, at a percentile over requests."""

    what: str
    """``ttft``, ``tbt`` or ``e2e``."""
    at: str
    """One of :data:`PERCENTILES`."""
    ms: float
    said: str = ""
    """The limit in words where it was asked otherwise."""

    def __post_init__(self) -> None:
        percentile(self.at)
        if not 0.0 < self.ms < float("inf"):
            raise UsageError(f"a limit on {self.what} must be positive, got {self.ms:g} ms")

    def value(self, report: Report) -> float:
        """What the run of *report* has there, ms."""
        latency = report.latency
        found: Distribution = {
            "ttft": latency.ttft_ms,
            "tbt": latency.tpot_ms,
            "e2e": latency.e2e_ms,
        }[self.what]
        return float(getattr(found, PERCENTILES[self.at]))

    def holds(self, report: Report) -> bool:
        """Whether the run keeps it."""
        return self.value(report) <= self.ms

    @property
    def name(self) -> str:
        """Such as ``P99 TTFT``."""
        return f"{self.at if self.at == 'mean' else self.at.upper()} {self.what.upper()}"

    @property
    def label(self) -> str:
        """Such as ``P99 TTFT at most 2,000 ms``."""
        return self.said or f"{self.name} at most {self.ms:,.9g} ms"


def speed_limit(tokens_per_s_per_user: float, at: str = "mean") -> Limit:
    """At least so many tokens a second for a user: 1000 / TBT in ms, at the percentile *at*."""
    if not 0.0 < tokens_per_s_per_user < float("inf"):
        raise UsageError(f"a speed must be positive, got {tokens_per_s_per_user:g} token/s/user")
    where = "" if at == "mean" else f" ({at.upper()} TBT)"
    return Limit(
        what="tbt",
        at=at,
        ms=1e3 / tokens_per_s_per_user,
        said=f"at least {tokens_per_s_per_user:,.9g} token/s/user{where}",
    )
