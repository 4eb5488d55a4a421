"""A search goes through plans that fit, and returns the best that is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.errors import DoesNotFit
from jalapeno.mapping import Load, StepPrice, check_plan, estimate, room
from jalapeno.mapping.search import (
    Candidate,
    Space,
    best,
    candidate,
    compiled_plans,
    layouts,
    search,
)
from tests.mapping.worlds import FEW, MODELS, SYSTEMS, as_served

LENGTHS = (7372.5, 921.5)
SMALL = Space(chips=(1, 2, 8), budgets=(64, 512, 4096), concurrency=(1, 8, 64, 512))
Found = list[tuple[StepPrice, Candidate]]
Goal = Callable[[Candidate], float]


@cache
def plans(model: str, system: str, chips: tuple[int, ...] = SMALL.chips) -> tuple[StepPrice, ...]:
    engine = SYSTEMS[system]
    return tuple(
        compiled_plans(
            catalogue.model(model),
            catalogue.system(system),
            catalogue.engine(engine),
            as_served(model, engine),
            chips,
        )
    )


@cache
def found_for(model: str, system: str) -> tuple[tuple[StepPrice, Candidate], ...]:
    return tuple(search(plans(model, system), SMALL, LENGTHS))


PLACES = [(model, system) for model in MODELS for system in sorted(SYSTEMS)]
everywhere = pytest.mark.parametrize(("model", "system"), PLACES)


def throughput(item: Candidate) -> float:
    return item.steady.tokens_per_s_per_chip


def speed(item: Candidate) -> float:
    return -item.steady.tpot


def within(limit: float) -> Goal:
    """Throughput where a token takes no longer than *limit* seconds."""
    return lambda item: throughput(item) if item.steady.tpot <= limit else -math.inf


# ---- layouts


@FEW
@given(st.integers(0, 7).map(lambda power: 2**power))
def test_layouts_use_all_chips_and_spread_experts_over_none_or_all(chips: int) -> None:
    made = list(layouts(chips))
    assert len(set(made)) == len(made)
    for tp, ep, dp in made:
        assert tp * dp == chips
        assert ep == chips or (ep, dp) == (1, 1)


def test_one_chip_has_one_layout() -> None:
    assert list(layouts(1)) == [(1, 1, 1)]


def test_eight_chips_have_five() -> None:
    assert list(layouts(8)) == [(8, 1, 1), (8, 8, 1), (1, 8, 8), (2, 8, 4), (4, 8, 2)]


@pytest.mark.parametrize("chips", [16, 32, 64, 128])
def test_many_chips_have_attention_ranks_of_up_to_eight(chips: int) -> None:
    assert {tp for tp, _, dp in layouts(chips) if dp > 1} == {1, 2, 4, 8}


# ---- plans


@everywhere
def test_every_plan_divides_the_model_and_leaves_room_for_a_cache(model: str, system: str) -> None:
    compiled = plans(model, system)
    assert compiled
    for price in compiled:
        check_plan(price.plan, price.model, price.system)
        assert room(price.model, price.plan, price.system, price.engine) == price.room
        assert price.room.blocks >= 1
        assert price.plan.chips in SMALL.chips
    labels = [price.plan.label for price in compiled]
    assert len(set(labels)) == len(labels)


def test_what_does_not_fit_is_left_out() -> None:
    # R1 needs two of Jalapeño's chips, and on eight it has every layout
    assert plans("deepseek-r1", "jalapeno-rack", (1,)) == ()
    labels = {price.plan.label for price in plans("deepseek-r1", "jalapeno-rack", (8,))}
    assert labels == {"TP8", "TEP8", "DEP8", "TP2DP4EP8", "TP4DP2EP8"}


def test_what_does_not_divide_is_left_out() -> None:
    # neither 64 heads nor the 2,880 columns of an expert are to be cut in 128
    labels = {price.plan.label for price in plans("gpt-oss-120b", "jalapeno-rack", (128,))}
    assert labels == {"DEP128", *(f"TP{tp}DP{128 // tp}EP128" for tp in (2, 4, 8))}


def test_more_chips_than_there_are_make_no_plan() -> None:
    assert plans("gpt-oss-120b", "jalapeno-rack", (256,)) == ()


# ---- candidates


@everywhere
def test_every_candidate_holds_its_requests_and_takes_a_token_of_each(
    model: str, system: str
) -> None:
    found = found_for(model, system)
    assert found
    for price, item in found:
        plan, space = item.plan, price.room
        assert plan.dp * plan.max_running >= item.concurrency > plan.dp * (plan.max_running - 1)
        whole = space.blocks_for(math.ceil(sum(LENGTHS)))
        assert plan.max_running * whole <= space.blocks
        assert plan.max_tokens > plan.max_running
        assert plan.max_tokens in SMALL.budgets
        assert item.concurrency in SMALL.concurrency
        assert replace(plan, max_running=1, max_tokens=1) == price.plan


@everywhere
def test_a_candidate_does_what_the_closed_form_says_of_one_replica(model: str, system: str) -> None:
    for price, item in found_for(model, system)[::7]:
        load = Load(concurrency=item.concurrency, prompt=LENGTHS[0], output=LENGTHS[1])
        assert item.steady == estimate((replace(price, plan=item.plan),), (1,), load)
        assert item.steady.chips == item.plan.chips


def test_every_combination_is_tried_that_can_be_held() -> None:
    compiled = plans("gpt-oss-120b", "gb200-nvl72")
    tried = {(item.plan.label, item.concurrency, item.plan.max_tokens)
             for _, item in found_for("gpt-oss-120b", "gb200-nvl72")}  # fmt: skip
    for price in compiled:
        for concurrency in SMALL.concurrency:
            for budget in SMALL.budgets:
                made = candidate(price, concurrency, budget, LENGTHS) is not None
                assert ((price.plan.label, concurrency, budget) in tried) == made


def test_a_budget_leaves_room_for_prompts() -> None:
    price = plans("gpt-oss-120b", "jalapeno-rack")[0]
    assert price.plan.dp == 1
    assert candidate(price, 64, 64, LENGTHS) is None
    assert candidate(price, 64, 65, LENGTHS) is not None


def test_caches_hold_all_requests_or_there_is_no_candidate() -> None:
    price = plans("gpt-oss-120b", "jalapeno-rack")[0]
    held = price.room.blocks // price.room.blocks_for(math.ceil(sum(LENGTHS)))
    assert candidate(price, held, 8192, LENGTHS) is not None
    assert candidate(price, held + 1, 8192, LENGTHS) is None


# ---- the best

GOALS = {"throughput": throughput, "speed": speed, "at 10 ms": within(10e-3)}


@everywhere
@pytest.mark.parametrize("goal", GOALS)
def test_the_best_is_no_worse_than_any_on_the_grid(model: str, system: str, goal: str) -> None:
    found, score = found_for(model, system), GOALS[goal]
    top = best(found, score, LENGTHS)
    assert score(top) >= max(score(item) for _, item in found)
    again = next(price for price, _ in found if price.plan.label == top.plan.label)
    assert candidate(again, top.concurrency, top.plan.max_tokens, LENGTHS) == top


@everywhere
def test_a_limit_is_kept_and_costs_throughput(model: str, system: str) -> None:
    found = found_for(model, system)
    free = best(found, throughput, LENGTHS)
    fastest = min(item.steady.tpot for _, item in found)
    limits = (free.steady.tpot, 2 * fastest, 1.1 * fastest)
    tops = [best(found, within(limit), LENGTHS) for limit in limits]
    for limit, top in zip(limits, tops, strict=True):
        assert top.steady.tpot <= limit
        assert throughput(top) <= throughput(free) * (1 + 1e-9)


def test_off_the_grid_there_is_more() -> None:
    found = found_for("gpt-oss-120b", "jalapeno-rack")
    score = within(3e-3)
    top = best(found, score, LENGTHS)
    assert score(top) > max(score(item) for _, item in found)
    assert (top.concurrency, top.plan.max_tokens) not in {
        (concurrency, budget) for concurrency in SMALL.concurrency for budget in SMALL.budgets
    }


def test_a_wider_search_finds_no_worse() -> None:
    narrow = replace(SMALL, chips=(1,), budgets=(512,), concurrency=(8, 64))
    some = search(plans("gpt-oss-120b", "jalapeno-rack", narrow.chips), narrow, LENGTHS)
    grid = max(throughput(item) for _, item in some)
    wide = max(throughput(item) for _, item in found_for("gpt-oss-120b", "jalapeno-rack"))
    assert wide >= grid


IN_VAIN = "no plan of the search meets the limit: widen the space or the limit"


def test_a_limit_that_nothing_meets_says_so() -> None:
    with pytest.raises(DoesNotFit) as caught:
        best(found_for("gpt-oss-120b", "jalapeno-rack"), within(1e-9), LENGTHS)
    assert str(caught.value) == IN_VAIN


def test_so_does_a_search_without_a_plan() -> None:
    nowhere: Found = search(plans("deepseek-r1", "jalapeno-rack", (1,)), SMALL, LENGTHS)
    assert nowhere == []
    with pytest.raises(DoesNotFit) as caught:
        best(nowhere, throughput, LENGTHS)
    assert str(caught.value) == IN_VAIN


def test_requests_too_long_for_any_cache_have_no_candidate() -> None:
    assert search(plans("gpt-oss-120b", "jalapeno-rack"), SMALL, (1e9, 100.0)) == []
