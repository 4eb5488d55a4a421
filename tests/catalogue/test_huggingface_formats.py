"""Formats of checkpoints: each method names its format, and which modules have it."""

from __future__ import annotations

from typing import Any

import pytest

from jalapeno.errors import BadFact
from tests.catalogue.configs import FP8_BLOCK, config, imported, language, tree


def weights(name: str, said: dict[str, Any] | None, dtype: str | None = "bfloat16") -> Any:
    """Formats of the model *name* with this ``quantization_config``."""
    changed = config(name)
    language(changed).update(quantization_config=said, torch_dtype=dtype, dtype=None)
    return dict(imported(changed).weights)


def refused(name: str, said: dict[str, Any] | None, dtype: str | None = "bfloat16") -> str:
    with pytest.raises(BadFact) as caught:
        weights(name, said, dtype)
    return str(caught.value).removeprefix("mine.json: ")


def compressed(
    ignore: list[str], targets: list[str] | None = None, **weights: object
) -> dict[str, Any]:
    scheme = {"num_bits": 4, "type": "int", "group_size": 32, **weights}
    group = {"targets": targets or ["Linear"], "weights": scheme}
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": group},
        "ignore": ignore,
    }


def nvfp4(*ignore: str) -> dict[str, Any]:
    return {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": list(ignore)}


# ---- nothing is quantised


@pytest.mark.parametrize(("dtype", "word"), [("bfloat16", "bf16"), ("float32", "fp32")])
def test_weights_are_of_the_type_of_the_file(dtype: str, word: str) -> None:
    found = weights("llama-3.1-8b", None, dtype)
    assert found == {"dense": word, "attention": word, "head": word}


def test_the_type_may_be_called_dtype() -> None:
    said = config("llama-3.1-8b")
    said["dtype"] = said.pop("torch_dtype")
    assert imported(said) == imported(config("llama-3.1-8b"))


def test_two_names_of_the_type_must_agree() -> None:
    with pytest.raises(BadFact, match=r"dtype: expected .bfloat16., as torch_dtype, got .float32."):
        tree({**config("llama-3.1-8b"), "dtype": "float32"})


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        ("float16", "torch_dtype: not modelled: \"float16\"; did you mean 'bfloat16'?"),
        ("int3", 'torch_dtype: not modelled: "int3"'),
        (None, "torch_dtype: missing: expected one of bfloat16, float32"),
    ],
)
def test_a_type_without_a_format_is_refused(dtype: str | None, message: str) -> None:
    assert refused("llama-3.1-8b", None, dtype).startswith(message)


# ---- Hugging Face's FP8


def test_blocks_of_128_have_their_scale() -> None:
    found = weights("llama-3.1-8b", FP8_BLOCK)
    assert found == {"dense": "fp8_block", "attention": "fp8_block", "head": "bf16"}


def test_without_blocks_fp8_has_no_scale_to_speak_of() -> None:
    found = weights("llama-3.1-8b", {"quant_method": "fp8"})
    assert found == {"dense": "fp8", "attention": "fp8", "head": "bf16"}


def test_modules_that_are_named_are_left_out() -> None:
    said = {**FP8_BLOCK, "modules_to_not_convert": ["self_attn", "model.layers.*.mlp.gate"]}
    found = weights("deepseek-r1", said)
    assert (found["attention"], found["experts"]) == ("bf16", "fp8_block")


def test_a_name_is_not_the_beginning_of_another() -> None:
    said = {**FP8_BLOCK, "modules_to_not_convert": ["model.layers.1", "gate", "self"]}
    assert refused("llama-3.1-8b", said).startswith("quantization_config: quantises model.layers.")
    said = {**FP8_BLOCK, "modules_to_not_convert": ["gate", "self", "model.layers.99"]}
    assert weights("llama-3.1-8b", said) == weights("llama-3.1-8b", FP8_BLOCK)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fmt": "e5m2"}, 'quantization_config: fmt: not modelled: "e5m2"'),
        (
            {"weight_block_size": [64, 64]},
            "quantization_config: weight_block_size: expected [128, 128], the block",
        ),
        ({"quant_method": "awq"}, 'quantization_config: quant_method: not modelled: "awq"'),
        ({"quant_method": None}, "quantization_config: quant_method: missing: expected one of fp8"),
        (
            {"modules_to_not_convert": ["(a+)+$"]},
            "quantization_config: modules_to_not_convert: expected names such as",
        ),
        (
            {"modules_to_not_convert": "lm_head"},
            "quantization_config: modules_to_not_convert: expected a list of words",
        ),
    ],
)
def test_a_form_of_fp8_that_nobody_knows_is_refused(changes: dict[str, Any], message: str) -> None:
    assert refused("llama-3.1-8b", {**FP8_BLOCK, **changes}).startswith(message)


def test_a_quantisation_is_a_table() -> None:
    said = {**config("llama-3.1-8b"), "quantization_config": "fp8"}
    with pytest.raises(BadFact, match=r"quantization_config: expected a table of fields, got"):
        tree(said)


# ---- MXFP4


def test_mxfp4_is_of_experts_alone() -> None:
    found = weights("qwen3-30b-a3b", {"quant_method": "mxfp4"})
    assert found == {"experts": "mxfp4", "attention": "bf16", "head": "bf16"}


