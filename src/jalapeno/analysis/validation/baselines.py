"""Baselines: what a simulator must beat, on the very same points.

* *roofline*: ``max(bytes / bandwidth, FLOP / peak)`` of a step, and of one prompt; of a unified
  deployment the prompts of others interrupt, ``(n - 1) / OSL`` of one in each step.
* *affine*: ``a x roofline + b``, both fitted.
* *linear*: nine non-negative constants of an engine, over what takes the roofline's time and what
  it leaves out: launches, collectives, the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from jalapeno.analysis.validation.features import Features, features_of
from jalapeno.analysis.validation.nonnegative import Floats, fit_nonnegative
from jalapeno.analysis.validation.protocols import Fit, Predictor
from jalapeno.errors import UsageError

Columns = Callable[[Features], Sequence[float]]

LINEAR = (
    "reading weights",
    "reading KV",
    "decode FLOP",
    "prefill FLOP",
    "prefill attention",
    "dependent phases",
    "collectives",
    "collective bytes",
    "sequences on the host",
)
"""The nine constants of the linear model of TPOT.  A phase is one dependent kernel of a layer."""


def roofline_tpot(point: Features) -> float:
    """Seconds of a decode step and of the prompts that interrupt it."""
    return point.step.roofline + point.others * point.prompt.roofline


def linear_tpot(point: Features) -> list[float]:
    """What :data:`LINEAR` multiplies."""
    step, prompt, others = point.step, point.prompt, point.others
    return [
        step.weights,
        step.kv,
        step.flops + step.attention,
        others * prompt.flops,
        others * prompt.attention,
        step.phases,
        step.collectives,
        step.link + others * prompt.link,
        point.sequences,
    ]


def linear_ttft(point: Features) -> list[float]:
    """The same kind of model for TTFT: one's own prompt, the burst's, and what is fixed."""
    prompt = point.prompt
    return [
        prompt.weights,
        prompt.flops,
        prompt.attention,
        prompt.phases,
        prompt.collectives,
        prompt.link,
        (point.queue - 1.0) * prompt.roofline,
        point.step.roofline,
        1.0,
    ]


def _matrix(points: Sequence[Features], columns: Columns) -> Floats:
    return np.array([list(columns(point)) for point in points], dtype=np.float64)


def _features(rows: pl.DataFrame) -> list[Features]:
    return [features_of(row) for row in rows.iter_rows(named=True)]


def _seconds(rows: pl.DataFrame, what: str) -> Floats:
    return rows[f"measured_{what}_ms"].to_numpy() / 1000.0


def _answer(rows: pl.DataFrame, ttft: Floats, tpot: Floats) -> pl.DataFrame:
    """Predictions in milliseconds; one of no time at all is none."""
    said = rows.select("id").with_columns(
        pl.Series("predicted_ttft_ms", ttft * 1000.0), pl.Series("predicted_tpot_ms", tpot * 1000.0)
    )
    names = ("predicted_ttft_ms", "predicted_tpot_ms")
    return said.with_columns(pl.when(pl.col(name) > 0.0).then(name).alias(name) for name in names)


def roofline(rows: pl.DataFrame) -> Predictor:
    """The datasheet roofline; nothing of *rows* is looked at."""

    def predict(asked: pl.DataFrame) -> pl.DataFrame:
        points = _features(asked)
        ttft = np.array([point.prompt.roofline for point in points])
        return _answer(asked, ttft, np.array([roofline_tpot(point) for point in points]))

    return predict


def _affine_tpot(point: Features) -> tuple[float, float]:
    return roofline_tpot(point), 1.0


def _affine_ttft(point: Features) -> tuple[float, float]:
    return point.prompt.roofline, 1.0


def affine(rows: pl.DataFrame) -> Predictor:
    """``a x roofline + b`` of TPOT and of TTFT, fitted to the unified ones of *rows*."""
    return _fitted(rows, _affine_ttft, _affine_tpot)


def linear(rows: pl.DataFrame) -> Predictor:
    """The nine-constant model, for each engine of *rows* that has enough unified ones.

    An engine without is asked with the constants of all engines together.
    """
    unified = rows.filter(pl.col("mode") == "unified")
    everyone = _fitted(rows, linear_ttft, linear_tpot)
    own: dict[str, Predictor] = {
        engine: _fitted(group, linear_ttft, linear_tpot)
        for (engine,), group in unified.group_by("engine")
        if len(group) >= 2 * len(LINEAR)
    }

    def predict(asked: pl.DataFrame) -> pl.DataFrame:
        groups = asked.group_by("engine", maintain_order=True)
        return pl.concat([own.get(str(engine), everyone)(group) for (engine,), group in groups])

    return predict


def _fitted(rows: pl.DataFrame, ttft: Columns, tpot: Columns) -> Predictor:
    unified = rows.filter(pl.col("mode") == "unified")
    if unified.is_empty():
        raise UsageError(
            "no unified rows to fit a baseline on: give some, or use the datasheet only"
        )
    points = _features(unified)
    constants = {
        what: fit_nonnegative(_matrix(points, columns), _seconds(unified, what))
        for what, columns in (("ttft", ttft), ("tpot", tpot))
    }

    def predict(asked: pl.DataFrame) -> pl.DataFrame:
        about = _features(asked)
        return _answer(
            asked,
            _matrix(about, ttft) @ constants["ttft"],
            _matrix(about, tpot) @ constants["tpot"],
        )

    return predict


BASELINES: Mapping[str, tuple[str, Fit]] = {
    "roofline": ("datasheet roofline", roofline),
    "affine": ("affine roofline, two constants", affine),
    "linear": ("linear model, nine constants an engine", linear),
}
"""Name to title and fit."""

FITTED_ON_NOTHING: frozenset[str] = frozenset({"roofline"})
"""Contenders that a protocol without fit rows can ask."""
