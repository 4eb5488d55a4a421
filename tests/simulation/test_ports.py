"""Copies of KV caches: which levels they cross, and who waits for whose port."""

from __future__ import annotations

import pytest

from jalapeno import catalogue
from jalapeno.simulation import Journal, Role, simulate, start
from jalapeno.simulation import columns as c
from tests.simulation.scenes import Scene, closed, plan

SETUP = 2 * 10**12  # a set-up of two seconds, so that everyone is there before the first has moved


def split(prefill: int, decode: int, requests: int, **more: object) -> Scene:
    """Workers of one chip; equal prompts that are all there at once, and answers of one token."""
    pools = (
        (Role.PREFILL, prefill, plan("TP1", max_running=16, max_tokens=4096)),
        (Role.DECODE, decode, plan("TP1", max_running=16)),
    )
    overrides = (("engine.transfer_latency", "2 s"), ("engine.transfer_efficiency", "0.001"))
    traffic = closed(requests, requests, 500, 1)
    return Scene(pools=pools, traffic=traffic, overrides=overrides)


def moves(journal: Journal) -> list[int]:
    """How long each cache was on its way, ps, set-up left out, ascending."""
    level = journal.scenario.system.level(sum(pool.chips for pool in journal.scenario.pools))
    setup = round((2.0 + level.latency) * 1e12)
    rows = journal.requests.iter_rows(named=True)
    return sorted(row["moved"] - row["assigned"] - setup for row in rows)


def alone() -> int:
    (time,) = moves(simulate(split(1, 1, 1).scenario()))
    return time


def test_a_cache_alone_takes_its_bytes_over_the_rate() -> None:
    scenario = split(1, 1, 1).scenario()
    room = start(scenario).prices[1].room
    level = scenario.system.level(2)
    seconds = 500 * room.token_bytes / (level.bandwidth * 0.001)
    assert alone() == pytest.approx(seconds * 1e12, rel=1e-6)


def test_caches_that_leave_one_rank_follow_each_other() -> None:
    # four prompts are done in one step on one prefill rank, and go to four decode ranks
    journal = simulate(split(1, 4, 4).scenario())
    assert journal.requests["assigned"].n_unique() == 1
    assert journal.requests["decode_rank"].n_unique() == 4
    assert moves(journal) == [number * alone() for number in (1, 2, 3, 4)]


def test_caches_that_come_to_one_rank_follow_each_other() -> None:
    # four prompts are done at one time on four prefill ranks, and go to one decode rank
    journal = simulate(split(4, 1, 4).scenario())
    assert journal.requests["rank"].n_unique() == 4
    assert moves(journal) == [number * alone() for number in (1, 2, 3, 4)]


def test_caches_of_other_ranks_do_not_wait_for_each_other() -> None:
    journal = simulate(split(4, 4, 4).scenario())
    assert journal.requests["decode_rank"].n_unique() == 4
    assert moves(journal) == [alone()] * 4


def test_setting_up_keeps_no_port() -> None:
    # set-ups of all overlap: the last of four waits for three times the bytes and no set-up
    journal = simulate(split(1, 1, 4).scenario())
    last = max(moves(journal))
    assert last == 4 * alone()
    assert last < SETUP


def crossing(west: tuple[int, ...]) -> tuple[int, int]:
    """(ps to set up, fs a token) from the first pool to the second, with these in the west."""
    systems = ["gb300-nvl72" if number in west else "jalapeno-rack" for number in range(2)]
    pools = (
        (Role.PREFILL, 1, plan("TP1", system=systems[0])),
        (Role.DECODE, 1, plan("TP2", system=systems[1])),
    )
    scenario = Scene(pools=pools, traffic=closed(1, 1, 9, 9), west=west).scenario()
    setup, each = start(scenario).state.seats.transfer[0, 1].tolist()
    return setup, each


def test_pools_of_one_site_are_joined_by_its_nearest_level() -> None:
    system, engine = catalogue.system("jalapeno-rack"), catalogue.engine("jalapeno-engine")
    setup, _ = crossing(())
    assert setup == round((engine.transfer_latency + system.level(3).latency) * 1e12)


def test_pools_of_two_sites_are_joined_by_the_slower_of_their_last_levels() -> None:
    ends = []
    for name, under in (("jalapeno-rack", "jalapeno-engine"), ("gb300-nvl72", "tensorrt-llm")):
        engine, level = catalogue.engine(under), list(catalogue.system(name).fabric.values())[-1]
        setup = engine.transfer_latency + level.latency
        ends.append((setup, level.bandwidth * engine.transfer_efficiency))
    setup, _ = crossing((1,))
    assert setup == round(max(end[0] for end in ends) * 1e12)
    # the same two ends, the other way round: the rate is the same, a token is another engine's
    there, back = crossing((1,)), crossing((0,))
    assert there[0] == back[0]
    scenario = Scene(
        pools=(
            (Role.PREFILL, 1, plan("TP1")),
            (Role.DECODE, 1, plan("TP2", system="gb300-nvl72")),
        ),
        traffic=closed(1, 1, 9, 9),
        west=(1,),
    ).scenario()
    token = start(scenario).prices[1].room.token_bytes
    assert there[1] == round(token / min(end[1] for end in ends) * 1e15)


def test_only_from_prefill_to_decode_does_anything_move() -> None:
    pools = (
        (Role.PREFILL, 1, plan("TP1")),
        (Role.PREFILL, 1, plan("TP2")),
        (Role.DECODE, 1, plan("TP1")),
    )
    table = start(Scene(pools=pools, traffic=closed(1, 1, 9, 9)).scenario()).state.seats.transfer
    moved = {(source, target) for source, target in zip(*table[:, :, 1].nonzero(), strict=True)}
    assert moved == {(0, 2), (1, 2)}


def test_a_hosts_memory_is_told_in_time() -> None:
    scenario = Scene(pools=((Role.UNIFIED, 1, plan("TP1")),), traffic=closed(1, 1, 9, 9)).scenario()
    run, host = start(scenario), scenario.system.chip.host
    seats, room = run.state.seats, run.prices[0].room
    assert seats.ranks[0, c.R_HOST_ROOM] == round(host.capacity / host.bandwidth * 1e12)
    assert seats.pools[0, c.P_SWAP_TOKEN] == round(room.token_bytes / host.bandwidth * 1e15)
