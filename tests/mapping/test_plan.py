"""Plans: what divides, what they are called, and every message for one that cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Model, System
from jalapeno.errors import BadPlan, UsageError
from jalapeno.mapping import Plan, check_plan
from tests.mapping.worlds import FEW, WORLDS, World, gqa_of, in_bf16, plan_of

SMALL = st.integers(1, 16)


def plan(**parallel: int) -> Plan:
    limits: dict[str, Any] = {"max_running": 8, "max_tokens": 64, "precision": in_bf16()}
    return Plan(**limits | parallel)


def refusal(**parallel: int) -> str:
    with pytest.raises(BadPlan) as caught:
        plan(**parallel)
    return str(caught.value)


def misfit(model: Model, wanted: Plan, system: str = "jalapeno-pod") -> str:
    with pytest.raises(BadPlan) as caught:
        check_plan(wanted, model, catalogue.system(system))
    return str(caught.value)


@pytest.fixture
def gpt_oss() -> Model:
    return catalogue.model("gpt-oss-120b")


@pytest.fixture
def r1() -> Model:
    return catalogue.model("deepseek-r1")


@pytest.fixture
def rack() -> System:
    return catalogue.system("jalapeno-rack")


# ---- names


@pytest.mark.parametrize(
    ("tp", "ep", "dp", "label"),
    [
        (1, 1, 1, "TP1"),
        (8, 1, 1, "TP8"),
        (8, 8, 1, "TEP8"),
        (8, 2, 1, "TP8EP2"),
        (1, 16, 16, "DEP16"),
        (2, 8, 4, "TP2DP4EP8"),
    ],
)
def test_plans_have_the_names_of_the_field(tp: int, ep: int, dp: int, label: str) -> None:
    assert plan(tp=tp, ep=ep, dp=dp).label == label


@FEW
@given(st.tuples(SMALL, SMALL, SMALL), st.tuples(SMALL, SMALL, SMALL))
def test_no_two_layouts_have_one_name(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    made = []
    for layout in (one, other):
        try:
            made.append(plan(**dict(zip(("tp", "ep", "dp"), layout, strict=True))))
        except BadPlan:
            return
    assert (made[0].label == made[1].label) == (one == other)


@FEW
@given(SMALL, SMALL, SMALL)
def test_a_plan_is_made_or_refused_with_a_reason(tp: int, ep: int, dp: int) -> None:
    chips = tp * dp
    if chips % ep == 0 and (dp == 1 or ep == chips):
        assert plan(tp=tp, ep=ep, dp=dp).chips == chips
    else:
        with pytest.raises(BadPlan, match=f"plan.ep={ep} does not|not {ep}$"):
            plan(tp=tp, ep=ep, dp=dp)


def test_a_worker_is_one_chip_unless_said_otherwise() -> None:
    assert (plan().tp, plan().ep, plan().dp, plan().chips) == (1, 1, 1, 1)


# ---- refused by itself


@pytest.mark.parametrize("name", ["tp", "ep", "dp", "max_running", "max_tokens"])
@pytest.mark.parametrize("value", [0, -1])
def test_nothing_may_be_less_than_one(name: str, value: int) -> None:
    assert refusal(**{name: value}) == f"plan.{name} must be at least 1, got {value}"


@pytest.mark.parametrize("name", ["max_running", "max_tokens"])
def test_a_rank_does_not_count_further_than_engines_do(name: str) -> None:
    most = {"max_running": 2**31 - 1, "max_tokens": 2**31 - 1}
    assert plan(**most).max_tokens == 2**31 - 1
    assert refusal(**{**most, name: 2**31}).startswith(f"plan.{name} must be at most 2,147,483,647")


def test_a_step_has_room_for_a_token_of_every_sequence() -> None:
    assert plan(max_running=64, max_tokens=64).max_running == 64
    assert refusal(max_running=65, max_tokens=64) == (
        "plan.max_tokens=64 is less than plan.max_running=65: every running sequence takes a "
        "token a step; raise it"
    )


def test_experts_go_to_equal_groups_of_chips() -> None:
    assert refusal(tp=8, ep=3) == (
        "plan.ep=3 does not divide the 8 chips (tp x dp) of a worker's stage; choose a divisor, "
        "such as 8"
    )


def test_attention_ranks_send_to_experts_on_every_chip() -> None:
    assert refusal(tp=2, dp=4, ep=4) == (
        "attention data parallelism (dp=4) dispatches tokens to experts on every chip: "
        "plan.ep must be 8, not 4"
    )


def test_a_bad_plan_is_the_users_error() -> None:
    assert issubclass(BadPlan, UsageError)


# ---- refused by the model


def test_heads_are_not_cut(gpt_oss: Model) -> None:
    assert misfit(gpt_oss, plan(tp=7)) == (
        "plan.tp=7 does not divide the 64 attention heads of gpt-oss-120b"
    )


def test_latent_heads_are_not_cut_either(r1: Model) -> None:
    assert misfit(r1, plan(tp=256)) == (
        "plan.tp=256 does not divide the 128 attention heads of deepseek-r1"
    )


def test_kv_heads_are_split_or_repeated_and_nothing_between(gpt_oss: Model) -> None:
    odd = replace(gpt_oss, attention=replace(gqa_of(gpt_oss), heads=48))
    assert misfit(odd, plan(tp=3)) == (
        "plan.tp=3 neither divides nor is divided by the 8 KV heads of gpt-oss-120b"
    )


def test_experts_are_dealt_out_evenly(gpt_oss: Model) -> None:
    assert misfit(gpt_oss, plan(dp=3, ep=3)) == (
        "plan.ep=3 does not divide the 128 experts of gpt-oss-120b; plan.redundant=1 would fill "
        "its groups"
    )


def test_there_are_no_more_groups_than_experts(gpt_oss: Model) -> None:
    assert misfit(gpt_oss, plan(dp=256, ep=256)).startswith("plan.ep=256 ")


def test_an_expert_is_cut_into_whole_columns(r1: Model) -> None:
    odd = replace(r1, moe=replace(r1.moe, width=2049))
    assert misfit(odd, plan(tp=8, ep=4)) == (
        "TP8EP4 cuts an expert of width 2049 into 2, and FFNs of width 18432, 2049 into 8: not "
        "whole; raise plan.ep or lower plan.tp"
    )


def test_so_is_a_dense_ffn(r1: Model) -> None:
    assert misfit(replace(r1, dense_width=18_436), plan(tp=8, ep=8)) == (
        "TEP8 cuts an expert of width 2048 into 1, and FFNs of width 18436, 2048 into 8: not "
        "whole; raise plan.ep or lower plan.tp"
    )


def test_so_is_a_shared_expert_although_its_routed_siblings_are_whole(r1: Model) -> None:
    odd = replace(r1, moe=replace(r1.moe, width=2050))
    check_plan(plan(tp=2, ep=2), odd, catalogue.system("jalapeno-pod"))
    assert misfit(odd, plan(tp=4, ep=4)).startswith(
        "TEP4 cuts an expert of width 2050 into 1, and FFNs of width 18432, 2050 into 4: not whole"
    )


@FEW
@given(st.integers(1, 10**6))
def test_a_hidden_state_is_never_cut(hidden: int) -> None:
    # every chip has whole rows of activations: an all-reduce sums them
    model = replace(catalogue.model("deepseek-r1"), hidden=hidden)
    check_plan(plan(tp=8, ep=8), model, catalogue.system("jalapeno-rack"))


# ---- refused by the system


def test_a_worker_has_no_more_chips_than_the_system(gpt_oss: Model) -> None:
    wide = plan(tp=8, dp=16, ep=128)
    assert misfit(gpt_oss, wide, "gb200-nvl72") == (
        "TP8DP16EP128 needs 128 chips; gb200-nvl72 has 72"
    )


# ---- taken


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_the_plans_of_the_field_are_taken(world: World) -> None:
    check_plan(plan_of(world), catalogue.model(world[0]), catalogue.system(world[1]))


def test_more_ranks_than_kv_heads_repeat_them(gpt_oss: Model, rack: System) -> None:
    check_plan(plan(tp=64), gpt_oss, rack)


@FEW
@given(st.sampled_from(WORLDS), SMALL, SMALL, SMALL)
def test_what_is_taken_divides(world: World, tp: int, ep: int, dp: int) -> None:
    model = catalogue.model(world[0])
    try:
        wanted = plan(tp=tp, ep=ep, dp=dp)
        check_plan(wanted, model, catalogue.system(world[1]))
    except BadPlan:
        return
    assert model.attention.heads % tp == 0
    assert model.moe.experts % ep == 0
    assert model.moe.width % (wanted.chips // ep) == 0
    assert model.dense_width % tp == model.moe.shared * model.moe.width % tp == 0
    assert wanted.chips <= catalogue.system(world[1]).chips
