"""Words for systems, models and published numbers, and what a run is in short."""

from __future__ import annotations

from collections.abc import Mapping

from jalapeno import catalogue
from jalapeno.analysis.reproduction import UNITS, Outcome
from jalapeno.metrics import Report
from jalapeno.presentation.digits import counted, percent
from jalapeno.presentation.report_tables import label_word
from jalapeno.simulation import ClosedLoop, Gamma, Poisson, Scenario, TraceTimes

OBJECTIVES: Mapping[str, str] = {
    "peak": "highest mixed throughput",
    "min_e2e": "lowest mean end-to-end latency",
    "min_tbt": "lowest mean TBT",
    "at_reference_tbt": "mixed throughput at the reference's best mean TBT",
}
"""The four published numbers, in words."""

SHORT: Mapping[str, str] = {
    "peak": "peak",
    "min_e2e": "lowest E2E",
    "min_tbt": "lowest TBT",
    "at_reference_tbt": "at reference TBT",
}
"""The same for narrow places."""

SMALL = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
"""Numbers that are written in words."""

TELLING = 0.05
"""Shares of the time below this are not worth a word in one line."""


def unit_of(objective: str) -> str:
    """Unit of a published number."""
    return UNITS[objective]


def system_title(name: str) -> str:
    """What a system is called: ``Jalapeño rack``."""
    return catalogue.system(name).title


def model_title(name: str) -> str:
    """What a model is called."""
    return catalogue.model(name).title


def spelt(count: int) -> str:
    """A small number in words."""
    return SMALL[count] if count < len(SMALL) else f"{count:,}"


def load(scenario: Scenario) -> str:
    """The load in short: requests in flight, or a second."""
    arrivals = scenario.traffic.arrivals
    match arrivals:
        case ClosedLoop(concurrency=concurrency):
            return f"{concurrency:,}"
        case TraceTimes(trace=trace, speed=speed):
            return f"{trace.requests_per_s * speed:.3g}/s"
        case Poisson(rate=rate) | Gamma(rate=rate):
            return f"{rate:g}/s"


def budget(scenario: Scenario) -> str:
    """Token budget of a step of each pool: ``8,448 + 16``."""
    return " + ".join(f"{pool.plan.max_tokens:,}" for pool in scenario.pools)


def where_time_goes(report: Report) -> str:
    """The parts that the mean E2E is spent on, largest first: ``memory 52.1 %, issue 20.3 %``."""
    parts = report.attribution.e2e_by_part_ms
    whole = sum(parts.values())
    telling = sorted(
        ((value, part) for part, value in parts.items() if value >= TELLING * whole), reverse=True
    )
    return ", ".join(f"{label_word(part)} {percent(value / whole)} %" for value, part in telling)


def laws_held(outcome: Outcome) -> str:
    """How many conservation laws hold, and the names of those that do not."""
    checks = outcome.report.checks
    broken = [check.name for check in checks if not check.holds]
    held = f"{len(checks) - len(broken)} of {counted(len(checks), 'law')}"
    return f"{held}; BROKEN: {', '.join(broken)}" if broken else held
