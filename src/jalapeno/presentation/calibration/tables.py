"""Tables of a calibration: constants, what the data leave open, errors, the largest misses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from jalapeno.analysis.calibration.calibrate import Calibration
from jalapeno.analysis.calibration.certainty import Certainty, is_time
from jalapeno.analysis.calibration.constants import Constant
from jalapeno.analysis.validation.scores import score, worst
from jalapeno.presentation.digits import UNDEFINED, counted, percent
from jalapeno.presentation.tables import Table
from jalapeno.presentation.validation.tables import worst_table
from jalapeno.units import render

WELL, PARTLY = 0.9, 0.5
"""Shares of the variance before the data that they took away, from which a constant is known well
or in part."""

MISSES = 8
"""Points in the table of misses."""

IN_SAMPLE = (
    "Errors after are those of the very points that were fitted to: no less can be expected of "
    "others. jalapeno validate holds curves, systems and models out."
)


def tables(found: Calibration) -> list[Table]:
    """Everything that a terminal shows."""
    made = [
        constants_table(found),
        open_table(found.certainty),
        replace(errors_table(found, "model"), note=""),
        errors_table(found, "system"),
        worst_table("largest misses of TPOT after the fit", worst(found.after, MISSES)),
    ]
    if len(found.refused):
        made.append(refused_table(found.refused))
    return [table for table in made if table.rows]


def constants_table(found: Calibration) -> Table:
    """Each unknown: where the fit began, value, 90 % interval, what the data say of it."""
    values, begin = found.fit.values, np.exp(found.fit.problem.begin)
    rows = [
        (
            constant.path,
            shown(constant, float(begin[place])),
            shown(constant, float(values[place])),
            shown(constant, float(found.low[place])),
            shown(constant, float(found.high[place])),
            said(found.certainty, place),
        )
        for place, constant in enumerate(found.fit.problem.constants)
    ]
    data, known = found.data, found.certainty
    how = (
        "the wider of the covariance's and of "
        f"{counted(len(found.drawn), 'draw')} of whole curves, each refitted as if residuals were "
        "linear around the fit"
        if found.drawn is not None
        else "of the covariance alone, which takes points of a curve as independent"
    )
    return Table(
        title=f"{data.engine}, fitted to {counted(len(data.rows), 'point')} on "
        f"{counted(data.curves, 'curve')}",
        headers=("constant", "before", "value", "90 % from", "to", "the data"),
        align="lrrrrl",
        rows=tuple(rows),
        note=f"Intervals: {how}. {known.effective:.1f} of {len(rows)} unknowns are determined by "
        f"the data; what is left of a residual has a standard deviation of {known.spread:.3f}.",
    )


def shown(constant: Constant, value: float) -> str:
    """A value with its unit."""
    return render(value, "s" if is_time(constant) else "", 3)


def said(known: Certainty, place: int) -> str:
    """What the data say of the constant at *place*, in a few words."""
    if known.at_bound(place):
        return "push it to its bound"
    learnt = float(known.learnt[place])
    if learnt >= WELL:
        return "fix it"
    if learnt >= PARTLY:
        return "fix it in part"
    if known.constants[place].table:
        return "hardly say: its prior of one stands"
    return "hardly say"


def open_table(known: Certainty) -> Table:
    """Pairs of constants with a high correlation, and combinations that the data leave open."""
    factors = {constant.path for constant in known.constants if constant.table}
    mixed = [each for each in known.open if not {path for path, _ in each.parts} <= factors]
    lines = [*map(str, known.pairs), *map(str, mixed)]
    count = len(known.open) - len(mixed)
    return Table(
        title="what the data do not tell apart",
        headers=("constants",),
        align="l",
        rows=tuple((line,) for line in lines),
        note=f"Besides, {counted(count, 'combination')} of factors: there the priors of one decide."
        if count
        else "",
    )


def errors_table(found: Calibration, by: str) -> Table:
    """Errors of TPOT and TTFT before and after, for each value of *by* and for all."""
    groups: list[tuple[str, pl.DataFrame, pl.DataFrame]] = [
        (name, found.before.filter(pl.col(by) == name), found.after.filter(pl.col(by) == name))
        for name in sorted(set(found.after[by]))
    ]
    groups.append(("all", found.before, found.after))
    return Table(
        title=f"errors by {by}: {found.base.name} before, fitted after",
        headers=(
            *(by, "points", "TPOT MAPE % before", "after"),
            *("TPOT median APE % before", "after", "TTFT median APE % before", "after"),
        ),
        align="lrrrrrrr",
        rows=tuple(_errors(*group) for group in groups),
        note=IN_SAMPLE,
    )


def _errors(name: str, before: pl.DataFrame, after: pl.DataFrame) -> tuple[str, ...]:
    cells = [
        _percent(score(frame, quantity)[measure])
        for quantity, measure in (("tpot", "mape"), ("tpot", "median"), ("ttft", "median"))
        for frame in (before, after)
    ]
    return (name, f"{len(after):,}", *cells)


def _percent(share: float) -> str:
    return UNDEFINED if share != share else percent(share)


def refused_table(refused: pl.DataFrame) -> Table:
    """Rows that nothing was played of."""
    rows: Sequence[tuple[str, str]] = list(refused.select("id", "reason").iter_rows())
    return Table(
        title="points whose plan does not fit, which are in no fit",
        headers=("row", "why"),
        align="ll",
        rows=tuple((name, why.splitlines()[0]) for name, why in rows),
    )
