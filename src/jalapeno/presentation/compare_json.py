"""A comparison as JSON."""

from __future__ import annotations

from typing import Any

from jalapeno.analysis.compare import Cell, Comparison, Question, Side, verdict
from jalapeno.analysis.objectives import UNITS, Per
from jalapeno.presentation.frontier_json import frontier_json, point_json, rate_json


def comparison_json(found: Comparison) -> dict[str, Any]:
    """Everything that the tables say, and every point that was simulated."""
    return {
        "systems": [side_json(one) for one in found.sides],
        "questions": [question_json(found, question) for question in found.questions],
    }


def side_json(one: Side) -> dict[str, Any]:
    """One system: its frontier per chip, and its lowest latencies."""
    data: dict[str, Any] = {"name": one.name, "said": one.said}
    if one.frontier is not None:
        data |= frontier_json(one.frontier, Per.CHIP, ())
    lowest = {what: point_json(one.prospect.bench, point) for what, point in one.lowest.items()}
    return data | {"lowest": lowest}


def question_json(found: Comparison, question: Question) -> dict[str, Any]:
    """One question: a cell a system for each denominator, and who does most."""
    names = [one.name for one in found.sides]
    answers = {}
    for per, cells in question.cells.items():
        best = verdict(cells)
        answers[per.value] = {
            "unit": UNITS[per],
            "systems": {name: cell_json(cell) for name, cell in zip(names, cells, strict=True)},
            "most": None if best is None else names[best.winner],
            "lead": None if best is None else best.lead,
            "settled": None if best is None else best.settled,
        }
    return {"title": question.title, "answers": answers}


def cell_json(cell: Cell) -> dict[str, Any]:
    """A rate and where it comes from; null where there is none."""
    return {
        "rate": None if cell.rate is None else rate_json(cell.rate),
        "said": cell.said,
        "digest": None if cell.point is None else cell.point.report.digest,
    }
