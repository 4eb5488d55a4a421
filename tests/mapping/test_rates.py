"""What an engine achieves on a chip: the rate of each pair of formats, and what scales it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import FORMATS, Kind
from jalapeno.mapping.precision import operand_bits
from jalapeno.mapping.rates import Rates
from tests.mapping.worlds import FEW, WORLDS, World, facts_of, rates_of

NAMES = st.sampled_from(sorted(FORMATS))
JALAPENO, GB300 = WORLDS[0], WORLDS[7]

PAIRS = [
    ("mxfp4", "mxfp4", "4x4"),
    ("nvfp4", "nvfp4", "4x4"),
    ("mxfp8", "mxfp4", "8x4"),
    ("fp8", "int4", "8x4"),
    ("mxfp6", "mxfp4", "8x4"),
    ("fp8", "fp8_block", "8x8"),
    ("nvfp4", "fp8", "8x8"),
    ("bf16", "mxfp4", "16x16"),
    ("bf16", "int4", "16x16"),
    ("bf16", "fp8", "16x16"),
    ("fp8", "bf16", "16x16"),
    ("mxfp4", "bf16", "16x16"),
    ("bf16", "bf16", "16x16"),
]


@pytest.mark.parametrize(("activations", "weights", "width"), PAIRS)
@pytest.mark.parametrize("world", [JALAPENO, GB300], ids=str)
def test_a_pair_of_formats_has_its_rate_and_its_energy(
    world: World, activations: str, weights: str, width: str
) -> None:
    chip = facts_of(world)[0].chip
    rate, joules = rates_of(world).matrix(activations, weights, 0.5)
    maturity = rates_of(world).engine.maturity[world[0]]
    assert rate == pytest.approx(0.5 * maturity * getattr(chip.matrix, f"peak_{width}"))
    assert joules == getattr(chip.energy, f"per_flop_{width}")


@FEW
@given(NAMES, NAMES, NAMES)
def test_wider_operands_are_never_faster(activations: str, weights: str, wider: str) -> None:
    for world in (JALAPENO, GB300):
        rates = rates_of(world)
        rate, joules = rates.matrix(activations, weights, 1.0)
        if operand_bits(wider) >= operand_bits(weights):
            assert rates.matrix(activations, wider, 1.0)[0] <= rate
            assert rates.matrix(activations, wider, 1.0)[1] >= joules
        if operand_bits(wider) >= operand_bits(activations):
            assert rates.matrix(wider, weights, 1.0)[0] <= rate


def test_the_mixed_rate_is_jalapenos_and_not_blackwells() -> None:
    for world, ratio in ((JALAPENO, 2.0), (GB300, 1.0)):
        mixed = rates_of(world).matrix("mxfp8", "mxfp4", 1.0)[0]
        assert mixed / rates_of(world).matrix("mxfp8", "mxfp8", 1.0)[0] == pytest.approx(
            ratio, rel=0.02
        )


def test_an_older_stepping_slows_engines_and_not_memory() -> None:
    model = catalogue.model("gpt-oss-120b")
    system, engine = facts_of(JALAPENO, (("chip.stepping", "A0"),))
    old, new = Rates.of(system, engine, model), rates_of(JALAPENO)
    pair = ("mxfp8", "mxfp4", 1.0)
    assert old.matrix(*pair)[0] == pytest.approx(0.8 * new.matrix(*pair)[0])
    assert old.common()["vector_rate"] == pytest.approx(0.8 * new.common()["vector_rate"])
    assert old.common()["bandwidth"] == new.common()["bandwidth"]


def test_untuned_kernels_slow_the_matrix_engine() -> None:
    model = catalogue.model("gpt-oss-120b")
    half, full = (
        Rates.of(*facts_of(JALAPENO, (("maturity.gpt-oss-120b", text),)), model)
        for text in ("0.5", "1")
    )
    assert half.matrix("bf16", "bf16", 1.0)[0] == 0.5 * full.matrix("bf16", "bf16", 1.0)[0]
    assert half.common() == full.common()


def test_a_model_without_maturity_is_mature() -> None:
    system, engine = facts_of(("kimi-k2.5", "jalapeno-rack", 8, 2, 1))
    new = replace(catalogue.model("kimi-k2.5"), name="kimi-k3")
    assert Rates.of(system, engine, new).maturity == 1.0


@pytest.mark.parametrize("world", [JALAPENO, GB300], ids=str)
def test_memory_and_vector_run_at_their_efficiencies(world: World) -> None:
    system, engine = facts_of(world)
    common = rates_of(world).common()
    assert common["bandwidth"] == system.chip.hbm.bandwidth * engine.memory_efficiency
    assert common["kv_bandwidth"] == system.chip.hbm.bandwidth * engine.kv_efficiency
    assert common["vector_rate"] == system.chip.vector.peak * engine.vector_efficiency
    assert common["cores"] == system.chip.cores


@pytest.mark.parametrize("world", [JALAPENO, GB300], ids=str)
def test_a_link_is_that_of_the_nearest_level_with_both_latencies(world: World) -> None:
    system, engine = facts_of(world)
    level = next(iter(system.fabric.values()))
    link = rates_of(world).link(8, 5e-6)
    assert link["latency"] == 5e-6 + level.latency
    assert link["link_rate"] == level.bandwidth * engine.link_efficiency
    assert link["group"] == 8.0
    assert link["fused"] == float(level.reduces)
    assert link["exposed"] == 1.0 - engine.overlap


def test_beyond_the_rack_a_link_is_slower() -> None:
    near, far = (rates_of(GB300).link(chips, 0.0) for chips in (72, 73))
    assert far["link_rate"] < near["link_rate"]
    assert far["latency"] > near["latency"]


@pytest.mark.parametrize("world", [JALAPENO, GB300], ids=str)
def test_a_price_is_as_weak_as_the_weakest_fact(world: World) -> None:
    system, engine = facts_of(world)
    weakest = rates_of(world).weakest
    assert weakest is Kind.ASSUMED
    assert all(fact.kind <= weakest for fact in (*system.chip.facts.values(),))
    assert all(fact.kind <= weakest for fact in (*engine.facts.values(),))
