"""Contenders: everyone who predicts, under one roof.

Baselines (:mod:`.baselines`), a peer whose predictions are stored, and whoever else is given as a
:class:`Contender`: the twin is one of them and has no door of its own.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import polars as pl

from jalapeno.analysis.validation.baselines import BASELINES, FITTED_ON_NOTHING
from jalapeno.analysis.validation.protocols import Fit, Predictor
from jalapeno.analysis.validation.shipped import PEER, needed

TWIN = "twin"
"""Name of the contender whose figures are held against targets."""

PEER_NAME = "aiconfigurator"


@dataclass(frozen=True, slots=True)
class Contender:
    """Someone who predicts."""

    name: str
    title: str
    fit: Fit
    needs_rows: bool = True
    """False for one who can be asked without having seen a measurement."""


def stored(said: pl.DataFrame) -> Fit:
    """A contender that only repeats what *said* holds: ``id`` and predictions."""

    def fit(rows: pl.DataFrame) -> Predictor:
        def predict(asked: pl.DataFrame) -> pl.DataFrame:
            return said.join(asked.select("id"), on="id", how="semi")

        return predict

    return fit


def peer_says() -> pl.DataFrame:
    """What AIConfigurator 0.12.0 says of the points that it was asked about.

    Columns ``id``, ``predicted_ttft_ms``, ``predicted_tpot_ms``, both null where it refuses, and
    ``refusal``, the first words of its reason.
    """
    table = pl.read_csv(io.BytesIO(needed(PEER)), infer_schema_length=None)
    return table.select(
        "id",
        pl.col("ttft_ms").alias("predicted_ttft_ms"),
        pl.col("tpot_ms").alias("predicted_tpot_ms"),
        "refusal",
    )


def baselines() -> tuple[Contender, ...]:
    """The baselines, simplest first."""
    return tuple(
        Contender(name, title, fit, needs_rows=name not in FITTED_ON_NOTHING)
        for name, (title, fit) in BASELINES.items()
    )


def everyone() -> tuple[Contender, ...]:
    """All who are fitted and asked: the baselines."""
    return baselines()


def peer() -> Contender:
    """AIConfigurator by its stored predictions."""
    said = peer_says().filter(pl.col("predicted_tpot_ms").is_not_null()).drop("refusal")
    return Contender(PEER_NAME, "AIConfigurator 0.12.0, as stored", stored(said), needs_rows=False)
