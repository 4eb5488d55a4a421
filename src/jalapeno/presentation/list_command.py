"""``jalapeno list``: what the catalogue holds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jalapeno.catalogue import SHELVES
from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import show, show_json
from jalapeno.presentation.digits import UNDEFINED
from jalapeno.presentation.entries import Entry, shelf_entries
from jalapeno.presentation.tables import MARKS, Table, kind_word

Shelf = Annotated[
    str | None, typer.Argument(help=f"One of {', '.join(SHELVES)}; all if not given.")
]


def list_command(shelf: Shelf = None, as_json: Json = False) -> None:
    """List the shelves of the catalogue and what is on them."""
    shelves = {name: shelf_entries(name) for name in (SHELVES if shelf is None else (shelf,))}
    if as_json:
        show_json({name: [summary(entry) for entry in found] for name, found in shelves.items()})
        return
    show(shelf_table(name, found) for name, found in shelves.items())


def shelf_table(shelf: str, entries: tuple[Entry, ...]) -> Table:
    """The entries of one shelf."""
    rows = tuple(
        (entry.name, entry.title, str(len(entry.facts)), evidence(entry)) for entry in entries
    )
    weak = any(row[-1].startswith(("~", "!")) for row in rows)
    return Table(
        title=shelf,
        headers=("name", "what it is", "facts", "weakest evidence"),
        align="llrl",
        rows=rows,
        note=MARKS if weak else "",
    )


def evidence(entry: Entry) -> str:
    """The weakest kind of evidence in *entry*, marked."""
    return UNDEFINED if entry.weakest is None else kind_word(entry.weakest)


def summary(entry: Entry) -> dict[str, Any]:
    """The entry as one JSON object of a list."""
    kind = entry.weakest
    return {
        "name": entry.name,
        "title": entry.title,
        "facts": len(entry.facts),
        "weakest": None if kind is None else kind.name.lower(),
    }
