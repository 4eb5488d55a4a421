"""A picture in one file, in the form that its name asks for."""

from __future__ import annotations

from pathlib import Path

from jalapeno.errors import UsageError
from jalapeno.presentation.files import check_file, write_file
from jalapeno.presentation.pictures import Chart, html, png, svg

FORMS = (".svg", ".png", ".html")
"""Endings of the name of a picture."""


def check_picture(path: Path) -> None:
    """Raise where *path* could not be a picture: before long work, not after."""
    if path.suffix not in FORMS:
        raise UsageError(f"--out {path}: a picture's name ends in {', '.join(FORMS)}")
    check_file(path)


def write_picture(path: Path, chart: Chart, title: str) -> None:
    """Write *chart* to *path*, whole or not at all."""
    match path.suffix:
        case ".svg":
            write_file(path, svg(chart))
        case ".png":
            write_file(path, png(chart))
        case _:
            write_file(path, html(chart, title))
