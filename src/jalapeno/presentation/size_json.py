"""A sizing as JSON: SI numbers with units in their names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from jalapeno.analysis.bill import Bill, Range
from jalapeno.analysis.size import Sizing
from jalapeno.analysis.trial import Trial


def size_json(found: Sizing) -> dict[str, Any]:
    """The answer, its limits and bill, and the curve of latency against demand."""
    fleet, plan = found.fleet, found.fleet.prospect.plan
    return {
        "model": found.subject.model.name,
        "system": found.subject.system.name,
        "engine": found.subject.engine.name,
        "lengths": found.subject.lengths.label,
        "requests_per_s": found.demand.rate,
        "burst_cv": found.demand.burst,
        "limits": [
            {
                "metric": limit.metric.value,
                "percentile": limit.percentile,
                "limit_s": limit.seconds,
                "reached_s": reached,
                "left": 1.0 - reached / limit.seconds,
            }
            for limit, reached in zip(found.slo.limits, fleet.verified.reached, strict=True)
        ],
        "binding": found.binding,
        "replicas": fleet.replicas,
        "spare_replicas": found.demand.spare,
        "plan": asdict(plan),
        "layout": plan.label,
        "requests_per_s_per_replica": found.demand.rate / fleet.replicas,
        "headroom": found.headroom,
        "breaks_at_requests_per_s": fleet.breaks_per_s,
        "saturates_at_requests_per_s": found.saturates_per_s,
        "verified": {
            "replicas": fleet.simulated,
            "requests": fleet.verified.requests,
            "seed": fleet.scenario.seed,
            "scenario": fleet.scenario.digest,
        },
        "bill": bill_json(found.bill),
        "curve": [_point(found, trial) for trial in found.curve],
        "plans": [
            {
                "layout": one.prospect.plan.label,
                "max_tokens": one.prospect.plan.max_tokens,
                "chips_per_replica": one.prospect.plan.chips,
                "requests_per_s_per_replica": one.best.per_replica,
                "chips": one.chips,
            }
            for one in found.contenders
        ],
    }


def bill_json(bill: Bill) -> dict[str, Any]:
    """The bill, kinds of evidence as words."""
    shown = {}
    for name in bill.__slots__:
        value = getattr(bill, name)
        if isinstance(value, Range):
            value = {**asdict(value), "kind": value.kind.name.lower()}
        shown[name] = value
    return shown


def _point(found: Sizing, trial: Trial) -> dict[str, Any]:
    return {
        "requests_per_s": found.fleet.scaled(trial),
        "saturated": trial.saturated,
        **{
            f"{limit.metric.value.lower()}_p{limit.percentile:g}_s": reached
            for limit, reached in zip(found.slo.limits, trial.reached, strict=True)
        },
    }
