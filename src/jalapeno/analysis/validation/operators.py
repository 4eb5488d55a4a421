"""Tier 1, operators: how well tables answer for what was held out of them.

Three protocols, on measured tables of several systems:

* *site held out* (:func:`held_out`): every shape in turn is predicted from all other shapes of its
  own system, dtype and kernel; a whole site is left out with all its loads (GEMM: one (n, k);
  attention: one (heads, KV heads); experts: one (hidden, intermediate, experts)).  No other
  system's table is used, so a site held out is held out on all systems.  Exact, without refits
  (:func:`~jalapeno.cost.tables.kriging.left_out`); only the few constants of the roofline, fitted
  to some of all rows, have seen it.
* *load held out* (:func:`between_loads`): at each measured site every load but the first and the
  last is predicted from the two beside it, as a table does: on the line between them, or by the
  roofline scaled at both where times bend.
* *system held out* (:func:`across_systems`): a calibrated roofline, constants fitted on other
  systems and the target's datasheet peaks; nothing of the target's table is used.

Scores are tidy frames, a row a (protocol, family, dtype, regime, system); errors in percent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno import catalogue
from jalapeno.cost.tables.aiconfigurator import CHIPS, TableFile, choose, read
from jalapeno.cost.tables.coordinates import CONVEX, DOUBTING
from jalapeno.cost.tables.dtypes import Peaks
from jalapeno.cost.tables.families import TIME, Family
from jalapeno.cost.tables.kriging import left_out
from jalapeno.cost.tables.roofline import Roofline
from jalapeno.cost.tables.sample import spread
from jalapeno.cost.tables.shipped import GENERATIONS, class_names, fit_classes
from jalapeno.cost.tables.table_file import Table
from jalapeno.cost.tables.variant import calibrate, roofline_seconds, same_places
from jalapeno.cost.tables.work import work
from jalapeno.errors import BadTable

Array = npt.NDArray[np.float64]

TABLES = ("gemm", "context_attention", "generation_attention", "moe")
"""What is scored, as aiconfigurator names it."""

SITES: Mapping[str, tuple[str, ...]] = {
    "gemm": ("n", "k"),
    "context_attention": ("heads", "kv_heads"),
    "generation_attention": ("heads", "kv_heads"),
    "moe": ("hidden", "intermediate", "experts"),
}
"""Family -> the columns of a site that is held out whole."""

DTYPES: Mapping[str, tuple[str, ...]] = {
    "gemm": ("dtype",),
    "context_attention": ("attention_dtype", "kv_dtype"),
    "generation_attention": ("kv_dtype",),
    "moe": ("dtype",),
}
"""Family -> the columns that a score is split by."""

SCORED_ROWS = 6000
"""Rows a system and class that rooflines are scored on."""

COLUMNS = ("protocol", "family", "dtype", "regime", "system")


@dataclass(frozen=True, slots=True)
class Measured:
    """One table with the datasheet of its chip."""

    table: Table
    peaks: Peaks
    generation: str

    @property
    def system(self) -> str:
        """Where it was measured."""
        return self.table.origin.system


def measured_tables(
    files: Sequence[TableFile], table: str, framework: str = "trtllm", version: str = "1.3.0rc20"
) -> tuple[Measured, ...]:
    """Read *table* of every system that the catalogue has a chip for and that has such a file."""
    found = []
    for system, chip in CHIPS.items():
        if any(
            (each.system, each.table, each.framework, each.version)
            == (system, table, framework, version)
            for each in files
        ):
            one = read(choose(files, system, table, framework, version))
            peaks = Peaks.of(catalogue.chip(chip))
            found.append(Measured(one, peaks, GENERATIONS[chip]))
    if not found:
        raise BadTable(f"no table {table!r} of {framework} {version} for any of {', '.join(CHIPS)}")
    return tuple(found)


def held_out(measured: Sequence[Measured]) -> pl.DataFrame:
    """Score interpolation with whole sites held out, each system by its own other sites."""
    return scores("site held out", [_left_out(each) for each in measured])


def _left_out(measured: Measured) -> pl.DataFrame:
    """A row a measurement: its site's family, dtype, regime, system and relative error."""
    family, parts = measured.table.family, []
    for _, rows in measured.table.rows.group_by(family.variant, maintain_order=True):
        rooflines = calibrate(family, rows, measured.peaks)
        base = roofline_seconds(family, rooflines, rows, measured.peaks)
        left = np.log(rows[TIME].to_numpy() * 1e-6) - np.log(base)
        groups = rows.select(pl.struct(SITES[family.name]).rank("dense").cast(pl.Int64))
        numbers = groups.to_series().to_numpy()
        load = rows[family.axes[-1]].to_numpy()
        errors = np.empty(len(rows))
        for knots, places, values in same_places(family, rows, left):
            here = [np.flatnonzero(load == knot) for knot in knots]
            found = left_out(places, values, numbers[here[0]], family.name in DOUBTING)
            for column, at in enumerate(here):
                errors[at] = np.expm1(-found[:, column])
        parts.append(_rows(family, measured.system, rows, errors))
    return pl.concat(parts)


