"""Dense, sparse and linear-attention models: weights, caches and what their steps depend on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Dsa, GatedDelta, Gqa, Mla, Model
from jalapeno.mapping import Plan, StepPrice, compile_price, parameters
from jalapeno.mapping.batch import PREFILL, TOKENS, Item, batch_row, column
from jalapeno.mapping.lower import lower
from jalapeno.mapping.memory import kv_bytes, weight_bytes
from jalapeno.mapping.outputs import N_PARTS
from jalapeno.mapping.parameters import index_parameters, linear_parameters, state_bytes
from jalapeno.mapping.rates import Rates
from tests.mapping.worlds import chunk, decoding, in_bf16

GB300, TRT = catalogue.system("gb300-nvl72"), catalogue.engine("tensorrt-llm")
R1, OSS = catalogue.model("deepseek-r1"), catalogue.model("gpt-oss-120b")

INDEX = Dsa(heads=64, dim=128, top_k=2048, key_bytes=132.0, layers=61)
"""DeepSeek-V3.2's."""
DELTA = GatedDelta(
    layers=45, key_heads=16, value_heads=64, key_dim=128, value_dim=128, conv_width=4, state="fp32"
)
"""Qwen3.5-397B-A17B's."""


def sparse() -> Model:
    assert isinstance(R1.attention, Mla)
    return replace(R1, name="sparse", attention=replace(R1.attention, index=INDEX))


def hybrid() -> Model:
    gqa = Gqa(
        heads=32, kv_heads=2, head_dim=256, window=0, window_layers=0, sinks=False, gated=True
    )
    return replace(OSS, name="hybrid", layers=60, hidden=4096, attention=gqa, linear=DELTA)


def dense(tied: bool = False) -> Model:
    """Llama-3.1-8B."""
    gqa = Gqa(heads=32, kv_heads=8, head_dim=128, window=0, window_layers=0, sinks=False)
    return replace(
        OSS,
        name="dense",
        layers=32,
        dense_layers=32,
        hidden=4096,
        dense_width=14336,
        vocab=128256,
        attention=gqa,
        moe=catalogue.NO_EXPERTS,
        tied=tied,
    )


def priced(model: Model, **cut: int) -> StepPrice:
    plan = Plan(max_running=64, max_tokens=8192, precision=in_bf16(), **cut)  # type: ignore[arg-type]
    return compile_price(model, plan, GB300, TRT)


def seconds(price: StepPrice, *sequences: Item) -> float:
    """A step in which every rank has these sequences."""
    first, _, _ = price.price(np.array([batch_row(sequences, price.caps)] * price.plan.ranks))
    return float(first[:N_PARTS].sum())


# ---- dense


def test_llama_has_its_eight_billion_weights() -> None:
    count = parameters(dense())
    assert count.total / 1e9 == pytest.approx(8.03, abs=0.005)
    assert count.active == count.total - count.embedding
    assert (count.experts, count.shared, count.router) == (0, 0, 0)


def test_a_tied_head_is_counted_and_stored_once() -> None:
    own, tied = dense(), dense(tied=True)
    saved = 128256 * 4096
    assert parameters(own).total - parameters(tied).total == saved
    plan = priced(own, tp=2).plan
    assert weight_bytes(own, plan) - weight_bytes(tied, plan) == pytest.approx(saved * 2 / 2)
    assert parameters(own).active == parameters(tied).active


def test_a_dense_step_has_neither_router_nor_experts_nor_dispatch() -> None:
    names = {
        item.operator.name
        for item in lower(dense(), priced(dense()).plan, Rates.of(GB300, TRT, dense()))
    }
    assert not any("expert" in name or "router" in name or "top-k" in name for name in names)
    assert {"dense FFN, down", "FFN all-reduce", "LM head"} <= names


def test_a_token_of_a_dense_model_takes_two_flop_a_weight_it_passes() -> None:
    price = priced(dense())
    items = lower(price.model, price.plan, Rates.of(GB300, TRT, price.model))
    flops = sum(i.repeat * i.operator.numbers.get("flops_row", 0.0) for i in items if i.pairs < 0)
    assert flops == 2 * parameters(price.model).active


# ---- sparse


def test_an_indexer_has_the_weights_of_v3_2() -> None:
    assert 61 * index_parameters(R1, 1536, INDEX) == pytest.approx(0.85e9, rel=0.01)
    assert parameters(sparse()).total - parameters(R1).total == 61 * index_parameters(
        R1, 1536, INDEX
    )


