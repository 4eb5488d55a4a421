"""Fits that were made before: the constants of an engine for exactly these measured rows.

A validation fits the twin anew for every fold, from starts that know no measurement; that takes
the better part of an hour.  Fits are therefore recorded under a digest of what they were fitted to
(the rows' names, loads and measured times, the unknowns and their priors), so that a recorded one
can stand in for a fit of the same rows and for no other.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping

import polars as pl

from jalapeno.analysis.calibration.constants import Constant
from jalapeno.analysis.calibration.residuals import Rows
from jalapeno.errors import BadFact

PLACE = "recorded/fits.csv"
"""Beside the catalogue."""

COLUMNS = ("digest", "engine", "points", "path", "value")

Values = Mapping[str, float]
"""Constants and factors by path, SI; and :data:`PROBE`."""

PROBE = "probe_tpot_ms"
"""What the fitted engine said of one of its points when the fit was made: if it says otherwise now,
the physics has changed."""


def digest(name: str, rows: Rows, constants: tuple[Constant, ...]) -> str:
    """SHA-256 of what a fit of entry *name* to *rows* depends on, first 16 hex digits."""
    words = [name]
    words += sorted(
        f"{row['id']} {row['measured_ttft_ms']!r} {row['measured_tpot_ms']!r}" for row in rows
    )
    words += [f"{c.path} {c.start!r} {c.low!r} {c.high!r} {c.spread!r}" for c in constants]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def read_fits(content: bytes, what: str = PLACE) -> dict[str, dict[str, float]]:
    """Values by digest; :class:`BadFact` where *content* is not such a record."""
    try:
        table = pl.read_csv(io.BytesIO(content), schema_overrides={"digest": pl.String()})
    except pl.exceptions.PolarsError as error:
        raise BadFact(f"{what}: not a record of fits: {error}") from error
    if tuple(table.columns) != COLUMNS:
        raise BadFact(
            f"{what}: not a record of fits: columns {', '.join(table.columns)} where "
            f"{', '.join(COLUMNS)} are expected"
        )
    found: dict[str, dict[str, float]] = {}
    for row in table.iter_rows(named=True):
        found.setdefault(row["digest"], {})[row["path"]] = row["value"]
    without = sorted(key for key, values in found.items() if PROBE not in values)
    if without:
        raise BadFact(f"{what}: fit {without[0]} has no {PROBE}: make the record anew")
    return found


def write_fits(fits: Mapping[str, tuple[str, int, Values]]) -> str:
    """The record of *fits*: digest to (engine entry, points, values), six significant digits."""
    rows = [
        (key, name, points, path, float(f"{value:.6g}"))
        for key, (name, points, values) in sorted(fits.items(), key=lambda item: item[1][0])
        for path, value in values.items()
    ]
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row").write_csv()