def between_loads(measured: Sequence[Measured]) -> pl.DataFrame:
    """Score interpolation along the last axis: each load of a site between its two neighbours."""
    parts = []
    for each in measured:
        family = each.table.family
        bends = family.name in CONVEX
        load, rest = family.axes[-1], [name for name in family.key if name != family.axes[-1]]
        ends = {
            f"{name} {side}": pl.col(name).shift(step).over(rest, order_by=load).cast(pl.Float64)
            for name in ((load, TIME, "base") if bends else (load, TIME))
            for side, step in (("below", 1), ("above", -1))
        }
        rows = (_with_base(each) if bends else each.table.rows).with_columns(**ends).drop_nulls()
        guess = _scaled(load) if bends else _line(load)
        errors = rows.select(guess / pl.col(TIME) - 1.0).to_series().to_numpy()
        parts.append(_rows(family, each.system, rows, errors))
    return scores("load held out", parts)


def _line(load: str) -> pl.Expr:
    below, above = pl.col(f"{load} below"), pl.col(f"{load} above")
    share = (pl.col(load) - below) / (above - below)
    return (1.0 - share) * pl.col(f"{TIME} below") + share * pl.col(f"{TIME} above")


def _scaled(load: str) -> pl.Expr:
    """The roofline, times what both neighbours show of it, mixed by the logarithm of the load."""
    below, above = pl.col(f"{load} below"), pl.col(f"{load} above")
    share = (pl.col(load) / below).log() / (above / below).log()
    logs = [
        (pl.col(f"{TIME} {side}") / pl.col(f"base {side}")).log() for side in ("below", "above")
    ]
    return pl.col("base") * ((1.0 - share) * logs[0] + share * logs[1]).exp()


def _with_base(measured: Measured) -> pl.DataFrame:
    """Rows with ``base``, the roofline calibrated on their variant."""
    family, parts = measured.table.family, []
    for _, rows in measured.table.rows.group_by(family.variant, maintain_order=True):
        rooflines = calibrate(family, rows, measured.peaks)
        base = roofline_seconds(family, rooflines, rows, measured.peaks)
        parts.append(rows.with_columns(pl.Series("base", base)))
    return pl.concat(parts)


