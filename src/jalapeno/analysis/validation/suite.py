"""The suite: data gathered, tiers run one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from jalapeno.analysis.calibration.twin import Fitter, catalogued, fitter, twin_of
from jalapeno.analysis.evidence.sources.files import read_points
from jalapeno.analysis.evidence.sources.points import Told
from jalapeno.analysis.validation.contenders import Contender, everyone
from jalapeno.analysis.validation.protocols import PROTOCOLS, protocol
from jalapeno.analysis.validation.sift import sift
from jalapeno.analysis.validation.tiers import Data, Finding, OnProgress, tiers

ATTRIBUTION = "InferenceX by SemiAnalysis (Apache-2.0), mostly by way of NVIDIA's AIConfigurator"


DRAFTED = "speculative decoding, of which the data do not state what is accepted"
"""Why a row is not predicted."""


def gather(
    path: Path | None,
    protocols: Sequence[str],
    on_progress: OnProgress,
    tables: Path | None = None,
    fitting: Fitter | None = None,
) -> Data:
    """What the tiers look at: points of the file at *path*, or those that ship; sifted.

    *protocols*: those named, or all of them for the points that ship and ``datasheet`` for others,
    which nothing was fitted to; *tables*: a folder of operator tables; *fitting*: who fits the
    twin (None: fits that ship stand in for fits of the same rows).  *path*: the cleaned table, or
    InferenceX's aggregated results or CSV export, which say their layout.
    """
    for name in protocols:
        protocol(name)
    usual = tuple(PROTOCOLS) if path is None else ("datasheet",)
    points = read_points([] if path is None else [path], Told())
    drafting = points.rows["speculative"]
    sifted = sift(points.rows.filter(~drafting))
    drafted = points.rows.filter(drafting).select("id", pl.lit(DRAFTED).alias("reason"))
    return Data(
        rows=sifted.rows,
        excluded=pl.concat([points.left_out, drafted, sifted.excluded]),
        source=ATTRIBUTION if path is None else path.name,
        contenders=(*everyone(), *ours(fitting or fitter(on_progress))),
        protocols=tuple(name for name in PROTOCOLS if name in (protocols or usual)),
        tables=tables,
        on_progress=on_progress,
    )


def ours(fitting: Fitter) -> tuple[Contender, ...]:
    """The twin with the engine entries that ship, and the twin that *fitting* fits."""
    return (catalogued(), twin_of(fitting))


def validate(data: Data, names: Iterable[str] = ()) -> list[Finding]:
    """The findings of the tiers called *names*, or of all, in the registry's order."""
    return [one.run(data) for one in tiers(names)]
