"""The frame in which measured and predicted stand side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

COLUMNS: Mapping[str, type[pl.DataType]] = {
    "row": pl.String,
    "model": pl.String,
    "system": pl.String,
    "quantity": pl.String,
    "unit": pl.String,
    "measured": pl.Float64,
    "predicted": pl.Float64,
    "error": pl.Float64,
    "assumptions": pl.String,
}
"""Columns of every such frame.

``error`` is predicted over measured less one; where the unit is ``share`` it is their difference.
``predicted`` and ``error`` are null where nothing can be predicted; ``assumptions`` then says why.
Frames may have columns of their own after these.
"""


def side_by_side(
    lines: Iterable[Mapping[str, Any]], more: Mapping[str, type[pl.DataType]] | None = None
) -> pl.DataFrame:
    """Return *lines* as a frame; ``error`` is worked out here, the other columns are given."""
    told = [{**line, "error": error_of(line)} for line in lines]
    return pl.DataFrame(told, schema={**COLUMNS, **(more or {})}, orient="row")


def error_of(line: Mapping[str, Any]) -> float | None:
    """How far off a prediction is; None without one."""
    measured, predicted = line["measured"], line["predicted"]
    if measured is None or predicted is None:
        return None
    if line["unit"] == "share":
        return float(predicted - measured)
    return float(predicted / measured - 1.0)
