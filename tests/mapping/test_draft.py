"""Speculation in the price of a step and in memory: what verifying and drafting take."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Model, model_of
from jalapeno.cost import price as cost_of
from jalapeno.errors import BadPlan, DoesNotFit
from jalapeno.mapping import (
    Load,
    Plan,
    StepPrice,
    acceptance_length,
    check_request,
    compile_price,
    estimate,
    measured_acceptance,
)
from jalapeno.mapping.batch import Item, Rows
from jalapeno.mapping.draft import draft_model, joining_parameters
from jalapeno.mapping.lower import lower
from jalapeno.mapping.lowering import Placed, many_rows, share_of_rows
from jalapeno.mapping.memory import kv_bytes, weight_bytes
from jalapeno.mapping.outputs import FOREVER
from jalapeno.mapping.parameters import parameters
from jalapeno.mapping.plan import GRAIN
from jalapeno.mapping.rates import Rates
from tests.mapping.oracle import listed, oracle, seconds_of
from tests.mapping.worlds import FEW, SYSTEMS, World, as_served, chunk, plan_of, rows_of

DRAFT: dict[str, Any] = {"layers": 1, "modules": 1, "joined": 2}
DRAFTERS = ("deepseek-r1", "deepseek-v3.1", "deepseek-v3.2", "glm-5", "qwen3.5-397b-a17b")
R1: World = ("deepseek-r1", "gb300-nvl72", 8, 8, 1)
WORLDS: tuple[World, ...] = (
    R1,
    ("deepseek-r1", "jalapeno-rack", 2, 1, 1),
    ("deepseek-r1", "gb300-nvl72", 2, 8, 4),
    ("deepseek-r1", "jalapeno-rack", 1, 8, 8),
    ("gpt-oss-120b", "gb200-nvl72", 1, 2, 2),
    ("deepseek-v3.2", "jalapeno-rack", 8, 8, 1),
    ("qwen3.5-397b-a17b", "jalapeno-rack", 2, 8, 4),
)


def model_with(name: str, **draft: Any) -> Model:
    """A model of the catalogue with a draft layer, if it has none, or with another one."""
    tree = catalogue.tree("models", name)
    if draft or "draft" not in tree:
        tree = tree | {"draft": DRAFT | draft}
    return model_of(tree)


def plan_with(world: World, drafted: int, accepted: float = 0.0) -> Plan:
    if world[0] in DRAFTERS[1:]:
        precision = as_served(world[0], SYSTEMS[world[1]])
        plan = replace(plan_of((R1[0], *world[1:])), precision=precision)
    else:
        plan = plan_of(world)
    length = accepted or 1.0 + drafted / 2.0
    return replace(plan, draft_tokens=drafted, acceptance_length=length if drafted else 0.0)


@cache
def price_of(world: World, drafted: int) -> StepPrice:
    system, engine = catalogue.system(world[1]), catalogue.engine(SYSTEMS[world[1]])
    return compile_price(model_with(world[0]), plan_with(world, drafted), system, engine)


def verifying(context: int, drafted: int) -> Item:
    return Item(cached=context, new=drafted + 1, prefill=False, sampled=True)


def seconds(price: StepPrice, *items: Item) -> float:
    """A step in which the first rank alone has something to do."""
    sequences = (items, *((),) * (price.plan.ranks - 1))
    return seconds_of(price.price(rows_of(sequences, price.caps))[0])


def lowered(world: World, drafted: int) -> list[Placed]:
    system, engine = catalogue.system(world[1]), catalogue.engine(SYSTEMS[world[1]])
    model = model_with(world[0])
    return lower(model, plan_with(world, drafted), Rates.of(system, engine, model))


# ---- what a step gives


def test_rates_by_position_are_of_those_whose_predecessors_were_accepted() -> None:
    assert acceptance_length([]) == 1.0
    assert acceptance_length([0.9]) == 1.9
    assert acceptance_length([0.9, 0.5, 0.2]) == pytest.approx(1 + 0.9 + 0.45 + 0.09)
    assert acceptance_length([1.0] * 5) == 6.0
    assert acceptance_length([0.0, 1.0]) == 1.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_a_step_gives_from_one_token_to_all(rates: list[float]) -> None:
    length = acceptance_length(rates)
    assert 1.0 <= length <= len(rates) + 1
    assert acceptance_length(rates[:-1]) <= length


@pytest.mark.parametrize("rates", [[1.1], [0.9, -0.1], [float("nan")]])
def test_a_rate_is_a_share(rates: list[float]) -> None:
    with pytest.raises(BadPlan, match=rf"^acceptance rate {len(rates)} must be in \[0, 1\], got"):
        acceptance_length(rates)


def test_what_was_measured_is_looked_up_by_workload_and_drafted_tokens() -> None:
    model = catalogue.model("deepseek-r1")
    assert measured_acceptance(model, "tensorrt-llm-1k-2k", 3) == 2.82
    for workload, drafted in (("tensorrt-llm-1k-2k", 6), ("my chats", 3)):
        with pytest.raises(BadPlan, match=r"there are tensorrt-llm-1k-2k with 1, 2, 3, 4, 5 draf"):
            measured_acceptance(model, workload, drafted)
    with pytest.raises(BadPlan, match=r"there is none: give a number of tokens a step, or rates$"):
        measured_acceptance(catalogue.model("llama-3.1-8b"), "chats", 2)


def test_a_plan_without_acceptance_is_refused_and_says_that_there_is_no_default() -> None:
    with pytest.raises(BadPlan, match=r"a step gives from 1 to 4 tokens; .* has no default"):
        replace(plan_of(R1), draft_tokens=3)
    with pytest.raises(BadPlan, match=r"acceptance_length=4.1 with plan.draft_tokens=3: a step gi"):
        replace(plan_of(R1), draft_tokens=3, acceptance_length=4.1)
    with pytest.raises(BadPlan, match=r"plan.draft_tokens=0: nothing is drafted"):
        replace(plan_of(R1), acceptance_length=2.0)
    for wrong in (-1, 65):
        with pytest.raises(BadPlan, match=rf"draft_tokens must be in \[0, 64\], got {wrong}$"):
            replace(plan_of(R1), draft_tokens=wrong, acceptance_length=1.0)


def test_every_slot_needs_room_for_its_drafted_tokens_too() -> None:
    with pytest.raises(BadPlan, match=r"max_running=8 times 4: every running sequence takes 4 tok"):
        replace(plan_of(R1), max_running=8, max_tokens=31, draft_tokens=3, acceptance_length=2.0)


def test_a_model_that_comes_without_draft_layers_cannot_speculate() -> None:
    world: World = ("kimi-k2.5", "jalapeno-rack", 8, 2, 1)
    plan = plan_with(world, 2)
    system, engine = catalogue.system(world[1]), catalogue.engine("jalapeno-engine")
    with pytest.raises(
        BadPlan, match=r"nothing comes with kimi-k2.5 that could draft: let it be 0"
    ):
        compile_price(catalogue.model("kimi-k2.5"), plan, system, engine)


def test_a_plan_says_what_it_drafts() -> None:
    assert plan_with(R1, 3).label == "TEP8 MTP3"
    assert plan_with(R1, 0).label == "TEP8"
    assert plan_with(R1, 0).yielded == GRAIN
    assert plan_with(R1, 3, 2.5).yielded == 2.5 * GRAIN


# ---- the draft layers


def test_the_draft_layer_of_r1_has_the_parameters_that_deepseek_counts() -> None:
    # DeepSeek-V3's README: 14B of the module, embedding and head (0.93B each) counted with it
    model = catalogue.model("deepseek-r1")
    counted, whole = parameters(draft_model(model)), parameters(model)
    own = counted.total - whole.head - whole.embedding + joining_parameters(model)
    assert own == pytest.approx(11.5e9, rel=0.02)
    assert counted.total + joining_parameters(model) == pytest.approx(14e9, rel=0.05)


@pytest.mark.parametrize("name", DRAFTERS)
def test_draft_layers_are_like_the_last_ones(name: str) -> None:
    model = catalogue.model(name)
    assert model.draft is not None
    assert (model.draft.layers, model.draft.modules, model.draft.joined) == (1, 1, 2)
    draft = draft_model(model)
    assert (draft.layers, draft.dense_layers, draft.moe) == (1, 0, model.moe)
    assert draft.cached_layers == 1
    assert draft.caps == model.caps


def test_draft_layers_of_windows_and_dense_models_see_everything_and_are_dense() -> None:
    assert draft_model(model_with("gpt-oss-120b")).caps == ()
    assert draft_model(model_with("llama-3.1-8b", layers=2)).dense_layers == 2


# ---- memory


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_drafting_takes_memory_for_its_layers_and_their_cache(world: World) -> None:
    model = model_with(world[0])
    without, drafting = (plan_with(world, drafted) for drafted in (0, 3))
    more = weight_bytes(model, drafting) - weight_bytes(model, without)
    layers = weight_bytes(draft_model(model), without)
    head = parameters(model).head + parameters(model).embedding
    size = {"bf16": 2.0, "mxfp8": 1.03125}[without.precision.head]
    joining = 2.0 * joining_parameters(model) / without.tp
    assert more == pytest.approx(layers - head * size / without.tp + joining, rel=1e-9)
    growing = [kv_bytes(model, plan)[0] for plan in (without, drafting)]
    assert growing[1] - growing[0] == pytest.approx(kv_bytes(draft_model(model), without)[0])


def test_modules_with_weights_of_their_own_are_all_kept() -> None:
    one, three = (model_with("deepseek-r1", modules=many) for many in (1, 3))
    plan, without = plan_with(R1, 3), plan_with(R1, 0)
    base = weight_bytes(one, without)
    assert weight_bytes(three, plan) - base == pytest.approx(3 * (weight_bytes(one, plan) - base))
    assert weight_bytes(three, without) == base


def test_recurrent_states_are_kept_after_each_verified_token() -> None:
    world: World = ("qwen3.5-397b-a17b", "jalapeno-rack", 2, 8, 4)
    model = model_with(world[0])
    fixed = [kv_bytes(model, plan_with(world, drafted))[1] for drafted in (0, 3)]
    assert fixed[1] == pytest.approx(4 * fixed[0])


def test_a_request_needs_blocks_for_what_is_drafted_beyond_it() -> None:
    price = price_of(R1, 3)
    tokens = price.room.blocks * price.room.block_tokens
    model = replace(price.model, context=2 * tokens)
    check_request(price.room, model, tokens)
    check_request(price.room, model, tokens - 3, ahead=3)
    with pytest.raises(DoesNotFit):
        check_request(price.room, model, tokens, ahead=1)
    check_request(price.room, replace(model, context=100), 100, ahead=3)


# ---- operators


def test_nothing_is_drafted_by_default() -> None:
    assert not [item for item in lowered(R1, 0) if item.operator.name.startswith("draft")]
    line = [item.operator.line() for item in lowered(R1, 0)]
    assert line == [item.operator.line() for item in lowered(("deepseek-r1", *R1[1:]), 0)]


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_passes_but_the_first_are_alike_and_see_one_token_a_sequence(world: World) -> None:
    one, three = (
        [item for item in lowered(world, drafted) if item.operator.name.startswith("draft")]
        for drafted in (1, 3)
    )
    first, later = three[: len(one)], three[len(one) :]
    assert [item.operator.name for item in first] == [item.operator.name for item in one]
    assert later
    assert all(item.repeat % 2 == 0 for item in later)
    heads = [item for item in three if item.operator.name == "draft: LM head"]
    assert [item.repeat for item in heads] == [1, 2]


def test_rows_scaled_up_and_down_cost_the_same_as_so_many_rows() -> None:
    head = next(item.operator for item in lowered(R1, 0) if item.operator.name == "LM head")
    for many in (2, 3, 5, 7):
        for rows in (1, 42, 43, 128, 384):
            assert cost_of(many_rows(head, many), rows).seconds == pytest.approx(
                cost_of(head, rows * many).seconds, rel=1e-9
            )
            assert cost_of(share_of_rows(head, many), rows * many).seconds == pytest.approx(
                cost_of(head, rows).seconds, rel=1e-9
            )
    assert many_rows(head, 1) is head


# ---- the price of a step


@FEW
@given(st.sampled_from(WORLDS), st.integers(1, 4), st.data())
def test_the_compiled_price_is_that_of_all_operators_one_by_one(
    world: World, drafted: int, data: st.DataObject
) -> None:
    price = price_of(world, drafted)
    contexts = st.integers(0, 9000)
    prompts = st.builds(chunk, contexts, st.integers(1, 600), st.booleans())
    items = st.one_of(contexts.map(lambda context: verifying(context, drafted)), prompts)
    rank = st.lists(items, max_size=5).map(tuple)
    sequences = (
        data.draw(st.lists(items, min_size=1, max_size=5).map(tuple)),
        *(data.draw(rank) for _ in range(price.plan.ranks - 1)),
    )
    rows: Rows = rows_of(sequences, price.caps)
    first, _, hold = price.price(rows)
    assert hold == FOREVER
    assert first == pytest.approx(listed(oracle(price, rows)), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_verifying_costs_less_than_as_many_steps_and_more_than_one(world: World) -> None:
    plain = price_of(world, 0)
    for drafted in (1, 3):
        price = price_of(world, drafted)
        step = seconds(price, *[verifying(8000, drafted)] * 4)
        alone = seconds(plain, *[verifying(8000, 0)] * 4)
        assert alone < step < (drafted + 1) * alone


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_each_token_more_that_is_drafted_costs_more(world: World) -> None:
    steps = [seconds(price_of(world, each), *[verifying(4000, each)] * 3) for each in range(5)]
    assert (np.diff(steps) > 0).all()


def test_a_pass_more_costs_what_the_draft_layer_alone_takes() -> None:
    # from one drafted token to two: a pass, and one row more to verify
    world = R1
    steps = [seconds(price_of(world, each), verifying(4000, each)) for each in (2, 3, 4)]
    layer = seconds(price_of(world, 0), verifying(4000, 0)) / 61
    for more in np.diff(steps):
        assert layer < more < 6 * layer


def test_a_cache_is_read_once_however_many_tokens_are_verified() -> None:
    near, far = (
        [seconds(price_of(R1, drafted), verifying(context, drafted)) for drafted in (0, 3)]
        for context in (1000, 41_000)
    )
    # of 62 layers instead of 61, and three passes of one
    assert far[1] - near[1] < 1.15 * (far[0] - near[0])


def test_a_prompt_passes_the_draft_layer_once() -> None:
    plain, drafting = price_of(R1, 0), price_of(R1, 3)
    without, with_draft = (seconds(price, chunk(0, 4096)) for price in (plain, drafting))
    assert 1.005 < with_draft / without < 1.04


# ---- the closed form


def test_the_closed_form_takes_fewer_steps_an_answer() -> None:
    load = Load(concurrency=1, prompt=4000.0, output=501.0)
    price = price_of(R1, 3)
    steady = estimate((price,), (1,), load)
    step = seconds(price, verifying(4249, 3))
    assert steady.tpot == pytest.approx(step / (price.plan.yielded / GRAIN), rel=1e-3)
    assert steady.e2e == pytest.approx(steady.ttft + 500 * steady.tpot)


@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_more_accepted_tokens_are_never_slower(concurrency: int) -> None:
    load = Load(concurrency=concurrency, prompt=4000.0, output=501.0)
    tpots = []
    for accepted in (1.0, 1.7, 2.4, 4.0):
        plan = replace(price_of(R1, 3).plan, acceptance_length=accepted)
        tpots.append(estimate((replace(price_of(R1, 3), plan=plan),), (1,), load).tpot)
    assert (np.diff(tpots) < 0).all()
    assert tpots[0] / tpots[-1] <= 4.0 + 1e-9
