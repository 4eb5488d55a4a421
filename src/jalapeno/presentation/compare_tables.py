"""A comparison as tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jalapeno.analysis.compare import LATENCIES, Cell, Comparison, Question, Side, verdict
from jalapeno.analysis.frontier_points import evidence
from jalapeno.analysis.objectives import UNITS, Limit, Per
from jalapeno.analysis.objectives_search import describe
from jalapeno.presentation.digits import UNDEFINED, counted, number, times
from jalapeno.presentation.frontier_tables import workload
from jalapeno.presentation.names import model_title, system_title
from jalapeno.presentation.tables import MARKS, Table, kind_word

WORDS: Mapping[Per, str] = {
    Per.CHIP: "chip",
    Per.TDP: "kW of package TDP",
    Per.PACKAGE: "kW of modelled package draw",
    Per.ALL_IN: "kW of all-in IT power",
    Per.FACILITY: "kW of facility power",
    Per.DOLLAR: "dollar",
}
"""Denominators in words."""


def comparison_tables(found: Comparison) -> list[Table]:
    """Everything that ``jalapeno compare`` prints, in order."""
    return [
        systems_table(found.sides),
        *(question_table(found.sides, question) for question in found.questions),
        latency_table(found),
    ]


def side_title(side: Side) -> str:
    """What a system is called; with its engine where that is not its own."""
    title = system_title(side.subject.system.name)
    return f"{title}, {side.subject.engine.name}" if "/" in side.name else title


def systems_table(sides: Sequence[Side]) -> Table:
    """What is compared."""
    subject = sides[0].subject
    rows = []
    for one in sides:
        formats, tariff = one.subject.precision, one.prospect.bench.tariff
        rows.append(
            (
                side_title(one),
                one.subject.engine.name,
                f"{formats.experts}×{formats.experts_act}",
                f"{formats.attention}×{formats.attention_act}",
                formats.kv,
                number(tariff.tdp),
                number(tariff.all_in),
                number(tariff.all_in * tariff.pue),
                number(tariff.price),
                f"{len(one.prospect.explored.prices):,}",
                f"{len(one.points):,}",
                kind_word(evidence(one.points)),
            )
        )
    return Table(
        title=f"{model_title(subject.model.name)}: {counted(len(sides), 'system')}, "
        f"{workload(subject)}",
        headers=(
            *("system", "engine", "experts", "attention", "KV", "TDP W", "all-in W"),
            *("facility W", "$/chip-h", "plans", "runs", "weakest evidence"),
        ),
        align="lllllrrrrrrl",
        rows=tuple(rows),
        note="Formats are weights × activations. Every run is simulated in a closed loop as "
        f"InferenceX measures. {MARKS}.",
    )


def question_table(sides: Sequence[Side], question: Question) -> Table:
    """One condition: a row a denominator, a column a system, ratios to the first."""
    rows: list[tuple[str, ...]] = []
    for per, cells in question.cells.items():
        found = verdict(cells)
        most = UNDEFINED
        if found is not None:
            most = side_title(sides[found.winner]) + ("" if found.settled else ", in doubt")
        rows.append((UNITS[per], *(cell_text(cell, cells[0]) for cell in cells), most))
        if any(cell.rate is not None and not cell.rate.certain for cell in cells):
            rows.append(("  range", *(range_text(cell) for cell in cells), ""))
    return Table(
        title=question.title,
        headers=("throughput", *(side_title(one) for one in sides), "most"),
        align="k" + "r" * len(sides) + "l",
        rows=tuple(rows),
        note=" ".join(question_notes(sides, question)),
    )


def cell_text(cell: Cell, first: Cell) -> str:
    """A rate, and how many times the first system's it is."""
    if cell.rate is None:
        return UNDEFINED
    text = number(cell.rate.value)
    if cell is first or first.rate is None:
        return text
    return f"{text} {times(cell.rate.value / first.rate.value)}"


def range_text(cell: Cell) -> str:
    """The range of a rate."""
    if cell.rate is None or cell.rate.certain:
        return UNDEFINED
    return f"{number(cell.rate.low)}–{number(cell.rate.high)}"


def question_notes(sides: Sequence[Side], question: Question) -> list[str]:
    """The runs behind the numbers, why some are missing, and who wins."""
    said = []
    for place, one in enumerate(sides):
        told = {per: cells[place].said for per, cells in question.cells.items()}
        chip, package = told[Per.CHIP], told[Per.PACKAGE]
        same = "" if package == chip else f" (per modelled kW: {package})"
        said.append(f"{side_title(one)}: {chip}{same}.")
    said.append(winner_sentence(sides, question))
    if any(
        cell.rate is not None and not cell.rate.certain
        for cells in question.cells.values()
        for cell in cells
    ):
        said.append("Ranges are over what the tariffs' sources say; in doubt: they overlap.")
    return said


def winner_sentence(sides: Sequence[Side], question: Question) -> str:
    """Who serves it best under each denominator, in one sentence."""
    groups: dict[str, list[str]] = {}
    for per, cells in question.cells.items():
        found = verdict(cells)
        if found is None:
            continue
        doubt = "" if found.settled else ", in doubt"
        groups.setdefault(side_title(sides[found.winner]), []).append(
            f"{WORDS[per]} ({times(found.lead)}{doubt})"
        )
    if not groups:
        return "No system does this."
    told = [f"{name} does most per {', per '.join(what)}" for name, what in groups.items()]
    return f"{question.title[:1].upper()}{question.title[1:]}: {'; '.join(told)}."


def latency_table(found: Comparison) -> Table:
    """Lowest mean TBT and end-to-end latency."""
    rows = []
    for what in LATENCIES:
        limit = Limit(what=what, at="mean", ms=1.0)
        values = [limit.value(one.lowest[what].report) for one in found.sides]
        cells = [
            number(value) + ("" if place == 0 else f" {times(value / values[0])}")
            for place, value in enumerate(values)
        ]
        rows.append((f"lowest mean {what.upper()}, ms", *cells))
        rows.append(("  by", *(describe(one.lowest[what]) for one in found.sides)))
    return Table(
        title="lowest mean latencies",
        headers=("latency", *(side_title(one) for one in found.sides)),
        align="l" + "r" * len(found.sides),
        rows=tuple(rows),
        note="Less is better.",
    )
