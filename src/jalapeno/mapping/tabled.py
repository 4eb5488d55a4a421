"""Tables in place of operators: which of a lowering a table stands for, and where it may end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jalapeno.catalogue import Engine, Model, System
from jalapeno.cost import Operator
from jalapeno.cost.operator import EXPERTS, MEASURED
from jalapeno.cost.tables.find import find_tables
from jalapeno.cost.tables.table import Axis, StepTable, StepTables
from jalapeno.errors import BadPlan, instead
from jalapeno.mapping import batch
from jalapeno.mapping.lowering import RANK, WORKER, Placed
from jalapeno.mapping.outputs import Array, Places
from jalapeno.mapping.plan import Plan


@dataclass(frozen=True, slots=True)
class Tabled:
    """A table in a step: what it is placed as, and the operators it stands for."""

    table: StepTable
    placed: Placed
    members: tuple[Placed, ...]


def tables_for(engine: Engine, model: Model, plan: Plan, system: System) -> StepTables | None:
    """The tables that *engine* has for this; None for an engine of rooflines alone.

    Raises :class:`BadPlan` where it has tables, and none for this model on this chip at this
    tensor-parallel degree, or where the plan drafts tokens.
    """
    if not engine.tables:
        return None
    key = f"{system.chip.name}/{model.name}/tp{plan.tp}"
    if key not in engine.tables:
        raise BadPlan(
            f"engine {engine.name} prices by tables and has none for {key}; choose an engine "
            f"without tables, or add one{instead(key, engine.tables)}"
        )
    if plan.draft_tokens:
        raise BadPlan(
            f"engine {engine.name} prices by tables, which know sequences that bring one token "
            "to a step: let plan.draft_tokens be 0"
        )
    return find_tables(engine.tables[key])


def tabled(placed: Sequence[Placed], tables: StepTables, plan: Plan) -> list[Tabled]:
    """The *tables*, each with its members among the *placed* operators.

    Raises :class:`BadPlan` where a table stands for an operator that the lowering does not have.
    """
    by_name: dict[str, list[Placed]] = {}
    for item in placed:
        by_name.setdefault(item.operator.name, []).append(item)
    for table in tables.tables:
        for name in table.stands_for:
            if name not in by_name:
                raise BadPlan(
                    f"{tables.name}: {table.name} stands for {name!r}, which is not among the "
                    f"operators of {plan.label}{instead(name, by_name)}"
                )
    return [
        _tabled(table, tuple(m for name in table.stands_for for m in by_name[name]), plan)
        for table in tables.tables
    ]


def _tabled(table: StepTable, members: tuple[Placed, ...], plan: Plan) -> Tabled:
    operator = Operator(table.name, {"family": MEASURED}, table.grid.kind)
    if not members:
        rows = batch.SAMPLED if Axis.SEQUENCES in table.axes else batch.TOKENS
        if table.attends:
            raise BadPlan(f"table {table.name} is of attention and stands for no operator")
        return Tabled(table, Placed(operator, 1, RANK, rows), members)
    first = members[0]
    if any((item.pairs >= 0) != table.attends for item in members):
        raise BadPlan(
            f"table {table.name} stands for {', '.join(table.stands_for)}: attention goes by "
            "prompt, cached, decoding and context, and nothing else does"
        )
    if table.attends:
        decode = next((m.reads for m in members if m.rows == batch.DECODE), -1)
        prompt = next((m.pairs for m in members if m.rows == batch.PREFILL), -1)
        rows = batch.TOKENS if min(decode, prompt) >= 0 else first.rows
        return Tabled(table, Placed(operator, first.repeat, RANK, rows, decode, prompt), members)
    scope = max(item.scope for item in members) if plan.dp > 1 else RANK
    return Tabled(table, Placed(operator, first.repeat, scope, first.rows), members)


def check_edges(items: Sequence[Tabled], plan: Plan) -> None:
    """Raise :class:`BadPlan` where a step could leave a table beyond which nothing is known.

    A roofline says how seconds go on beyond the outermost knots; a table that stands for no
    operator has none.
    """
    for item in items:
        routed = [m for m in item.members if m.operator.numbers["family"] == EXPERTS]
        if {Axis.EXPERT_TOKENS, Axis.EXPERTS} & set(item.table.axes) and not routed:
            raise BadPlan(
                f"table {item.table.name} goes by the tokens of experts: it must stand for "
                "'routed experts'"
            )
        if item.members:
            continue
        for axis, knots in zip(item.table.axes, item.table.grid.axes, strict=True):
            low, high = _reached(axis, plan)
            if low < knots[0] or high > knots[-1]:
                raise BadPlan(
                    f"table {item.table.name} knows {knots[0]:g} to {knots[-1]:g} "
                    f"{axis.name.lower()} a step, {plan.label} with max_running="
                    f"{plan.max_running} and max_tokens={plan.max_tokens} comes to {low:g} to "
                    f"{high:g}, and it stands for no operator whose roofline could go on: lower "
                    "the limits, or measure further"
                )


def _reached(axis: Axis, plan: Plan) -> tuple[float, float]:
    """The least and the most that a step of *plan* comes to on *axis*."""
    return (1.0, float(plan.max_tokens if axis is Axis.TOKENS else plan.max_running))


def arrays_of(
    placed: Sequence[Placed], items: Sequence[Tabled], plan: Plan
) -> tuple[Array, Places, Array]:
    """(lines, places, grids): the *placed* operators, behind them the members of the tables among
    them, and all grids flat, one after the other."""
    starts = np.cumsum([0, *(item.table.grid.flat().size for item in items)])
    numbers = {id(item.placed): number for number, item in enumerate(items)}
    behind: list[Placed] = []
    members: list[tuple[int, ...]] = []
    heads: list[tuple[int, ...]] = []
    for item in placed:
        if id(item) not in numbers:
            heads.append((*_place(item), -1, 0, 0, 1, *_NONE))
            continue
        number = numbers[id(item)]
        first = len(placed) + len(behind)
        for member in items[number].members:
            behind.append(member)
            members.append((*_place(member), -1, 0, 0, _sharing(member, item, plan), *_NONE))
        end, axes = len(placed) + len(behind), items[number].table.placed
        heads.append((*_place(item), int(starts[number]), first, end, 1, *axes))
    return (
        np.array([item.operator.line() for item in (*placed, *behind)]),
        np.array([*heads, *members], dtype=np.int64),
        np.concatenate([np.zeros(0), *(item.table.grid.flat() for item in items)]),
    )


_NONE = (-1, -1, -1, -1)


def _place(item: Placed) -> tuple[int, int, int, int]:
    return item.repeat, item.rows, item.pairs, item.reads


def _sharing(member: Placed, head: Placed, plan: Plan) -> int:
    """Ranks that share the rows asked of *member*: all, where the table is of the whole worker."""
    return plan.dp if head.scope == WORKER and member.scope == RANK else 1
