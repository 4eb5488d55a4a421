"""Split pools fit into the system, feed their decode workers, and beat unified ones on GPUs."""

from __future__ import annotations

from functools import cache

from jalapeno.analysis.frontier import Frontier, Space, frontier, prospect
from jalapeno.analysis.frontier_points import Option
from jalapeno.analysis.frontier_split import split_options
from jalapeno.analysis.objectives import Per
from jalapeno.analysis.subject import subject
from jalapeno.mapping import Load, compile_price, estimate
from jalapeno.mapping.explore import Grid
from jalapeno.simulation import Role
from tests.analysis.fronts import LENGTHS, SPACE, asked

GPUS = "gb200-nvl72"


@cache
def options() -> tuple[Option, ...]:
    return split_options(asked(GPUS), SPACE)


@cache
def mixed() -> Frontier:
    return frontier(prospect(asked(GPUS), SPACE, options()))


def test_there_are_pairs_and_each_comes_once() -> None:
    assert len({option.key for option in options()}) == len(options()) > 0
    for option in options():
        assert [pool.role for pool in option.pools] == [Role.PREFILL, Role.DECODE]


def test_they_fit_into_one_system() -> None:
    for option in options():
        assert sum(pool.chips for pool in option.pools) <= 72


def test_no_pair_is_asked_to_serve_more_than_a_unified_worker() -> None:
    assert max(option.concurrency for option in options()) <= SPACE.grid.most


def test_decode_has_a_slot_for_every_request() -> None:
    for option in options():
        pool = option.pools[1]
        slots = pool.replicas * pool.plan.ranks * pool.plan.max_running
        assert slots >= option.concurrency


def test_what_is_expected_is_the_closed_form_of_the_pair() -> None:
    prompt, output = LENGTHS.means
    here = asked(GPUS)
    for option in options()[::7]:
        prices = tuple(
            compile_price(here.model, pool.plan, here.system, here.engine) for pool in option.pools
        )
        load = Load(concurrency=option.concurrency, prompt=prompt, output=output)
        replicas = tuple(pool.replicas for pool in option.pools)
        assert option.steady == estimate(prices, replicas, load)


def test_prefill_is_neither_idle_nor_far_too_short() -> None:
    """One worker fewer would hold decode back, or one more would help little."""
    prompt, output = LENGTHS.means
    here = asked(GPUS)
    for option in options()[::11]:
        prices = tuple(
            compile_price(here.model, pool.plan, here.system, here.engine) for pool in option.pools
        )
        load = Load(concurrency=option.concurrency, prompt=prompt, output=output)
        count, workers = (pool.replicas for pool in option.pools)
        more = estimate(prices, (count + 1, workers), load)
        assert more.requests_per_s <= 2.0 * option.steady.requests_per_s


def test_some_of_them_are_played_out_and_lie_on_the_front() -> None:
    found = mixed()
    layouts = {len(point.option.pools) for point in found.points}
    assert layouts == {1, 2}
    assert any(len(point.option.pools) == 2 for point in found.front(Per.CHIP))


def test_more_options_never_make_the_front_worse() -> None:
    alone = frontier(prospect(asked(GPUS), SPACE))
    for point in alone.front(Per.CHIP):
        reached = [p.tokens_per_s_per_chip for p in mixed().points if p.speed >= 0.97 * point.speed]
        assert max(reached) >= 0.9 * point.tokens_per_s_per_chip


def test_a_model_that_does_not_fit_has_no_pairs() -> None:
    large = subject("deepseek-r1", "jalapeno-rack", lengths=LENGTHS)
    assert split_options(large, Space(chips=(1,), grid=Grid(points=3))) == ()
