"""StepPrice: a model under a plan on a system, compiled to arrays that price any batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jalapeno.catalogue import Engine, Kind, Model, System
from jalapeno.cost.operator import FAMILY, MEASURED
from jalapeno.mapping.batch import DECODE
from jalapeno.mapping.lower import WORKER, Placed, lower
from jalapeno.mapping.memory import Room, room
from jalapeno.mapping.outputs import (
    ATTENTION,
    END_AT,
    FIRST_AT,
    N_OUTPUTS,
    RANK_DECODE,
    RANK_SAMPLED,
    RANK_TOKENS,
    ROW_OF_CLASS,
    SCALARS,
    TABLE_AT,
    WORKER_DECODE,
    WORKER_TOKENS,
    Array,
    Places,
    StepArrays,
)
from jalapeno.mapping.plan import Plan, check_plan
from jalapeno.mapping.pricing import Memo, price_rows
from jalapeno.mapping.rates import Rates
from jalapeno.mapping.tabled import arrays_of, check_edges, tabled, tables_for

REMEMBERED = 1 << 16
"""Counts a class's memo holds at the most."""


@dataclass(frozen=True, slots=True)
class StepPrice:
    """The compiled price of a step, with what else the simulator needs of a plan."""

    model: Model
    plan: Plan
    system: System
    engine: Engine
    arrays: StepArrays
    room: Room
    kind: Kind

    @property
    def caps(self) -> tuple[int, ...]:
        """Context caps of the batch's columns."""
        return self.model.caps

    def price(self, rows: Array, growth: Array | None = None) -> tuple[Array, Array, int]:
        """(first step, growth a step, steps they hold), each over ``OUTPUTS``.

        *rows*: (dp, columns) sums of the batch; *growth*: how they grow from step to step.
        """
        grown = np.zeros_like(rows) if growth is None else growth
        first, slope = np.zeros(N_OUTPUTS), np.zeros(N_OUTPUTS)
        hold = price_rows(self.arrays, forgetful(self.plan.ranks), 0, rows, grown, first, slope)
        return first, slope, hold


def compile_price(model: Model, plan: Plan, system: System, engine: Engine) -> StepPrice:
    """Compile *model* under *plan*; raises where the plan is impossible or does not fit."""
    check_plan(plan, model, system)
    space = room(model, plan, system, engine)
    rates = Rates.of(system, engine, model)
    placed, tables = lower(model, plan, rates), tables_for(engine, model, plan, system)
    measured = tabled(placed, tables, plan) if tables else []
    check_edges(measured, plan)
    taken = {id(member) for item in measured for member in item.members}
    placed = [item.placed for item in measured] + [p for p in placed if id(p) not in taken]
    order = sorted(range(len(placed)), key=lambda at: _class_of(placed[at], plan.dp))
    classes, placed = [_class_of(placed[at], plan.dp) for at in order], [placed[at] for at in order]
    power = system.chip.power
    drafts = model.draft.layers if model.draft and plan.draft_tokens else 0
    layers, later = model.layers + drafts, drafts * max(0, plan.draft_tokens - 1)
    scalars = {
        "chips_rank": float(plan.tp),
        "layers_rest": layers * rates.engine.issue_layer_rest,
        "layers_load": layers * rates.engine.issue_layer_load,
        "host_step": engine.host_step,
        "host_sequence": engine.host_sequence,
        "static": power.static,
        "cap": power.cap,
        "apart": float(plan.pp > 1),
        "drafts_rest": later * rates.engine.issue_layer_rest,
        "drafts_load": later * rates.engine.issue_layer_load,
    }
    ops, places, grids = arrays_of(placed, measured, plan)
    arrays = StepArrays(
        ops,
        places,
        np.searchsorted(classes, range(ATTENTION + 2)).astype(np.int64)[None, :],
        np.array([[scalars[name] for name in SCALARS]]),
        grids,
    )
    return StepPrice(model, plan, system, engine, arrays, space, rates.weakest)


def _class_of(item: Placed, ranks: int) -> int:
    """The class of an operator: what its price depends on.  A lone rank is the worker."""
    if max(item.pairs, item.reads) >= 0:
        return ATTENTION
    if item.scope == WORKER and ranks > 1:
        return WORKER_DECODE if item.rows == DECODE else WORKER_TOKENS
    return ROW_OF_CLASS.index(item.rows)


def stack(prices: Sequence[StepPrice]) -> StepArrays:
    """One set of arrays for several prices, in order."""
    offsets = np.cumsum([0, *(len(price.arrays.ops) for price in prices[:-1])])
    tables = np.cumsum([0, *(len(price.arrays.tables) for price in prices[:-1])])
    return StepArrays(
        np.concatenate([price.arrays.ops for price in prices]),
        np.concatenate(
            [
                _moved(price.arrays, int(offset), int(table))
                for price, offset, table in zip(prices, offsets, tables, strict=True)
            ]
        ),
        np.concatenate(
            [price.arrays.start + offset for price, offset in zip(prices, offsets, strict=True)]
        ),
        np.concatenate([price.arrays.scalars for price in prices]),
        np.concatenate([price.arrays.tables for price in prices]),
    )


def _moved(arrays: StepArrays, offset: int, table: int) -> Places:
    """The places of *arrays* whose operators and tables come so far behind others."""
    places = arrays.places.copy()
    measured = arrays.ops[:, FAMILY] == MEASURED
    places[measured, FIRST_AT : END_AT + 1] += offset
    places[measured, TABLE_AT] += table
    return places


def memo_for(prices: Sequence[StepPrice], running: int) -> Memo:
    """An empty memo for *prices*, whose ranks run at most *running* sequences."""
    lengths = np.zeros((len(prices), ATTENTION), dtype=np.int64)
    for which, price in enumerate(prices):
        plan = price.plan
        lengths[which, RANK_TOKENS] = min(plan.max_tokens + 1, REMEMBERED)
        lengths[which, RANK_DECODE] = running + 1
        lengths[which, RANK_SAMPLED] = min(running * plan.queries + 1, REMEMBERED)
        lengths[which, WORKER_DECODE] = min(plan.dp * running + 1, REMEMBERED)
        lengths[which, WORKER_TOKENS] = min(plan.dp * plan.max_tokens + 1, REMEMBERED)
    start = np.concatenate([[0], np.cumsum(lengths.ravel())[:-1]]).reshape(lengths.shape)
    values = np.full((int(lengths.sum()), N_OUTPUTS), np.nan)
    widest = max(price.plan.ranks for price in prices)
    return Memo(
        values, start.astype(np.int64), lengths, np.zeros((widest, 2)), np.zeros((3, N_OUTPUTS))
    )


def forgetful(ranks: int) -> Memo:
    """A memo that remembers nothing: for single questions about a worker of *ranks* ranks."""
    nothing = np.zeros((1, ATTENTION), dtype=np.int64)
    return Memo(
        np.zeros((0, N_OUTPUTS)), nothing, nothing, np.zeros((ranks, 2)), np.zeros((3, N_OUTPUTS))
    )
