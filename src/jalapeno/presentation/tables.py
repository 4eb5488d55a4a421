"""Table: words in rows, drawn the same for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from jalapeno.catalogue import Kind

WEAK = {Kind.ESTIMATED: "~", Kind.ASSUMED: "!"}
"""Marks of weak evidence, which must show without colour too."""

MARKS = "~ estimated and ! assumed are weak evidence: nobody published or measured the number"
"""What the marks mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled table; units are in the headers."""

    title: str
    headers: tuple[str, ...]
    align: str
    """A letter a column: ``l`` for words, ``r`` for numbers, ``k`` for words kept on one line."""
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """A sentence below."""

    def columns(self, places: Sequence[int], title: str) -> Table:
        """The same rows with only the columns at these *places*."""
        return replace(
            self,
            title=title,
            headers=tuple(self.headers[place] for place in places),
            align="".join(self.align[place] for place in places),
            rows=tuple(tuple(row[place] for place in places) for row in self.rows),
        )

    def __post_init__(self) -> None:
        widths = {len(self.headers), len(self.align), *(len(row) for row in self.rows)}
        if len(widths) > 1:
            raise ValueError(f"table {self.title!r} has rows of {sorted(widths)} columns")


def kind_word(kind: Kind) -> str:
    """Return the name of *kind*, weak evidence marked: ``published``, ``! assumed``."""
    return f"{WEAK[kind]} {kind.name.lower()}" if kind in WEAK else kind.name.lower()


def kind_style(word: str) -> str:
    """Return the colour of a cell that may hold a :func:`kind_word`."""
    styles = {"~": "yellow", "!": "bold red"}
    return styles.get(word[:1], "") if word[1:2] == " " else ""


def to_rich(table: Table) -> Group:
    """Return *table* for a terminal.  Too narrow a one folds words; nothing is cut off."""
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for header, side in zip(table.headers, table.align, strict=True):
        drawn.add_column(
            Text(header),
            justify="right" if side == "r" else "left",
            overflow="fold",
            no_wrap=side == "k",
        )
    for row in table.rows:
        drawn.add_row(*(Text(cell, style=kind_style(cell)) for cell in row))
    # outside of the table, for inside they would be folded to its width
    above = [Text(table.title, style="bold")] if table.title else []
    below = [Text(f"{table.note}\n", style="dim")] if table.note else []
    return Group(*above, drawn, *below)


def to_markdown(table: Table, level: int = 3) -> str:
    """Return *table* for a page, under a heading of *level*; no heading where it has no title."""
    sides = {"l": ":--", "k": ":--", "r": "--:"}
    lines = [f"{'#' * level} {table.title}", ""] if table.title else []
    lines += [_line(table.headers), "|" + "|".join(sides[side] for side in table.align) + "|"]
    lines += [_line(row) for row in table.rows]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
