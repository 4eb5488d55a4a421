"""Rooflines that ship with the product, so that a chip without a table is not a datasheet alone.

``data/rooflines.toml`` holds constants by (generation of chips, family, dtypes, regime), fitted
on one system of each generation; another chip of the generation takes them with its own peaks.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from jalapeno.catalogue.facts import fact
from jalapeno.cost.tables.coordinates import regime
from jalapeno.cost.tables.dtypes import Peaks
from jalapeno.cost.tables.families import TIME, Family
from jalapeno.cost.tables.roofline import LEAST_ROWS, Roofline, fit
from jalapeno.cost.tables.sample import spread
from jalapeno.cost.tables.table_file import Table
from jalapeno.cost.tables.work import work
from jalapeno.errors import BadTable, unknown_name

PATH = Path(__file__).parent / "data" / "rooflines.toml"

GENERATIONS = {
    "h100": "hopper",
    "h200": "hopper",
    "b200": "blackwell",
    "b300": "blackwell",
    "gb200": "blackwell",
    "gb300": "blackwell",
}
"""Chip of the catalogue -> its generation: chips of one run the same kernels."""

CLASSES: Mapping[str, tuple[str, ...]] = {
    "gemm": ("dtype",),
    "context_attention": ("attention_dtype", "kv_dtype"),
    "generation_attention": ("kv_dtype",),
    "context_mla": ("kv_dtype",),
    "generation_mla": ("kv_dtype",),
    "context_mla_module": ("gemm_dtype", "kv_dtype"),
    "generation_mla_module": ("gemm_dtype", "kv_dtype"),
    "moe": ("dtype", "kernel"),
}
"""Family -> the columns whose values share no constants."""

FIT_ROWS = 1500
"""Rows a system and class that constants are fitted on."""

UNITS = {"floor": "s", "wave": "s", "step": "s"}
"""Units of constants; the others are ratios."""


def class_names(family: Family, rows: pl.DataFrame) -> pl.Series:
    """Class of each of *rows*, such as ``bf16 fp8`` or ``fp8 grouped``."""
    words = [pl.col(name) for name in CLASSES[family.name]]
    with_regime = rows.with_columns(regime(family.name, rows).alias("regime"))
    joined = pl.concat_str(*words, pl.col("regime"), separator=" ").str.strip_chars()
    return with_regime.select(joined.alias("class"))["class"]


def fit_classes(tables: Sequence[tuple[Table, Peaks]]) -> dict[str, Roofline]:
    """Constants of every class of one family, fitted on *tables* of one or more systems together.

    Classes with too few rows are left out.
    """
    family = tables[0][0].family
    shares: dict[str, list[tuple[pl.DataFrame, Peaks]]] = {}
    for table, peaks in tables:
        names = class_names(family, table.rows)
        for name in sorted(names.unique().to_list()):
            rows = table.rows.filter(names == name)
            shares.setdefault(name, []).append((spread(rows, FIT_ROWS), peaks))
    return {
        name: fit(
            [work(family.name, rows, peaks) for rows, peaks in parts],
            [rows[TIME].to_numpy() * 1e-6 for rows, _ in parts],
        )
        for name, parts in shares.items()
        if sum(len(rows) for rows, _ in parts) >= LEAST_ROWS
    }


@cache
def _read() -> dict[str, dict[str, dict[str, Roofline]]]:
    tree: dict[str, Any] = tomllib.loads(PATH.read_text(encoding="utf-8"))
    default = tree.pop("default")
    return {
        generation: {
            family: {
                name: Roofline(
                    **{
                        key: float(fact(value, UNITS.get(key, ""), False, default).value)
                        for key, value in constants.items()
                    }
                )
                for name, constants in classes.items()
            }
            for family, classes in families.items()
        }
        for generation, families in tree.items()
    }


def shipped(generation: str, family: str) -> Mapping[str, Roofline]:
    """Class name -> roofline of a *family* on chips of a *generation*.

    Raises ``UnknownName`` for a generation, ``BadTable`` for a family without constants.
    """
    known = _read()
    if generation not in known:
        raise unknown_name("generation of chips", generation, known)
    if family not in known[generation]:
        have = ", ".join(known[generation])
        raise BadTable(f"no roofline of {family!r} on {generation}; there are: {have}")
    return known[generation][family]


def toml_lines(generation: str, family: str, classes: Mapping[str, Roofline]) -> list[str]:
    """Lines of ``rooflines.toml`` for fitted *classes*."""
    lines = []
    for name, roofline in classes.items():
        lines.append(f'\n[{generation}.{family}."{name}"]')
        for key in Roofline.__slots__:
            value = f"{getattr(roofline, key):.4g}"
            lines.append(f'{key} = "{value} s"' if key in UNITS else f"{key} = {value}")
    return lines
