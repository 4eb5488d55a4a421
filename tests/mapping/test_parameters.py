"""Weights counted tensor by tensor, and what the makers publish."""

from __future__ import annotations

import math

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Gqa, Mla, Model
from jalapeno.mapping import kv_elements, parameters
from jalapeno.mapping.parameters import (
    attention_parameters,
    expansion_parameters,
    expert_parameters,
)
from tests.mapping.worlds import MODELS

Shapes = dict[str, tuple[int, ...]]


def attention_tensors(model: Model) -> Shapes:
    """Names as in the published checkpoints, shapes of one layer."""
    h = model.hidden
    match model.attention:
        case Gqa(heads=heads, kv_heads=kv_heads, head_dim=dim):
            return {
                "q_proj": (heads * dim, h),
                "k_proj": (kv_heads * dim, h),
                "v_proj": (kv_heads * dim, h),
                "o_proj": (h, heads * dim),
            }
        case Mla() as mla:
            return {
                "q_a_proj": (mla.q_rank, h),
                "q_b_proj": (mla.heads * (mla.nope_dim + mla.rope_dim), mla.q_rank),
                "kv_a_proj_with_mqa": (mla.kv_rank + mla.rope_dim, h),
                "kv_b_proj": (mla.heads * (mla.nope_dim + mla.value_dim), mla.kv_rank),
                "o_proj": (h, mla.heads * mla.value_dim),
            }


def ffn_tensors(hidden: int, width: int) -> Shapes:
    """Gate, up and down."""
    return {"gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}


def size(tensors: Shapes) -> int:
    return sum(math.prod(shape) for shape in tensors.values())


def layer(model: Model, number: int, experts: int) -> int:
    """Weights of one layer with *experts* of its routed experts."""
    weights = size(attention_tensors(model))
    if number < model.dense_layers:
        return weights + size(ffn_tensors(model.hidden, model.dense_width))
    expert = size(ffn_tensors(model.hidden, model.moe.width))
    router = model.moe.experts * model.hidden
    return weights + router + (experts + model.moe.shared) * expert


# ---- published


@pytest.mark.parametrize("name", MODELS)
def test_the_total_is_the_published_one(name: str) -> None:
    model = catalogue.model(name)
    assert parameters(model).total == pytest.approx(model.published_parameters, rel=0.01)


@pytest.mark.parametrize(
    ("name", "total", "active"),
    [
        ("gpt-oss-120b", 116.79e9, 5.13e9),
        ("deepseek-r1", 671.03e9, 36.62e9),
        ("kimi-k2.5", 1026.41e9, 31.69e9),
    ],
)
def test_the_counts_are_those_of_the_config_files(name: str, total: float, active: float) -> None:
    count = parameters(catalogue.model(name))
    assert count.total == pytest.approx(total, rel=1e-4)
    assert count.active == pytest.approx(active, rel=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_the_active_ones_are_the_published_ones_as_rounded(name: str) -> None:
    model = catalogue.model(name)
    digit = 0.1e9 if model.published_active < 10e9 else 1e9
    assert abs(parameters(model).active - model.published_active) <= digit / 2


# ---- counted another way


@pytest.mark.parametrize("name", MODELS)
def test_the_total_is_that_of_all_tensors(name: str) -> None:
    model = catalogue.model(name)
    layers = sum(layer(model, number, model.moe.experts) for number in range(model.layers))
    assert parameters(model).total == layers + 2 * model.vocab * model.hidden


@pytest.mark.parametrize("name", MODELS)
def test_a_token_passes_the_layers_with_its_experts_and_the_head(name: str) -> None:
    model = catalogue.model(name)
    layers = sum(layer(model, number, model.moe.top_k) for number in range(model.layers))
    assert parameters(model).active == layers + model.vocab * model.hidden


@pytest.mark.parametrize("name", MODELS)
def test_attention_is_that_of_its_tensors(name: str) -> None:
    model = catalogue.model(name)
    tensors = attention_tensors(model)
    assert attention_parameters(model) == size(tensors)
    assert parameters(model).attention == model.layers * size(tensors)
    if isinstance(model.attention, Mla):
        assert expansion_parameters(model.attention) == math.prod(tensors["kv_b_proj"])


@pytest.mark.parametrize("name", MODELS)
def test_the_classes_add_up_to_the_total(name: str) -> None:
    count = parameters(catalogue.model(name))
    without_heads = count.experts + count.shared + count.dense + count.router + count.attention
    assert count.total == without_heads + 2 * count.head
    assert count.active <= count.total


def test_gpt_oss_by_hand() -> None:
    model = catalogue.model("gpt-oss-120b")
    count = parameters(model)
    assert expert_parameters(model) == 3 * 2880 * 2880
    assert count.experts == 36 * 128 * 3 * 2880 * 2880
    assert count.attention == 36 * (2 * 2880 * 4096 + 2 * 2880 * 512)
    assert (count.shared, count.dense) == (0, 0)
    assert count.head == 201088 * 2880


def test_the_first_layers_of_r1_are_dense() -> None:
    count = parameters(catalogue.model("deepseek-r1"))
    assert count.dense == 3 * 3 * 7168 * 18432
    assert count.experts == 58 * 256 * 3 * 7168 * 2048
    assert count.shared == count.experts // 256


# ---- cache


@pytest.mark.parametrize(
    ("name", "grows", "windows"),
    [
        ("gpt-oss-120b", 18 * 2 * 8 * 64, 18 * 128 * 2 * 8 * 64),
        ("deepseek-r1", 61 * 576, 0),
        ("kimi-k2.5", 61 * 576, 0),
    ],
)
def test_a_token_adds_its_elements_to_the_cache(name: str, grows: int, windows: int) -> None:
    assert kv_elements(catalogue.model(name)) == (grows, windows)
