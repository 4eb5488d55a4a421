"""The published comparison as tables: numbers, plans, denominators, the fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from jalapeno.analysis.reproduction import (
    OBJECTIVES,
    Band,
    Comparison,
    LeftOut,
    Number,
    Reproduction,
)
from jalapeno.presentation.digits import UNDEFINED, as_published, deviation, number, times
from jalapeno.presentation.names import (
    OBJECTIVES as WORDS,
)
from jalapeno.presentation.names import (
    SHORT,
    budget,
    load,
    spelt,
    system_title,
    unit_of,
    where_time_goes,
)
from jalapeno.presentation.report_tables import DENOMINATORS, denominators
from jalapeno.presentation.tables import MARKS, Table, kind_word

SUMMARY_WIDTH = 140
"""Columns of a terminal that the summary needs in one piece."""


def comparison_table(comparison: Comparison) -> Table:
    """One model: the four numbers of both systems and the advantage, published and twin."""
    ours, theirs = (
        system_title(name) for name in (comparison.claim.system, comparison.claim.reference)
    )
    return Table(
        title=f"{comparison.claim.model}: {ours} against {theirs}",
        headers=(
            "number",
            "unit",
            *(f"{ours}, {what}" for what in ("published", "twin", "residual %")),
            *(f"{theirs}, {what}" for what in ("published", "twin", "residual %")),
            "advantage, published",
            "advantage, twin",
        ),
        align="llrrrrrrrr",
        rows=tuple(_comparison_row(comparison, objective, WORDS) for objective in OBJECTIVES),
    )


def summary_tables(comparisons: Iterable[Comparison], width: int) -> tuple[Table, ...]:
    """All models in one table, or in three where a terminal of *width* columns is too narrow."""
    found = tuple(comparisons)
    rows = tuple(
        (comparison.claim.model, *_comparison_row(comparison, objective, SHORT))
        for comparison in found
        for objective in OBJECTIVES
    )
    sides = [f"{side}\n{what}" for side in "AB" for what in ("published", "twin", "residual %")]
    whole = Table(
        title="the published comparison, recomputed (A: Jalapeño, B: its reference)",
        headers=("model", "number", "unit", *sides, "advantage\npublished", "advantage\ntwin"),
        align="lllrrrrrrrr",
        rows=rows,
    )
    if width >= SUMMARY_WIDTH:
        return (whole,)
    groups = {"A: Jalapeño": range(3, 6), "B: its reference": range(6, 9)}
    groups["advantage of Jalapeño"] = range(9, 11)
    return tuple(whole.columns((0, 1, 2, *group), title) for title, group in groups.items())


def _comparison_row(
    comparison: Comparison, objective: str, words: Mapping[str, str]
) -> tuple[str, ...]:
    index = OBJECTIVES.index(objective)
    published, twin = comparison.ratios(objective)
    return (
        words[objective],
        unit_of(objective),
        *_sides(comparison.jalapeno[index]),
        *_sides(comparison.reference[index]),
        times(published),
        times(twin),
    )


def _sides(found: Number) -> tuple[str, str, str]:
    return as_published(found.published), number(found.twin), deviation(found.residual)


def _numbers(comparison: Comparison) -> Iterator[tuple[str, Number]]:
    """(system, number) of both systems, number by number."""
    for ours, theirs in zip(comparison.jalapeno, comparison.reference, strict=True):
        yield comparison.claim.system, ours
        yield comparison.claim.reference, theirs


def plans_table(comparison: Comparison) -> Table:
    """The plans that won, and where their time goes."""
    rows = tuple(
        (
            SHORT[found.objective],
            system_title(system),
            found.outcome.report.layout,
            load(found.outcome.scenario),
            budget(found.outcome.scenario),
            number(found.outcome.report.latency.tpot_ms.mean),
            number(found.outcome.report.latency.e2e_ms.mean / 1e3),
            where_time_goes(found.outcome.report),
            f"`{found.outcome.name}`",
        )
        for system, found in _numbers(comparison)
    )
    return Table(
        title=f"{comparison.claim.model}: the plans that won",
        headers=(
            *("number", "system", "layout", "requests in flight", "budget, tokens a step"),
            *("mean TBT, ms", "mean E2E, s", "where the mean E2E goes", "run"),
        ),
        align="lllrrrrll",
        rows=rows,
        note="P is a prefill pool, D a decode pool, and n x TP4 are n workers of four chips; TEP "
        "spreads experts over the chips, DEP also gives each its own requests.",
    )


def denominators_table(comparisons: Iterable[Comparison]) -> Table:
    """Throughput of every quoted run under all four denominators."""
    rows = tuple(
        (
            comparison.claim.model,
            SHORT[found.objective],
            system_title(system),
            *(number(d.tokens_per_s_per_kw) for d in denominators(found.outcome.report).values()),
            number(found.outcome.report.power.package.watts_per_chip),
            *(
                number(getattr(found.outcome.report.power.all_in, f"joules_per_million_{tokens}"))
                for tokens in ("tokens", "output_tokens")
            ),
            number(found.outcome.report.power.dollars_per_million_tokens),
            number(found.outcome.report.power.dollars_per_million_output_tokens),
        )
        for comparison in comparisons
        for system, found in _numbers(comparison)
    )
    return Table(
        title="mixed throughput under four denominators, token/s/kW",
        headers=(
            *("model", "number", "system"),
            *DENOMINATORS.values(),
            "modelled draw, W/chip",
            *("all-in J a million mixed tokens", "all-in J a million output tokens"),
            *("$ a million mixed tokens", "$ a million output tokens"),
        ),
        align="lllrrrrrrrrr",
        rows=rows,
        note="The published numbers divide by package TDP. Modelled draw is the mean over chips "
        "and time, idling included. Output tokens alone bear what their prompts take too.",
    )


def watts_table(comparisons: Iterable[Comparison]) -> Table:
    """Watts a chip behind the denominators, with their evidence; one row a system."""
    found = {
        system: number.outcome.report
        for comparison in comparisons
        for system, number in _numbers(comparison)
        if number.objective == "peak"
    }
    rows = []
    for system, report in found.items():
        for word, watts in denominators(report).items():
            if word != DENOMINATORS["package"]:
                cells = (word, number(watts.watts_per_chip, 4), kind_word(watts.kind))
                rows.append((system_title(system), *cells))
    return Table(
        title="watts a chip behind them",
        headers=("system", "denominator", "W/chip", "weakest evidence"),
        align="llrl",
        rows=tuple(rows),
        note=f"{MARKS}.",
    )


def left_out_table(left_out: Iterable[LeftOut]) -> Table:
    """The twelve numbers fitted together, each left out, and without a first-token delay."""
    rows = []
    for one in left_out:
        values = (one.fitted, one.predicted, one.without_delay)
        pairs = ((number(value), deviation(value / one.published - 1.0)) for value in values)
        row = (one.model, WORDS[one.objective], unit_of(one.objective), as_published(one.published))
        rows.append((*row, *(cell for pair in pairs for cell in pair)))
    return Table(
        title="leave one out",
        headers=(
            *("model", "number", "unit", "published"),
            *("all in the fit", "residual, %"),
            *("this one left out", "residual, %"),
            *("no first-token delay", "residual, %"),
        ),
        align="lllrrrrrrr",
        rows=tuple(rows),
        note="The fits go through the closed form, with the plans held and the ramps taken from "
        "the simulation. They are least squares of logarithms from the catalogue's constants, "
        "which were chosen to keep the largest error small instead. *No first-token delay* fits "
        "all numbers with that constant at zero.",
    )


def bands_table(bands: Iterable[Band]) -> Table:
    """The interval of each of Jalapeño's numbers."""
    rows = tuple(
        (
            one.model,
            SHORT[one.objective],
            unit_of(one.objective),
            as_published(one.published),
            number(one.twin),
            number(one.median),
            f"{number(one.lower)} – {number(one.upper)}",
            f"{number(one.low)} – {number(one.high)}",
            UNDEFINED if one.left_out is None else " – ".join(map(number, one.left_out)),
        )
        for one in bands
    )
    return Table(
        title="intervals of Jalapeño's numbers",
        headers=(
            *("model", "number", "unit", "published", "twin", "median", "50 %", "90 %"),
            "90 %, by all other numbers",
        ),
        align="lllrrrrrr",
        rows=rows,
        note="Over the draws of Jalapeño's constants that ship with the twin (jalapeno posterior), "
        "the plan held and the twin's own error included. *By all other numbers*: as predicted "
        "without this one when the draws were made, over several plans.",
    )


def freedom(reproduction: Reproduction) -> str:
    """The degrees of freedom, in one sentence."""
    constants, numbers = len(reproduction.constants), len(reproduction.left_out)
    return (
        f"These are about {spelt(constants)} constants for {spelt(numbers)} numbers: "
        "it explains, it hardly predicts."
    )


def constants_table(reproduction: Reproduction) -> Table:
    """The constants that were fitted or chosen."""
    return Table(
        title="constants of Jalapeño's engine",
        headers=("constant", "value (evidence)"),
        align="ll",
        rows=tuple((f"`{name}`", text) for name, text in reproduction.constants.items()),
    )
