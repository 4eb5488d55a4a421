"""Tables in a file of one's own: Parquet, a row a knot.

Columns: ``table``, ``axes`` (names joined by ``,``), ``stands_for`` (operators joined by ``;``),
``kind``, ``source``, ``x0`` to ``x3`` (the knot, null beyond a table's axes) and ``seconds``.
Every combination of a table's knots has a row.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import polars as pl

from jalapeno.catalogue import Kind
from jalapeno.cost.tables.grid import AXES, Grid
from jalapeno.cost.tables.table import Axis, StepTable, StepTables
from jalapeno.errors import BadFact, instead

KNOTS = tuple(f"x{number}" for number in range(AXES))
WORDS = ("table", "axes", "stands_for", "kind", "source")
SCHEMA = {name: pl.String() for name in WORDS} | {
    name: pl.Float64() for name in (*KNOTS, "seconds")
}


def tables_bytes(tables: Iterable[StepTable]) -> bytes:
    """The content of a file with these *tables*."""
    frame = pl.concat([_rows(table) for table in tables])
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _rows(table: StepTable) -> pl.DataFrame:
    grid = table.grid
    knots = np.array(list(product(*grid.axes)))
    words = {
        "table": table.name,
        "axes": ",".join(axis.name.lower() for axis in table.axes),
        "stands_for": ";".join(table.stands_for),
        "kind": grid.kind.name.lower(),
        "source": grid.source,
    }
    columns = {name: [word] * len(knots) for name, word in words.items()}
    numbers = {
        name: knots[:, number] if number < len(grid.axes) else [None] * len(knots)
        for number, name in enumerate(KNOTS)
    }
    return pl.DataFrame(columns | numbers | {"seconds": grid.seconds.ravel()}, schema=SCHEMA)


def parse_tables(name: str, sha256: str, content: bytes) -> StepTables:
    """The tables in the *content* of a file; :class:`BadFact` says what is wrong with it."""
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (OSError, pl.exceptions.PolarsError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadFact(f"{name}: not a Parquet file of tables: {said}") from error
    if dict(frame.schema) != SCHEMA:
        raise BadFact(f"{name}: columns {dict(frame.schema)}; a file of tables has {SCHEMA}")
    return StepTables(name, sha256, tuple(_read(frame, name)))


def _read(frame: pl.DataFrame, name: str) -> Iterator[StepTable]:
    for (title,), rows in frame.group_by(["table"], maintain_order=True):
        where = f"{name}: table {title}"
        words = rows.select(WORDS).unique()
        if len(words) != 1:
            raise BadFact(f"{where}: axes, stands_for, kind and source must be alike in all rows")
        _, axes, stands_for, kind, source = words.row(0)
        named = tuple(_member(word, where) for word in axes.split(","))
        if kind.upper() not in Kind.__members__:
            raise BadFact(
                f"{where}: no kind {kind!r}{instead(kind, map(str.lower, Kind.__members__))}"
            )
        grid = _grid(rows, len(named), Kind[kind.upper()], source)
        yield StepTable(str(title), named, grid, tuple(filter(None, stands_for.split(";"))))


def _member(word: str, where: str) -> Axis:
    if word.upper() not in Axis.__members__:
        raise BadFact(f"{where}: no axis {word!r}{instead(word, map(str.lower, Axis.__members__))}")
    return Axis[word.upper()]


def _grid(rows: pl.DataFrame, axes: int, kind: Kind, source: str) -> Grid:
    names = list(KNOTS[:axes])
    knots = tuple(rows[name].unique().sort().to_numpy() for name in names)
    shape = tuple(len(axis) for axis in knots)
    seconds = np.full(shape, np.nan)
    at = tuple(
        np.searchsorted(axis, rows[name].to_numpy())
        for axis, name in zip(knots, names, strict=True)
    )
    seconds[at] = rows["seconds"].to_numpy()
    return Grid(knots, seconds, kind, source)
