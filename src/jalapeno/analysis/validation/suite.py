"""The suite: data gathered, tiers run one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from jalapeno.analysis.calibration.twin import Fitter, catalogued, fitter, twin_of
from jalapeno.analysis.validation.cleaned import read_cleaned
from jalapeno.analysis.validation.contenders import Contender, everyone
from jalapeno.analysis.validation.protocols import PROTOCOLS, protocol
from jalapeno.analysis.validation.rows import LAYOUT, MEASURED
from jalapeno.analysis.validation.shipped import ROWS, shipped
from jalapeno.analysis.validation.sift import sift
from jalapeno.analysis.validation.tiers import Data, Finding, OnProgress, tiers

ATTRIBUTION = "InferenceX by SemiAnalysis (Apache-2.0), mostly by way of NVIDIA's AIConfigurator"


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
    twin (None: fits that ship stand in for fits of the same rows).  Where nothing ships and no file
    is named there are no points.
    """
    for name in protocols:
        protocol(name)
    content = shipped(ROWS) if path is None else path
    usual = tuple(PROTOCOLS) if path is None else ("datasheet",)
    none = pl.DataFrame(schema=MEASURED | LAYOUT)
    sifted = sift(none if content is None else read_cleaned(content))
    return Data(
        rows=sifted.rows,
        excluded=sifted.excluded,
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
