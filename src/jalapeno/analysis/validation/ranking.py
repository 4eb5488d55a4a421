"""Ranking: does a contender put configurations into the right order?

People pick configurations, not numbers.  A *group* is what they choose within: a model, a system
and a workload (isl, osl).  Precision, engine, layout and load are the choice.  Order is by output
tokens/s/GPU; agreement is Kendall's tau-b (scipy), 1 for the same order and -1 for the reverse.

* ``tau_all``: over all points of a group, whatever their concurrency: which point of which
  configuration gives more.
* ``tau_equal``: over configurations at the same concurrency, so that load explains nothing: tau
  at each concurrency with three configurations at least, averaged with their numbers of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.stats import kendalltau

from jalapeno.analysis.validation.scores import QUANTITIES, errors

GROUP = ("model", "system", "isl", "osl")
"""Columns that a user does not choose."""

FEWEST = 3
"""Points below which an order says nothing."""


def tau(measured: Sequence[float], predicted: Sequence[float]) -> float:
    """Kendall's tau-b of two lists; NaN below :data:`FEWEST` points or where all are equal."""
    if len(measured) < FEWEST or len(set(measured)) < 2 or len(set(predicted)) < 2:
        return math.nan
    return float(kendalltau(np.asarray(measured), np.asarray(predicted)).statistic)


def taus(rows: pl.DataFrame, by: Sequence[str] = GROUP, name: str = "throughput") -> pl.DataFrame:
    """A row a group *by* these columns: ``points``, ``tau_all``, ``pairs``, ``tau_equal``.

    *pairs* is how many pairs of points at equal concurrency ``tau_equal`` rests on; rows without a
    prediction do not count.  A tau that does not exist is null.
    """
    if name not in QUANTITIES:
        raise ValueError(f"no quantity {name!r}")
    found = errors(rows, name).filter(pl.col("ape").is_not_null())
    table = []
    for key, group in found.sort(*by, "id").group_by(by, maintain_order=True):
        measured, predicted = group["m"].to_list(), group["p"].to_list()
        pairs, equal = _equal(group)
        table.append(
            dict(zip(by, key, strict=True))
            | {"points": len(group), "tau_all": _null(tau(measured, predicted))}
            | {"pairs": pairs, "tau_equal": _null(equal)}
        )
    kinds: dict[str, pl.DataType] = {column: rows.schema[column] for column in by}
    kinds |= {"points": pl.Int64(), "tau_all": pl.Float64()}
    kinds |= {"pairs": pl.Int64(), "tau_equal": pl.Float64()}
    return pl.DataFrame(table, schema=kinds)


def _equal(group: pl.DataFrame) -> tuple[int, float]:
    """(pairs, mean tau) over the concurrencies of a group."""
    pairs, total = 0, 0.0
    for _, level in group.group_by("concurrency"):
        found = tau(level["m"].to_list(), level["p"].to_list())
        if not math.isnan(found):
            count = len(level) * (len(level) - 1) // 2
            pairs, total = pairs + count, total + count * found
    return pairs, total / pairs if pairs else math.nan


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value


def median_taus(rows: pl.DataFrame, by: Sequence[str] = GROUP) -> dict[str, float]:
    """Medians over groups of ``tau_all`` and ``tau_equal``, and how many groups have each."""
    table = taus(rows, by)
    found: dict[str, float] = {}
    for column in ("tau_all", "tau_equal"):
        each = table[column].drop_nulls()
        median = each.median()
        found[column] = math.nan if median is None else float(median)  # type: ignore[arg-type]
        found[f"groups_{column}"] = float(len(each))
    return found
