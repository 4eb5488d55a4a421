"""Models: the dimensions give the parameters, bytes and KV cache that their makers state.

The formulas here are an oracle of their own and share nothing with the package: norms, biases,
short convolutions and multi-token-prediction layers are left out, "active" counts the head and not
the embedding.  The numbers are of another tool, from the makers' config files.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Gqa, Kind, Mla, Model, weight_classes

MODELS = catalogue.names("models")

BITS = {
    "bf16": 16.0,
    "fp8_block": 8.0 + 32.0 / (128 * 128),  # one FP32 scale a block of 128x128
    "int4": 4.0 + 16.0 / 32,  # one BF16 scale a group of 32
    "mxfp4": 4.0 + 8.0 / 32,  # one E8M0 scale a group of 32
}


class Known(NamedTuple):
    """What another tool finds in the config file."""

    total: float
    """Billions."""
    active: float
    gigabytes: float
    """Of all weights as published."""
    kv: int
    """Bytes that a token adds, BF16."""
    fixed: float = 0.0
    """Megabytes that a sequence holds whatever its length: windows in BF16, states in FP32."""
    keys: int = 0
    """Bytes that a token adds to the keys of indexers."""


KNOWN = {
    "deepseek-r1": Known(671.03, 36.62, 673.1, 70_272),
    "deepseek-v3.1": Known(671.03, 36.62, 673.1, 70_272),
    "deepseek-v3.2": Known(671.88, 37.48, 674.0, 70_272, keys=8_052),
    "glm-5": Known(743.91, 40.83, 1487.8, 89_856, keys=10_296),
    "gpt-oss-120b": Known(116.79, 5.13, 65.2, 36_864, 4.72),
    "gpt-oss-20b": Known(20.91, 3.61, 13.7, 24_576, 3.15),
    "kimi-k2": Known(1026.41, 31.69, 1029.2, 70_272),
    "kimi-k2.5": Known(1026.41, 31.69, 594.2, 70_272),
    "llama-3.1-405b": Known(405.85, 403.75, 811.7, 516_096),
    "llama-3.1-70b": Known(70.55, 69.5, 141.1, 327_680),
    "llama-3.1-8b": Known(8.03, 7.5, 16.1, 131_072),
    "llama-3.3-70b": Known(70.55, 69.5, 141.1, 327_680),
    "minimax-m2.5": Known(228.69, 10.42, 230.0, 253_952),
    "qwen3-235b-a22b": Known(235.09, 21.57, 470.2, 192_512),
    "qwen3-30b-a3b": Known(30.53, 3.04, 61.1, 98_304),
    "qwen3-32b": Known(32.76, 31.98, 65.5, 262_144),
    "qwen3-8b": Known(8.19, 7.57, 16.4, 147_456),
    "qwen3.5-397b-a17b": Known(396.34, 16.33, 792.7, 30_720, 188.74),
}

LAST_DIGIT = {
    "deepseek-r1": (1e9, 1e9),
    "deepseek-v3.1": (1e9, 1e9),
    "deepseek-v3.2": (2e9, 1e9),  # the statement is of V3, which has no indexers
    "glm-5": (1e9, 1e9),
    "gpt-oss-120b": (0.1e9, 0.1e9),
    "gpt-oss-20b": (0.1e9, 0.1e9),
    "kimi-k2": (100e9, 1e9),
    "kimi-k2.5": (10e9, 1e9),
    "llama-3.1-405b": (2e9, 0.1e9),  # 405.8B is stated as 405B
    "llama-3.1-70b": (2e9, 0.1e9),  # 70.6B is stated as 70B
    "llama-3.1-8b": (1e9, 0.1e9),
    "llama-3.3-70b": (2e9, 0.1e9),
    "minimax-m2.5": (10e9, 1e9),
    "qwen3-235b-a22b": (1e9, 1e9),
    "qwen3-30b-a3b": (0.1e9, 0.2e9),  # 3.35B is stated as 3.3B
    "qwen3-32b": (0.1e9, 0.1e9),
    "qwen3-8b": (0.1e9, 0.01e9),
    "qwen3.5-397b-a17b": (2e9, 1e9),  # 396.3B, the vision tower not counted
}
"""The last digit of the makers' total and active counts: half of it is their rounding."""

EMBEDDING = {"glm-5": -1, "qwen3-30b-a3b": 1, "qwen3-235b-a22b": 1, "qwen3.5-397b-a17b": 1}
"""Makers whose active count has the embedding too, or (-1) neither embedding nor head."""


