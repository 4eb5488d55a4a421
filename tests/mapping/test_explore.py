"""Exploring goes through every plan, and says of each that is impossible why."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from jalapeno import catalogue
from jalapeno.mapping import Load, Plan, estimate
from jalapeno.mapping.cuts import Ways, cuts
from jalapeno.mapping.explore import Explored, Grid, Reason, Work, concurrencies, explore
from jalapeno.mapping.search import candidate
from tests.mapping.worlds import as_served

WORK = Work(prompt=7372.5, output=921.5, longest=9216)
SMALL = Grid(points=5, most=512, chunks=(512, 4096))


def plans(model: str, system: str, chips: tuple[int, ...]) -> list[Plan]:
    engine = catalogue.system(system).engine
    return [
        plan
        for count in chips
        for plan in cuts(catalogue.model(model), count, as_served(model, engine), Ways())
    ]


@cache
def explored(
    model: str, system: str, chips: tuple[int, ...], work: Work = WORK, grid: Grid = SMALL
) -> Explored:
    on = catalogue.system(system)
    engine = catalogue.engine(on.engine)
    return explore(catalogue.model(model), on, engine, plans(model, system, chips), work, grid)


def reasons(found: Explored) -> dict[Reason, int]:
    return {one.reason: one.plans for one in found.refused}


def test_every_plan_is_possible_or_counted_as_impossible() -> None:
    chips = (1, 2, 8, 72, 144)
    found = explored("deepseek-r1", "gb300-nvl72", chips)
    every = plans("deepseek-r1", "gb300-nvl72", chips)
    assert len(found.prices) + sum(reasons(found).values()) == len(every)


def test_the_order_is_that_of_the_plans_whatever_the_threads_do() -> None:
    found = explored("gpt-oss-120b", "jalapeno-rack", (1, 2, 8))
    seen = list(dict.fromkeys(price.plan for price, _ in found.found))
    assert seen == [price.plan for price in found.prices]


def test_each_candidate_is_what_the_closed_form_says() -> None:
    found = explored("gpt-oss-120b", "jalapeno-rack", (1, 2, 8))
    assert found.found
    for price, item in found.found[::5]:
        again = candidate(price, item.concurrency, item.plan.max_tokens, (7372.5, 921.5))
        assert again == item
        load = Load(concurrency=item.concurrency, prompt=WORK.prompt, output=WORK.output)
        assert item.steady == estimate((replace(price, plan=item.plan),), (1,), load)


# ---- why plans are impossible


def test_a_model_too_large_is_refused_for_memory() -> None:
    found = explored("deepseek-r1", "jalapeno-rack", (1,))
    assert reasons(found) == {Reason.MEMORY: 1}
    assert found.found == ()
    assert "1 for memory (such as: deepseek-r1 under TP1 needs" in found.explain()


def test_heads_that_do_not_divide_are_refused_for_divisibility() -> None:
    found = explored("gpt-oss-120b", "jalapeno-rack", (72,))
    assert set(reasons(found)) == {Reason.DIVISIBILITY}
    assert "plan.tp=72 does not divide the 64 attention heads" in found.explain()


def test_more_chips_than_there_are_is_refused_for_the_system() -> None:
    found = explored("gpt-oss-120b", "gb200-nvl72", (144,))
    assert set(reasons(found)) == {Reason.SYSTEM}


def test_a_request_that_no_cache_holds_is_refused_for_the_request() -> None:
    long = Work(prompt=100_000.0, output=10_000.0, longest=131_073)
    found = explored("gpt-oss-120b", "jalapeno-rack", (1,), long)
    assert reasons(found) == {Reason.REQUEST: 1}
    assert "TP1: a request of 131,073 tokens exceeds the context window" in found.explain()


def test_the_example_is_of_the_largest_plan() -> None:
    (system,) = explored("gpt-oss-120b", "gb200-nvl72", (144, 288, 73)).refused
    assert system.said == "TP288 needs 288 chips; gb200-nvl72 has 72"


def test_nothing_impossible_needs_no_words() -> None:
    assert explored("gpt-oss-120b", "jalapeno-rack", (1,)).explain() == ""


# ---- loads


def test_loads_go_from_one_request_to_all_that_the_caches_hold() -> None:
    for price in explored("gpt-oss-120b", "jalapeno-rack", (1, 2, 8)).prices:
        found = concurrencies(price, WORK, SMALL)
        held = price.room.blocks // price.room.blocks_for(8295)
        assert found[0] == 1
        assert found == tuple(sorted(set(found)))
        assert found[-1] <= min(held * price.plan.ranks, SMALL.most)
        assert len(found) <= SMALL.points
        for count in found:
            assert count < price.plan.ranks or count % price.plan.ranks == 0


def test_more_points_are_more_loads() -> None:
    (price, *_) = explored("gpt-oss-120b", "jalapeno-rack", (1,)).prices
    assert len(concurrencies(price, WORK, Grid(points=12))) == 12
    assert len(concurrencies(price, WORK, Grid(points=2))) == 2
