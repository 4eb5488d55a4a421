"""A draw as chip, engine and formats: what the twin is asked with in place of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, TypeVar

from jalapeno import catalogue
from jalapeno.analysis.posterior.unknowns import (
    GQA,
    HYPER,
    MLA,
    SYSTEM,
    Unknown,
    chosen,
    place_of,
    unknowns,
)
from jalapeno.analysis.published import ENGINE, MEASURED_ON
from jalapeno.catalogue import Engine, Mla, Model, System
from jalapeno.mapping import Precision
from jalapeno.units import render

Entry = TypeVar("Entry")

EXACT = 17
"""Significant digits after which a float is the same float when read back."""

TIED: Mapping[str, Mapping[str, float]] = {
    "chip.energy.per_flop_8x8": {
        "chip.energy.per_flop_8x4": 0.5,
        "chip.energy.per_flop_4x4": 0.25,
    }
}
"""Facts that the catalogue makes from another, and the factor."""

CAP = "700 W"
"""Package TDP.  The catalogue lets a package draw no more than the published bound on its draw;
here that bound is evidence, so draws above it must be possible."""

BF16 = "bf16"
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "MXFP8": (),
    "BF16 projections": ("attention", "attention_act"),
    "BF16 core": ("core", "kv"),
    "BF16 attention": ("attention", "attention_act", "core", "kv"),
}
"""What of attention is BF16 and not as the engine's facts say."""


@dataclass(frozen=True, slots=True)
class World:
    """What one draw says of Jalapeño."""

    system: System
    engine: Engine
    mla: str
    gqa: str

    def precision(self, model: Model, served: Precision) -> Precision:
        """The formats of *model* in this world; *served*: as the engine's facts say."""
        option = self.mla if isinstance(model.attention, Mla) else self.gqa
        return replace(served, **dict.fromkeys(OPTIONS[option], BF16))


def measured_system() -> System:
    """The rack as it was measured, on A0 silicon, free to draw its TDP."""
    found = catalogue.system(SYSTEM)
    stepping = MEASURED_ON["chip.stepping"]
    tdp = found.chip.power.tdp
    power = replace(found.chip.power, cap=tdp)
    return replace(found, chip=replace(found.chip, stepping=stepping, power=power))


def world_of(values: Mapping[str, float], system: System, engine: Engine) -> World:
    """*system* and *engine* with the unknowns at *values*."""
    facts = numbers(values)
    chip = {path.removeprefix("chip."): x for path, x in facts.items() if path.startswith("chip.")}
    own = {
        path.removeprefix("engine."): x for path, x in facts.items() if path.startswith("engine.")
    }
    return World(
        system=replace(system, chip=changed(system.chip, chip)),
        engine=changed(engine, own),
        mla=_word(MLA, values),
        gqa=_word(GQA, values),
    )


def numbers(values: Mapping[str, float]) -> dict[str, float | int]:
    """Chip and engine facts of a draw by path, those tied to others included."""
    found: dict[str, float | int] = {}
    for path, value in values.items():
        if path in HYPER or path in (MLA, GQA):
            continue
        unknown = unknowns()[place_of(path)]
        found[path] = int(chosen(unknown, value)) if unknown.choices else value
        for other, factor in TIED.get(path, {}).items():
            found[other] = factor * value
    return found


def overrides_of(values: Mapping[str, float]) -> dict[str, str]:
    """The facts of a draw as texts for ``--set``."""
    facts = {**catalogue.system(SYSTEM).facts}
    facts |= {f"engine.{path}": fact for path, fact in catalogue.engine(ENGINE).facts.items()}
    return {
        path: str(value) if isinstance(value, int) else render(value, facts[path].unit, EXACT)
        for path, value in numbers(values).items()
    }


def changed(entry: Entry, values: Mapping[str, float | int]) -> Entry:
    """A copy of *entry*, a dataclass of facts, with the values at these paths."""
    heads: dict[str, dict[str, float | int]] = {}
    for path, value in values.items():
        head, _, rest = path.partition(".")
        heads.setdefault(head, {})[rest] = value
    made: dict[str, Any] = {}
    for head, below in heads.items():
        old = getattr(entry, head)
        if is_dataclass(old):
            made[head] = changed(old, below)
        else:
            made[head] = {**old, **below} if isinstance(old, Mapping) else below[""]
    return replace(entry, **made)  # type: ignore[type-var]


def _word(path: str, values: Mapping[str, float]) -> str:
    unknown: Unknown = unknowns()[place_of(path)]
    return chosen(unknown, values[path])
