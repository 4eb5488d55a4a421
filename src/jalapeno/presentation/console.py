"""Where words go: results to stdout, all else to stderr."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from rich.console import Console

from jalapeno.presentation.tables import Table, to_rich

WIDE = 160
"""Columns where nobody says how wide the page is: a pipe, a file."""


def results() -> Console:
    """The console of results."""
    return Console(file=sys.stdout, width=_width(sys.stdout), highlight=False)


def messages() -> Console:
    """The console of progress and remarks."""
    return Console(file=sys.stderr, width=_width(sys.stderr), highlight=False)


def _width(stream: TextIO) -> int | None:
    return None if stream.isatty() or "COLUMNS" in os.environ else WIDE


def show(tables: Iterable[Table]) -> None:
    """Print *tables* to stdout."""
    console = results()
    for table in tables:
        console.print(to_rich(table))


def remark(text: str) -> None:
    """Print one line to stderr, as it is."""
    print(text, file=sys.stderr, flush=True)


def show_json(data: Any) -> None:
    """Print *data* as JSON to stdout, and nothing else."""
    print(to_json(data), end="")


def to_json(data: Any) -> str:
    """Return *data* as the text of a JSON file; what is not finite is null."""
    return json.dumps(_finite(data), indent=1, allow_nan=False) + "\n"


def _finite(data: Any) -> Any:
    match data:
        case float():
            return data if math.isfinite(data) else None
        case Mapping():
            return {key: _finite(value) for key, value in data.items()}
        case list() | tuple():
            return [_finite(value) for value in data]
        case _:
            return data
