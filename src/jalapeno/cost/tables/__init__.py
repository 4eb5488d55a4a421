"""Measured operator tables: read, checked, asked between and beyond what was measured.

Where tables come from: the extra ``[tables]`` (:mod:`.aiconfigurator`), Parquet files of one's own
(:mod:`.table_file`), Vidur's profiles (:mod:`.vidur`).  What they are asked with:
:class:`OperatorTable`, whose answers carry their :class:`Basis`, and :func:`grid_for`, which fills
a :class:`Grid` for the compiled price of a step.
"""

from jalapeno.cost.tables.aiconfigurator import CHIPS, choose, installed_root, read, table_files
from jalapeno.cost.tables.basis import Answer, Basis
from jalapeno.cost.tables.dtypes import DTYPES, Peaks
from jalapeno.cost.tables.families import FAMILIES, TIME, Family, family
from jalapeno.cost.tables.grid import Grid
from jalapeno.cost.tables.grids import fastest_grid, grid_for, prompt_grid
from jalapeno.cost.tables.operator_table import OperatorTable
from jalapeno.cost.tables.table import Axis, StepTable, StepTables
from jalapeno.cost.tables.table_file import Origin, Table, checked, read_table, write_table

__all__ = [
    "CHIPS",
    "DTYPES",
    "FAMILIES",
    "TIME",
    "Answer",
    "Axis",
    "Basis",
    "Family",
    "Grid",
    "OperatorTable",
    "Origin",
    "Peaks",
    "StepTable",
    "StepTables",
    "Table",
    "checked",
    "choose",
    "family",
    "fastest_grid",
    "grid_for",
    "installed_root",
    "prompt_grid",
    "read",
    "read_table",
    "table_files",
    "write_table",
]
