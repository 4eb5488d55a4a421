"""A draw as chip and engine, and as facts that a scenario takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.analysis.posterior.unknowns import GQA, MLA, PATHS, SYSTEM, named, values_of
from jalapeno.analysis.posterior.worlds import (
    OPTIONS,
    World,
    changed,
    measured_system,
    numbers,
    overrides_of,
    world_of,
)
from jalapeno.analysis.published import ENGINE
from jalapeno.catalogue import engine_of, model, system_of
from jalapeno.mapping import Precision
from jalapeno.simulation import resolve

BASE, TEACUP = measured_system(), catalogue.engine(ENGINE)
draws = st.integers(0, 2**31).map(
    lambda seed: named(values_of(np.random.default_rng(seed).standard_normal(len(PATHS)))[0])
)


def at(entry: Any, path: str) -> float:
    """The number at a dotted path of a dataclass of facts."""
    head, _, rest = path.partition(".")
    below = getattr(entry, head)
    if isinstance(below, Mapping):
        return float(below[rest])
    return at(below, rest) if rest else float(below)


@settings(max_examples=4)
@given(draws)
def test_a_world_and_a_scenario_with_its_overrides_are_the_same_chip_and_engine(
    values: dict[str, float],
) -> None:
    world = world_of(values, BASE, TEACUP)
    facts = {"chip.stepping": "A0", "chip.power.cap": "700 W", **overrides_of(values)}
    trees = resolve(SYSTEM, "gpt-oss-120b", ENGINE, facts)
    system, engine = system_of(trees["system"]), engine_of(trees["engine"])
    for path, value in numbers(values).items():
        root, _, rest = path.partition(".")
        for found in (system.chip, world.system.chip) if root == "chip" else (engine, world.engine):
            # decimals of 17 digits, in another unit, give the float or its neighbour
            assert at(found, rest) == pytest.approx(value, rel=1e-14)
    assert system.chip.speed == pytest.approx(world.system.chip.speed, rel=1e-14)
    assert system.chip.power.cap == world.system.chip.power.cap


@given(draws)
def test_a_draw_changes_what_it_names_and_nothing_else(values: dict[str, float]) -> None:
    world = world_of(values, BASE, TEACUP)
    assert world.engine.matrix_efficiency == values["engine.matrix_efficiency"]
    assert world.system.chip.steppings["A0"] == values["chip.steppings.A0"]
    assert world.system.chip.steppings["B0"] == BASE.chip.steppings["B0"]
    assert world.system.chip.hbm == BASE.chip.hbm
    assert world.system.fabric == BASE.fabric
    assert world.engine.vector_efficiency == TEACUP.vector_efficiency


@given(draws)
def test_energies_of_narrower_formats_are_halves(values: dict[str, float]) -> None:
    energy = world_of(values, BASE, TEACUP).system.chip.energy
    assert energy.per_flop_8x4 == pytest.approx(energy.per_flop_8x8 / 2)
    assert energy.per_flop_4x4 == pytest.approx(energy.per_flop_8x8 / 4)


@given(draws)
def test_choices_become_whole_numbers(values: dict[str, float]) -> None:
    found = numbers(values)
    assert found["chip.matrix.tile_rows"] in (16, 32, 64, 128)
    assert MLA not in found
    assert GQA not in found


def test_the_catalogues_own_facts_make_the_catalogues_own_world() -> None:
    again = world_of({"engine.overlap": TEACUP.overlap, MLA: 0.0, GQA: 0.0}, BASE, TEACUP)
    assert again == World(BASE, TEACUP, "MXFP8", "MXFP8")


def test_the_rack_was_measured_on_a0_and_may_draw_its_tdp() -> None:
    assert BASE.chip.stepping == "A0"
    assert BASE.chip.power.cap == BASE.chip.power.tdp > catalogue.system(SYSTEM).chip.power.cap


@pytest.mark.parametrize("option", OPTIONS)
def test_what_is_bf16_is_that_and_the_rest_as_served(option: str) -> None:
    of = model("gpt-oss-120b")
    served = Precision.as_served(TEACUP, of, BASE.chip)
    found = World(BASE, TEACUP, "MXFP8", option).precision(of, served)
    for name in Precision.__dataclass_fields__:
        expected = "bf16" if name in OPTIONS[option] else getattr(served, name)
        assert getattr(found, name) == expected


def test_each_kind_of_attention_has_its_own_formats() -> None:
    world = World(BASE, TEACUP, "BF16 projections", "MXFP8")
    for name, projections in (("deepseek-r1", "bf16"), ("gpt-oss-120b", "mxfp8")):
        of = model(name)
        served = Precision.as_served(TEACUP, of, BASE.chip)
        assert world.precision(of, served).attention == projections


def test_a_path_that_is_no_fact_is_an_error() -> None:
    with pytest.raises(AttributeError):
        changed(TEACUP, {"no_such_fact": 1.0})
