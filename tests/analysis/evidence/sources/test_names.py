"""Names of benchmarks are ours, or nobody's."""

from __future__ import annotations

import pytest

from jalapeno import catalogue
from jalapeno.analysis.evidence.sources.names import (
    ENGINES,
    MODELS,
    SYSTEMS,
    engine_of,
    model_of,
    precision_of,
    system_of,
)


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("nvidia/DeepSeek-R1-0528-NVFP4-v2", "deepseek-r1"),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1"),
        ("DeepSeek R1 0528", "deepseek-r1"),
        ("deepseek-ai/DeepSeek-V3", "deepseek-r1"),
        ("dsr1", "deepseek-r1"),
        ("/mnt/lustre01/models/gpt-oss-120b", "gpt-oss-120b"),
        ("gptoss", "gpt-oss-120b"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b"),
        ("nvidia/Llama-3.3-70B-Instruct-FP8", "llama-3.3-70b"),
        ("nvidia/Kimi-K2.5-NVFP4", "kimi-k2.5"),
        ("Qwen/Qwen3.5-397B-A17B-FP8", "qwen3.5-397b-a17b"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", None),
        ("moonshotai/Kimi-K2.6", None),
        ("mistral", None),
        ("", None),
    ],
)
def test_models(said: str, ours: str | None) -> None:
    assert model_of(said) == ours


@pytest.mark.parametrize("name", catalogue.names("models"))
def test_a_model_of_the_catalogue_is_itself(name: str) -> None:
    assert model_of(name) == name
    assert model_of(f"someone/{name.upper()}") == name


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("b200", "b200-hgx"),
        ("b200-trt", "b200-hgx"),
        ("gb300", "gb300-nvl72"),
        ("GB200", "gb200-nvl72"),
        ("mi355x", "mi355x-oam"),
        ("h100_sxm", "h100-hgx"),
        ("h200-hgx", "h200-hgx"),
        ("rtx6000pro", None),
        ("", None),
    ],
)
def test_systems(said: str, ours: str | None) -> None:
    assert system_of(said) == ours


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("trt", "tensorrt-llm"),
        ("dynamo-trt", "tensorrt-llm"),
        ("TRT-LLM", "tensorrt-llm"),
        ("dynamo-vllm", "vllm"),
        ("mori-sglang", "sglang"),
        ("sglang-rocm", "sglang-rocm"),
        ("atom", "atom"),
        ("tilert", None),
    ],
)
def test_engines(said: str, ours: str | None) -> None:
    assert engine_of(said) == ours


def test_every_translation_is_a_name_of_the_catalogue() -> None:
    assert set(MODELS.values()) <= set(catalogue.names("models"))
    assert set(SYSTEMS.values()) <= set(catalogue.names("systems"))
    assert set(ENGINES.values()) <= set(catalogue.names("engines"))


@pytest.mark.parametrize(
    ("said", "ours"), [("FP4", "fp4"), ("nvfp4", "fp4"), ("bf16", "bf16"), ("fp6", None)]
)
def test_precisions(said: str, ours: str | None) -> None:
    assert precision_of(said) == ours
