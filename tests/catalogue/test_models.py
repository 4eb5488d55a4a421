"""Models: the dimensions give the parameters, bytes and KV cache that their makers state.

The formulas here are an oracle of their own and share nothing with the package: norms, biases and
multi-token-prediction layers are left out, "active" counts the head and not the embedding.
"""

from __future__ import annotations

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import WEIGHTS, Gqa, Mla, Model

MODELS = ("gpt-oss-120b", "deepseek-r1", "kimi-k2.5")

BITS = {
    "bf16": 16.0,
    "fp8": 8.0 + 32.0 / (128 * 128),  # one FP32 scale a block of 128x128
    "int4": 4.0 + 16.0 / 32,  # one BF16 scale a group of 32
    "mxfp4": 4.0 + 8.0 / 32,  # one E8M0 scale a group of 32
}


def attention_parameters(model: Model) -> int:
    """Projections of one layer."""
    hidden = model.hidden
    match model.attention:
        case Gqa(heads=heads, kv_heads=kv_heads, head_dim=dim):
            return hidden * heads * dim + 2 * hidden * kv_heads * dim + heads * dim * hidden
        case Mla(heads=heads, q_rank=q, kv_rank=kv, nope_dim=nope, rope_dim=rope, value_dim=value):
            queries = hidden * q + q * heads * (nope + rope)
            keys = hidden * (kv + rope) + kv * heads * (nope + value)
            return queries + keys + heads * value * hidden


def parameters(model: Model) -> dict[str, int]:
    """Parameters of the whole model by tensor class; router and embedding are with the head."""
    moe_layers = model.layers - model.dense_layers
    expert = 3 * model.hidden * model.moe.width
    router = moe_layers * model.moe.experts * model.hidden
    return {
        "experts": moe_layers * model.moe.experts * expert,
        "shared": moe_layers * model.moe.shared * expert,
        "dense": model.dense_layers * 3 * model.hidden * model.dense_width,
        "attention": model.layers * attention_parameters(model),
        "head": router + 2 * model.vocab * model.hidden,
    }


def active_parameters(model: Model) -> int:
    """Parameters that one token meets; of routed experts the top k, of embeddings one row."""
    every = parameters(model)
    idle = every["experts"] * (1 - model.moe.top_k / model.moe.experts)
    return round(sum(every.values()) - idle - model.vocab * model.hidden)


def weight_bytes(model: Model) -> float:
    return sum(n * BITS[model.weights[c]] / 8 for c, n in parameters(model).items())


def kv_bytes(model: Model) -> int:
    """BF16 bytes a token adds to the cache, whatever the context."""
    match model.attention:
        case Gqa(kv_heads=kv_heads, head_dim=dim, window_layers=window_layers):
            return (model.layers - window_layers) * 2 * kv_heads * dim * 2
        case Mla(kv_rank=kv_rank, rope_dim=rope_dim):
            return model.layers * (kv_rank + rope_dim) * 2


# ---- what the makers state


@pytest.mark.parametrize("name", MODELS)
def test_the_dimensions_give_the_published_size(name: str) -> None:
    model = catalogue.model(name)
    total = sum(parameters(model).values())
    assert total == pytest.approx(model.published_parameters, rel=0.01)


@pytest.mark.parametrize(
    ("name", "computed", "half_a_digit"),
    [
        ("gpt-oss-120b", 5.13e9, 0.05e9),
        ("deepseek-r1", 36.62e9, 0.5e9),
        ("kimi-k2.5", 31.69e9, 0.5e9),
    ],
)
def test_the_dimensions_give_the_published_active_size(
    name: str, computed: float, half_a_digit: float
) -> None:
    # R1's 37B is 36.6 rounded up, 1.03 % more: the makers' rounding is the tolerance.
    model = catalogue.model(name)
    active = active_parameters(model)
    assert active == pytest.approx(computed, rel=0.001)
    assert abs(active - model.published_active) <= half_a_digit


@pytest.mark.parametrize(
    ("name", "total"),
    [("gpt-oss-120b", 116.79e9), ("deepseek-r1", 671.03e9), ("kimi-k2.5", 1026.41e9)],
)
def test_the_sizes_are_those_of_the_config_files(name: str, total: float) -> None:
    assert sum(parameters(catalogue.model(name)).values()) == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "gigabytes"), [("gpt-oss-120b", 65.2), ("deepseek-r1", 673.1), ("kimi-k2.5", 594.2)]
)
def test_the_formats_give_the_published_bytes(name: str, gigabytes: float) -> None:
    assert weight_bytes(catalogue.model(name)) == pytest.approx(gigabytes * 1e9, rel=0.01)


@pytest.mark.parametrize(
    ("name", "size"), [("gpt-oss-120b", 36_864), ("deepseek-r1", 70_272), ("kimi-k2.5", 70_272)]
)
def test_a_token_takes_its_bytes_of_cache(name: str, size: int) -> None:
    assert kv_bytes(catalogue.model(name)) == size


def test_the_windows_of_gpt_oss_take_a_fixed_cache() -> None:
    attention = catalogue.model("gpt-oss-120b").attention
    assert isinstance(attention, Gqa)
    entry = 2 * attention.kv_heads * attention.head_dim * 2
    assert attention.window_layers * attention.window * entry == 4_718_592


# ---- shapes


def test_every_second_layer_of_gpt_oss_is_a_window() -> None:
    model = catalogue.model("gpt-oss-120b")
    assert isinstance(model.attention, Gqa)
    assert model.attention.window_layers * 2 == model.layers
    assert model.attention.sinks
    assert model.caps == (128,)


@pytest.mark.parametrize("name", ["deepseek-r1", "kimi-k2.5"])
def test_latent_attention_has_no_window(name: str) -> None:
    model = catalogue.model(name)
    assert isinstance(model.attention, Mla)
    assert model.caps == ()


def test_k2_5_is_r1_with_half_the_heads_and_half_again_the_experts() -> None:
    r1, k2 = catalogue.model("deepseek-r1"), catalogue.model("kimi-k2.5")
    assert isinstance(r1.attention, Mla)
    assert isinstance(k2.attention, Mla)
    assert 2 * k2.attention.heads == r1.attention.heads
    assert 2 * k2.moe.experts == 3 * r1.moe.experts
    assert (k2.layers, k2.hidden) == (r1.layers, r1.hidden)


@pytest.mark.parametrize("name", MODELS)
def test_the_benchmark_fits_into_the_context(name: str) -> None:
    assert catalogue.model(name).context >= 8192 + 1024


@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_class_has_a_format(name: str) -> None:
    weights = catalogue.model(name).weights
    assert set(weights) == set(WEIGHTS)
    assert set(weights.values()) <= set(BITS)


@pytest.mark.parametrize("name", MODELS)
def test_heads_and_embeddings_stay_in_bf16(name: str) -> None:
    assert catalogue.model(name).weights["head"] == "bf16"
