"""What several commands take."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from jalapeno.errors import UsageError

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, and only JSON.")]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Replace a fact; repeatable."),
]
OutFolder: TypeAlias = Annotated[Path, typer.Option("--out", help="Folder for the files.")]

ModelName: TypeAlias = Annotated[
    str, typer.Argument(metavar="MODEL", help="See jalapeno list models.")
]
SystemName: TypeAlias = Annotated[
    str, typer.Argument(metavar="SYSTEM", help="See jalapeno list systems.")
]
EngineName: TypeAlias = Annotated[
    str | None, typer.Option("--engine", metavar="NAME", help="The system's own by default.")
]
Isl: TypeAlias = Annotated[
    int, typer.Option("--isl", metavar="TOKENS", help="Nominal prompt: the longest that is drawn.")
]
Osl: TypeAlias = Annotated[
    int, typer.Option("--osl", metavar="TOKENS", help="Nominal answer: the longest that is drawn.")
]
Ratio: TypeAlias = Annotated[
    float, typer.Option("--ratio", help="The shortest over the longest; 1 makes all equal.")
]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="Of everything drawn at random.")]


def assignments(texts: Iterable[str]) -> dict[str, str]:
    """Read ``path=value`` texts; :class:`UsageError` for what is not one, or names a path twice."""
    found: dict[str, str] = {}
    for text in texts:
        path, sign, value = (part.strip() for part in text.partition("="))
        if not (path and sign and value):
            raise UsageError(
                f"--set {text}: write path=value, as in --set chip.hbm.bandwidth='20 TB/s'"
            )
        if path in found:
            raise UsageError(f"--set {path}: given twice")
        found[path] = value
    return found
