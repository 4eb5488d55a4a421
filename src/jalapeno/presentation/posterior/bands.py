"""Bands of what was simulated: loaded once, said to be old where they are, drawn and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jalapeno.presentation.console import remark
from jalapeno.presentation.digits import number, percent

if TYPE_CHECKING:
    from jalapeno.analysis.frontier import Frontier
    from jalapeno.analysis.objectives import Per
    from jalapeno.analysis.posterior.bands import BandPoint, Moved
    from jalapeno.analysis.posterior.shipped import Draws
    from jalapeno.analysis.subject import Subject
    from jalapeno.presentation.tables import Table

Bands = Annotated[
    bool,
    typer.Option(
        "--bands/--no-bands", help="Intervals of Jalapeño's throughput from the shipped draws."
    ),
]

TOLD = 6
"""Speeds of a band that a table tells."""


def usable_draws() -> Draws:
    """The shipped draws; says on stderr where physics or facts have changed since."""
    from jalapeno.analysis.posterior.shipped import shipped

    draws = shipped()
    if draws.stale:
        remark(
            f"warning: the shipped draws are of other physics or facts (made {draws.as_of} with "
            f"{draws.version}): bands may be off; jalapeno posterior --ship makes them anew"
        )
    return draws


def moved_for(subject: Subject, wanted: bool) -> Moved | None:
    """What the shipped draws make of *subject*; None where they are of another system, or not
    *wanted*."""
    from jalapeno.analysis.posterior.bands import covers, moved_by

    if not wanted or not covers(subject.system.name, subject.engine.name):
        return None
    return moved_by(subject, usable_draws())


def band_rows(name: str, band: Sequence[BandPoint]) -> list[dict[str, Any]]:
    """A band as data of a picture."""
    return [
        {
            "series": name,
            "speed": one.speed,
            "low": one.rate.low,
            "median": one.rate.median,
            "high": one.rate.high,
        }
        for one in band
    ]


def band_table(found: Frontier, per: Per, moved: Moved) -> Table:
    """The band at a few speeds."""
    from jalapeno.analysis.objectives import UNITS
    from jalapeno.presentation.tables import Table

    band = moved.band(found, per)
    step = max(1, (len(band) - 1) // (TOLD - 1)) if band else 1
    shown = list(band)[::-step]
    return Table(
        title=f"intervals of {UNITS[per]} at fixed speeds",
        headers=("token/s/user", "median", "50 %", "90 %", "high / low", "draws as fast, %"),
        align="rrrrrr",
        rows=tuple(
            (
                number(one.speed),
                number(one.rate.median),
                f"{number(one.rate.lower)} – {number(one.rate.upper)}",
                f"{number(one.rate.low)} – {number(one.rate.high)}",
                number(one.rate.ratio),
                percent(one.reached),
            )
            for one in shown
        ),
        note=f"What {len(moved.draws)} draws of Jalapeño's posterior leave open, the twin's own "
        "error included, over the plans that were simulated at the catalogue's constants; see "
        "jalapeno posterior. Facts set by hand stay.",
    )


def band_json(band: Sequence[BandPoint]) -> list[Mapping[str, float]]:
    """A band as JSON."""
    return [
        {
            "tokens_per_s_per_user": one.speed,
            "low": one.rate.low,
            "lower": one.rate.lower,
            "median": one.rate.median,
            "upper": one.rate.upper,
            "high": one.rate.high,
            "reached": one.reached,
        }
        for one in band
    ]
