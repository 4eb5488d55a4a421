"""The audit as JSON."""

from __future__ import annotations

from typing import Any

from jalapeno.analysis.bill import Range
from jalapeno.analysis.claims import Audit, Finding


def audit_json(found: Audit) -> dict[str, Any]:
    """Every finding with its numbers, ranges, verdict and sources."""
    return {
        "said": [
            {
                "sentence": one.sentence,
                "by": one.by,
                "threshold": one.threshold,
                "verdict": one.verdict.value,
                "findings": [finding_json(finding) for finding in one.findings],
            }
            for one in found.said
        ],
        "findings": [finding_json(finding) for finding in found.findings],
        "missing": list(found.missing),
    }


def finding_json(one: Finding) -> dict[str, Any]:
    """One finding; rates are tokens a second a chip or kW, tokens a dollar, or times in seconds."""
    return {
        "model": one.model,
        "claim": one.claim,
        "baseline": one.baseline,
        "system": one.system,
        "precision": one.precision,
        "mtp": one.mtp,
        "equal_precision": one.equal_precision,
        "metric": one.metric.name.lower(),
        "per": None if one.per is None else one.per.name.lower(),
        "tokens_per_s_per_user": one.speed,
        "jalapeno": range_json(one.jalapeno),
        "reference": range_json(one.reference),
        "ratio": range_json(one.ratio),
        "lower_bound": one.least,
        "verdict": one.verdict.value,
        "sentence": one.sentence,
        "kind": one.kind.name.lower(),
        "sources": list(one.sources),
    }


def range_json(said: Range) -> dict[str, Any]:
    """A number with its ends and its evidence."""
    return {
        "value": said.value,
        "low": said.low,
        "high": said.high,
        "kind": said.kind.name.lower(),
    }
