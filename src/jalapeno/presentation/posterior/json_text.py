"""The posterior as JSON: every number of the tables, unrounded."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from jalapeno.analysis.posterior.infer import Posterior, Predicted
from jalapeno.analysis.posterior.scores import Score
from jalapeno.analysis.posterior.summary import (
    Marginal,
    answers,
    best_measurements,
    marginals,
    pairs,
    plan_shares,
    shares,
    twin_answers,
)
from jalapeno.presentation.posterior.words import layout_of

MEASUREMENTS = 5
"""That are told of each answer."""


def posterior_json(found: Posterior) -> dict[str, Any]:
    """Everything, in SI units."""
    return {
        "seed": found.seed,
        "states": len(found.chain.scores),
        "acceptance": found.chain.acceptance,
        "autocorrelation_steps": found.chain.autocorrelation,
        "effective_draws": found.effective,
        "numbers": [_predicted(one) for one in (*found.predicted, *found.derived)],
        "left_out": _score(found.left_out_score),
        "prior": _score(found.prior_score),
        "unknowns": [_marginal(one) for one in marginals(found)],
        "plans": {
            number.name: [
                {
                    "layout": layout_of(plan.one),
                    "chips": plan.chips,
                    "token_budget": plan.one.budget,
                    "concurrency": plan.one.concurrency,
                    "share": plan.share,
                }
                for plan in plan_shares(found, which)
            ]
            for which, number in enumerate(found.judge.numbers)
        },
        "confounded": [asdict(pair) for pair in pairs(found)],
        "unpublished": [
            {
                "name": one.name,
                "unit": one.metric.unit,
                "interval": asdict(one.value),
                "simulated_over_closed_form": one.simulated,
            }
            for one in answers(found)
        ],
        "variance_shares": shares(found),
        "best_measurements": {
            name: [asdict(gain) for gain in best_measurements(found, values, name)[:MEASUREMENTS]]
            for name, values in twin_answers(found).items()
        },
        "ramps": [
            {"number": one.number.name, "taken": one.taken.value, "at_draws": list(one.found)}
            for one in found.checks
        ],
    }


def _predicted(one: Predicted) -> dict[str, Any]:
    return {
        "name": one.number.name,
        "published": one.number.value,
        "evidence": not one.number.derived,
        "prior": asdict(one.prior),
        "all_evidence": asdict(one.all_in),
        "left_out": asdict(one.left_out),
        "inside": one.left_out.holds(one.number.value),
        "effective_draws": one.effective,
    }


def _score(score: Score) -> dict[str, Any]:
    return {**asdict(score), "coverage": score.coverage}


def _marginal(one: Marginal) -> dict[str, Any]:
    return {
        "path": one.unknown.path,
        "unit": one.unknown.unit,
        "kind": one.unknown.kind.name.lower(),
        "shape": one.unknown.shape.value,
        "source": one.unknown.source,
        "prior": asdict(one.prior),
        "posterior": asdict(one.posterior),
        "choices": [
            {"word": word, "prior": before, "posterior": after}
            for word, before, after in one.shares
        ],
    }
