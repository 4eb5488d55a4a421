"""Findings as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from jalapeno.analysis.validation.drift import Drift
from jalapeno.analysis.validation.tiers import Data, Finding, Verdict


def validation_json(data: Data, findings: Sequence[Finding], drifted: Drift | None) -> Any:
    """Verdicts, scores, notes and what was left out, in the order of the tiers."""
    return {
        "version": version("jalapeno-twin"),
        "source": data.source,
        "points": len(data.rows),
        "excluded": data.excluded.to_dicts(),
        "protocols": list(data.protocols),
        "contenders": {who.name: who.title for who in data.contenders},
        "tiers": [_tier(finding) for finding in findings],
        "drift": None if drifted is None else _drift(drifted),
    }


def _tier(finding: Finding) -> dict[str, Any]:
    return {
        "tier": finding.tier,
        "title": finding.title,
        "verdicts": [_verdict(verdict) for verdict in finding.verdicts],
        "notes": list(finding.notes),
        "tables": {title: table.to_dicts() for title, table in finding.tables.items()},
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "measure": verdict.measure,
        "target": verdict.target,
        "reached": verdict.reached,
        "unit": "share" if verdict.unit == "%" else verdict.unit,
        "at_most": verdict.at_most,
        "met": verdict.met,
        "points": verdict.points,
        "note": verdict.note,
    }


def _drift(found: Drift) -> dict[str, Any]:
    return {
        "recorded_by": found.version,
        "share": found.share,
        "both": found.both,
        "moved": found.moved,
        "appeared": found.appeared,
        "vanished": found.vanished,
        "tpot_then": found.then,
        "tpot_now": found.now,
        "movers": found.movers.to_dicts(),
    }
