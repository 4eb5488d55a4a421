"""One variant of a table (a dtype, a kernel, a head size): its rooflines and its fields.

The mean of the field is a roofline calibrated on these very measurements; kriging carries what it
leaves over from shape to shape, at each knot of the load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.cost.tables.coordinates import DOUBTING, coordinates, regime
from jalapeno.cost.tables.dtypes import Peaks
from jalapeno.cost.tables.families import TIME, Family
from jalapeno.cost.tables.kriging import Kriging, krige
from jalapeno.cost.tables.roofline import LEAST_ROWS, Roofline, fit
from jalapeno.cost.tables.sample import spread
from jalapeno.cost.tables.work import work

Array = npt.NDArray[np.float64]

FIT_ROWS = 1500
"""Rows that rooflines of a table are calibrated on."""


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """All that is measured of one variant, ready to be asked."""

    family: Family
    peaks: Peaks
    rows: pl.DataFrame
    """Key columns and ``time_us``."""
    rooflines: Mapping[str, Roofline]
    """By regime."""
    fields: Mapping[int, Kriging]
    """Knot of the load (value of the last axis) -> what the roofline leaves over there, in logs."""

    @property
    def knots(self) -> Array:
        """Values of the last axis that were measured."""
        return np.array(sorted(self.fields), dtype=np.float64)

    def roofline(self, shapes: pl.DataFrame) -> Array:
        """Seconds of *shapes* by the calibrated roofline alone."""
        return roofline_seconds(self.family, self.rooflines, shapes, self.peaks)


def prepare(family: Family, rows: pl.DataFrame, peaks: Peaks) -> Variant:
    """Calibrate rooflines and fields on the *rows* of one variant."""
    rooflines = calibrate(family, rows, peaks)
    base = roofline_seconds(family, rooflines, rows, peaks)
    left = np.log(rows[TIME].to_numpy() * 1e-6) - np.log(base)
    fields: dict[int, Kriging] = {}
    doubt = family.name in DOUBTING
    for knots, places, columns in same_places(family, rows, left):
        fields.update(zip(knots, krige(places, columns, doubt), strict=True))
    return Variant(family, peaks, rows, rooflines, fields)


def same_places(
    family: Family, rows: pl.DataFrame, values: Array
) -> list[tuple[list[int], Array, Array]]:
    """(knots of the load, coordinates, *values* of *rows* there by knot) of each set of places.

    Most knots were measured at the same shapes, whose covariance is then inverted once.  *rows*
    are sorted by key.
    """
    places = coordinates(family.name, rows)
    load = rows[family.axes[-1]].to_numpy()
    sets: dict[bytes, tuple[list[int], Array, list[Array]]] = {}
    for knot in np.unique(load):
        here = np.flatnonzero(load == knot)
        entry = sets.setdefault(places[here].tobytes(), ([], places[here], []))
        entry[0].append(int(knot))
        entry[2].append(values[here])
    return [(knots, points, np.stack(each, axis=1)) for knots, points, each in sets.values()]


def calibrate(family: Family, rows: pl.DataFrame, peaks: Peaks) -> dict[str, Roofline]:
    """Rooflines by regime, fitted to some of the *rows* (:mod:`.sample`)."""
    regimes = regime(family.name, rows)
    found = {}
    for name in sorted(regimes.unique().to_list()):
        mine = rows.filter(regimes == name)
        some = spread(mine, FIT_ROWS)
        seconds = some[TIME].to_numpy() * 1e-6
        found[name] = (
            fit([work(family.name, some, peaks)], [seconds])
            if len(some) >= LEAST_ROWS
            else scaled(family, some, peaks)
        )
    return found


def scaled(family: Family, rows: pl.DataFrame, peaks: Peaks) -> Roofline:
    """A plain roofline for few *rows*: half of the peaks, and the least time as the floor."""
    least = float(rows[TIME].to_numpy().min()) * 1e-6
    return Roofline(0.5, 0.5, 2.0, 0.5 * least, 1e-12, 1e-12, 0.5)


def roofline_seconds(
    family: Family, rooflines: Mapping[str, Roofline], shapes: pl.DataFrame, peaks: Peaks
) -> Array:
    """Seconds of *shapes* by the *rooflines* of their regimes; a regime never seen takes another's.

    The order of ``rooflines`` says which.
    """
    regimes = regime(family.name, shapes).to_numpy()
    load = work(family.name, shapes, peaks)
    seconds = np.empty(len(shapes))
    for name in np.unique(regimes):
        roofline = rooflines.get(str(name), next(iter(rooflines.values())))
        seconds[regimes == name] = roofline.seconds(load)[regimes == name]
    return seconds
