"""The formats that a row's precision stands for, against what checkpoints are published as."""

from __future__ import annotations

import pytest

from jalapeno import catalogue
from jalapeno.analysis.evidence.checkpoints import CLASSES, WEIGHTS, served, weights_of
from jalapeno.catalogue import FORMATS
from jalapeno.errors import UnknownName

PUBLISHED = {
    # nvidia/DeepSeek-R1-0528-NVFP4-v2: MLPs in NVFP4, attention left in BF16
    ("deepseek-r1", "b200", "fp4"): ("bf16", "nvfp4", "nvfp4", "nvfp4"),
    # amd/DeepSeek-R1-0528-MXFP4: the same in MXFP4
    ("deepseek-r1", "mi355x", "fp4"): ("bf16", "mxfp4", "mxfp4", "mxfp4"),
    # openai/gpt-oss-120b: experts in MXFP4 as published, whatever the label
    ("gpt-oss-120b", "b200", "fp4"): ("bf16", "bf16", "bf16", "mxfp4"),
    ("gpt-oss-120b", "mi300x", "fp4"): ("bf16", "bf16", "bf16", "mxfp4"),
    # moonshotai/Kimi-K2.5: routed experts in INT4, all else in BF16
    ("kimi-k2.5", "h200", "int4"): ("bf16", "bf16", "bf16", "int4"),
}
"""Attention, dense, shared, experts."""


@pytest.mark.parametrize("key", PUBLISHED, ids=str)
def test_weights_are_those_of_the_published_checkpoint(key: tuple[str, str, str]) -> None:
    model, chip, precision = key
    found = weights_of(catalogue.model(model), catalogue.chip(chip), precision)
    assert tuple(found[name] for name in CLASSES) == PUBLISHED[key]


def test_eight_bits_are_eight_bits_throughout() -> None:
    found = weights_of(catalogue.model("llama-3.3-70b"), catalogue.chip("h100"), "fp8")
    assert set(found.values()) == {"fp8"}


@pytest.mark.parametrize("model", catalogue.names("models"))
@pytest.mark.parametrize("chip", ["b200", "mi355x"])
@pytest.mark.parametrize("precision", WEIGHTS)
def test_every_class_has_a_format_that_is_known(model: str, chip: str, precision: str) -> None:
    found = weights_of(catalogue.model(model), catalogue.chip(chip), precision)
    assert set(found) == set(CLASSES)
    assert set(found.values()) <= set(FORMATS)


def test_an_unknown_precision_lists_what_there_is() -> None:
    with pytest.raises(UnknownName, match="fp4, fp8, int4, bf16"):
        weights_of(catalogue.model("deepseek-r1"), catalogue.chip("b200"), "fp6")


@pytest.mark.parametrize(
    ("model", "precision", "kv"),
    [
        ("deepseek-r1", "fp4", "fp8"),
        ("deepseek-r1", "fp8", "fp8"),
        ("llama-3.3-70b", "bf16", "bf16"),
        ("kimi-k2.5", "int4", "bf16"),
        ("gpt-oss-120b", "fp4", "bf16"),
    ],
)
def test_the_cache_is_narrow_where_the_checkpoint_is(model: str, precision: str, kv: str) -> None:
    engine, chip = catalogue.engine("vllm"), catalogue.chip("b200")
    assert served(catalogue.model(model), chip, engine, precision).kv == kv


def test_four_bits_are_met_by_four_only_where_the_chip_has_the_rate() -> None:
    model, engine = catalogue.model("deepseek-r1"), catalogue.engine("vllm")
    blackwell = served(model, catalogue.chip("b200"), engine, "fp4")
    hopper = served(model, catalogue.chip("h200"), engine, "fp4")
    assert blackwell.experts_act == "nvfp4"
    assert hopper.experts_act == "bf16"
    assert blackwell.experts == hopper.experts == "nvfp4"


def test_on_amd_mxfp4_is_met_by_mxfp4_where_the_chip_has_the_rate() -> None:
    model, engine = catalogue.model("deepseek-r1"), catalogue.engine("sglang-rocm")
    assert served(model, catalogue.chip("mi355x"), engine, "fp4").experts_act == "mxfp4"
    assert served(model, catalogue.chip("mi300x"), engine, "fp4").experts_act != "mxfp4"


def test_attention_reads_and_the_head_stay_wide() -> None:
    engine, chip = catalogue.engine("vllm"), catalogue.chip("b200")
    found = served(catalogue.model("deepseek-r1"), chip, engine, "fp4")
    assert (found.core, found.head) == ("bf16", "bf16")
