"""A frontier as JSON: SI units or units in the names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jalapeno.analysis.frontier import Frontier, Iso, Unreachable
from jalapeno.analysis.frontier_points import Bench, Point, evidence
from jalapeno.analysis.objectives import UNITS, Limit, Per, Rate


def frontier_json(found: Frontier, per: Per, speeds: Sequence[float]) -> dict[str, Any]:
    """Everything that the tables say, and every point that was simulated."""
    subject, front = found.bench.subject, found.front(per)
    return {
        "model": subject.model.name,
        "system": subject.system.name,
        "engine": subject.engine.name,
        "precision": {name: getattr(subject.precision, name) for name in _formats(found)},
        "lengths": subject.lengths.label,
        "mean_prompt_tokens": subject.mean_lengths[0],
        "mean_output_tokens": subject.mean_lengths[1],
        "per": per.value,
        "unit": UNITS[per],
        "limits": [limit_json(found, limit, per) for limit in found.limits],
        "kind": evidence(found.points).name.lower(),
        "front": [point_json(found.bench, point) for point in front],
        "others": [point_json(found.bench, point) for point in found.points if point not in front],
        "at": [iso_json(found.at(per, speed)) for speed in speeds],
        "plans": len(found.prospect.explored.prices),
        "loads": len(found.prospect.explored.found),
        "impossible": [
            {"reason": one.reason.value, "plans": one.plans, "such_as": one.said}
            for one in found.prospect.explored.refused
        ],
    }


def _formats(found: Frontier) -> list[str]:
    return list(found.bench.subject.precision.__dataclass_fields__)


def limit_json(found: Frontier, limit: Limit, per: Per) -> dict[str, Any]:
    """A limit, and what the run of the highest throughput has there."""
    return {
        "what": limit.what,
        "at": limit.at,
        "ms": limit.ms,
        "reached_ms": limit.value(found.peak(per).report),
    }


def point_json(rig: Bench, point: Point) -> dict[str, Any]:
    """One simulated point."""
    report, latency = point.report, point.report.latency
    return {
        "tokens_per_s_per_user": point.speed,
        "median_tokens_per_s_per_user": latency.median_tokens_per_s_per_user,
        "rates": {per.value: rate_json(rig.rate(per, point)) for per in Per},
        "mean_ttft_ms": latency.ttft_ms.mean,
        "p99_ttft_ms": latency.ttft_ms.p99,
        "mean_tbt_ms": latency.tpot_ms.mean,
        "p99_tbt_ms": latency.tpot_ms.p99,
        "mean_e2e_ms": latency.e2e_ms.mean,
        "p99_e2e_ms": latency.e2e_ms.p99,
        "plan": point.label,
        "chips": point.chips,
        "concurrency": point.option.concurrency,
        "token_budgets": [pool.plan.max_tokens for pool in point.option.pools],
        "requests": report.requests,
        "package_watts_per_chip": point.watts_per_chip,
        "dollars_per_million_tokens": report.power.dollars_per_million_tokens,
        "digest": report.digest,
    }


def rate_json(rate: Rate) -> dict[str, Any]:
    """A rate with its range and evidence."""
    return {
        "value": rate.value,
        "low": rate.low,
        "high": rate.high,
        "kind": rate.kind.name.lower(),
    }


def iso_json(found: Iso | Unreachable) -> dict[str, Any]:
    """What a frontier says at one speed."""
    if isinstance(found, Unreachable):
        return {
            "tokens_per_s_per_user": found.speed,
            "reached": False,
            "slowest": found.slowest,
            "fastest": found.fastest,
        }
    return {
        "tokens_per_s_per_user": found.speed,
        "reached": True,
        "rate": rate_json(found.rate),
        "tokens_per_s_per_chip": found.tokens_per_s_per_chip,
        "mean_ttft_ms": found.ttft_ms,
        "mean_e2e_ms": found.e2e_ms,
        "package_watts_per_chip": found.watts_per_chip,
        "dollars_per_million_tokens": found.dollars_per_million_tokens,
        "between": [point.label for point in found.between],
    }