def across_systems(measured: Sequence[Measured]) -> pl.DataFrame:
    """Score calibrated rooflines on systems that they were not fitted on.

    Protocols: ``fitted on H200 and B200`` (together), ``fitted on its generation`` (Hopper on
    H200, Blackwell on B200), ``system left out`` (all others of its generation).  A class that the
    systems fitted on lack is left out of the score.
    """
    by_name = {each.system: each for each in measured}
    anchors = [by_name[name] for name in ("h200_sxm", "b200_sxm") if name in by_name]
    parts = []
    for name, sources in {
        "fitted on H200 and B200": {each.system: anchors for each in measured},
        "fitted on its generation": {
            each.system: [a for a in anchors if a.generation == each.generation]
            for each in measured
        },
        "system left out": {
            each.system: [
                other
                for other in measured
                if other.generation == each.generation and other is not each
            ]
            for each in measured
        },
    }.items():
        fitted: dict[tuple[str, ...], dict[str, Roofline]] = {}
        rows = []
        for each in measured:
            used = sources[each.system]
            if not used or any(s is each for s in used):
                continue
            key = tuple(s.system for s in used)
            if key not in fitted:
                fitted[key] = fit_classes([(s.table, s.peaks) for s in used])
            rows.append(_predicted(each, fitted[key]))
        if rows:
            parts.append(scores(name, rows))
    return pl.concat(parts)


def _predicted(measured: Measured, rooflines: Mapping[str, Roofline]) -> pl.DataFrame:
    family, parts = measured.table.family, []
    names = class_names(family, measured.table.rows)
    for name, roofline in rooflines.items():
        rows = measured.table.rows.filter(names == name)
        if len(rows):
            rows = spread(rows, SCORED_ROWS)
            seconds = roofline.seconds(work(family.name, rows, measured.peaks))
            errors = seconds / (rows[TIME].to_numpy() * 1e-6) - 1.0
            parts.append(_rows(family, measured.system, rows, errors))
    return pl.concat(parts)


def _rows(family: Family, system: str, rows: pl.DataFrame, errors: Array) -> pl.DataFrame:
    dtype = pl.concat_str(*(pl.col(name) for name in DTYPES[family.name]), separator=" ")
    return rows.select(
        pl.lit(family.name).alias("family"),
        dtype.alias("dtype"),
        load_regime(family).alias("regime"),
        pl.lit(system).alias("system"),
        pl.Series("error", errors),
    )


def load_regime(family: Family) -> pl.Expr:
    """Name of the range of loads that a row lies in; decode attention goes by its time."""
    match family.name:
        case "generation_attention":
            column, first, second, unit = TIME, 20, 200, "us"
        case "context_attention":
            column, first, second, unit = "new_tokens", 512, 4096, "tokens"
        case _:
            column, first, second, unit = family.axes[-1], 64, 1024, family.axes[-1]
    small = pl.when(pl.col(column) <= first).then(pl.lit(f"to {first} {unit}"))
    middle = small.when(pl.col(column) <= second).then(pl.lit(f"to {second} {unit}"))
    return middle.otherwise(pl.lit(f"above {second} {unit}"))


def scores(protocol: str, errors: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tidy scores of relative *errors* (predicted over measured, minus one), in percent.

    A row a (family, dtype, regime, system), and rows with ``all`` in one or more of the last
    three that pool them.
    """
    joined = pl.concat(errors).with_columns(pl.lit(protocol).alias("protocol"))
    pooled = []
    for keep in (("dtype", "regime", "system"), ("dtype", "system"), ("system",), ("dtype",), ()):
        fixed = [
            pl.lit("all").alias(name) for name in ("dtype", "regime", "system") if name not in keep
        ]
        pooled.append(
            joined.with_columns(fixed)
            .group_by(COLUMNS)
            .agg(
                pl.len().cast(pl.Int64).alias("n"),
                (100.0 * pl.col("error").abs().median()).alias("median_ape_percent"),
                (100.0 * pl.col("error").abs().mean()).alias("mean_ape_percent"),
                (100.0 * pl.col("error").abs().quantile(0.9)).alias("p90_ape_percent"),
                (100.0 * pl.col("error").median()).alias("bias_percent"),
            )
        )
    return pl.concat(pooled).sort(COLUMNS)


def validate_operators(files: Sequence[TableFile]) -> pl.DataFrame:
    """All protocols on all of :data:`TABLES`; under a minute on one core."""
    parts = []
    for table in TABLES:
        measured = measured_tables(files, table)
        parts += [held_out(measured), between_loads(measured), across_systems(measured)]
    return pl.concat(parts)
