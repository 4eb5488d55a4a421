"""Entries by name and from trees: what the floors above ask of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, TypeVar

from jalapeno.catalogue import shelf
from jalapeno.catalogue.build import build
from jalapeno.catalogue.check import (
    check_chip,
    check_engine,
    check_model,
    check_ranges,
    check_row,
    check_system,
)
from jalapeno.catalogue.schema import Chip, Claim, Engine, Model, Row, System, Tariff

Tree = Mapping[str, Any]
Entry = TypeVar("Entry")


def _kept(read: Callable[[str], Entry]) -> Callable[[str], Entry]:
    """*read*, once for each entry of the catalogue; a user's file is read anew, for it changes."""
    once = cache(read)

    @wraps(read)
    def entry(name: str) -> Entry:
        return read(name) if shelf.is_file(name) else once(name)

    return entry


def chip_of(tree: Tree) -> Chip:
    """Return the chip written in *tree*; :class:`BadFact` names the place of any mistake."""
    where = _where("chips", tree)
    chip = build(Chip, tree, where)
    check_ranges(chip.facts, where)
    check_chip(chip, where)
    return chip


def system_of(tree: Tree) -> System:
    """Return the system written in *tree*, its chip's tree included."""
    where = _where("systems", tree)
    system = build(System, tree, where)
    check_ranges(system.facts, where)
    check_system(system, where)
    return system


def model_of(tree: Tree) -> Model:
    """Return the model written in *tree*."""
    where = _where("models", tree)
    model = build(Model, tree, where)
    check_ranges(model.facts, where)
    check_model(model, where)
    return model


def engine_of(tree: Tree) -> Engine:
    """Return the engine written in *tree*."""
    where = _where("engines", tree)
    engine = build(Engine, tree, where)
    check_ranges(engine.facts, where)
    check_engine(engine, where)
    return engine


def tariff_of(tree: Tree) -> Tariff:
    """Return the tariff written in *tree*."""
    where = _where("tariffs", tree)
    tariff = build(Tariff, tree, where)
    check_ranges(tariff.facts, where)
    return tariff


def claim_of(tree: Tree) -> Claim:
    """Return the published comparison written in *tree*."""
    where = _where("claims", tree)
    claim = build(Claim, tree, where)
    check_ranges(claim.facts, where)
    return claim


def row_of(tree: Tree) -> Row:
    """Return the measured row written in *tree*."""
    where = _where("references", tree)
    row = build(Row, tree, where)
    check_row(row, where)
    return row


@_kept
def chip(name: str) -> Chip:
    """Return the chip called *name*; :class:`UnknownName` lists the nearest and all."""
    return chip_of(shelf.tree("chips", name))


@_kept
def system(name: str) -> System:
    """Return the system called *name*."""
    return system_of(shelf.tree("systems", name))


@_kept
def model(name: str) -> Model:
    """Return the model called *name*."""
    return model_of(shelf.tree("models", name))


@_kept
def engine(name: str) -> Engine:
    """Return the engine called *name*."""
    return engine_of(shelf.tree("engines", name))


@_kept
def tariff(name: str) -> Tariff:
    """Return the tariff called *name*."""
    return tariff_of(shelf.tree("tariffs", name))


@_kept
def claim(name: str) -> Claim:
    """Return the published comparison called *name*."""
    return claim_of(shelf.tree("claims", name))


@_kept
def row(name: str) -> Row:
    """Return the measured row called *name*."""
    return row_of(shelf.tree("references", name))


def rows(table: str | None = None) -> tuple[Row, ...]:
    """Return the measured rows of *table*, or of all tables, in the order of the files."""
    names = shelf.names("references") if table is None else shelf.row_names(table)
    return tuple(row(name) for name in names)


def _where(shelf_name: str, tree: Tree) -> str:
    return f"{shelf_name}/{tree.get('name', '?')}"
