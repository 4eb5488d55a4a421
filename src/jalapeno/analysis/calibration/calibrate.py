"""Calibration of an engine entry: from points to constants, intervals and what is still missed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from jalapeno.analysis.calibration.bootstrap import draws, interval
from jalapeno.analysis.calibration.certainty import Certainty, certainty
from jalapeno.analysis.calibration.constants import CONSTANTS, factors
from jalapeno.analysis.calibration.entry import entry_tree
from jalapeno.analysis.calibration.fit import Fit, OnStage, fit, silent
from jalapeno.analysis.calibration.residuals import Floats, Problem
from jalapeno.analysis.evidence.answers import answers, predictions
from jalapeno.analysis.evidence.scenarios import entry_name
from jalapeno.analysis.evidence.sources.points import Points
from jalapeno.analysis.validation.rows import PREDICTED, with_throughput
from jalapeno.analysis.validation.sift import sift
from jalapeno.catalogue import Engine, engine_of
from jalapeno.errors import UsageError

DRAFTING = "speculative decoding, which is not fitted to"


@dataclass(frozen=True, slots=True)
class Data:
    """Points of one engine entry, and those left out with why."""

    engine: str
    rows: pl.DataFrame
    left_out: pl.DataFrame
    """``id``, ``reason``: contradictory, drafting, or no point at all."""
    others: Mapping[str, int]
    """Points of other engine entries, by entry."""
    source: str
    """Where the points are from, in words."""

    @property
    def medians(self) -> int:
        """Rows whose times are medians, for no mean is stated."""
        return int((self.rows["statistic"] == "median").sum())

    @property
    def curves(self) -> int:
        """Deployments."""
        return int(self.rows["curve"].n_unique())


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted engine entry, and how well it is known."""

    data: Data
    base: Engine
    fit: Fit
    certainty: Certainty
    drawn: Floats | None
    """(replicates, unknowns): logarithms fitted to curves drawn anew; None where none were."""
    low: Floats
    """Lower ends of the 90 % intervals."""
    high: Floats
    tree: Mapping[str, Any]
    """The entry, as it is written."""
    before: pl.DataFrame
    """Rows with what the base entry predicts."""
    after: pl.DataFrame
    """Rows with what the written entry predicts, and shares of it."""
    refused: pl.DataFrame
    """``id``, ``reason``: rows whose plan does not fit the memory, so that nothing was played."""


def choose(points: Points, wanted: str | None, source: str) -> Data:
    """The points of the engine entry *wanted*, or of the only one there is; contradictions out.

    Raises :class:`UsageError` where there are several and none is wanted, or none of the wanted.
    """
    sifted = sift(points.rows.filter(~pl.col("speculative")))
    drafting = points.rows.filter(pl.col("speculative")).select(
        "id", pl.lit(DRAFTING).alias("reason")
    )
    entries = pl.Series("entry", [entry_name(row) for row in sifted.rows.iter_rows(named=True)])
    counts = dict(sorted(entries.value_counts().iter_rows())) if len(entries) else {}
    told = ", ".join(f"{name} ({count:,} points)" for name, count in counts.items()) or "none"
    if wanted is None and len(counts) > 1:
        raise UsageError(f"the points are of several engines, {told}: choose one with --engine")
    engine = wanted if wanted is not None else next(iter(counts), "")
    if engine not in counts:
        raise UsageError(f"no points of {engine or 'any engine'} to fit; there are {told}")
    return Data(
        engine=engine,
        rows=sifted.rows.filter(entries == engine),
        left_out=pl.concat([points.left_out, drafting, sifted.excluded]),
        others={name: count for name, count in counts.items() if name != engine},
        source=source,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a calibration is to be like."""

    name: str
    """Of the entry that is written."""
    base: str
    """The catalogue's entry, or a file, that everything else is from."""
    replicates: int
    """Draws of curves; 0: intervals of the covariance alone."""
    seed: int
    rounds: int
    """Derivatives made anew at the most."""
    as_of: str
    """Date of the fit."""


def calibrate(data: Data, base: Engine, asked: Asked, on_stage: OnStage = silent) -> Calibration:
    """Fit :data:`.constants.CONSTANTS` and factors to *data*, beginning where *base* stands.

    *base* is the engine called ``asked.base``.  Raises :class:`UsageError` for fewer points than
    constants, or where *data* are of one curve and curves are to be drawn.
    """
    rows: Sequence[Mapping[str, Any]] = data.rows.to_dicts()
    _check_curves(data, asked.replicates)
    problem = Problem(base, rows, (*CONSTANTS, *factors(rows)))
    solved = fit(problem, on_stage, asked.rounds)
    known = certainty(solved)
    drawn = None
    if asked.replicates:
        curves = data.rows["curve"].to_list()
        drawn = draws(solved, curves, asked.replicates, asked.seed, on_stage)
    low, high = interval(known, drawn)
    tree = entry_tree(solved, (low, high), asked.base, naming(data, solved, asked))
    written = engine_of(tree)
    before, _ = played(data.rows, base, on_stage, "before")
    after, refused = played(data.rows, written, on_stage, "after")
    return Calibration(
        data=data,
        base=base,
        fit=solved,
        certainty=known,
        drawn=drawn,
        low=low,
        high=high,
        tree=tree,
        before=before,
        after=after,
        refused=refused,
    )


def _check_curves(data: Data, replicates: int) -> None:
    """Say before minutes of fitting what :func:`draws` would say after them."""
    if replicates and data.curves < 2:
        raise UsageError(
            f"all points of {data.engine} are of one curve: nothing to draw from; use "
            "--bootstrap 0, or give points of more deployments"
        )


def naming(data: Data, solved: Fit, asked: Asked) -> dict[str, str]:
    """Name, version, source and date of an entry's fitted facts."""
    versions = sorted(set(data.rows["engine_version"]) - {"unknown"})
    left = np.exp(np.abs(solved.left[solved.answered][:, 0]))
    typical = float(np.median(left)) - 1.0 if len(left) else math.nan
    return {
        "name": asked.name,
        "version": ", ".join(versions) or "unknown",
        "source": (
            f"{data.source}: {int(solved.answered.sum())} points on {data.curves} curves; "
            f"median error of mean TPOT left over {100.0 * typical:.1f} %; low and high hold 90 %"
        ),
        "as_of": asked.as_of,
    }


def played(
    rows: pl.DataFrame, engine: Engine, on_stage: OnStage = silent, stage: str = "points"
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """*rows* with what *engine* predicts of each, and (``id``, ``reason``) of those it refuses."""
    listed = rows.to_dicts()
    said = answers(
        listed,
        lambda name, system, model: engine,
        lambda done: on_stage(stage, done, len(listed)),
    )
    joined = rows.join(predictions(listed, said), on="id", how="left", maintain_order="left")
    refused = [
        {"id": row["id"], "reason": item}
        for row, item in zip(listed, said, strict=True)
        if isinstance(item, str)
    ]
    frame = with_throughput(joined.drop("predicted_tokens_per_s_per_gpu", strict=False))
    assert set(PREDICTED) <= set(frame.columns)
    schema = pl.Schema({"id": pl.String(), "reason": pl.String()})
    return frame, pl.DataFrame(refused, schema=schema)
