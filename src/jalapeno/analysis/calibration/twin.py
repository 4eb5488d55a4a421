"""The twin as a contender: fitted anew on the rows of a fold, asked about those left out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from jalapeno import catalogue
from jalapeno.analysis.calibration.constants import CONSTANTS, Constant, engine_with, factors
from jalapeno.analysis.calibration.fit import OnStage, fit, silent
from jalapeno.analysis.calibration.recorded import PLACE, PROBE, Values, digest, read_fits
from jalapeno.analysis.calibration.residuals import Rows, problem
from jalapeno.analysis.evidence.answers import Answer, answers, predictions
from jalapeno.analysis.evidence.scenarios import EngineOf, as_catalogued, entry_name
from jalapeno.analysis.validation.contenders import TWIN, Contender
from jalapeno.analysis.validation.protocols import Predictor
from jalapeno.analysis.validation.shipped import shipped
from jalapeno.catalogue import Engine

MOST_IN_FLIGHT = 512
"""Points with more requests in flight are asked about but not fitted on: a few of them would take
most of the time."""

MOST_POINTS = 120
"""Points that a fold's fit of one engine is made of, chosen by a hash of their names: ten for each
constant."""

FITTABLE = 12
"""An engine with fewer points keeps the constants that a datasheet prediction uses."""

ROUNDS = 6
"""Evaluations of a fold's fit, from starts that know no measurement."""

PROBE_TOLERANCE = 0.001
"""How far a probe may be from what is on record, which has six digits."""

CATALOGUED = "catalogue"
"""Name of the twin with the engine entries that ship, which nothing is fitted to here."""


@dataclass(slots=True)
class Fitter:
    """Fits of engine entries to rows, recorded or made anew; remembers what it made."""

    recorded: Mapping[str, Values]
    """By digest."""
    on_stage: OnStage = silent
    made: dict[str, tuple[str, int, Values]] = field(default_factory=dict)
    """Digest to entry, points and values of every fit that was asked for."""
    stale: list[str] = field(default_factory=list)
    """Digests of recorded fits under which a point comes out otherwise than when they were made:
    the physics has changed since."""

    def engine(self, name: str, rows: Rows) -> Engine:
        """Entry *name* fitted to *rows* of its own, or as :func:`unfitted` where they are few."""
        kept = thinned(rows, MOST_POINTS)
        if len(kept) < FITTABLE:
            return unfitted(name)
        unknowns = (*CONSTANTS, *factors(kept))
        key = digest(name, kept, unknowns)
        if key not in self.made:
            known = self.recorded.get(key)
            values = known or self._fitted(name, kept, unknowns)
            said = probe(with_values(name, unknowns, values), kept)
            if known and not math.isclose(said, known[PROBE], rel_tol=PROBE_TOLERANCE):
                self.stale.append(key)
            self.made[key] = (name, len(kept), {**values, PROBE: said})
        return with_values(name, unknowns, self.made[key][2])

    def _fitted(self, name: str, rows: Rows, unknowns: tuple[Constant, ...]) -> Values:
        asked = problem(name, rows, unknowns)

        def stage(what: str, done: int, total: int) -> None:
            self.on_stage(f"{name}: {what}", done, total)

        x = fit(asked, stage, ROUNDS, asked.start).x
        return {
            unknown.path: float(value) for unknown, value in zip(unknowns, np.exp(x), strict=True)
        }


def with_values(name: str, unknowns: Sequence[Constant], values: Values) -> Engine:
    """Entry *name* with fitted *values*."""
    return engine_with(
        catalogue.engine(name), unknowns, [values[unknown.path] for unknown in unknowns]
    )


def probe(engine: Engine, rows: Rows) -> float:
    """Milliseconds of TPOT that *engine* says of the row with the fewest requests in flight; NaN
    where its plan does not fit."""
    row = min(rows, key=lambda row: (row["concurrency"], row["id"]))
    (said,) = answers([row], lambda name, system, model: engine)
    return said.tpot_ms if isinstance(said, Answer) else math.nan


def thinned(rows: Rows, most: int) -> Rows:
    """At most *most* of *rows*, none with more than :data:`MOST_IN_FLIGHT` requests in flight;
    which ones depends on their names alone."""
    small = [row for row in rows if row["concurrency"] <= MOST_IN_FLIGHT]
    return sorted(small, key=lambda row: hashlib.sha1(row["id"].encode()).hexdigest())[:most]


def by_entry(rows: pl.DataFrame) -> dict[str, list[Mapping[str, Any]]]:
    """Rows by the engine entry that plays them."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        found.setdefault(entry_name(row), []).append(row)
    return dict(sorted(found.items()))


def unfitted(name: str) -> Engine:
    """Entry *name* with the constants that nothing was fitted to."""
    starts = [constant.start for constant in CONSTANTS]
    return engine_with(catalogue.engine(name), CONSTANTS, starts)


def fitter(on_stage: OnStage = silent, anew: bool = False) -> Fitter:
    """A fitter that knows the fits that ship, or none where they are to be made *anew*."""
    content = None if anew else shipped(PLACE)
    return Fitter({} if content is None else read_fits(content), on_stage)


def twin_of(fitting: Fitter) -> Contender:
    """The twin among contenders: on no rows it has the constants that nothing was fitted to."""

    def fitted(given: pl.DataFrame) -> Predictor:
        engines = {name: fitting.engine(name, rows) for name, rows in by_entry(given).items()}
        return predictor(lambda name, system, model: engines.get(name) or unfitted(name))

    return Contender(TWIN, "the twin", fitted, needs_rows=False)


def catalogued() -> Contender:
    """The twin with the engine entries that ship; a point is played once, whoever asks again."""
    seen: dict[str, pl.DataFrame] = {}
    play = predictor(as_catalogued)

    def predict(asked: pl.DataFrame) -> pl.DataFrame:
        new = asked.filter(~pl.col("id").is_in(list(seen)))
        said = play(new)
        for identity, group in said.partition_by("id", as_dict=True).items():
            seen[str(identity[0])] = group
        for identity in new["id"]:
            seen.setdefault(identity, said.clear())
        return pl.concat([seen[identity] for identity in asked["id"]]) if len(asked) else said

    title = "the twin, engine entries as shipped"
    return Contender(CATALOGUED, title, lambda given: predict, needs_rows=False)


def predictor(engine_of: EngineOf) -> Predictor:
    """Predictions with engines by entry."""

    def predict(asked: pl.DataFrame) -> pl.DataFrame:
        rows: Sequence[Mapping[str, Any]] = asked.to_dicts()
        return predictions(rows, answers(rows, engine_of))

    return predict
