"""Sensitivities as JSON: numbers in SI, every fact that was tried."""

from __future__ import annotations

from typing import Any

from jalapeno.analysis.sensitivity import Elasticity, Swing
from jalapeno.catalogue import Fact
from jalapeno.presentation.sensitivity_tables import Found


def sensitivity_json(found: Found) -> dict[str, Any]:
    """All of it as plain data."""
    each = found.sensitivity
    return {
        "answer": found.answer.name,
        "unit": found.answer.unit,
        "run": found.run,
        "by": found.by,
        "why_simulated": found.why or None,
        "base": each.base,
        "simulated": found.simulated,
        "elasticities": [_elasticity(one) for one in each.elasticities],
        "without_effect": list(each.without_effect),
        "not_tried": dict(each.not_tried),
        "tornado": [_swing(one) for one in each.swings],
        "range_without_effect": list(each.still),
        "without_range": list(each.without_range),
        "combined": _combined(found),
    }


def _fact(path: str, fact: Fact) -> dict[str, Any]:
    return {
        "fact": path,
        "value": fact.value,
        "unit": fact.unit,
        "text": fact.text,
        "kind": fact.kind.name.lower(),
        "low": fact.low,
        "high": fact.high,
    }


def _elasticity(one: Elasticity) -> dict[str, Any]:
    return {
        **_fact(one.path, one.fact),
        "elasticity": None if one.over_range else one.value,
        "relative_change_to_high": one.value if one.over_range else None,
        "side": one.side.value,
    }


def _swing(one: Swing) -> dict[str, Any]:
    ends = {"at_low": one.low, "at_high": one.high}
    return {
        **_fact(one.path, one.fact),
        **{name: end if isinstance(end, float) else None for name, end in ends.items()},
        "refused": {name: end for name, end in ends.items() if isinstance(end, str)},
        "swing": one.width,
    }


def _combined(found: Found) -> dict[str, Any] | None:
    drawn = found.combined
    if drawn is None:
        return None
    return {
        "shape": drawn.shape.value,
        "seed": drawn.seed,
        "facts": list(drawn.facts),
        "samples": len(drawn.answers) + drawn.refused,
        "refused": drawn.refused,
        "why_refused": drawn.why or None,
        "percentiles": {f"{place:g}": value for place, value in drawn.percentiles.items()},
        "lowest": drawn.answers[0],
        "highest": drawn.answers[-1],
    }
