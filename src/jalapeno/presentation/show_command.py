"""``jalapeno show``: every fact of an entry, and who says so."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jalapeno.catalogue import SHELVES, Fact
from jalapeno.presentation.arguments import Json, Settings, assignments
from jalapeno.presentation.console import remark, show, show_json
from jalapeno.presentation.entries import Entry, find
from jalapeno.presentation.tables import MARKS, WEAK, Table, kind_word
from jalapeno.units import render

Name = Annotated[str, typer.Argument(help="Name of an entry of any shelf: see jalapeno list.")]
Shelf = Annotated[str | None, typer.Option(help=f"One of {', '.join(SHELVES)}.")]


def show_command(
    name: Name, shelf: Shelf = None, settings: Settings = None, as_json: Json = False
) -> None:
    """Show every fact of an entry: value, evidence, source, range, and what others say."""
    entry = find(name, shelf, assignments(settings or ()))
    if as_json:
        show_json(entry_json(entry))
        return
    for path, fact in entry.facts.items():
        if fact.overridden:
            remark(f"overridden: {path} = {shown(fact)}")
    show([entry_table(entry)])


def entry_table(entry: Entry) -> Table:
    """The lines of *entry*."""
    weak = any(fact.kind in WEAK for fact in entry.facts.values())
    notes = [f"source of the row: {entry.source}"] if entry.source else []
    notes += [MARKS] if weak else []
    return Table(
        title=f"{entry.name} ({entry.shelf}): {entry.title}",
        headers=("path", "value", "evidence", "source"),
        align="kkkl",
        rows=tuple(_row(path, line, entry.source) for path, line in entry.lines.items()),
        note="; ".join(notes),
    )


def _row(path: str, line: Fact | str, shared: str) -> tuple[str, ...]:
    if isinstance(line, str):
        return (path, line, "", "")
    source = "" if line.source == shared else line.source
    others = [f"also {quantity(other.value, line)}: {other.source}" for other in line.alternatives]
    return (
        path,
        _lines(shown(line), bounds(line)),
        _lines(kind_word(line.kind), line.as_of, "overridden" if line.overridden else ""),
        _lines(source, *others),
    )


def _lines(*said: str) -> str:
    return "\n".join(text for text in said if text)


def quantity(value: float, fact: Fact) -> str:
    """Return *value* in the unit of *fact*, with a prefix that suits it."""
    return render(value, fact.unit)


def shown(fact: Fact) -> str:
    """Return the value with its unit, and in brackets as it was written where that differs."""
    if isinstance(fact.value, str | bool):
        return fact.text
    value = quantity(fact.value, fact)
    return value if fact.text in (value, str(fact.value)) else f"{value} ({fact.text})"


def bounds(fact: Fact) -> str:
    """Return the range of *fact*, an unknown end as "?"; "" where there is none."""
    if fact.low is None and fact.high is None:
        return ""
    low, high = ("?" if end is None else quantity(end, fact) for end in (fact.low, fact.high))
    return f"range {low} to {high}"


def entry_json(entry: Entry) -> dict[str, Any]:
    """The entry as JSON: numbers in SI, units beside them."""
    return {
        "shelf": entry.shelf,
        "name": entry.name,
        "title": entry.title,
        "source": entry.source or None,
        "facts": {path: fact_json(fact) for path, fact in entry.facts.items()},
        "words": {path: line for path, line in entry.lines.items() if isinstance(line, str)},
    }


def fact_json(fact: Fact) -> dict[str, Any]:
    """The fact as JSON: numbers in SI."""
    return {
        "value": fact.value,
        "unit": fact.unit,
        "text": fact.text,
        "kind": fact.kind.name.lower(),
        "source": fact.source,
        "as_of": fact.as_of or None,
        "low": fact.low,
        "high": fact.high,
        "alternatives": [
            {"value": other.value, "source": other.source} for other in fact.alternatives
        ],
        "overridden": fact.overridden,
    }
