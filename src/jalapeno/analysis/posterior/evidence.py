"""The evidence: what was published of Jalapeño with a number, and how precisely it was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jalapeno import catalogue
from jalapeno.analysis.published import FIXED_CHIPS
from jalapeno.catalogue import Claim
from jalapeno.mapping import Plan

WITH_MTP = "deepseek-r1-mtp"
"""The comparison whose reference predicts several tokens at once, which Jalapeño did not."""

WATTS = 550.0
"""OpenAI, first results, 25 August 2026: no more than this sustained in the published runs."""

LATENCIES = ("min_e2e", "min_tbt")
"""Objectives of one request in flight, where less is better."""

EP8 = 8
"""Hot Chips 2026: the points of gpt-oss-120b at high concurrency used EP8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One published number."""

    model: str
    objective: str
    """One of ``peak``, ``min_e2e``, ``min_tbt``, ``at_reference_tbt``."""
    value: float
    """token/s/kW of package TDP, or seconds."""
    rounding: float
    """Half a unit of the last digit that was written, as a share."""
    limit: float
    """Mean TBT that must be kept, seconds; infinite where there is none."""
    source: str
    derived: bool = False
    """True for what was not published as a number of its own: predicted, and no evidence."""

    @property
    def name(self) -> str:
        """Model and objective; with its TBT where a model has two."""
        if self.limit < float("inf"):
            return f"{self.model}/at {self.limit * 1e3:.2f} ms"
        return f"{self.model}/{self.objective}"

    @property
    def is_latency(self) -> bool:
        """Whether less is better."""
        return self.objective in LATENCIES

    def allows(self, plan: Plan) -> bool:
        """Whether what was published of this number's plan holds for *plan*."""
        chips = FIXED_CHIPS.get((self.model, self.objective))
        if chips is not None and plan.chips != chips:
            return False
        return (self.model, self.objective) != ("gpt-oss-120b", "peak") or plan.ep == EP8


def half_a_digit(text: str) -> float:
    """Half a unit of the last digit of a number written as *text*, as a share of it."""
    digits = text.split()[0]
    decimals = len(digits.partition(".")[2])
    return 0.5 * 10.0**-decimals / float(digits)


ADVANTAGE_ROUNDING = 0.05 / 8.6
"""8.6 times, written with one decimal."""


def published_numbers() -> tuple[Published, ...]:
    """The twelve numbers of the three comparisons, and the one at the TBT of the MTP reference.

    That one is no number that anybody published but a published ratio of two digits times a row
    that the twin's authors chose: it is kept out of the evidence and predicted.
    """
    claims = [catalogue.claim(name) for name in catalogue.names("claims")]
    found = [number for claim in claims if claim.name == claim.model for number in _numbers(claim)]
    mtp = catalogue.claim(WITH_MTP)
    found.append(
        Published(
            model=mtp.model,
            objective="at_reference_tbt",
            value=mtp.tps_per_kw_at_reference_tbt,
            rounding=ADVANTAGE_ROUNDING,
            limit=mtp.reference_min_tbt,
            source=mtp.facts["tps_per_kw_at_reference_tbt"].source,
            derived=True,
        )
    )
    return tuple(found)


_FIELDS: Mapping[str, Callable[[Claim], float]] = {
    "peak": lambda claim: claim.peak_tps_per_kw,
    "min_e2e": lambda claim: claim.min_e2e,
    "min_tbt": lambda claim: claim.min_tbt,
    "at_reference_tbt": lambda claim: claim.tps_per_kw_at_reference_tbt,
}
_NAMES = {
    "peak": "peak_tps_per_kw",
    "min_e2e": "min_e2e",
    "min_tbt": "min_tbt",
    "at_reference_tbt": "tps_per_kw_at_reference_tbt",
}


def _numbers(claim: Claim) -> list[Published]:
    return [
        Published(
            model=claim.model,
            objective=objective,
            value=read(claim),
            rounding=half_a_digit(claim.facts[_NAMES[objective]].text),
            limit=claim.reference_min_tbt if objective == "at_reference_tbt" else float("inf"),
            source=claim.facts[_NAMES[objective]].source,
        )
        for objective, read in _FIELDS.items()
    ]
