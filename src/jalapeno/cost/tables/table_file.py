"""Operator tables as Parquet files of one's own: the schema, its checks, reader and writer.

A file is one family on one system, measured with one version of one framework::

    columns   the key columns of the family (families.FAMILIES), text or whole numbers, and
              time_us  float, microseconds, > 0
    metadata  jalapeno.format "1", jalapeno.family, jalapeno.system, jalapeno.framework,
              jalapeno.version, jalapeno.source: all text, none empty
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from jalapeno.cost.tables.families import TIME, Family, family
from jalapeno.errors import BadTable, nearest

FORMAT = "1"
PREFIX = "jalapeno."


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a table was measured and who says so."""

    family: str
    system: str
    """Name of the system or chip, such as ``h200_sxm``."""
    framework: str
    version: str
    source: str
    """Who measured, and where it can be found."""

    def __str__(self) -> str:
        return f"{self.family} on {self.system}, {self.framework} {self.version} ({self.source})"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A checked table: its rows are unique, sorted by key, and each has a positive time."""

    origin: Origin
    rows: pl.DataFrame
    """Key columns (``String`` and ``Int64``) and ``time_us`` (``Float64``)."""

    @property
    def family(self) -> Family:
        """Which columns it has."""
        return family(self.origin.family)


def checked(origin: Origin, rows: pl.DataFrame) -> Table:
    """Return *rows* as a :class:`Table`, sorted; extra columns are refused.

    Raises ``BadTable`` for a missing column, one with a wrong unit or type, a null, NaN, infinite,
    zero or negative time, a negative number, no rows, and duplicate keys.
    """
    sort = family(origin.family)
    for name, said in (
        ("system", origin.system),
        ("framework", origin.framework),
        ("version", origin.version),
        ("source", origin.source),
    ):
        if not said.strip():
            raise BadTable(f"table of {origin.family}: metadata {name!r} is empty; say it")
    _check_columns(origin, sort, rows)
    rows = _typed(origin, sort, rows)
    _check_numbers(origin, sort, rows)
    twice = rows.filter(pl.struct(sort.key).is_duplicated())
    if len(twice):
        first = ", ".join(f"{name}={twice[name][0]}" for name in sort.key)
        raise BadTable(
            f"{origin}: {len(twice)} rows share a key with another, first: {first}; keep one row "
            "a measurement"
        )
    return Table(origin, rows.sort(sort.key))


def _check_columns(origin: Origin, sort: Family, rows: pl.DataFrame) -> None:
    wanted = (*sort.key, TIME)
    for name in wanted:
        if name in rows.columns:
            continue
        quantity = name.rsplit("_", 1)[0]
        other = [c for c in rows.columns if c not in wanted and c.rsplit("_", 1)[0] == quantity]
        if name == TIME:
            other += [c for c in rows.columns if c in ("latency", "time", "duration", "seconds")]
        unit = f"; {other[0]!r} has another unit or none: convert it" if other else ""
        raise BadTable(
            f"{origin}: no column {name!r}{unit}{nearest(name, rows.columns)}\n"
            f"needed: {', '.join(wanted)}"
        )
    extra = [name for name in rows.columns if name not in wanted]
    if extra:
        raise BadTable(
            f"{origin}: unknown columns {', '.join(extra)}; a {sort.name} table has "
            f"{', '.join(wanted)}: drop them, or they may tell rows apart that look alike"
        )
    if not len(rows):
        raise BadTable(f"{origin}: no rows")


def _typed(origin: Origin, sort: Family, rows: pl.DataFrame) -> pl.DataFrame:
    """Words as String, numbers as Int64, time as Float64; raises ``BadTable`` for other types."""
    for name in sort.words:
        if rows.schema[name] not in (pl.String, pl.Categorical):
            raise BadTable(f"{origin}: column {name!r} is {rows.schema[name]}, not text")
    for name in sort.numbers:
        if not rows.schema[name].is_integer():
            raise BadTable(f"{origin}: column {name!r} is {rows.schema[name]}, not whole numbers")
    if not rows.schema[TIME].is_numeric():
        raise BadTable(f"{origin}: column {TIME!r} is {rows.schema[TIME]}, not a number")
    return rows.select(
        *(pl.col(name).cast(pl.String) for name in sort.words),
        *(pl.col(name).cast(pl.Int64) for name in sort.numbers),
        pl.col(TIME).cast(pl.Float64),
    )


def _check_numbers(origin: Origin, sort: Family, rows: pl.DataFrame) -> None:
    for name in rows.columns:
        if rows[name].null_count():
            raise BadTable(f"{origin}: column {name!r} has {rows[name].null_count()} empty cells")
    for name in sort.numbers:
        if int(rows.select(pl.col(name).min()).item()) < 0:
            raise BadTable(f"{origin}: column {name!r} has a negative number")
    good = pl.col(TIME).is_finite() & (pl.col(TIME) > 0.0)
    bad = rows.filter(~good)
    if len(bad):
        first = ", ".join(f"{name}={bad[name][0]}" for name in sort.key)
        raise BadTable(
            f"{origin}: {len(bad)} times are not above zero and finite, first {bad[TIME][0]} at "
            f"{first}; leave such rows out"
        )


def write_table(table: Table, path: Path) -> None:
    """Write *table* to a Parquet file; the file appears whole or not at all."""
    origin = table.origin
    said = {
        "format": FORMAT,
        "family": origin.family,
        "system": origin.system,
        "framework": origin.framework,
        "version": origin.version,
        "source": origin.source,
    }
    part = path.with_name(f".{path.name}.part")
    try:
        table.rows.write_parquet(part, metadata={PREFIX + key: said[key] for key in said})
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_table(path: Path) -> Table:
    """Read and check a Parquet file of one's own; raises ``BadTable``."""
    try:
        said = pl.read_parquet_metadata(path)
        rows = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadTable(f"{path}: not a readable Parquet file: {error}") from error
    return checked(_origin(path, said), rows)


def _origin(path: Path, said: Mapping[str, str]) -> Origin:
    names = ("format", "family", "system", "framework", "version", "source")
    missing = [PREFIX + name for name in names if PREFIX + name not in said]
    if missing:
        raise BadTable(f"{path}: metadata lacks {', '.join(missing)}; write it with write_table")
    if said[PREFIX + "format"] != FORMAT:
        raise BadTable(f"{path}: format {said[PREFIX + 'format']!r}; this version reads {FORMAT!r}")
    return Origin(*(said[PREFIX + name] for name in names[1:]))
