"""Points: what readers find, as one frame of rows, with what is left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from jalapeno import catalogue
from jalapeno.analysis.evidence.sources.names import PRECISIONS
from jalapeno.analysis.validation.cleaned import curve_of
from jalapeno.analysis.validation.rows import LAYOUT, MEASURED, RATIO, with_throughput
from jalapeno.errors import UsageError, unknown_name

COLUMNS: Mapping[str, pl.DataType] = {**MEASURED, **LAYOUT, "statistic": pl.String()}
"""Of a frame of points."""

LEFT_OUT: Mapping[str, pl.DataType] = {"id": pl.String(), "reason": pl.String()}

MEAN_SHARE = (1.0 + RATIO) / 2.0
"""Mean over nominal length of what InferenceX's client draws."""


@dataclass(frozen=True, slots=True)
class Points:
    """Rows, and what cannot be one."""

    rows: pl.DataFrame
    """Columns :data:`COLUMNS`."""
    left_out: pl.DataFrame
    """``id``, ``reason``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What whoever asks says of files that do not say it themselves; None: nothing."""

    system: str | None = None
    model: str | None = None
    engine: str | None = None
    precision: str | None = None
    isl: int | None = None
    osl: int | None = None
    concurrency: int | None = None
    workers: int | None = None
    tp: int | None = None
    dp: int | None = None
    ep: int | None = None

    def __post_init__(self) -> None:
        """Raise :class:`UsageError` for an unknown name or a number below one."""
        for shelf in ("systems", "models", "engines"):
            name = getattr(self, shelf.removesuffix("s"))
            if name is not None and name not in catalogue.names(shelf):
                raise unknown_name(shelf.removesuffix("s"), name, catalogue.names(shelf))
        if self.precision is not None and self.precision not in PRECISIONS:
            raise unknown_name("precision", self.precision, PRECISIONS)
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int) and value < 1:
                raise UsageError(f"--{field.name} {value}: at least 1")

    def unified(self, what: str) -> dict[str, Any]:
        """Layout of a unified deployment as told; :class:`UsageError` where *what* needs it."""
        tp = self.need("tp", what)
        workers, dp = self.workers or 1, self.dp or 1
        return {
            "mode": "unified",
            "gpus": workers * tp * dp,
            "decode_workers": workers,
            "decode_tp": tp,
            "decode_dp": dp,
            "decode_ep": self.ep or 1,
        }

    def need(self, name: str, what: str, said: Any = None) -> Any:
        """What the file *said*, or was told; :class:`UsageError` where neither says it."""
        value = getattr(self, name) if said is None else said
        if value is None:
            raise UsageError(f"{what} does not say its {name}: say it with --{name}")
        return value


def nominal(mean: float) -> int:
    """The nominal length whose draws, from 80 % of it up, have this *mean*."""
    return max(1, round(mean / MEAN_SHARE))


def points(found: Sequence[Mapping[str, Any]], left_out: Mapping[str, str], what: str) -> Points:
    """A frame of the points *found*, keys of :data:`COLUMNS` but ``curve``.

    ``measured_tokens_per_s_per_gpu`` follows from the times where a point has none.  *left_out*
    names what is no point, with why.  Raises :class:`UsageError` where *what* holds neither.
    """
    if not found and not left_out:
        raise UsageError(f"{what}: holds no measured point")
    rows = pl.DataFrame(
        [dict.fromkeys(COLUMNS) | dict(one) for one in found], schema=pl.Schema(COLUMNS)
    )
    stated = pl.col("measured_tokens_per_s_per_gpu")
    rows = with_throughput(
        rows.with_columns(curve_of(), stated.alias("stated")), "measured"
    ).with_columns(pl.coalesce("stated", stated).alias("measured_tokens_per_s_per_gpu"))
    gone = [{"id": name, "reason": why} for name, why in left_out.items()]
    return Points(rows.select(*COLUMNS), pl.DataFrame(gone, schema=pl.Schema(LEFT_OUT)))


def joined(parts: Sequence[Points]) -> Points:
    """All *parts* as one; an id that two of them have gets its place among them."""
    rows = pl.concat([part.rows for part in parts])
    twice = pl.col("id").is_duplicated()
    place = pl.int_range(pl.len()).over("id") + 1
    rows = rows.with_columns(
        pl.when(twice).then(pl.format("{} ({})", "id", place)).otherwise("id").alias("id")
    )
    return Points(rows, pl.concat([part.left_out for part in parts]))
