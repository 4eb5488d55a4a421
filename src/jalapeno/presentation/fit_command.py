"""``jalapeno fit``: the constants of TensorRT-LLM, fitted again to the measured rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from jalapeno import catalogue
from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import remark, show, show_json
from jalapeno.presentation.tables import Table, kind_word
from jalapeno.units import render

Most = Annotated[
    int, typer.Option("--most", min=1, help="Iterations at the most; each simulates every row.")
]


def fit_command(most: Most = 14, as_json: Json = False) -> None:
    """Fit the engine's constants to all measured rows without MTP, simulated with their requests.

    Starts at the catalogue's constants and changes no file.  Takes minutes.
    """
    from jalapeno.analysis.fit_references import fit_references

    rows = [row for row in catalogue.rows() if row.measured and not row.mtp]
    fitted = fit_references(
        rows,
        most=most,
        on_progress=lambda count, cost: remark(f"evaluation {count}: sum of squares {cost:.4f}"),
    )
    if as_json:
        show_json(
            {
                "constants": fitted.values,
                "cost": fitted.cost,
                "log_errors": {
                    row.name: errors.tolist()
                    for row, errors in zip(rows, fitted.residuals, strict=True)
                },
            }
        )
        return
    show([constants_table(catalogue.engine(rows[0].engine).facts, fitted.values)])


def constants_table(facts: catalogue.Facts, values: Mapping[str, float]) -> Table:
    """Each constant as the catalogue has it and as it was fitted now."""
    rows = tuple(
        (name, facts[name].text, render(value, facts[name].unit), kind_word(facts[name].kind))
        for name, value in values.items()
    )
    return Table(
        title="constants fitted to the measured rows",
        headers=("constant", "catalogue", "fitted now", "kind in the catalogue"),
        align="lrrl",
        rows=rows,
        note="To use them, write them into the engine's file, or try them with --set engine.NAME.",
    )
