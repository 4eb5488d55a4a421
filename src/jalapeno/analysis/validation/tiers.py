"""Tiers: questions with a target, found by name, imported only when asked.

A tier is anything with a name, a title and ``run(data)``: a tidy frame of what was compared, and a
verdict for each target.  :data:`REGISTRY` says where each lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

import polars as pl

from jalapeno.analysis.validation.contenders import Contender
from jalapeno.errors import unknown_name

REGISTRY: Mapping[str, str] = {
    "T1": "jalapeno.analysis.validation.operator_tier:TIER",
    "T2": "jalapeno.analysis.validation.end_to_end:TIER",
    "T3": "jalapeno.analysis.validation.figures:SCHEDULER",
    "T4": "jalapeno.analysis.validation.figures:RACKS",
    "T5": "jalapeno.analysis.validation.figures:OFFLINE",
    "T7": "jalapeno.analysis.validation.figures:PREFIXES",
    "power": "jalapeno.analysis.validation.power:TIER",
}
"""Name to ``module:object``, in the order in which they are shown."""

OnProgress = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and how much there is."""


def _silent(stage: str, done: int, total: int) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """What tiers may look at."""

    rows: pl.DataFrame
    """Measured points (``MEASURED`` and ``LAYOUT``), sifted."""
    excluded: pl.DataFrame
    """``id`` and ``reason`` of those that contradict themselves."""
    source: str
    """Where the rows are from, in words."""
    contenders: tuple[Contender, ...] = ()
    protocols: tuple[str, ...] = ("curves", "systems", "models", "datasheet", "filed")
    tables: Path | None = None
    """Folder of measured operator tables; the installed package's where None."""
    on_progress: OnProgress = _silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A target and what was reached."""

    tier: str
    measure: str
    target: float
    reached: float
    """NaN: nothing could be compared, which is a miss."""
    unit: str = "%"
    """``%`` for shares (0.12 is shown as 12.0); anything else is shown as it is."""
    at_most: bool = True
    """Whether the target is an upper bound; a lower one otherwise."""
    points: int = 0
    """What it rests on."""
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the figure reached is within the target."""
        if math.isnan(self.reached):
            return False
        return self.reached <= self.target if self.at_most else self.reached >= self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a tier found."""

    tier: str
    title: str
    frame: pl.DataFrame
    """Tidy: a row for everything that was compared."""
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    """Sentences on what was left out and what binds."""
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Summaries by title."""


class Tier(Protocol):
    """A question with a target."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        ...

    @property
    def title(self) -> str:
        """What it asks."""
        ...

    @property
    def target(self) -> str:
        """The target in words."""
        ...

    def run(self, data: Data) -> Finding:
        """Compare and judge."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A tier made of a function."""

    name: str
    title: str
    target: str
    """The target in words."""
    run: Callable[[Data], Finding]


def tier(name: str) -> Tier:
    """The tier called *name*; :class:`UnknownName` where there is none."""
    if name not in REGISTRY:
        raise unknown_name("tier", name, REGISTRY)
    module, _, attribute = REGISTRY[name].partition(":")
    found: Tier = getattr(import_module(module), attribute)
    return found


def tiers(names: Iterable[str] = ()) -> list[Tier]:
    """The tiers called *names*, in the registry's order; all where none is named."""
    wanted = list(names) or list(REGISTRY)
    for name in wanted:
        tier(name)
    return [tier(name) for name in REGISTRY if name in wanted]
