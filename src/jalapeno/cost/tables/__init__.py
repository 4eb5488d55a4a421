"""Measured operator tables: seconds at knots of a grid, and how they are read between them."""

from jalapeno.cost.tables.grid import Grid

__all__ = ["Grid"]
