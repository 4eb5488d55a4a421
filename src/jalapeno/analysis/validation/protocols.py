"""Protocols: which rows a contender may be fitted on, and which it is asked about.

A protocol is a list of folds.  Every row is asked about once; a fold's fit rows share no curve (or
system, or model) with its test rows.  Baselines and the twin go through :func:`play` alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from jalapeno.analysis.validation.rows import (
    MEASURED,
    PREDICTED,
    SHARES,
    require,
    with_throughput,
)
from jalapeno.errors import UsageError, unknown_name

FOLDS = 5
"""Folds of whole curves."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What is fitted on and what is asked."""

    name: str
    fit: pl.DataFrame
    test: pl.DataFrame


Protocol = Callable[[pl.DataFrame], Sequence[Fold]]
"""Rows in, folds out."""

Predictor = Callable[[pl.DataFrame], pl.DataFrame]
"""Rows in; out ``id``, ``predicted_ttft_ms`` and ``predicted_tpot_ms`` of the rows that it
predicts, and where it has them ``predicted_tokens_per_s_per_gpu`` and ``share_*`` columns."""

Fit = Callable[[pl.DataFrame], Predictor]
"""Rows with measurements in, a predictor out."""


def fold_of(curve: str, folds: int = FOLDS) -> int:
    """The fold of a *curve*: its SHA-1 modulo *folds*, so that new data never move old curves."""
    return int.from_bytes(hashlib.sha1(curve.encode()).digest()[:8], "big") % folds


def whole_curves(rows: pl.DataFrame, folds: int = FOLDS) -> list[Fold]:
    """*folds* folds of whole curves, by hash."""
    if folds < 2:
        raise UsageError(f"{folds} folds of curves: at least 2, so that there is something to fit")
    number = rows["curve"].map_elements(lambda c: fold_of(c, folds), pl.Int64)
    found = []
    for fold in sorted(number.unique()):
        inside = number == fold
        found.append(
            Fold(f"curves {fold + 1} of {folds}", rows.filter(~inside), rows.filter(inside))
        )
    return found


def leave_one_out(rows: pl.DataFrame, column: str) -> list[Fold]:
    """A fold for each value of *column*, which is then in no fit row."""
    return [
        Fold(
            f"without {value}",
            rows.filter(pl.col(column) != value),
            rows.filter(pl.col(column) == value),
        )
        for value in rows[column].unique().sort()
    ]


def as_filed(rows: pl.DataFrame) -> list[Fold]:
    """The data file's own division: fitted on ``calib``, asked about ``test``.

    It divides points, not curves: most curves have points on both sides, so what this says is how
    well a contender interpolates along a curve.  Shown because others quote it.
    """
    return [
        Fold(
            "as filed",
            rows.filter(pl.col("split") == "calib"),
            rows.filter(pl.col("split") == "test"),
        )
    ]


def datasheet(rows: pl.DataFrame) -> list[Fold]:
    """Nothing to fit on."""
    return [Fold("datasheet", rows.clear(), rows)]


PROTOCOLS: dict[str, Protocol] = {
    "curves": whole_curves,
    "systems": lambda rows: leave_one_out(rows, "system"),
    "models": lambda rows: leave_one_out(rows, "model"),
    "datasheet": datasheet,
    "filed": as_filed,
}
TITLES = {
    "curves": "whole curves held out",
    "systems": "leave one system out",
    "models": "leave one model out",
    "datasheet": "datasheet only, nothing fitted",
    "filed": "the data file's own division of points",
}
HELD_OUT = {"curves": "curve", "systems": "system", "models": "model"}
"""Column of which no value is on both sides of a fold."""


def protocol(name: str) -> Protocol:
    """The protocol called *name*."""
    if name not in PROTOCOLS:
        raise unknown_name("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]


def leaks(fold: Fold, column: str) -> set[str]:
    """Values of *column* on both sides of *fold*."""
    return set(fold.fit[column].unique()) & set(fold.test[column].unique())


def play(folds: Sequence[Fold], fit: Fit) -> pl.DataFrame:
    """Rows of all folds with what the contender says of each, fitted anew for every fold.

    Columns: those of the rows, ``PREDICTED``, shares where there are any, ``fold``.  Predictions
    are null for rows that the contender leaves out; throughput follows from TTFT and TPOT where it
    says none.  Raises :class:`UsageError` where it answers about rows that it was not asked about.
    """
    return pl.concat([_answered(fold, fit(fold.fit)(fold.test)) for fold in folds], how="diagonal")


def _answered(fold: Fold, answer: pl.DataFrame) -> pl.DataFrame:
    require(fold.test, MEASURED, f"rows of {fold.name}")
    require(answer, {"id": pl.String()}, f"predictions for {fold.name}")
    strangers = set(answer["id"]) - set(fold.test["id"])
    if strangers or answer["id"].is_duplicated().any():
        what = (
            f"rows nobody asked about, such as {min(strangers)!r}" if strangers else "a row twice"
        )
        raise UsageError(f"predictions for {fold.name} name {what}")
    said = [name for name in (*PREDICTED, *SHARES) if name in answer.columns]
    rows = fold.test.drop(*PREDICTED, *SHARES, "fold", strict=False)
    rows = rows.join(answer.select("id", *said), on="id", how="left", maintain_order="left")
    for name, kind in PREDICTED.items():
        if name not in rows.columns:
            rows = rows.with_columns(pl.lit(None, kind).alias(name))
    given = pl.col("predicted_tokens_per_s_per_gpu")
    rows = with_throughput(rows.with_columns(given.alias("said"))).with_columns(
        pl.coalesce("said", given).alias("predicted_tokens_per_s_per_gpu")
    )
    return rows.drop("said").with_columns(pl.lit(fold.name).alias("fold"))