def test_a_token_adds_its_latent_and_its_indexer_key() -> None:
    plan = priced(sparse(), tp=8).plan
    assert kv_bytes(sparse(), plan) == (61 * 576 * 2 + 8052, 0.0)


def test_attention_stops_growing_at_the_best_and_the_indexer_does_not() -> None:
    price = priced(sparse(), tp=8)
    full = priced(R1, tp=8)
    growth = [
        seconds(one, decoding(100_000)) - seconds(one, decoding(50_000)) for one in (price, full)
    ]
    assert 0.0 < growth[0] < 0.6 * growth[1]
    items = lower(price.model, price.plan, Rates.of(GB300, TRT, price.model))
    capped = [item for item in items if item.pairs in (column(1, 0), column(1, 1))]
    assert [item.operator.name.split(",")[0] for item in capped] == [
        "decode attention",
        "prefill attention",
    ]


def test_a_query_gathers_its_own_entries() -> None:
    price = priced(sparse(), tp=8)
    items = lower(price.model, price.plan, Rates.of(GB300, TRT, price.model))
    prefill = next(i for i in items if i.operator.name == "prefill attention, absorbed")
    assert prefill.reads == prefill.pairs == column(1, 1)


def test_a_long_prompt_is_cheaper_than_with_full_attention() -> None:
    late = chunk(100_000, 2048)
    ranks = {"dp": 8, "ep": 8}  # whose indexers do not repeat each other
    assert seconds(priced(sparse(), **ranks), late) < 0.42 * seconds(priced(R1, **ranks), late)


def test_layers_may_share_an_indexer() -> None:
    assert isinstance(R1.attention, Mla)
    few = replace(R1, attention=replace(R1.attention, index=replace(INDEX, layers=21)))
    saved = parameters(sparse()).attention - parameters(few).attention
    assert saved == 40 * index_parameters(R1, 1536, INDEX)
    late = decoding(120_000)
    assert seconds(priced(few, tp=8), late) < seconds(priced(sparse(), tp=8), late)


# ---- linear


def test_the_state_of_qwen_takes_189_megabytes() -> None:
    assert state_bytes(hybrid()) == pytest.approx(188.74e6, rel=1e-4)
    assert state_bytes(hybrid(), tp=2) == state_bytes(hybrid()) / 2


def test_linear_layers_have_projections_and_no_cache() -> None:
    assert linear_parameters(4096, DELTA) == 4096 * (2 * 2048 + 2 * 8192 + 128) + 8192 * 4096
    plan = priced(hybrid(), tp=2).plan
    assert kv_bytes(hybrid(), plan) == (15 * 2 * 256 * 2, state_bytes(hybrid(), 2))
    assert hybrid().cached_layers == 15


def test_a_gate_widens_the_queries() -> None:
    model = hybrid()
    assert isinstance(model.attention, Gqa)
    plain = replace(model, attention=replace(model.attention, gated=False))
    gates = parameters(model).attention - parameters(plain).attention
    assert gates == 15 * 4096 * 32 * 256


def test_decoding_reads_and_writes_the_state_whatever_the_context() -> None:
    price = priced(hybrid(), tp=2)
    items = lower(price.model, price.plan, Rates.of(GB300, TRT, price.model))
    recurrent = next(i for i in items if i.operator.name.endswith("recurrent"))
    assert recurrent.operator.numbers["bytes_row"] * 45 == pytest.approx(
        2 * state_bytes(price.model, 2)
    )
    assert recurrent.pairs == -1


def test_a_prompt_goes_through_linear_layers_in_time_linear_in_its_length() -> None:
    price = priced(hybrid(), tp=2)
    items = lower(price.model, price.plan, Rates.of(GB300, TRT, price.model))
    chunked = next(i for i in items if i.operator.name.endswith("chunked"))
    assert chunked.rows == PREFILL
    flops = chunked.operator.numbers["flops_row"]
    assert flops == 32 * (4 * 64 * 256 + 6 * 128 * 128)
    assert "flops_pair" not in chunked.operator.numbers
    assert TOKENS != PREFILL


def test_a_hybrid_decodes_long_contexts_faster_than_a_model_that_caches_all() -> None:
    model = hybrid()
    full = replace(model, name="full", linear=None)
    growth = [
        seconds(one, decoding(200_000)) - seconds(one, decoding(1_000))
        for one in (priced(model, tp=2), priced(full, tp=2))
    ]
    assert growth[0] == pytest.approx(growth[1] / 4, rel=0.05)