def projections(model: Model) -> int:
    """Of one layer that keeps a KV cache."""
    hidden = model.hidden
    match model.attention:
        case Gqa(heads=heads, kv_heads=kv_heads, head_dim=dim, gated=gated):
            queries = hidden * heads * dim * (2 if gated else 1)
            return queries + 2 * hidden * kv_heads * dim + heads * dim * hidden
        case Mla(heads=heads, q_rank=q, kv_rank=kv, nope_dim=nope, rope_dim=rope, value_dim=value):
            queries = hidden * q + q * heads * (nope + rope)
            keys = hidden * (kv + rope) + kv * heads * (nope + value)
            return queries + keys + heads * value * hidden


def indexers(model: Model) -> int:
    """Queries from the latent, one key, and a weight for each head."""
    match model.attention:
        case Mla(q_rank=q, index=index) if index is not None:
            one = q * index.heads * index.dim + model.hidden * (index.dim + index.heads)
            return index.layers * one
    return 0


def linear_projections(model: Model) -> int:
    """Of all linear layers: queries, keys, values, gate; two numbers a head; the way back."""
    if model.linear is None:
        return 0
    queries = keys = model.linear.key_heads * model.linear.key_dim
    values = gate = model.linear.value_heads * model.linear.value_dim
    inward = queries + keys + values + gate + 2 * model.linear.value_heads
    return model.linear.layers * model.hidden * (inward + values)


def parameters(model: Model) -> dict[str, int]:
    """Parameters of the whole model by tensor class; router and embedding are with the head."""
    moe_layers = model.layers - model.dense_layers
    linear_layers = model.linear.layers if model.linear else 0
    expert = 3 * model.hidden * model.moe.width
    router = moe_layers * model.moe.experts * model.hidden
    cached = (model.layers - linear_layers) * projections(model)
    heads = 1 if model.tied else 2
    return {
        "experts": moe_layers * model.moe.experts * expert,
        "shared": moe_layers * model.moe.shared * expert,
        "dense": model.dense_layers * 3 * model.hidden * model.dense_width,
        "attention": cached + indexers(model) + linear_projections(model),
        "head": router + heads * model.vocab * model.hidden,
    }


def active_parameters(model: Model) -> int:
    """Parameters that one token meets; of routed experts the top k, of embeddings one row."""
    every = parameters(model)
    experts = every["experts"]
    idle = experts - experts * model.moe.top_k // model.moe.experts if experts else 0
    embedding = 0 if model.tied else model.vocab * model.hidden
    return sum(every.values()) - idle - embedding


def weight_bytes(model: Model) -> float:
    counts = parameters(model)
    return sum(counts[c] * BITS[model.weights[c]] / 8 for c in weight_classes(model))


def kv_bytes(model: Model) -> int:
    """BF16 bytes a token adds to the cache, whatever the context."""
    layers = model.layers - (model.linear.layers if model.linear else 0)
    match model.attention:
        case Gqa(kv_heads=kv_heads, head_dim=dim, window_layers=window_layers):
            return (layers - window_layers) * 2 * kv_heads * dim * 2
        case Mla(kv_rank=kv_rank, rope_dim=rope_dim):
            return layers * (kv_rank + rope_dim) * 2


def fixed_bytes(model: Model) -> int:
    """Bytes of a sequence's windows and states."""
    found = 0
    if isinstance(model.attention, Gqa):
        entry = 2 * model.attention.kv_heads * model.attention.head_dim * 2
        found += model.attention.window_layers * model.attention.window * entry
    if model.linear:
        state = model.linear.value_heads * model.linear.key_dim * model.linear.value_dim * 4
        found += model.linear.layers * state
    return found


def test_every_model_is_known() -> None:
    assert set(MODELS) == set(KNOWN) == set(LAST_DIGIT)


# ---- what the makers state


@pytest.mark.parametrize("name", MODELS)
def test_the_dimensions_give_the_published_size(name: str) -> None:
    model = catalogue.model(name)
    total = sum(parameters(model).values())
    assert abs(total - model.published_parameters) <= LAST_DIGIT[name][0] / 2


@pytest.mark.parametrize("name", MODELS)
def test_the_dimensions_give_the_published_active_size(name: str) -> None:
    # R1's 37B is 36.6 rounded up, 1.03 % more: the makers' rounding is the tolerance.
    model = catalogue.model(name)
    active = active_parameters(model) + EMBEDDING.get(name, 0) * model.vocab * model.hidden
    assert abs(active - model.published_active) <= LAST_DIGIT[name][1] / 2


@pytest.mark.parametrize("name", MODELS)
def test_the_sizes_are_those_of_the_config_files(name: str) -> None:
    model, known = catalogue.model(name), KNOWN[name]
    assert sum(parameters(model).values()) == pytest.approx(known.total * 1e9, abs=0.0051e9)
    assert active_parameters(model) == pytest.approx(known.active * 1e9, abs=0.0051e9)


