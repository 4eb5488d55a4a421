"""The shelves: TOML files in, raw trees out.  Nothing here knows what an entry means.

A *tree* is the nested dictionary of one entry, self-contained: the chip that a system names is put
in place of its name, so that a scenario can store the tree and be read without the catalogue.
"""

from __future__ import annotations

import copy
import os
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jalapeno.errors import BadFact, UnknownName, unknown_name

Tree = dict[str, Any]
"""Raw entry: TOML tables, strings, numbers and booleans."""

SHELVES: tuple[str, ...] = (
    "chips",
    "systems",
    "models",
    "engines",
    "tariffs",
    "claims",
    "references",
)
"""What the catalogue holds, in the order in which one thing needs another."""

FROM_FILES: tuple[str, ...] = ("chips", "systems", "models", "engines", "tariffs")
"""Shelves whose entries may be files of the user's own."""


def parse_toml(text: str, where: str) -> Tree:
    """Return the table written in *text*; *where* (``"chips/b200"``) begins the message.

    Raises :class:`BadFact` with the line and column of the mistake where it is not TOML.
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also integers and nests too large for Python
        raise BadFact(f"{where}: not TOML: {error}") from error


def names(shelf: str) -> tuple[str, ...]:
    """Return the names on a *shelf*, sorted (references: in the order of their tables).

    Raises :class:`UnknownName` for a shelf that is not in ``SHELVES``.
    """
    return tuple(_entries(_shelf(shelf)))


def tables() -> tuple[str, ...]:
    """Return the names of the tables of measured rows."""
    return tuple(_stems("references"))


def tree(shelf: str, name: str) -> Tree:
    """Return the raw tree of the entry *name*, a copy that the caller may change.

    *name* may be a TOML file of the user's own (:func:`is_file`).  Raises :class:`UnknownName`
    where there is no such shelf, entry or file, :class:`BadFact` where the file is no TOML.
    """
    if _shelf(shelf) in FROM_FILES and is_file(name):
        return _from_file(shelf, Path(name))
    entries = _entries(shelf)
    if name not in entries:
        raise unknown_name(_singular(shelf), name, entries)
    found: Tree = copy.deepcopy(entries[name])
    if shelf == "systems":
        found["chip"] = tree("chips", found.get("chip", ""))
    return found


def is_file(name: str) -> bool:
    """Whether *name* is a TOML file, not an entry: it ends so, and has a folder or exists."""
    if not name.endswith(".toml"):
        return False
    return "/" in name or os.sep in name or Path(name).is_file()


def row_names(table: str) -> tuple[str, ...]:
    """Return the names of the measured rows of one *table*, in the order of the file.

    Raises :class:`UnknownName` where there is no such table.
    """
    if table not in tables():
        raise unknown_name("table of references", table, tables())
    return tuple(_rows(_read("references", table), f"references/{table}"))


def _shelf(shelf: str) -> str:
    if shelf not in SHELVES:
        raise unknown_name("shelf", shelf, SHELVES)
    return shelf


def _singular(shelf: str) -> str:
    return "reference row" if shelf == "references" else shelf.removesuffix("s")


def _from_file(shelf: str, path: Path) -> Tree:
    """The tree in a user's file; chip and engine of a system may be files, from its folder on."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        known = ", ".join(names(shelf))
        raise UnknownName(f"no file {path}; {shelf} without a file are {known}") from error
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or no path at all
        said = error.strerror if isinstance(error, OSError) else error
        raise BadFact(f"{path}: cannot be read: {said}") from error
    found = parse_toml(text, str(path))
    if shelf == "systems":
        for key in ("chip", "engine"):
            named = found.get(key)
            if isinstance(named, str) and named.endswith(".toml"):
                found[key] = str(path.parent / named)
        if isinstance(found.get("chip"), str):
            found["chip"] = tree("chips", found["chip"])
    return found


@cache
def _entries(shelf: str) -> dict[str, Tree]:
    if shelf != "references":
        return {stem: _named(_read(shelf, stem), shelf, stem) for stem in _stems(shelf)}
    found: dict[str, Tree] = {}
    for table in _stems(shelf):
        for name, row in _rows(_read(shelf, table), f"{shelf}/{table}").items():
            if name in found:
                raise BadFact(f"{shelf}/{table}: the row {name!r} is there twice")
            found[name] = row
    return found


def _stems(shelf: str) -> list[str]:
    folder = files("jalapeno.catalogue") / "data" / shelf
    found = (item.name for item in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml"))


def _read(shelf: str, stem: str) -> Tree:
    path = files("jalapeno.catalogue") / "data" / shelf / f"{stem}.toml"
    return parse_toml(path.read_text("utf-8"), f"{shelf}/{stem}")


def _named(entry: Tree, shelf: str, stem: str) -> Tree:
    if entry.get("name") != stem:
        raise BadFact(
            f"{shelf}/{stem}: name: expected {stem!r}, the file's, not {entry.get('name')!r}"
        )
    return entry


def _rows(table: Tree, where: str) -> dict[str, Tree]:
    """Rows of a table by name; what stands above the rows holds for each that does not say else."""
    shared = {key: value for key, value in table.items() if key != "rows"}
    found: dict[str, Tree] = {}
    for row in table.get("rows", []):
        name = row.get("name")
        if not isinstance(name, str) or name in found:
            raise BadFact(f"{where}: every row needs a name of its own, got {name!r}")
        found[name] = {**shared, **row}
    return found
