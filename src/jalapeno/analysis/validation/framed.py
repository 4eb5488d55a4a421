"""Tiers made of a frame in which measured and predicted stand side by side.

Such a frame has a row for everything that was compared, with at least ``row``, ``quantity``,
``unit``, ``measured``, ``predicted``, ``error`` (relative; a difference where the unit is
``share``) and ``assumptions``; ``predicted`` and ``error`` are null where nothing can be
predicted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from jalapeno.analysis.validation.tiers import Asked, Data, Finding, Verdict
from jalapeno.errors import UsageError

NEEDED = ("row", "quantity", "unit", "measured", "predicted", "error", "assumptions")


@dataclass(frozen=True, slots=True)
class Bound:
    """A target for the absolute errors of some quantities."""

    measure: str
    """What it is, in words."""
    most: float
    quantity: str = ""
    """Rows whose quantity begins so; all where empty."""
    statistic: str = "mean"
    """``mean``, ``median`` or ``max`` of the absolute errors."""


def judged(name: str, frame: pl.DataFrame, bound: Bound) -> Verdict:
    """The verdict on one *bound*; rows without a prediction are counted in its note."""
    rows = frame.filter(pl.col("quantity").str.starts_with(bound.quantity))
    errors = rows["error"].drop_nulls().abs()
    found = {"mean": errors.mean, "median": errors.median, "max": errors.max}
    if bound.statistic not in found:
        raise UsageError(f"no statistic {bound.statistic!r}; there are {', '.join(found)}")
    reached = found[bound.statistic]()
    silent = len(rows) - len(errors)
    return Verdict(
        tier=name,
        measure=bound.measure,
        target=bound.most,
        reached=math.nan if reached is None else float(reached),  # type: ignore[arg-type]
        points=len(errors),
        note=f"{silent:,} without a prediction" if silent else "",
    )


def framed(
    name: str,
    title: str,
    target: str,
    compare: Callable[[], pl.DataFrame],
    bounds: Sequence[Bound],
) -> Asked:
    """A tier whose frame *compare* makes and whose errors *bounds* judge."""

    def run(data: Data) -> Finding:
        data.on_progress(name, 0, 1)
        frame = compare()
        data.on_progress(name, 1, 1)
        missing = [column for column in NEEDED if column not in frame.columns]
        if missing:
            raise UsageError(f"tier {name}: its frame has no column {', '.join(missing)}")
        return Finding(
            tier=name,
            title=title,
            frame=frame,
            verdicts=tuple(judged(name, frame, bound) for bound in bounds),
        )

    return Asked(name, title, target, run)
