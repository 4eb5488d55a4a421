"""The shapes of a reproduction: published numbers beside the twin's, and what lies behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jalapeno.catalogue import Claim, Row
from jalapeno.metrics import Report
from jalapeno.simulation import Scenario

OBJECTIVES = ("peak", "min_e2e", "min_tbt", "at_reference_tbt")
"""The four published numbers of a system: highest mixed TPS/kW, lowest mean end-to-end latency,
lowest mean TBT, highest mixed TPS/kW at a mean TBT no worse than the reference's best."""

UNITS: Mapping[str, str] = {
    "peak": "token/s/kW",
    "min_e2e": "s",
    "min_tbt": "ms",
    "at_reference_tbt": "token/s/kW",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One simulated scenario and its report."""

    name: str
    """Also the name of its folder of raw logs."""
    scenario: Scenario
    report: Report

    @property
    def tps_per_kw(self) -> float:
        """Mixed tokens/s per kW of package TDP, the published denominator."""
        return self.report.power.package_tdp.tokens_per_s_per_kw

    @property
    def tokens_per_s_per_user(self) -> float:
        """1000 / mean TBT in ms."""
        return self.report.latency.mean_tokens_per_s_per_user

    def value(self, objective: str) -> float:
        """The number of this run that *objective* quotes, in its unit of :data:`UNITS`."""
        match objective:
            case "min_e2e":
                return self.report.latency.e2e_ms.mean / 1e3
            case "min_tbt":
                return self.report.latency.tpot_ms.mean
            case _:
                return self.tps_per_kw


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One published number and the twin's."""

    objective: str
    published: float
    twin: float
    outcome: Outcome

    @property
    def residual(self) -> float:
        """(twin - published) / published."""
        return self.twin / self.published - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The published comparison of one model, number by number."""

    claim: Claim
    jalapeno: tuple[Number, ...]
    """In the order of :data:`OBJECTIVES`."""
    reference: tuple[Number, ...]

    def ratios(self, objective: str) -> tuple[float, float]:
        """(published, twin) advantage of Jalapeño; for latencies reference over Jalapeño."""
        index = OBJECTIVES.index(objective)
        ours, theirs = self.jalapeno[index], self.reference[index]
        if objective in ("min_e2e", "min_tbt"):
            return theirs.published / ours.published, theirs.twin / ours.twin
        return ours.published / theirs.published, ours.twin / theirs.twin


@dataclass(frozen=True, slots=True, kw_only=True)
class RowResult:
    """One measured row (or public layout without measurement), simulated."""

    row: Row
    outcome: Outcome
    errors: Mapping[str, float]
    """Relative errors: tput_per_gpu, mean_tpot_ms, mean_ttft_ms or median_ttft_ms; empty where
    nothing was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One point of a throughput-interactivity plot."""

    tokens_per_s_per_user: float
    tps_per_kw: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Points of one system on one model."""

    model: str
    system: str
    source: str
    """``simulated``, ``measured`` (InferenceX), ``measured, MTP`` or ``published`` (OpenAI)."""
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One of the twelve published numbers, predicted by constants fitted to the other eleven."""

    model: str
    objective: str
    published: float
    fitted: float
    """With all twelve in the fit."""
    predicted: float
    """With this one left out."""
    without_delay: float
    """With all twelve in the fit and no first-token delay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The interval of one number of Jalapeño over what its published numbers leave open."""

    model: str
    objective: str
    published: float
    twin: float
    """At the catalogue's constants."""
    low: float
    """5 %"""
    lower: float
    """25 %"""
    median: float
    upper: float
    """75 %"""
    high: float
    """95 %"""
    left_out: tuple[float, float] | None
    """The 90 % interval by all other numbers, as it was when the draws were made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """Everything that ``jalapeno reproduce`` shows."""

    comparisons: tuple[Comparison, ...]
    rows: tuple[RowResult, ...]
    """The measured non-MTP rows."""
    layouts: tuple[RowResult, ...]
    """Public layouts without a public measurement."""
    mtp_rows: tuple[RowResult, ...]
    """Measured with multi-token prediction; their acceptance is that of another workload."""
    curves: tuple[Curve, ...]
    left_out: tuple[LeftOut, ...]
    constants: Mapping[str, str]
    """The fitted constants of Jalapeño's engine, with their kinds, as text."""
    bands: tuple[Band, ...] = ()
    """Of Jalapeño's numbers, in the order of the comparisons."""
