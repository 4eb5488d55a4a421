"""Engines: every model has a precision, and every share is one."""

from __future__ import annotations

from dataclasses import fields

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import CLASSES, FORMATS, WEIGHTS, Engine, Kind

ENGINES = catalogue.names("engines")
MODELS = catalogue.names("models")


def served(engine: str, model: str) -> dict[str, str]:
    """Formats of *model* on *engine* by tensor class."""
    start = f"{model}/"
    formats = catalogue.engine(engine).formats
    return {k.removeprefix(start): word for k, word in formats.items() if k.startswith(start)}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_serves_every_model_in_known_formats(engine: str, model: str) -> None:
    formats = served(engine, model)
    assert set(formats) == set(CLASSES)
    assert set(formats.values()) <= set(FORMATS)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_model_has_a_maturity(engine: str) -> None:
    assert set(catalogue.engine(engine).maturity) == set(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_jalapeno_serves_experts_in_mxfp4_and_the_rest_in_mxfp8(model: str) -> None:
    formats = served("jalapeno-engine", model)
    assert formats.pop("experts") == "mxfp4"
    assert formats.pop("kv") == "fp8"
    assert set(formats.values()) == {"mxfp8"}


def test_tensorrt_serves_gpt_oss_in_its_own_experts() -> None:
    formats = served("tensorrt-llm", "gpt-oss-120b")
    stored = catalogue.model("gpt-oss-120b").weights
    assert {tensors: formats[tensors] for tensors in WEIGHTS} == dict(stored)
    assert formats["experts_act"] == "mxfp8"


@pytest.mark.parametrize("model", ["deepseek-r1", "kimi-k2.5"])
def test_tensorrt_serves_the_large_models_in_nvfp4_but_for_attention_and_head(model: str) -> None:
    formats = served("tensorrt-llm", model)
    four_bit = {tensors for tensors, word in formats.items() if word == "nvfp4"}
    assert four_bit == {
        "experts", "experts_act", "shared", "shared_act", "dense", "dense_act",
    }  # fmt: skip
    assert formats["attention"] == formats["head"] == "bf16"
    assert formats["kv"] == "fp8"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_number_of_an_engine_is_a_fact(engine: str) -> None:
    words = {"name", "title", "version", "formats", "maturity", "facts"}
    numbers = {field.name for field in fields(Engine)} - words
    facts = catalogue.engine(engine).facts
    assert numbers <= set(facts)
    assert {path for path in facts if "." in path} == {f"maturity.{model}" for model in MODELS}


@pytest.mark.parametrize("engine", ENGINES)
def test_efficiencies_are_shares(engine: str) -> None:
    facts = catalogue.engine(engine).facts
    shares = [path for path in facts if path.endswith("efficiency")]
    assert len(shares) == 8
    for path in shares:
        value, high = facts[path].value, facts[path].high
        assert isinstance(value, float)
        assert high is not None
        assert 0 < value <= high <= 1


def test_a_loop_on_the_device_leaves_the_host_nothing_to_do() -> None:
    engine = catalogue.engine("jalapeno-engine")
    assert engine.host_step == engine.host_sequence == 0.0


@pytest.mark.parametrize(
    ("path", "measured"), [("all_reduce_latency", 4.9e-6), ("all_to_all_latency", 18e-6)]
)
def test_a_collective_on_gpus_takes_what_was_measured_less_the_hop_that_the_fabric_adds(
    path: str, measured: float
) -> None:
    fact = catalogue.engine("tensorrt-llm").facts[path]
    hop = catalogue.system("gb200-nvl72").fabric["nvlink"].latency
    assert fact.kind is Kind.DERIVED
    assert fact.value == pytest.approx(measured - hop)
    assert f"{measured * 1e6:g} us" in fact.source
    assert f"less the fabric's hop of {hop * 1e6:g} us" in fact.source


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loaded_layer_costs_no_less_than_one_at_rest(engine: str) -> None:
    found = catalogue.engine(engine)
    assert found.issue_layer_load >= found.issue_layer_rest


def test_a_layer_costs_jalapeno_less_than_a_gpu() -> None:
    ours, theirs = catalogue.engine("jalapeno-engine"), catalogue.engine("tensorrt-llm")
    assert ours.issue_phase < theirs.issue_phase
    assert ours.all_reduce_latency < theirs.all_reduce_latency
