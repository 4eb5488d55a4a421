"""Findings of the tests: a small grid of points, a twin that is a fifth too slow, one tier more."""

from __future__ import annotations

from functools import cache

import polars as pl

from jalapeno.analysis.validation.contenders import TWIN, Contender, baselines, stored
from jalapeno.analysis.validation.drift import Drift, drift, read_record, record
from jalapeno.analysis.validation.end_to_end import run
from jalapeno.analysis.validation.framed import Bound, framed
from jalapeno.analysis.validation.tiers import Data, Finding
from tests.analysis.validation.points import grid, predicted

FACTOR = 1.2


def twin(rows: pl.DataFrame, factor: float = FACTOR) -> Contender:
    """A twin that is *factor* times as slow as measured, mostly for memory's sake."""
    said = predicted(rows, factor).select(
        "id",
        "predicted_ttft_ms",
        "predicted_tpot_ms",
        pl.lit(0.7).alias("share_memory"),
        pl.lit(0.25).alias("share_issue"),
        pl.lit(0.05).alias("share_vector"),
    )
    return Contender(TWIN, "the twin", stored(said), needs_rows=False)


@cache
def data(*, with_twin: bool = True) -> Data:
    """Made-up points, one of them left out."""
    rows = grid()
    contenders = (*baselines(), twin(rows)) if with_twin else baselines()
    left = pl.DataFrame({"id": ["liar"], "reason": ["throughput is 9 times what it can be"]})
    return Data(
        rows=rows,
        excluded=left,
        source="made up",
        contenders=contenders,
        protocols=("curves", "systems", "datasheet"),
    )


@cache
def end_to_end(*, with_twin: bool = True) -> Finding:
    """The finding of T2 on them."""
    return run(data(with_twin=with_twin))


@cache
def side_by_side() -> Finding:
    """A tier that compares figure by figure."""
    frame = pl.DataFrame(
        {
            "row": ["a|b", "c"],
            "quantity": ["tokens/s", "tokens/s"],
            "unit": ["token/s", "token/s"],
            "measured": [100.0, 50.0],
            "predicted": [110.0, None],
            "error": [0.1, None],
            "assumptions": ["as stated", "no layout is public"],
        }
    )
    tier = framed("T4", "Racks", "20 %", lambda: frame, (Bound("tokens/s, mean error", 0.2),))
    return tier.run(data())


@cache
def drifted() -> Drift:
    """What moved since a twin that was half as slow again."""
    rows = predicted(grid(), 1.5)
    played = end_to_end().frame.filter(
        (pl.col("contender") == TWIN) & (pl.col("protocol") == "curves")
    )
    return drift(read_record(record(rows, "26.11.0").encode(), "record"), played)
