"""A measured table that can be asked: seconds of any shape and load, each with its basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.cost.tables.basis import Answer, Basis, weakest
from jalapeno.cost.tables.coordinates import CONVEX, coordinates
from jalapeno.cost.tables.dtypes import Peaks
from jalapeno.cost.tables.families import TIME, Family
from jalapeno.cost.tables.grid import Grid
from jalapeno.cost.tables.monotone import monotone
from jalapeno.cost.tables.table_file import Table
from jalapeno.cost.tables.variant import Variant, prepare
from jalapeno.errors import BadTable, instead

Array = npt.NDArray[np.float64]
WIDE = 1.15
"""Knots further apart than this factor get one between them, where times bend."""

Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """One shape over its load: seconds at knots, and what each knot rests on."""

    grid: Grid
    basis: npt.NDArray[np.int64]
    """:class:`Basis` of each knot, the shape of ``grid.seconds``."""
    distance: Array
    """Logarithm to the nearest measurement, or beyond the edge, of each knot."""


@dataclass(frozen=True, slots=True, eq=False)
class OperatorTable:
    """Measurements of one family on one system, with its chip's datasheet.

    Variants are calibrated when first asked for, surfaces of shapes when first needed; both are
    kept.
    """

    table: Table
    peaks: Peaks
    _variants: dict[Key, Variant] = field(default_factory=dict, repr=False)
    _surfaces: dict[Key, Surface] = field(default_factory=dict, repr=False)

    @property
    def family(self) -> Family:
        """Which columns it has."""
        return self.table.family

    @property
    def source(self) -> str:
        """Where it was measured, in words."""
        return str(self.table.origin)

    def variants(self) -> pl.DataFrame:
        """The variants that were measured, a row each, sorted."""
        return self.table.rows.select(self.family.variant).unique().sort(self.family.variant)

    def variant(self, shape: Mapping[str, str | int]) -> Variant:
        """The variant that *shape* names; raises ``BadTable`` where it was not measured."""
        names = self.family.variant
        key = tuple(self._asked(shape, name) for name in names)
        if key not in self._variants:
            same = [pl.col(name) == value for name, value in zip(names, key, strict=True)]
            rows = self.table.rows.filter(*same)
            if not len(rows):
                raise self._unmeasured(names, key)
            self._variants[key] = prepare(self.family, rows, self.peaks)
        return self._variants[key]

    def surface(self, shape: Mapping[str, str | int]) -> Surface:
        """Seconds of one *shape* (variant and site columns) over all knots of its axes."""
        key = tuple(self._asked(shape, name) for name in (*self.family.variant, *self.family.site))
        if key not in self._surfaces:
            self._surfaces[key] = self._made(shape)
        return self._surfaces[key]

    def seconds(self, shape: Mapping[str, str | int], load: Sequence[float]) -> Answer:
        """Answer for one *shape* under a *load*, a number an axis.

        Multilinear between knots.  Beyond the outermost knots, the calibrated roofline times what
        the edge shows of it.  Raises ``BadTable`` for an unknown variant or a load not above zero.
        """
        return self.answers(shape, [load])[0]

    def answers(
        self, shape: Mapping[str, str | int], loads: Sequence[Sequence[float]]
    ) -> list[Answer]:
        """:meth:`seconds` for several *loads* of one *shape*."""
        surface = self.surface(shape)
        axes = surface.grid.axes
        for load in loads:
            if len(load) != len(axes) or not all(np.isfinite(x) and x > 0.0 for x in load):
                raise BadTable(
                    f"{self.family.name}: load {tuple(load)}; give a number above zero for each "
                    f"of {', '.join(self.family.axes)}"
                )
        asked = np.array(loads, dtype=np.float64).reshape(-1, len(axes))
        held = np.stack(
            [np.clip(asked[:, at], axis[0], axis[-1]) for at, axis in enumerate(axes)], axis=1
        )
        beyond = np.sqrt((np.log(asked / held) ** 2).sum(axis=1))
        scale = np.ones(len(asked))
        out = beyond > 0.0
        if out.any():
            scale[out] = self._roofline(shape, asked[out]) / self._roofline(shape, held[out])
        found = []
        for at, row in enumerate(held):
            basis, distance = _nearest(surface, row)
            if out[at]:
                basis, distance = Basis.EDGE, distance + float(beyond[at])
            seconds = float(surface.grid.at(row) * scale[at])
            found.append(Answer(seconds, basis, distance, self.source))
        return found

    def _asked(self, shape: Mapping[str, str | int], name: str) -> str | int:
        if name not in shape:
            needed = ", ".join((*self.family.variant, *self.family.site))
            raise BadTable(f"{self.family.name}: shape lacks {name!r}; needed: {needed}")
        return shape[name]

    def _unmeasured(self, names: tuple[str, ...], key: Key) -> BadTable:
        known = [
            " ".join(f"{name}={value}" for name, value in zip(names, row, strict=True))
            for row in self.variants().iter_rows()
        ]
        asked = " ".join(f"{name}={value}" for name, value in zip(names, key, strict=True))
        return BadTable(f"{self.source}: no variant {asked}{instead(asked, known)}")

    def _roofline(self, shape: Mapping[str, str | int], loads: Array) -> Array:
        frame = pl.DataFrame(loads, schema=list(self.family.axes), orient="row")
        fixed = [pl.lit(shape[name]).alias(name) for name in self.family.key if name in shape]
        return self.variant(shape).roofline(frame.with_columns(fixed))

    def _made(self, shape: Mapping[str, str | int]) -> Surface:
        variant, axes = self.variant(shape), self._axes(shape)
        shapes = self._product(shape, axes)
        seconds = variant.roofline(shapes)
        basis = np.full(len(shapes), int(Basis.INTERPOLATED))
        distance = np.zeros(len(shapes))
        places = coordinates(self.family.name, shapes)
        load = shapes[self.family.axes[-1]].to_numpy()
        for knot, values in variant.fields.items():
            here = np.flatnonzero(load == knot)
            seconds[here] *= np.exp(values.at(places[here]))
            near, outside = values.distance(places[here])
            basis[here] = np.where(outside > 1e-9, int(Basis.EDGE), basis[here])
            distance[here] = np.where(outside > 1e-9, outside, near)
        self._put_measured(variant, shapes, seconds, basis, distance)
        size = tuple(len(axis) for axis in axes)
        kind = Basis(int(basis.max())).kind
        grid = Grid(tuple(axes), monotone(seconds.reshape(size)), kind, self.source)
        surface = Surface(grid, basis.reshape(size), distance.reshape(size))
        return self._refined(shape, surface) if self.family.name in CONVEX else surface

    def _refined(self, shape: Mapping[str, str | int], surface: Surface) -> Surface:
        """*surface* with a knot more between any two of the last axis: the scaled roofline there.

        The evidence of the grid stays that of the knots it had.
        """
        *others, last = surface.grid.axes
        wide = np.flatnonzero(last[1:] > WIDE * last[:-1])
        if not len(wide):
            return surface
        middle = np.sqrt(last[wide] * last[wide + 1])
        model = {
            name: self._roofline(shape, np.array(list(product(*others, knots)))).reshape(
                *surface.grid.seconds.shape[:-1], len(knots)
            )
            for name, knots in (("knots", last), ("middle", middle))
        }
        share = surface.grid.seconds / model["knots"]
        between = model["middle"] * np.sqrt(share[..., wide] * share[..., wide + 1])
        seconds = np.insert(surface.grid.seconds, wide + 1, between, axis=-1)
        apart = 0.5 * np.log(last[wide + 1] / last[wide])
        near = np.maximum(surface.distance[..., wide], surface.distance[..., wide + 1]) + apart
        basis = np.maximum(surface.basis[..., wide], surface.basis[..., wide + 1])
        basis = np.maximum(basis, int(Basis.INTERPOLATED))
        axes = (*others, np.insert(last, wide + 1, middle))
        return Surface(
            Grid(axes, monotone(seconds), surface.grid.kind, surface.grid.source),
            np.insert(surface.basis, wide + 1, basis, axis=-1),
            np.insert(surface.distance, wide + 1, near, axis=-1),
        )

    def _axes(self, shape: Mapping[str, str | int]) -> list[Array]:
        rows = self.variant(shape).rows
        return [rows[name].unique().sort().cast(pl.Float64).to_numpy() for name in self.family.axes]

    def _product(self, shape: Mapping[str, str | int], axes: list[Array]) -> pl.DataFrame:
        knots = np.array(list(product(*axes)), dtype=np.int64).reshape(-1, len(axes))
        fixed = [pl.lit(shape[name]).alias(name) for name in self.family.key if name in shape]
        loads = pl.DataFrame(knots, schema=list(self.family.axes), orient="row")
        return loads.with_columns(fixed).select(self.family.key)

    def _put_measured(
        self,
        variant: Variant,
        shapes: pl.DataFrame,
        seconds: Array,
        basis: npt.NDArray[np.int64],
        distance: Array,
    ) -> None:
        """Where the very shape was measured, that is the answer."""
        keyed = shapes.with_columns(
            *(pl.col(name).cast(pl.Int64) for name in self.family.numbers)
        ).with_row_index("at")
        found = keyed.join(variant.rows, on=self.family.key, how="inner")
        at = found["at"].to_numpy()
        seconds[at] = found[TIME].to_numpy() * 1e-6
        basis[at], distance[at] = int(Basis.MEASURED), 0.0


def _nearest(surface: Surface, load: Array) -> tuple[Basis, float]:
    """(weakest basis, greatest distance) of the knots between which *load* lies."""
    corners = []
    between = 0.0
    for axis, x in zip(surface.grid.axes, load, strict=True):
        above = int(np.searchsorted(axis, x, "left"))
        below = above if axis[above] == x else above - 1
        corners.append(sorted({below, above}))
        if below != above:
            between += min(np.log(x / axis[below]), np.log(axis[above] / x)) ** 2
    cell = np.ix_(*corners)
    basis = Basis(int(surface.basis[cell].max()))
    if between > 0.0:
        basis = weakest(basis, Basis.INTERPOLATED)
    return basis, float(surface.distance[cell].max() + np.sqrt(between))
