"""Formats: bits in memory, width in the engine, and every message for a wrong one."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import FORMATS
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
    ],
)
def test_scales_count_as_bytes(name: str, bits: float) -> None:
    assert stored_bytes(name) == bits / 8


def test_every_format_is_known_to_this_test() -> None:
    assert set(FORMATS) == {
        "mxfp4", "mxfp6", "mxfp8", "nvfp4", "int4", "fp8", "fp8_block", "bf16",
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
    if name != "mxfp6":  # runs as eight bits, is stored as six
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


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", sorted(set(SYSTEMS.values())))
def test_every_engine_serves_every_model_in_some_precision(model: str, engine: str) -> None:
    formats = catalogue.engine(engine).formats
    precision = Precision.as_served(formats, model)
    for name in CLASSES:
        assert getattr(precision, name) == formats[f"{model}/{name}"]


def test_a_model_that_the_engine_does_not_know_needs_a_precision_of_its_own() -> None:
    formats = catalogue.engine("tensorrt-llm").formats
    with pytest.raises(BadPlan) as caught:
        Precision.as_served(formats, "llama")
    assert str(caught.value) == (
        f"the engine has no default precision for llama ({', '.join(CLASSES)} missing); "
        "it serves deepseek-r1, gpt-oss-120b, kimi-k2.5; name a precision in the plan"
    )


def test_a_half_known_model_says_which_class_is_missing() -> None:
    formats = {f"toy/{name}": "bf16" for name in CLASSES if name != "kv"}
    with pytest.raises(BadPlan, match=r"no default precision for toy \(kv missing\)"):
        Precision.as_served(formats, "toy")


def test_a_model_is_not_taken_for_another_of_which_it_is_the_beginning() -> None:
    formats = {f"deepseek-r1/{name}": "bf16" for name in CLASSES}
    with pytest.raises(BadPlan, match="no default precision for deepseek-r "):
        Precision.as_served(formats, "deepseek-r")


@pytest.mark.parametrize("model", MODELS)
def test_jalapeno_runs_experts_at_the_mixed_rate(model: str) -> None:
    precision = Precision.as_served(catalogue.engine("jalapeno-engine").formats, model)
    assert (operand_bits(precision.experts_act), operand_bits(precision.experts)) == (8, 4)


@pytest.mark.parametrize("model", MODELS)
def test_a_cached_entry_is_never_wider_than_what_the_core_computes_with(model: str) -> None:
    for engine in SYSTEMS.values():
        precision = Precision.as_served(catalogue.engine(engine).formats, model)
        assert stored_bytes(precision.kv) <= stored_bytes(precision.core)
