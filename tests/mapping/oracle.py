"""The slow, obvious price of a step: every operator priced alone, then put together by the rules.

It shares the operators' list and their single prices with the package, and nothing of how the
package adds, remembers, grows or compiles them.
"""

from __future__ import annotations

from jalapeno.catalogue import Engine, Model, System
from jalapeno.cost import PARTS, RESOURCES, Cost, price
from jalapeno.cost.operator import ALL_REDUCE
from jalapeno.mapping import OUTPUTS, Plan, StepPrice
from jalapeno.mapping.batch import DECODE, TOKENS, Rows
from jalapeno.mapping.lower import WORKER, Placed, lower
from jalapeno.mapping.outputs import Array
from jalapeno.mapping.rates import Rates


def rank_cost(placed: list[Placed], row: Rows, engine: Engine) -> Cost:
    """What one rank does with these operators, on each of its chips."""
    cost = Cost()
    for item in placed:
        pairs = row[item.pairs] if item.pairs >= 0 else 0.0
        reads = row[item.reads] if item.reads >= 0 else 0.0
        collective = item.operator.numbers["family"] >= ALL_REDUCE
        counted = reads if collective and item.reads >= 0 else row[item.rows]
        cost = cost + price(item.operator, counted, pairs, reads) * item.repeat
    return cost + Cost.of("issue", engine.host_sequence * row[DECODE])


def meet(ranks: list[Cost]) -> Cost:
    """The mean rank, and its wait for the slowest; joules of all."""
    total = sum(ranks[1:], ranks[0])
    mean = total * (1 / len(ranks))
    slowest = max(rank.seconds for rank in ranks)
    mean = Cost(mean.seconds, total.joules, mean.parts, mean.busy, mean.kind)
    return mean + Cost.of("imbalance", slowest - mean.seconds)


def capped(cost: Cost, system: System, chips: int) -> Cost:
    """Stretch the step until its mean power is the cap; add what is drawn whatever it does."""
    power = system.chip.power
    shortest = cost.joules / ((power.cap - power.static) * chips)
    if shortest > cost.seconds:
        cost = cost + Cost.of("throttle", shortest - cost.seconds)
    return cost + Cost(joules=power.static * chips * cost.seconds)


def exposed(cost: Cost) -> Cost:
    """Show the communication that finds no work of the engines to hide behind."""
    shown = cost.parts.get("communication", 0.0)
    work = sum(cost.parts.get(name, 0.0) for name in ("matrix", "vector", "memory"))
    bare = max(0.0, cost.busy.get("link", 0.0) - shown - work)
    return cost + Cost(bare, 0.0, {"communication": bare})


def step_cost(model: Model, plan: Plan, system: System, engine: Engine, rows: Rows) -> Cost:
    """Seconds of the step, joules of the worker."""
    tokens = float(rows[:, TOKENS].sum())
    if tokens == 0.0:
        return Cost()
    placed = lower(model, plan, Rates.of(system, engine, model))
    # attention ranks meet at the experts; the micro-batches of a pipeline pass them one by one
    met = [item for item in placed if item.scope == WORKER and plan.dp > 1]
    own = [item for item in placed if item not in met]
    alone = [rank_cost(own, row, engine) for row in rows]
    ranks = meet([exposed(cost) for cost in alone] if plan.pp > 1 else alone)
    decoding = float(rows[:, DECODE].sum())
    experts = Cost()
    for item in met:
        count = decoding if item.rows == DECODE else tokens
        experts = experts + price(item.operator, count) * item.repeat
    drafts = model.draft.layers if model.draft and plan.draft_tokens else 0
    layers = (model.layers + drafts) * layer_issue(engine, tokens)
    if decoding and drafts:  # passes but the first are of sequences that decode
        layers += (plan.draft_tokens - 1) * drafts * layer_issue(engine, decoding)
    step = ranks + experts + Cost.of("issue", layers) + Cost.of("issue", engine.host_step)
    joules = plan.tp * ranks.joules + plan.chips * experts.joules
    step = Cost(step.seconds, joules, step.parts, step.busy, step.kind)
    return capped(step if plan.pp > 1 else exposed(step), system, plan.chips)


def layer_issue(engine: Engine, tokens: float) -> float:
    """Issue of one layer in a step of *tokens* tokens."""
    rest, load = engine.issue_layer_rest, engine.issue_layer_load
    return rest / tokens + load * (1.0 - 1.0 / tokens)


def oracle(step: StepPrice, rows: Rows) -> Cost:
    """The slow price of the same plan."""
    return step_cost(step.model, step.plan, step.system, step.engine, rows)


def listed(cost: Cost) -> list[float]:
    """A cost in the order of OUTPUTS."""
    parts = [cost.parts.get(name, 0.0) for name in PARTS]
    return [*parts, *[cost.busy.get(name, 0.0) for name in RESOURCES], cost.joules, 0.0]


def seconds_of(values: Array) -> float:
    """Seconds of a priced step: its parts added up."""
    return float(values[: len(PARTS)].sum())


def joules_of(values: Array) -> float:
    """Joules of a priced step."""
    return float(values[OUTPUTS.index("joules")])


def busy_of(values: Array) -> dict[str, float]:
    """Busy seconds of a priced step by resource."""
    return dict(
        zip(RESOURCES, values[len(PARTS) : len(PARTS) + len(RESOURCES)].tolist(), strict=True)
    )


def parts_of(values: Array) -> dict[str, float]:
    """Seconds of a priced step by what bound them."""
    return dict(zip(PARTS, values[: len(PARTS)].tolist(), strict=True))