@pytest.mark.parametrize("name", MODELS)
def test_the_formats_give_the_published_bytes(name: str) -> None:
    known = KNOWN[name].gigabytes * 1e9
    assert weight_bytes(catalogue.model(name)) == pytest.approx(known, abs=0.06e9)


@pytest.mark.parametrize("name", MODELS)
def test_a_token_takes_its_bytes_of_cache(name: str) -> None:
    assert kv_bytes(catalogue.model(name)) == KNOWN[name].kv


@pytest.mark.parametrize("name", MODELS)
def test_windows_and_states_take_a_fixed_cache(name: str) -> None:
    known = KNOWN[name].fixed * 1e6
    assert fixed_bytes(catalogue.model(name)) == pytest.approx(known, abs=0.0051e6)


@pytest.mark.parametrize("name", MODELS)
def test_indexers_keep_a_key_of_each_token(name: str) -> None:
    attention = catalogue.model(name).attention
    index = attention.index if isinstance(attention, Mla) else None
    assert (index.layers * index.key_bytes if index else 0) == KNOWN[name].keys


# ---- shapes


@pytest.mark.parametrize("name", ["gpt-oss-20b", "gpt-oss-120b"])
def test_every_second_layer_of_gpt_oss_is_a_window(name: str) -> None:
    model = catalogue.model(name)
    assert isinstance(model.attention, Gqa)
    assert model.attention.window_layers * 2 == model.layers
    assert model.attention.sinks
    assert model.caps == (128,)


@pytest.mark.parametrize("name", ["deepseek-r1", "deepseek-v3.1", "kimi-k2", "kimi-k2.5"])
def test_latent_attention_has_no_window(name: str) -> None:
    model = catalogue.model(name)
    assert isinstance(model.attention, Mla)
    assert model.caps == ()


@pytest.mark.parametrize("name", ["deepseek-v3.2", "glm-5"])
def test_sparse_attention_reads_the_best_2048(name: str) -> None:
    model = catalogue.model(name)
    assert isinstance(model.attention, Mla)
    assert model.caps == (2048,)
    assert model.attention.index is not None
    assert model.attention.index.layers == model.layers


def test_k2_5_is_r1_with_half_the_heads_and_half_again_the_experts() -> None:
    r1, k2 = catalogue.model("deepseek-r1"), catalogue.model("kimi-k2.5")
    assert isinstance(r1.attention, Mla)
    assert isinstance(k2.attention, Mla)
    assert 2 * k2.attention.heads == r1.attention.heads
    assert 2 * k2.moe.experts == 3 * r1.moe.experts
    assert (k2.layers, k2.hidden) == (r1.layers, r1.hidden)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deepseek-r1", "deepseek-v3.1"),
        ("llama-3.1-70b", "llama-3.3-70b"),
        ("kimi-k2", "kimi-k2.5"),
    ],
)
def test_what_was_trained_further_kept_its_shape(one: str, other: str) -> None:
    left, right = catalogue.model(one), catalogue.model(other)
    assert left.attention == right.attention
    assert left.moe == right.moe
    assert (left.layers, left.dense_layers, left.hidden, left.vocab) == (
        right.layers, right.dense_layers, right.hidden, right.vocab,
    )  # fmt: skip


def test_of_a_model_without_a_config_of_its_own_the_shape_is_derived() -> None:
    facts = catalogue.model("llama-3.3-70b").facts
    assert facts["layers"].kind is Kind.DERIVED
    assert "3.1" in facts["layers"].source


def test_a_quarter_of_qwen3_5_keeps_a_cache() -> None:
    model = catalogue.model("qwen3.5-397b-a17b")
    assert model.linear is not None
    assert model.linear.layers == 45
    assert model.cached_layers == 15
    assert isinstance(model.attention, Gqa)
    assert model.attention.gated


@pytest.mark.parametrize("name", [name for name in MODELS if KNOWN[name].total < 450])
def test_only_dense_models_have_no_experts(name: str) -> None:
    model = catalogue.model(name)
    is_dense = name.startswith("llama") or name in ("qwen3-8b", "qwen3-32b")
    assert (model.moe.experts == 0) == is_dense
    assert (model.dense_layers == model.layers) == is_dense


@pytest.mark.parametrize("name", MODELS)
def test_the_benchmark_fits_into_the_context(name: str) -> None:
    assert catalogue.model(name).context >= 8192 + 1024


@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_class_has_a_format(name: str) -> None:
    model = catalogue.model(name)
    assert set(weight_classes(model)) <= set(model.weights)
    assert set(model.weights.values()) <= set(BITS)


@pytest.mark.parametrize("name", MODELS)
def test_heads_and_embeddings_stay_in_bf16(name: str) -> None:
    assert catalogue.model(name).weights["head"] == "bf16"
