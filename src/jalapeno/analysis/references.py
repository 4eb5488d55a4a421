"""Measured rows as scenarios: the same request list, the same layout, the same client."""

from __future__ import annotations

from jalapeno.catalogue import Model, Row, Workers, engine_of, model_of, system_of
from jalapeno.mapping import Plan, Precision, measured_acceptance
from jalapeno.simulation import (
    ClosedLoop,
    Lengths,
    Pool,
    Role,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
)
from jalapeno.simulation.scenario import Trees

ISL, OSL, RATIO = 8192, 1024, 0.8
"""The published workload: nominal lengths, drawn uniformly from 80 % of them up (InferenceX)."""


def workload(row: Row) -> Traffic:
    """The request list of the run behind *row*: closed loop, the client's own generator, seed 0."""
    lengths = Lengths(isl=ISL, osl=OSL, ratio=RATIO, template_tokens=row.template_tokens)
    return Traffic(
        lengths=lengths,
        arrivals=ClosedLoop(concurrency=row.concurrency),
        requests=row.concurrency * row.requests_per_slot,
    )


ACCEPTANCE = "tensorrt-llm-1k-2k"
"""Workload whose measured acceptance stands for that of rows with multi-token prediction, whose own
is not published."""


def speculation(row: Row, model: Model) -> tuple[int, float]:
    """(tokens drafted a step, tokens a step gives) of *row*; zeros without speculation."""
    drafted = row.draft_tokens
    return (drafted, measured_acceptance(model, ACCEPTANCE, drafted)) if drafted else (0, 0.0)


def pool(
    role: Role, workers: Workers, precision: Precision, drafting: tuple[int, float] = (0, 0.0)
) -> Pool:
    """One pool of a row; *drafting* as :func:`speculation` says."""
    drafted, accepted = drafting
    plan = Plan(
        tp=workers.tp,
        ep=workers.ep,
        dp=workers.dp,
        max_running=workers.slots,
        max_tokens=workers.tokens,
        precision=precision,
        draft_tokens=drafted,
        acceptance_length=accepted,
    )
    return Pool(role=role, plan=plan, replicas=workers.workers)


def scenario_for(row: Row, trees: Trees | None = None) -> Scenario:
    """The scenario of *row*; *trees* replace the catalogue's facts (to fit, or to ask what if)."""
    facts = resolve(row.system, row.model, row.engine) if trees is None else trees
    model = model_of(facts["model"])
    precision = Precision.as_served(
        engine_of(facts["engine"]), model, system_of(facts["system"]).chip
    )
    drafting = speculation(row, model)
    pools = (
        pool(Role.PREFILL, row.prefill, precision, drafting),
        pool(Role.DECODE, row.decode, precision, drafting),
    )
    return scenario_of(facts, pools, workload(row))
