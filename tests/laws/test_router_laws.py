"""Laws of routers: who is bound to whom, and where that makes no difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.simulation import Journal, Role, Router, simulate
from tests.laws.runs import all_scenes, column, few
from tests.simulation.scenes import Scene, closed, plan, poisson, scenes


def workers_of(journal: Journal, rank: str = "rank") -> list[int]:
    """The worker of each request, by its rank."""
    ranks = [
        worker
        for worker, row in enumerate(journal.workers.iter_rows(named=True))
        for _ in range(journal.scenario.pools[row["pool"]].plan.ranks)
    ]
    return [ranks[number] for number in journal.requests[rank]]


@few
@given(all_scenes)
def test_with_one_worker_a_stage_all_routers_are_one(scene: Scene) -> None:
    first = next(number for number, (role, _, _) in enumerate(scene.pools))
    last = len(scene.pools) - 1
    if scene.pools[0][0] is Role.UNIFIED:
        last = first
    numbers = sorted({first, last})
    scene = replace(
        scene,
        pools=tuple((role, 1, plan) for role, _, plan in (scene.pools[n] for n in numbers)),
        west=tuple(at for at, number in enumerate(numbers) if number in scene.west),
    )
    one, *others = (simulate(replace(scene, router=router).scenario()) for router in Router)
    for other in others:
        assert other.requests.equals(one.requests)
        assert other.segment_table().equals(one.segment_table())


@few
@given(scenes())
def test_round_robin_deals_requests_out_in_turn(scene: Scene) -> None:
    journal = simulate(replace(scene, router=Router.ROUND_ROBIN).scenario())
    requests, scenario = journal.requests, journal.scenario
    workers = sum(pool.replicas for pool in scenario.pools if pool.role is not Role.DECODE)
    assert workers_of(journal) == [number % workers for number in range(requests.height)]


@few
@given(scenes())
def test_the_least_loaded_worker_has_fewest_unfinished_requests(scene: Scene) -> None:
    journal = simulate(replace(scene, router=Router.LEAST_LOADED).scenario())
    scenario, chosen = journal.scenario, workers_of(journal)
    workers = sum(pool.replicas for pool in scenario.pools if pool.role is not Role.DECODE)
    ready = column(journal.requests, "ready")
    leaves = column(journal.requests, "prefilled" if scenario.split else "end")
    for number, worker in enumerate(chosen):
        before = [n for n in range(number) if leaves[n] > ready[number]]
        also = [n for n in range(number) if leaves[n] == ready[number]]  # in either order
        loads = np.bincount([chosen[n] for n in before], minlength=workers)
        perhaps = loads + np.bincount([chosen[n] for n in also], minlength=workers)
        assert loads[worker] <= perhaps.min()


@pytest.mark.parametrize("router", Router)
@pytest.mark.parametrize("roles", [(Role.UNIFIED,), (Role.PREFILL, Role.DECODE)])
def test_more_replicas_than_requests_leave_nobody_waiting(
    router: Router, roles: tuple[Role, ...]
) -> None:
    pools = tuple((role, 20, plan("TP1")) for role in roles)
    scene = Scene(pools=pools, traffic=closed(12, 12, 300, 40), router=router)
    requests = simulate(scene.scenario()).requests
    assert requests["rank"].n_unique() == 12
    assert column(requests, "admitted").tolist() == column(requests, "ready").tolist()
    # alone on their workers, all take the same; only ports may keep one from another
    assert requests["end"].n_unique() == 1


def test_a_shared_queue_lets_nobody_wait_while_a_worker_idles() -> None:
    # long and short answers: dealt out in turn, some wait behind a long one while others idle
    pools = ((Role.UNIFIED, 4, plan("TP1", max_running=1, max_tokens=64)),)
    traffic = poisson(400, 200.0, 64, 60, ratio=0.01)
    waits = {}
    for router in Router:
        requests = simulate(Scene(pools=pools, traffic=traffic, router=router).scenario()).requests
        waits[router] = int((column(requests, "admitted") - column(requests, "ready")).sum())
    assert waits[Router.SHARED] <= waits[Router.LEAST_LOADED] <= waits[Router.ROUND_ROBIN]
    assert waits[Router.SHARED] < waits[Router.ROUND_ROBIN]


@few
@given(scenes(), st.sampled_from(Router))
def test_the_entry_stage_does_not_know_who_answers(scene: Scene, router: Router) -> None:
    # with memory for all, prompts are computed alike whatever the decode pools are
    here = plan("TP1", max_running=3, max_tokens=100)
    scene = replace(scene, blocks=None, west=(), router=router, model="gpt-oss-120b")
    scene = replace(scene, system="jalapeno-rack")
    journals = [
        simulate(
            replace(
                scene,
                pools=((Role.PREFILL, 2, here), (Role.DECODE, many, here)),
                traffic=replace(scene.traffic, arrivals=poisson(1, 50.0, 9, 9).arrivals),
            ).scenario()
        )
        for many in (1, 3)
    ]
    one, other = (column(journal.requests, "prefilled").tolist() for journal in journals)
    assert one == other
