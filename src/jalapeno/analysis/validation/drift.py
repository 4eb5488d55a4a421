"""Drift: what today's predictions changed, against those that were recorded last."""

from __future__ import annotations

import io
from dataclasses import dataclass

import polars as pl

from jalapeno.analysis.validation.scores import score
from jalapeno.errors import BadFact

SHARE = 0.02
"""A prediction that moved by more is counted: about what a repeated measurement differs by."""

COLUMNS = ("id", "version", "ttft_ms", "tpot_ms")
"""Of a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What moved between a record and today."""

    version: str
    """That made the record."""
    share: float
    both: int
    """Points predicted then and now."""
    moved: int
    """Of these, those whose TPOT or TTFT moved by more than *share*."""
    appeared: int
    """Predicted now and not then."""
    vanished: int
    movers: pl.DataFrame
    """The points that moved most, with ``tpot_then_ms``, ``tpot_now_ms``, ``ttft_then_ms``,
    ``ttft_now_ms``, ``moved`` (the larger relative change)."""
    then: dict[str, float]
    """TPOT MAPE, median APE and bias of the record on the points predicted both times."""
    now: dict[str, float]

    @property
    def better(self) -> float:
        """By how much the MAPE of TPOT fell, as a share (above zero: improved)."""
        return self.then["mape"] - self.now["mape"]


def record(played: pl.DataFrame, version: str) -> str:
    """Predictions as the text of a record: rows by id, six significant digits, no row without."""
    kept = played.filter(pl.col("predicted_tpot_ms").is_not_null()).sort("id")
    return kept.select(
        "id",
        pl.lit(version).alias("version"),
        pl.col("predicted_ttft_ms").round_sig_figs(6).alias("ttft_ms"),
        pl.col("predicted_tpot_ms").round_sig_figs(6).alias("tpot_ms"),
    ).write_csv()


def read_record(content: bytes, what: str) -> pl.DataFrame:
    """A record that :func:`record` wrote; :class:`BadFact` where it is not one."""
    try:
        table = pl.read_csv(io.BytesIO(content), infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        raise BadFact(f"{what}: not a record of predictions: {error}") from error
    if tuple(table.columns) != COLUMNS or table["id"].is_duplicated().any():
        raise BadFact(
            f"{what}: not a record of predictions: columns {', '.join(table.columns)} where "
            f"{', '.join(COLUMNS)} with an id a row are expected"
        )
    return table


def drift(
    recorded: pl.DataFrame, today: pl.DataFrame, share: float = SHARE, most: int = 10
) -> Drift:
    """Compare *today*'s predictions (rows of one contender) with a record."""
    now = today.filter(pl.col("predicted_tpot_ms").is_not_null())
    both = now.join(recorded, on="id", maintain_order="left")
    tpot = (pl.col("predicted_tpot_ms") / pl.col("tpot_ms") - 1.0).abs()
    ttft = (pl.col("predicted_ttft_ms") / pl.col("ttft_ms") - 1.0).abs()
    both = both.with_columns(pl.max_horizontal(tpot, ttft).alias("moved"))
    movers = both.sort("moved", "id", descending=[True, False]).head(most)
    before = both.with_columns(
        pl.col("ttft_ms").alias("predicted_ttft_ms"), pl.col("tpot_ms").alias("predicted_tpot_ms")
    )
    return Drift(
        version=str(recorded["version"][0]) if len(recorded) else "none",
        share=share,
        both=len(both),
        moved=int((both["moved"] > share).sum()),
        appeared=len(now) - len(both),
        vanished=len(recorded) - len(both),
        movers=movers.filter(pl.col("moved") > 0.0).select(
            "id",
            "curve",
            "concurrency",
            "measured_tpot_ms",
            pl.col("tpot_ms").alias("tpot_then_ms"),
            pl.col("predicted_tpot_ms").alias("tpot_now_ms"),
            pl.col("ttft_ms").alias("ttft_then_ms"),
            pl.col("predicted_ttft_ms").alias("ttft_now_ms"),
            "moved",
        ),
        then=score(before),
        now=score(both),
    )
