"""What lies in a chip's memory: weights as published, KV cache, and what does not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Model
from jalapeno.errors import BadFact, DoesNotFit
from jalapeno.mapping import Plan, Room, check_request, parameters, room
from jalapeno.mapping.memory import attention_weights, kv_bytes, weight_bytes
from tests.mapping.worlds import (
    FEW,
    MODELS,
    WORLDS,
    World,
    as_published,
    as_served,
    compiled,
    facts_of,
    gqa_of,
    in_bf16,
    mla_of,
    plan_of,
)


def plan(precision_of: Model | None = None, **parallel: int) -> Plan:
    precision = in_bf16() if precision_of is None else as_published(precision_of)
    return replace(Plan(max_running=64, max_tokens=1024, precision=precision), **parallel)  # type: ignore[arg-type]


# ---- weights


@pytest.mark.parametrize(
    ("name", "gigabytes"), [("gpt-oss-120b", 65.2), ("deepseek-r1", 673.1), ("kimi-k2.5", 594.2)]
)
def test_one_chip_would_hold_the_published_bytes(name: str, gigabytes: float) -> None:
    model = catalogue.model(name)
    assert weight_bytes(model, plan(model)) == pytest.approx(gigabytes * 1e9, rel=0.01)


@pytest.mark.parametrize("name", MODELS)
def test_in_bf16_one_chip_would_hold_two_bytes_a_weight(name: str) -> None:
    model = catalogue.model(name)
    assert weight_bytes(model, plan()) == 2.0 * parameters(model).total


@pytest.mark.parametrize("name", MODELS)
def test_chips_together_hold_all_weights_and_what_is_repeated(name: str) -> None:
    model = catalogue.model(name)
    whole = weight_bytes(model, plan(model))
    for parallel in ({"tp": 8}, {"tp": 8, "ep": 8}, {"tp": 8, "ep": 2}):
        assert whole <= 8 * weight_bytes(model, plan(model, **parallel)) <= 1.1 * whole


def test_a_kv_head_that_cannot_be_cut_further_lies_on_each_chip() -> None:
    model = catalogue.model("gpt-oss-120b")
    head = 2.0 * model.hidden * gqa_of(model).head_dim * 2  # keys and values, or query and output

    def attention(tp: int) -> float:
        return attention_weights(model, plan(tp=tp)) * 2.0 / model.layers

    assert [attention(tp) / head for tp in (1, 8, 16, 64)] == [64 + 8, 8 + 1, 4 + 1, 1 + 1]


@pytest.mark.parametrize("name", ["deepseek-r1", "kimi-k2.5"])
def test_latent_projections_lie_whole_on_each_chip(name: str) -> None:
    model = catalogue.model(name)
    mla = mla_of(model)
    down = model.layers * model.hidden * (mla.q_rank + mla.kv_rank + mla.rope_dim)
    one, many = (attention_weights(model, plan(tp=tp)) for tp in (1, 64))
    assert one == parameters(model).attention
    assert many - down == pytest.approx((one - down) / 64)


@pytest.mark.parametrize("name", MODELS)
def test_how_experts_are_cut_does_not_matter_to_memory(name: str) -> None:
    model = catalogue.model(name)
    sizes = {weight_bytes(model, plan(model, tp=8, ep=ep)) for ep in (1, 2, 4, 8)}
    assert len(sizes) == 1


@pytest.mark.parametrize("name", MODELS)
def test_attention_ranks_repeat_all_but_the_experts(name: str) -> None:
    model = catalogue.model(name)
    count = parameters(model)
    apart, together = plan(dp=16, ep=16), plan()
    rest = 2.0 * (count.total - count.experts)
    assert weight_bytes(model, together) == 2.0 * count.experts + rest
    assert weight_bytes(model, apart) == pytest.approx(2.0 * count.experts / 16 + rest)


@FEW
@given(st.sampled_from(MODELS), st.sampled_from([1, 2, 4, 8, 16]))
def test_more_chips_never_hold_more_each(name: str, tp: int) -> None:
    model = catalogue.model(name)
    assert weight_bytes(model, plan(tp=2 * tp)) < weight_bytes(model, plan(tp=tp))


# ---- cache


def test_a_token_of_gpt_oss_takes_36_864_bytes_in_bf16() -> None:
    assert kv_bytes(catalogue.model("gpt-oss-120b"), plan())[0] == 36_864


@pytest.mark.parametrize("name", ["deepseek-r1", "kimi-k2.5"])
def test_a_latent_takes_70_272_bytes_in_bf16(name: str) -> None:
    assert kv_bytes(catalogue.model(name), plan()) == (70_272, 0)


def test_windows_of_gpt_oss_take_4_72_megabytes_a_sequence() -> None:
    assert kv_bytes(catalogue.model("gpt-oss-120b"), plan())[1] == 4_718_592


@pytest.mark.parametrize("name", MODELS)
def test_an_fp8_cache_is_half_as_large(name: str) -> None:
    model = catalogue.model(name)
    narrow = replace(plan(), precision=in_bf16(kv="fp8"))
    assert [2 * size for size in kv_bytes(model, narrow)] == list(kv_bytes(model, plan()))


@pytest.mark.parametrize("name", ["deepseek-r1", "kimi-k2.5"])
@pytest.mark.parametrize("tp", [1, 2, 8, 64])
def test_the_latent_is_whole_on_each_chip_of_a_rank(name: str, tp: int) -> None:
    assert kv_bytes(catalogue.model(name), plan(tp=tp))[0] == 70_272


@pytest.mark.parametrize(("tp", "heads"), [(1, 8), (2, 4), (4, 2), (8, 1), (16, 1), (64, 1)])
def test_kv_heads_are_split_down_to_one_a_chip(tp: int, heads: int) -> None:
    model = catalogue.model("gpt-oss-120b")
    token, window = kv_bytes(model, plan(tp=tp))
    assert token == 36_864 * heads / 8
    assert window == 4_718_592 * heads / 8


@pytest.mark.parametrize("name", MODELS)
def test_attention_ranks_have_caches_of_their_own(name: str) -> None:
    model = catalogue.model(name)
    assert kv_bytes(model, plan(dp=8, ep=8)) == kv_bytes(model, plan())


# ---- room


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_weights_reserve_and_blocks_fill_the_memory_to_less_than_a_block(world: World) -> None:
    price = compiled(world)
    space, engine = price.room, price.engine
    block = space.block_tokens * space.token_bytes
    left = price.system.chip.hbm.capacity - engine.memory_reserve - space.weight_bytes
    assert 0.0 <= left - space.blocks * block < block
    assert space.block_tokens == engine.block_tokens
    assert space.weight_bytes == weight_bytes(price.model, price.plan)
    assert (space.token_bytes, space.fixed_bytes) == kv_bytes(price.model, price.plan)


@FEW
@given(st.sampled_from(WORLDS), st.integers(1, 500_000), st.integers(0, 5_000))
def test_longer_sequences_never_take_fewer_blocks(world: World, tokens: int, more: int) -> None:
    space = compiled(world).room
    assert space.blocks_for(tokens) <= space.blocks_for(tokens + more)


@FEW
@given(st.sampled_from(WORLDS), st.integers(1, 500_000))
def test_blocks_hold_the_sequence_and_its_windows(world: World, tokens: int) -> None:
    space = compiled(world).room
    block = space.block_tokens * space.token_bytes
    needed = tokens * space.token_bytes + space.fixed_bytes
    assert needed <= space.blocks_for(tokens) * block < needed + 2 * block


def test_blocks_by_hand() -> None:
    space = Room(0.0, token_bytes=100.0, fixed_bytes=1000.0, block_tokens=4, blocks=100)
    # windows take two and a half blocks, so three
    assert [space.blocks_for(tokens) for tokens in (1, 4, 5, 8)] == [4, 4, 5, 5]


def test_a_model_without_windows_takes_its_tokens_blocks() -> None:
    space = Room(0.0, token_bytes=100.0, fixed_bytes=0.0, block_tokens=4, blocks=100)
    assert space.blocks_for(9) == 3


def test_a_gpt_oss_chip_of_jalapeno_holds_hundreds_of_benchmark_requests() -> None:
    space = compiled(WORLDS[0]).room
    assert 500 < space.blocks / space.blocks_for(8192 + 1024) < 1500


# ---- what does not fit


def test_weights_that_do_not_fit_say_what_is_needed_and_how_to_mend() -> None:
    model = catalogue.model("deepseek-r1")
    system, engine = facts_of(("deepseek-r1", "jalapeno-rack", 1, 1, 1))
    precision = as_served("deepseek-r1", "jalapeno-engine")
    tight = Plan(max_running=1, max_tokens=1, precision=precision)
    with pytest.raises(DoesNotFit) as caught:
        room(model, tight, system, engine)
    assert str(caught.value) == (
        "deepseek-r1 under TP1 needs 365.1 GB of weights a chip and jalapeno-engine keeps back "
        "4.295 GB; jalapeno has 231.9 GB: raise plan.tp, plan.ep or plan.pp, or narrow the "
        "weights' format"
    )


def test_the_mend_mends() -> None:
    model = catalogue.model("deepseek-r1")
    system, engine = facts_of(("deepseek-r1", "jalapeno-rack", 1, 1, 1))
    precision = as_served("deepseek-r1", "jalapeno-engine")
    wide = Plan(tp=2, max_running=1, max_tokens=1, precision=precision)
    assert room(model, wide, system, engine).blocks > 0


def test_memory_that_is_all_kept_back_leaves_no_block() -> None:
    world = WORLDS[0]
    system, engine = facts_of(world, (("memory_reserve", "216 GiB"),))
    with pytest.raises(DoesNotFit, match=r"keeps back 231\.9 GB"):
        room(catalogue.model(world[0]), plan_of(world), system, engine)


def test_more_blocks_than_are_counted_are_refused() -> None:
    world = WORLDS[0]
    system, engine = facts_of(world)
    vast = replace(system, chip=replace(system.chip, hbm=replace(system.chip.hbm, capacity=1e25)))
    with pytest.raises(BadFact, match=r"1e\+07 EB has room for .* look at chip\.hbm\.capacity"):
        room(catalogue.model(world[0]), plan_of(world), vast, engine)


def test_a_request_beyond_the_context_is_refused() -> None:
    model, space = catalogue.model("gpt-oss-120b"), compiled(WORLDS[0]).room
    check_request(space, model, 131_072)
    with pytest.raises(DoesNotFit) as caught:
        check_request(space, model, 131_073)
    assert str(caught.value) == (
        "a request of 131,073 tokens exceeds the context window of gpt-oss-120b, 131,072: "
        "shorten the prompt or the answer"
    )


def test_a_request_that_no_rank_can_hold_is_refused() -> None:
    model = catalogue.model("deepseek-r1")
    space = Room(0.0, token_bytes=1.0, fixed_bytes=0.0, block_tokens=64, blocks=1000)
    check_request(space, model, 64_000)
    with pytest.raises(DoesNotFit) as caught:
        check_request(space, model, 64_001)
    assert str(caught.value) == (
        "a request of 64,001 tokens needs 1,001 KV blocks; a rank has 1,000: "
        "raise plan.tp or shorten the request"
    )


def test_the_window_layers_are_half_of_gpt_oss_and_hold_little() -> None:
    model = catalogue.model("gpt-oss-120b")
    token, window = kv_bytes(model, plan())
    assert window == gqa_of(model).window * token
