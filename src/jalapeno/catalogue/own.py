"""Files of one's own: which shelf a tree would stand on, and what it needs to stand alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from jalapeno.catalogue.schema import Chip, Engine, Model, System, Tariff
from jalapeno.catalogue.shelf import Tree, tree
from jalapeno.errors import BadFact

_SHAPES: Mapping[str, type[Any]] = {
    "chips": Chip,
    "systems": System,
    "models": Model,
    "engines": Engine,
    "tariffs": Tariff,
}
"""Shelf to what its entries are; claims and references are measurements, not for one's own."""

_TELLING: Mapping[str, tuple[str, ...]] = {
    "chips": ("matrix", "hbm"),
    "systems": ("chip", "fabric"),
    "models": ("layers", "attention"),
    "engines": ("matrix_efficiency", "activations"),
    "tariffs": ("all_in", "price"),
}
"""Two keys by which one knows an entry of each shelf, for the message."""


def shelf_of(entry: Mapping[str, Any]) -> str:
    """Return the shelf that *entry* is of: the one whose schema has most of its keys.

    Only keys that no other shelf has count.  Raises :class:`BadFact` where that names no shelf, or
    more than one.
    """
    keys = {shelf: {field.name for field in fields(shape)} for shelf, shape in _SHAPES.items()}
    shared = {key for key in set().union(*keys.values()) if _owners(key, keys) > 1}
    counts = {shelf: len((own - shared) & set(entry)) for shelf, own in keys.items()}
    most = max(counts.values())
    best = [shelf for shelf, count in counts.items() if count == most]
    if not most or len(best) > 1:
        known = ", ".join(
            f"{s.removesuffix('s')} by {a!r} and {b!r}" for s, (a, b) in _TELLING.items()
        )
        raise BadFact(f"cannot tell what this is; one knows a {known}")
    return best[0]


def whole(shelf: str, entry: Mapping[str, Any]) -> Tree:
    """Return *entry* with the chip that a system names in place of its name.

    Raises :class:`UnknownName` where the catalogue has no such chip; a chip that is a table, or
    that is missing, is left to the reader.
    """
    found = dict(entry)
    if shelf == "systems" and isinstance(found.get("chip"), str):
        found["chip"] = tree("chips", found["chip"])
    return found


def _owners(key: str, keys: Mapping[str, set[str]]) -> int:
    return sum(key in own for own in keys.values())
