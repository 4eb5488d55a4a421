"""Formats: bits in memory, width in the engine, and every message for a wrong one."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import FORMATS, Engine
from jalapeno.errors import BadPlan
from jalapeno.mapping import Precision
from jalapeno.mapping.precision import operand_bits, stored_bytes
from tests.mapping.worlds import MODELS, SYSTEMS, in_bf16

CLASSES = [field.name for field in fields(Precision)]


def block(width: int, scale: int, elements: int) -> float:
    """Bits an element takes when so many share a scale."""
    return width + scale / elements


# ---- as stored


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("mxfp4", block(4, 8, 32)),
        ("mxfp6", block(6, 8, 32)),
        ("mxfp8", block(8, 8, 32)),
        ("nvfp4", block(4, 8, 16)),
        ("int4", block(4, 16, 32)),
        ("fp8", 8.0),
        ("fp8_block", block(8, 32, 128 * 128)),
        ("bf16", 16.0),
        ("fp32", 32.0),
    ],
)
def test_scales_count_as_bytes(name: str, bits: float) -> None:
    assert stored_bytes(name) == bits / 8


def test_every_format_is_known_to_this_test() -> None:
    assert set(FORMATS) == {
        "mxfp4", "mxfp6", "mxfp8", "nvfp4", "int4", "fp8", "fp8_block", "bf16", "fp32",
    }  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_takes_less_than_its_name_says(name: str) -> None:
    digits = re.search(r"\d+", name)
    assert digits is not None
    assert stored_bytes(name) * 8 >= int(digits[0])


@pytest.mark.parametrize("name", FORMATS)
def test_the_engine_takes_operands_of_4_8_or_16_bits(name: str) -> None:
    assert operand_bits(name) in (4, 8, 16)


@pytest.mark.parametrize("name", FORMATS)
def test_scales_add_an_eighth_at_most(name: str) -> None:
    if name not in ("mxfp6", "fp32"):  # run as eight and sixteen bits
        assert operand_bits(name) <= stored_bytes(name) * 8 <= 1.125 * operand_bits(name)


def test_six_bits_are_stored_as_six_and_run_as_eight() -> None:
    assert operand_bits("mxfp6") == 8
    assert stored_bytes("mxfp6") < stored_bytes("fp8")


# ---- refused


@pytest.mark.parametrize("name", CLASSES)
def test_an_unknown_format_is_refused_by_class_and_with_what_there_is(name: str) -> None:
    with pytest.raises(BadPlan) as caught:
        in_bf16(**{name: "fp7"})
    assert str(caught.value) == f"precision.{name}: no format 'fp7'; there are " + ", ".join(
        FORMATS
    )


@pytest.mark.parametrize("wrong", ["", "BF16", "fp4", "float16", "mxfp4 "])
def test_formats_are_not_guessed(wrong: str) -> None:
    with pytest.raises(BadPlan, match=re.escape(f"no format {wrong!r}")):
        replace(in_bf16(), kv=wrong)


# ---- as served


def served(engine: Engine, model: str = "deepseek-r1", chip: str = "gb300") -> Precision:
    return Precision.as_served(engine, catalogue.model(model), catalogue.chip(chip))


def saying(activations: dict[str, str], formats: dict[str, str]) -> Engine:
    engine = catalogue.engine("tensorrt-llm")
    return replace(engine, activations=activations, formats=formats)


OPERANDS = {"core": "bf16", "kv": "fp8"}
NATIVE = catalogue.model("deepseek-r1").weights["experts"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_engine_serves_every_model_in_some_precision(model: str, system: str) -> None:
    precision = served(catalogue.engine(SYSTEMS[system]), model, catalogue.system(system).chip.name)
    assert all(getattr(precision, name) in FORMATS for name in CLASSES)


def test_weights_are_served_as_published_and_activations_as_the_engine_lets_meet_them() -> None:
    engine = saying({NATIVE: "mxfp8", "bf16": "bf16"} | OPERANDS, {})
    precision = served(engine)
    published = catalogue.model("deepseek-r1").weights
    assert {name: getattr(precision, name) for name in published} == published
    assert (precision.experts_act, precision.attention_act) == ("mxfp8", "mxfp8")
    assert (precision.core, precision.kv) == ("bf16", "fp8")


def test_what_an_engine_says_of_all_models_yields_to_what_it_says_of_one() -> None:
    engine = saying(
        {"mxfp4": "fp8", "nvfp4": "nvfp4", NATIVE: "fp8", "bf16": "bf16"} | OPERANDS,
        {"*/experts": "mxfp4", "deepseek-r1/experts": "nvfp4", "*/kv": "bf16"},
    )
    r1, k2 = served(engine), served(engine, "kimi-k2.5")
    assert (r1.experts, r1.experts_act) == ("nvfp4", "nvfp4")
    assert (k2.experts, k2.experts_act) == ("mxfp4", "fp8")
    assert r1.kv == "bf16"


def test_a_chip_may_take_other_activations() -> None:
    rules = {NATIVE: "fp8", f"gb300/{NATIVE}": "mxfp8", "bf16": "bf16"} | OPERANDS
    engine = saying(rules, {})
    assert served(engine, chip="gb300").experts_act == "mxfp8"
    assert served(engine, chip="gb200").experts_act == "fp8"


def test_a_format_without_a_kernel_is_refused_with_those_that_have_one() -> None:
    engine = saying({"bf16": "bf16", "mxfp4": "mxfp8"} | OPERANDS, {})
    with pytest.raises(BadPlan) as caught:
        served(engine)
    assert str(caught.value) == (
        f"tensorrt-llm has no kernel for {NATIVE} weights, as deepseek-r1 has; it has them for "
        "bf16, mxfp4: name a precision in the plan, or another engine"
    )


def test_a_class_that_a_model_lacks_is_as_its_attention() -> None:
    model = replace(
        catalogue.model("gpt-oss-120b"),
        weights={"experts": "mxfp4", "attention": "fp8", "head": "bf16"},
    )
    engine = saying({"mxfp4": "mxfp8", "fp8": "fp8", "bf16": "bf16"} | OPERANDS, {})
    precision = Precision.as_served(engine, model, catalogue.chip("gb200"))
    assert (precision.dense, precision.shared) == ("fp8", "fp8")


@pytest.mark.parametrize("model", MODELS)
def test_jalapeno_runs_experts_at_the_mixed_rate(model: str) -> None:
    precision = served(catalogue.engine("jalapeno-engine"), model, "jalapeno")
    assert (operand_bits(precision.experts_act), operand_bits(precision.experts)) == (8, 4)


@pytest.mark.parametrize("model", MODELS)
def test_a_cached_entry_is_never_wider_than_what_the_core_computes_with(model: str) -> None:
    for system, engine in SYSTEMS.items():
        precision = served(catalogue.engine(engine), model, catalogue.system(system).chip.name)
        assert stored_bytes(precision.kv) <= stored_bytes(precision.core)


def test_what_the_published_runs_were_served_in() -> None:
    jalapeno = served(catalogue.engine("jalapeno-engine"), "kimi-k2.5", "jalapeno")
    assert (jalapeno.experts, jalapeno.attention, jalapeno.core) == ("mxfp4", "mxfp8", "mxfp8")
    nvidia = served(catalogue.engine("tensorrt-llm"))
    assert (nvidia.experts, nvidia.dense_act, nvidia.core) == ("nvfp4", "nvfp4", "fp8")
    assert (nvidia.attention, nvidia.attention_act, nvidia.head, nvidia.kv) == (
        "bf16",
        "bf16",
        "bf16",
        "fp8",
    )
