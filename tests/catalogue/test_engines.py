"""Engines: every model has a precision on every chip, and every share is one."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest

from jalapeno import Precision, catalogue
from jalapeno.analysis.calibration.constants import CONSTANTS, LAYER
from jalapeno.catalogue import FORMATS, WEIGHTS, Engine, Kind
from jalapeno.mapping.precision import operand_bits

ENGINES = catalogue.names("engines")
MODELS = catalogue.names("models")
CHIPS = catalogue.names("chips")
NO_FP4 = ("h100", "h200", "mi300x", "mi325x", "tpu7x")
"""Chips without FP4 arithmetic."""

WIDENING = ("vllm", "sglang", "sglang-rocm", "atom")
"""Engines that say for every chip of the catalogue what four bits are widened to."""


def served(engine: str, model: str, chip: str) -> dict[str, str]:
    """Formats of *model* on *engine* and *chip* by tensor class."""
    entries = catalogue.engine(engine), catalogue.model(model), catalogue.chip(chip)
    return asdict(Precision.as_served(*entries))


# ---- formats


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_serves_every_model_in_known_formats(engine: str, model: str) -> None:
    for chip in CHIPS:
        assert set(served(engine, model, chip).values()) <= set(FORMATS)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "jalapeno-engine"])
def test_every_engine_has_an_activation_for_every_format_that_models_come_in(engine: str) -> None:
    stored = {word for model in MODELS for word in catalogue.model(model).weights.values()}
    assert stored | {"nvfp4"} <= set(catalogue.engine(engine).activations)


def test_jalapenos_engine_brings_every_weight_into_a_format_that_it_has() -> None:
    engine = catalogue.engine("jalapeno-engine")
    assert {f"*/{tensors}" for tensors in WEIGHTS} == set(engine.formats)
    assert set(engine.formats.values()) <= set(engine.activations)


@pytest.mark.parametrize("chip", NO_FP4)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", WIDENING)
def test_four_bits_meet_wider_operands_where_a_chip_has_no_fp4_arithmetic(
    engine: str, model: str, chip: str
) -> None:
    activations = {k: w for k, w in served(engine, model, chip).items() if k.endswith("_act")}
    assert all(operand_bits(word) >= 8 for word in activations.values())


@pytest.mark.parametrize("chip", ["h100", "h200"])
@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_hopper_widens_gpt_oss_to_bf16(engine: str, chip: str) -> None:
    formats = served(engine, "gpt-oss-120b", chip)
    assert (formats["experts"], formats["experts_act"]) == ("mxfp4", "bf16")


@pytest.mark.parametrize("chip", ["b200", "b300", "gb200", "gb300", "rubin"])
@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_blackwell_and_after_take_mxfp8_to_gpt_oss(engine: str, chip: str) -> None:
    assert served(engine, "gpt-oss-120b", chip)["experts_act"] == "mxfp8"


@pytest.mark.parametrize("engine", WIDENING)
def test_gpt_oss_on_mi355x_meets_bf16(engine: str) -> None:
    assert served(engine, "gpt-oss-120b", "mi355x")["experts_act"] == "bf16"


@pytest.mark.parametrize("engine", WIDENING)
def test_engines_without_a_checkpoint_of_their_own_serve_weights_as_published(engine: str) -> None:
    for name in MODELS:
        weights = catalogue.model(name).weights
        formats = served(engine, name, "b200")
        assert {tensors: formats[tensors] for tensors in weights} == weights


@pytest.mark.parametrize("model", MODELS)
def test_jalapeno_serves_experts_in_mxfp4_and_the_rest_in_mxfp8(model: str) -> None:
    formats = served("jalapeno-engine", model, "jalapeno")
    assert formats.pop("experts") == "mxfp4"
    assert formats.pop("kv") == "fp8"
    assert set(formats.values()) == {"mxfp8"}


def test_tensorrt_serves_gpt_oss_in_its_own_experts() -> None:
    formats = served("tensorrt-llm", "gpt-oss-120b", "gb200")
    stored = catalogue.model("gpt-oss-120b").weights
    assert {tensors: formats[tensors] for tensors in stored} == dict(stored)
    assert formats["experts_act"] == "mxfp8"


@pytest.mark.parametrize("model", ["deepseek-r1", "kimi-k2.5"])
def test_tensorrt_serves_the_large_models_in_nvfp4_but_for_attention_and_head(model: str) -> None:
    formats = served("tensorrt-llm", model, "gb300")
    four_bit = {tensors for tensors, word in formats.items() if word == "nvfp4"}
    assert four_bit == {
        "experts", "experts_act", "shared", "shared_act", "dense", "dense_act",
    }  # fmt: skip
    assert formats["attention"] == formats["head"] == "bf16"
    assert formats["kv"] == "fp8"


# ---- numbers


DEFAULTED = {"experts_share", "stream_interval"}
"""Numbers that an entry may leave out: they are one then, which changes nothing."""


@pytest.mark.parametrize("engine", ENGINES)
def test_every_number_of_an_engine_is_a_fact(engine: str) -> None:
    words = {"name", "title", "version", "formats", "activations", "tables", "facts"}
    factors = {"maturity", "issue_scale"}
    numbers = {field.name for field in fields(Engine)} - words - factors - DEFAULTED
    found = catalogue.engine(engine)
    assert numbers <= set(found.facts)
    assert found.experts_share == 1.0 or "experts_share" in found.facts
    assert found.stream_interval == 1 or "stream_interval" in found.facts
    named = {f"{table}.{key}" for table in factors for key in getattr(found, table)}
    assert {path for path in found.facts if "." in path} == named


@pytest.mark.parametrize("engine", ["jalapeno-engine", "tensorrt-llm"])
def test_engines_that_were_fitted_say_which_models_are_mature(engine: str) -> None:
    assert {"deepseek-r1", "gpt-oss-120b", "kimi-k2.5"} == set(catalogue.engine(engine).maturity)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "sglang-rocm", "trtllm-serve"])
def test_engines_that_were_calibrated_say_on_what_and_how_surely(engine: str) -> None:
    facts = catalogue.engine(engine).facts
    fitted = {path: fact for path, fact in facts.items() if fact.kind is Kind.FITTED}
    assert {constant.path for constant in CONSTANTS} <= set(fitted)
    for path, fact in fitted.items():
        if path not in LAYER:
            assert "InferenceX points" in fact.source
            assert fact.low is not None
            assert fact.high is not None
            assert fact.low < fact.high


def test_an_engine_that_was_not_fitted_does_not_claim_to_be() -> None:
    found = catalogue.engine("atom")
    assert not found.maturity
    assert not [path for path, fact in found.facts.items() if fact.kind is Kind.FITTED]
    weak = [path for path, fact in found.facts.items() if fact.kind >= Kind.ESTIMATED]
    assert len(weak) > len(found.facts) / 2


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


HOPPER, BLACKWELL = "h100-hgx", "b200-hgx"


@pytest.mark.parametrize(
    ("engine", "system", "path", "measured"),
    [
        ("tensorrt-llm", "gb200-nvl72", "all_reduce_latency", 4.9e-6),
        ("tensorrt-llm", "gb200-nvl72", "all_to_all_latency", 18e-6),
        ("vllm", HOPPER, "all_to_all_latency", 13.2e-6),
        ("sglang", BLACKWELL, "all_to_all_latency", 22.1e-6),
    ],
)
def test_a_collective_on_gpus_takes_what_was_measured_less_the_hop_that_the_fabric_adds(
    engine: str, system: str, path: str, measured: float
) -> None:
    fact = catalogue.engine(engine).facts[path]
    hop = catalogue.system(system).fabric["nvlink"].latency
    assert fact.kind is Kind.DERIVED
    assert fact.value == pytest.approx(measured - hop)
    assert f"{measured * 1e6:g} us" in fact.source
    assert f"less the fabric's hop of {hop * 1e6:g} us" in fact.source


@pytest.mark.parametrize(
    ("engine", "tokens"),
    [("vllm", 16), ("sglang", 1), ("sglang-rocm", 1), ("atom", 16), ("tensorrt-llm", 32)],
)
def test_blocks_are_as_long_as_the_documentation_says(engine: str, tokens: int) -> None:
    fact = catalogue.engine(engine).facts["block_tokens"]
    assert (fact.value, fact.kind) == (tokens, Kind.PUBLISHED)


@pytest.mark.parametrize(
    ("engine", "chip"),
    [("vllm", "h200"), ("sglang", "mi300x"), ("sglang-rocm", "mi300x"), ("atom", "mi355x")],
)
def test_a_tenth_of_the_chip_is_kept_back(engine: str, chip: str) -> None:
    tenth = 0.1 * catalogue.chip(chip).hbm.capacity
    assert catalogue.engine(engine).memory_reserve == pytest.approx(tenth, rel=0.01)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loaded_layer_costs_no_less_than_one_at_rest(engine: str) -> None:
    found = catalogue.engine(engine)
    assert found.issue_layer_load >= found.issue_layer_rest


@pytest.mark.parametrize(
    "engine",
    [n for n in ENGINES if n != "jalapeno-engine" and not catalogue.engine(n).tables],
)
def test_a_layer_costs_jalapeno_less_than_a_gpu(engine: str) -> None:
    ours, theirs = catalogue.engine("jalapeno-engine"), catalogue.engine(engine)
    assert ours.issue_phase < theirs.issue_phase
    assert ours.all_reduce_latency < theirs.all_reduce_latency


@pytest.mark.parametrize("path", ["issue_phase", "host_step", "memory_efficiency"])
def test_what_was_taken_from_the_fit_of_another_engine_is_inside_the_range(path: str) -> None:
    fact = catalogue.engine("atom").facts[path]
    fitted = catalogue.engine("tensorrt-llm").facts[path].value
    assert fact.low is not None
    assert fact.high is not None
    assert isinstance(fitted, float)
    assert fact.low <= fitted <= fact.high
