"""A few rows for many, the same ones every time."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def spread(rows: pl.DataFrame, count: int) -> pl.DataFrame:
    """About *count* of the *rows*, in order, spread evenly and against any period in them.

    Every n-th row would take one load of all where a site has n loads; the multiples of the golden
    section, modulo one, keep step with nothing (Weyl 1916).
    """
    if len(rows) <= count:
        return rows
    places = np.unique((np.arange(count) * GOLDEN % 1.0 * len(rows)).astype(np.int64))
    return rows[places]