def test_experts_may_be_left_out_of_mxfp4() -> None:
    said = {"quant_method": "mxfp4", "modules_to_not_convert": ["mlp.experts"]}
    assert set(weights("gpt-oss-20b", said).values()) == {"bf16"}


# ---- compressed-tensors


@pytest.mark.parametrize(
    ("scheme", "word"),
    [
        ({}, "int4"),
        ({"type": "float", "group_size": 16}, "nvfp4"),
        ({"type": "float"}, "mxfp4"),
        ({"type": "float", "num_bits": 8, "group_size": None}, "fp8"),
        (
            {"type": "float", "num_bits": 8, "group_size": None, "block_structure": [128, 128]},
            "fp8_block",
        ),
    ],
)
def test_bits_kind_and_group_make_the_format(scheme: dict[str, Any], word: str) -> None:
    found = weights("llama-3.1-8b", compressed(["lm_head"], **scheme))
    assert found == {"dense": word, "attention": word, "head": "bf16"}


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        ({"group_size": 128}, "4-bit int in groups of 128; known"),
        ({"num_bits": 3}, "3-bit int in groups of 32; known"),
        ({"num_bits": 8, "type": "int", "group_size": None}, "8-bit int; known"),
        ({"block_structure": [64, 64]}, "4-bit int in groups of 32 in blocks of [64, 64]; known"),
    ],
)
def test_a_format_without_a_name_here_is_refused(scheme: dict[str, Any], words: str) -> None:
    message = refused("llama-3.1-8b", compressed(["lm_head"], **scheme))
    place = "quantization_config: config_groups: group_0: weights"
    assert message.startswith(f"{place}: not modelled: {words}")


def test_patterns_choose_what_is_quantised() -> None:
    found = weights("deepseek-r1", compressed([], targets=["re:.*experts.*"]))
    assert {tensors for tensors, word in found.items() if word == "int4"} == {"experts", "shared"}
    found = weights("deepseek-r1", compressed([], targets=[r"re:.*mlp\.experts\..*"]))
    assert {tensors for tensors, word in found.items() if word == "int4"} == {"experts"}


def test_two_groups_of_one_format_are_one() -> None:
    said = compressed(["lm_head"], targets=["re:.*self_attn.*"])
    said["config_groups"]["group_1"] = {
        **said["config_groups"]["group_0"], "targets": ["re:.*mlp.*"],
    }  # fmt: skip
    assert weights("llama-3.1-8b", said)["dense"] == "int4"
    said["config_groups"]["group_1"]["weights"] = {"num_bits": 8, "type": "float"}
    message = refused("llama-3.1-8b", said)
    assert message.startswith("quantization_config: config_groups: expected one format, not fp8")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (compressed(["re:("]), "quantization_config: 're:(' is no pattern"),
        (
            {**compressed([]), "config_groups": {}},
            "quantization_config: config_groups: expected at",
        ),
        ({**compressed([]), "config_groups": None}, "quantization_config: config_groups: missing"),
        (
            {**compressed([]), "config_groups": {"g": {"weights": None}}},
            "quantization_config: config_groups: g: weights: missing",
        ),
        (
            compressed(["lm_head", "model.layers.0.self_attn.o_proj"]),
            "quantization_config: quantises model.layers.",
        ),
        (compressed([]), "quantization_config: quantises lm_head, and the embedding cannot be"),
    ],
)
def test_a_class_has_one_format_and_a_group_its_scheme(said: dict[str, Any], message: str) -> None:
    assert refused("llama-3.1-8b", said).startswith(message)


# ---- ModelOpt


def test_nvidia_leaves_out_what_it_names() -> None:
    found = weights("deepseek-r1", nvfp4("lm_head", "model.layers.*.self_attn*"))
    assert found == {
        "experts": "nvfp4", "shared": "nvfp4", "dense": "nvfp4",
        "attention": "bf16", "head": "bf16",
    }  # fmt: skip


def test_nvidia_names_them_under_other_towers_too() -> None:
    said = nvfp4("language_model.lm_head", "language_model.model.layers.*.self_attn*")
    assert weights("kimi-k2.5", said)["attention"] == "bf16"
    said = nvfp4("lm_head", "model.language_model.layers.*linear_attn*", "*self_attn*", "mlp.gate")
    found = weights("qwen3.5-397b-a17b", said)
    assert (found["attention"], found["experts"], found["head"]) == ("bf16", "nvfp4", "bf16")


def test_what_nvidia_excludes_may_be_called_so() -> None:
    said = {"quant_method": "modelopt", "quant_algo": "FP8", "exclude_modules": ["lm_head"]}
    assert weights("llama-3.1-8b", said)["dense"] == "fp8"


def test_other_algorithms_are_refused() -> None:
    said = {**nvfp4("lm_head"), "quant_algo": "W4A16_AWQ"}
    beginning = 'quantization_config: quant_algo: not modelled: "W4A16_AWQ"'
    assert refused("llama-3.1-8b", said).startswith(beginning)


def test_attention_of_which_one_projection_is_quantised_is_refused() -> None:
    said = nvfp4("lm_head", "*q_a_proj", "*q_b_proj", "*kv_a_proj_with_mqa", "*kv_b_proj")
    message = refused("deepseek-r1", said)
    assert "o_proj" in message
    assert message.endswith("attention weights need one format")
