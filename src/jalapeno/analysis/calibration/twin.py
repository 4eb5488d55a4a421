"""The twin as a contender: fitted anew on the rows of a fold, asked about those left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from jalapeno import catalogue
from jalapeno.analysis.calibration.constants import CONSTANTS, engine_with, factors
from jalapeno.analysis.calibration.fit import Fit, OnStage, fit, refit, silent
from jalapeno.analysis.calibration.residuals import problem
from jalapeno.analysis.evidence.answers import answers, predictions
from jalapeno.analysis.evidence.scenarios import as_catalogued, entry_name
from jalapeno.analysis.validation.protocols import Predictor
from jalapeno.catalogue import Engine, Model, System

Fits = Mapping[str, Fit]
"""Fits of all rows, by engine entry."""

FITTABLE = 12
"""An engine with fewer points keeps the constants that a datasheet prediction uses."""


def fits_of(rows: pl.DataFrame, on_stage: OnStage = silent) -> Fits:
    """A fit of every engine entry that *rows* have enough points of."""
    by_entry: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        by_entry.setdefault(entry_name(row), []).append(row)
    found = {}
    for name, own in sorted(by_entry.items()):
        if len(own) >= FITTABLE:
            unknowns = (*CONSTANTS, *factors(own))
            found[name] = fit(problem(name, own, unknowns), _named(on_stage, name))
    return found


def _named(on_stage: OnStage, name: str) -> OnStage:
    return lambda stage, done, total: on_stage(f"{name}: {stage}", done, total)


def unfitted(name: str) -> Engine:
    """Entry *name* with the constants that nothing was fitted to."""
    starts = [constant.start for constant in CONSTANTS]
    return engine_with(catalogue.engine(name), CONSTANTS, starts)


def twin(fits: Fits) -> Callable[[pl.DataFrame], Predictor]:
    """The twin, which is fitted on the rows it is given and starts from *fits* of all rows.

    Engines without enough rows among those given keep :data:`.constants.CONSTANTS`' starts.
    """

    def fitted(rows: pl.DataFrame) -> Predictor:
        given = set(rows["id"].to_list())
        engines: dict[str, Engine] = {}
        for name, whole in fits.items():
            kept = np.array([row["id"] in given for row in whole.problem.rows], dtype=np.bool_)
            if kept.sum() >= FITTABLE:
                x = whole.x if kept.all() else refit(whole, kept)
                engines[name] = whole.problem.engine_at(x)
        return predictor(engines)

    return fitted


def predictor(engines: Mapping[str, Engine]) -> Predictor:
    """Predictions with *engines* by entry; others as :func:`unfitted`."""

    def engine_of(name: str, system: System, model: Model) -> Engine:
        return engines[name] if name in engines else unfitted(name)

    def predict(asked: pl.DataFrame) -> pl.DataFrame:
        rows: Sequence[Mapping[str, Any]] = asked.to_dicts()
        return predictions(rows, answers(rows, engine_of))

    return predict


def shipped() -> Predictor:
    """Predictions with the engine entries of the catalogue, fitted on whatever they say."""

    def predict(asked: pl.DataFrame) -> pl.DataFrame:
        rows: Sequence[Mapping[str, Any]] = asked.to_dicts()
        return predictions(rows, answers(rows, as_catalogued))

    return predict
