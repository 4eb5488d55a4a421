"""Operator tables of ``aiconfigurator-core`` (NVIDIA, Apache-2.0), the extra ``[tables]``.

The package's Parquet files are found through importlib without importing its code, and read
lazily with polars.  Of its data only the operator tables named in :data:`SHAPES` are ever opened;
its end-to-end measurements are not, so that what is validated on them stays unseen.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from jalapeno.cost.tables.aiconfigurator_columns import SHAPES, translated
from jalapeno.cost.tables.families import TIME, family
from jalapeno.cost.tables.table_file import Origin, Table, checked
from jalapeno.errors import BadTable, MissingExtra, instead

PACKAGE = "aiconfigurator_core"
DISTRIBUTION = "aiconfigurator-core"

CHIPS = {
    "h100_sxm": "h100",
    "h200_sxm": "h200",
    "b200_sxm": "b200",
    "b300_sxm": "b300",
    "gb200": "gb200",
    "gb300": "gb300",
}
"""Its name of a system -> the chip of our catalogue."""

_WHEEL = re.compile(
    r"(?P<system>[^/]+)/[^/]+/(?P<framework>[^/]+)/(?P<version>[^/]+)/(?P<table>\w+)_perf\.parquet"
)
_FLAT = re.compile(
    r"(?P<system>[^/]+)/(?P<table>\w+)__(?P<framework>[^_/]+)_(?P<version>[^/]+)\.parquet"
)


@dataclass(frozen=True, slots=True)
class TableFile:
    """One Parquet file of operator measurements."""

    system: str
    table: str
    """Its own name of the table, a key of :data:`SHAPES`."""
    framework: str
    version: str
    path: Path


def installed_root() -> Path:
    """Folder of the tables of the installed package; raises ``MissingExtra`` where it is not."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(
            f"the measured tables need the package {DISTRIBUTION!r} (Linux on x86-64 only): "
            "pip install 'jalapeno-twin[tables]'; or give a folder of tables"
        )
    return Path(spec.submodule_search_locations[0]) / "systems" / "data"


def installed_version() -> str:
    """Version of the installed package; raises ``MissingExtra`` where there is none."""
    installed_root()
    return importlib.metadata.version(DISTRIBUTION)


def table_files(root: Path | None = None) -> tuple[TableFile, ...]:
    """Return the operator tables below *root*, sorted; None is the installed package.

    Two layouts are known: the package's ``system/family/framework/version/table_perf.parquet`` and
    the flat ``system/table__framework_version.parquet``.  Names alone are looked at.
    """
    folder = installed_root() if root is None else root
    if not folder.is_dir():
        raise BadTable(f"{folder}: no such folder of tables")
    found = []
    for path in folder.rglob("*.parquet"):
        place = path.relative_to(folder).as_posix()
        match = _WHEEL.fullmatch(place) or _FLAT.fullmatch(place)
        if match and match["table"] in SHAPES:
            found.append(
                TableFile(
                    match["system"], match["table"], match["framework"], match["version"], path
                )
            )
    return tuple(sorted(found, key=lambda f: (f.system, f.table, f.framework, f.version)))


def choose(
    files: Sequence[TableFile],
    system: str,
    table: str,
    framework: str | None = None,
    version: str | None = None,
) -> TableFile:
    """Return the one file of a *system* and *table*; raises ``BadTable`` for none or several."""
    fits = [each for each in files if each.system == system and each.table == table]
    if not fits:
        known = sorted({e.table for e in files if e.system == system})
        if not known:
            systems = sorted({each.system for each in files})
            raise BadTable(f"no tables of system {system!r}{instead(system, systems)}")
        raise BadTable(f"no table {table!r} of system {system!r}{instead(table, known)}")
    exact = [
        each
        for each in fits
        if framework in (None, each.framework) and version in (None, each.version)
    ]
    if len(exact) != 1:
        have = ", ".join(f"{each.framework} {each.version}" for each in fits)
        raise BadTable(
            f"table {table!r} of {system!r}: {len(exact)} files fit framework {framework!r}, "
            f"version {version!r}; there are: {have}"
        )
    return exact[0]


def read(file: TableFile) -> Table:
    """Read and check one table.  Raises ``BadTable`` for what no table may hold.

    Rows that its collector wrote twice with one key are merged to their median, and prompts with a
    cached prefix are left out; how many is said in the origin's source.
    """
    shape = SHAPES[file.table]
    cached = 0
    try:
        frame = pl.scan_parquet(file.path)
        if shape.uncached:
            cached = int(frame.select((pl.col("step") != 0).sum()).collect().item())
            frame = frame.filter(pl.col("step") == 0)
        rows = translated(shape, frame).collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadTable(f"{file.path}: not a table {file.table!r}: {error}") from error
    unique = rows.group_by(family(shape.family).key).agg(pl.col(TIME).median())
    twice = len(rows) - len(unique)
    source = f"{DISTRIBUTION}, Apache-2.0, table {file.table}"
    if twice:
        source += f"; {twice} repeated rows merged to medians"
    if cached:
        source += f"; {cached} rows of prompts with a cached prefix left out"
    return checked(Origin(shape.family, file.system, file.framework, file.version, source), unique)
