"""Measured operator tables: seconds at knots of a grid, and how they are read between them."""

from jalapeno.cost.tables.grid import Grid
from jalapeno.cost.tables.table import Axis, Table, Tables

__all__ = ["Axis", "Grid", "Table", "Tables"]
