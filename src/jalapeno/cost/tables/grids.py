"""Grids for simulation: one operator site over the loads that a step brings.

A step's price asks for an operator many thousand times, so it takes a :class:`Grid` that is filled
once here.  Its knots are those of the table, thinned to what was measured; its evidence is that of
its weakest knot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.cost.tables.basis import Basis
from jalapeno.cost.tables.grid import Grid
from jalapeno.cost.tables.monotone import monotone
from jalapeno.cost.tables.operator_table import OperatorTable
from jalapeno.errors import BadTable

Array = npt.NDArray[np.float64]

CACHED = (0.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0, 131072.0, 262144.0)
"""Cached tokens at which a prompt's attention is priced where the caller names no knots."""


def grid_for(
    table: OperatorTable,
    shape: Mapping[str, str | int],
    knots: Mapping[str, Sequence[float]] | None = None,
) -> Grid:
    """Return the seconds of one *shape* on a grid over its family's axes.

    *shape*: the variant and site columns of the family.  *knots*: other knots for some axes, by
    name; those of the table otherwise.  A knot beyond what was measured is priced with the
    calibrated roofline, and the grid is then no better than ``Kind.ESTIMATED``.  Non-decreasing
    along every axis.  Raises ``BadTable`` for an unknown shape, axis or knot.
    """
    asked = dict(knots or {})
    unknown = set(asked) - set(table.family.axes)
    if unknown:
        raise BadTable(
            f"{table.family.name} has no axis {', '.join(sorted(unknown))}; "
            f"it has {', '.join(table.family.axes)}"
        )
    surface = table.surface(shape)
    if not asked:
        return surface.grid
    axes = [
        np.array(asked.get(name, axis), dtype=np.float64)
        for name, axis in zip(table.family.axes, surface.grid.axes, strict=True)
    ]
    mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    answers = table.answers(shape, mesh.tolist())
    seconds = np.array([each.seconds for each in answers]).reshape([len(axis) for axis in axes])
    kind = max(each.basis for each in answers).kind
    return Grid(tuple(axes), monotone(seconds), kind, table.source)


def fastest_grid(table: OperatorTable, shape: Mapping[str, str | int]) -> Grid:
    """:func:`grid_for` of the fastest kernel at each knot, of all that were measured.

    *shape* says everything but ``kernel``.  Engines choose between kernels, by a tuner or by a
    rule on the load; the least is what a tuner finds.  Raises ``BadTable`` where none was measured.
    """
    variants = table.variants()
    words = [name for name in table.family.variant if name != "kernel"]
    fits = variants.filter(*(pl.col(name) == shape.get(name) for name in words))
    if not len(fits):
        table.variant({**shape, "kernel": "any"})  # raises, and says what there is
    grids = [grid_for(table, {**shape, "kernel": name}) for name in fits["kernel"].to_list()]
    axes = grids[0].axes
    if any(
        not np.array_equal(mine, first)
        for each in grids
        for mine, first in zip(each.axes, axes, strict=True)
    ):
        knots = {
            name: sorted({float(x) for each in grids for x in each.axes[at]})
            for at, name in enumerate(table.family.axes)
        }
        grids = [
            grid_for(table, {**shape, "kernel": name}, knots) for name in fits["kernel"].to_list()
        ]
    seconds = np.min([each.seconds for each in grids], axis=0)
    return Grid(grids[0].axes, seconds, max(each.kind for each in grids), table.source)


def prompt_grid(
    table: OperatorTable,
    shape: Mapping[str, str | int],
    new: Sequence[float] | None = None,
    cached: Sequence[float] = CACHED,
) -> Grid:
    """Return the attention of one prompt over (new tokens, cached tokens).

    Tables hold prompts without a cache.  With *cached* tokens before them the measured seconds of
    as many new ones are scaled by the calibrated roofline, which knows the longer reach; so all
    but ``cached = 0`` is ``Basis.EDGE``.  *table* is one of ``context_attention`` or
    ``context_mla``; *new* None: the knots of the table.
    """
    if table.family.axes != ("sequences", "new_tokens"):
        raise BadTable(f"{table.family.name}: prompts have the axes sequences and new_tokens")
    surface = table.surface(shape)
    first = np.array(new if new is not None else surface.grid.axes[1], dtype=np.float64)
    second = np.array(cached, dtype=np.float64)
    plain = np.array([e.seconds for e in table.answers(shape, [[1.0, float(n)] for n in first])])
    fixed = [pl.lit(shape[name]).alias(name) for name in table.family.key if name in shape]
    loads = pl.DataFrame(
        {
            "sequences": np.ones(first.size * second.size),
            "new_tokens": np.repeat(first, second.size),
            "cached_tokens": np.tile(second, first.size),
        }
    ).with_columns(fixed)
    model = table.variant(shape).roofline(loads).reshape(first.size, second.size)
    bare = table.variant(shape).roofline(loads.with_columns(pl.lit(0.0).alias("cached_tokens")))
    seconds = plain[:, None] * model / bare.reshape(model.shape)
    kind = Basis.MEASURED.kind if not second.any() else Basis.EDGE.kind
    return Grid((first, second), monotone(seconds), kind, table.source)
