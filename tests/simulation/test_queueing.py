"""Queueing theory: where a deployment is a queue that can be solved, the simulator solves it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import simpy
from scipy.stats import poisson as poisson_law

from jalapeno.simulation import Journal, Role, Router, Scenario, simulate
from tests.simulation.scenes import Scene, closed, plan, poisson, unified

Integers = npt.NDArray[np.int64]

ISL = 96
"""Prompt tokens of every customer; they ask for a single token, so that the prompt is all."""


def service_time(scenario: Scenario) -> int:
    """Picoseconds that a worker needs for one prompt, from a run in which nobody waits."""
    (alone,) = simulate(unified(scenario.pools[0].plan, closed(1, 1, ISL, 1))).requests.to_dicts()
    return int(alone["end"] - alone["admitted"])


def queue(requests: int, load: float, servers: int = 1, seed: int = 0) -> Scenario:
    """Workers of one slot that get one-token requests at random, *load* of what they can do."""
    server = plan("TP1", max_running=1, max_tokens=64)
    seconds = service_time(unified(server, closed(1, 1, ISL, 1))) / 1e12
    traffic = poisson(requests, load * servers / seconds, ISL, 1)
    return unified(server, traffic, replicas=servers, seed=seed)


def column(journal: Journal, name: str) -> Integers:
    return journal.requests[name].to_numpy().astype(np.int64)


def mean_wait(journal: Journal) -> float:
    """Mean time in queues, ps."""
    return float((column(journal, "admitted") - column(journal, "arrival")).mean())


def departures(arrivals: Integers, service: int, servers: int) -> list[int]:
    """When each customer leaves *servers* equal servers with one queue, by SimPy."""
    environment = simpy.Environment()
    desk = simpy.Resource(environment, capacity=servers)
    left = [0] * len(arrivals)

    def customer(number: int, arrival: int) -> Generator[simpy.Event, object, None]:
        yield environment.timeout(arrival)
        with desk.request() as turn:
            yield turn
            yield environment.timeout(service)
        left[number] = int(environment.now)

    for number, arrival in enumerate(arrivals.tolist()):
        environment.process(customer(number, arrival))
    environment.run()
    return left


def mean_with_error(waits: Integers, batches: int = 25) -> tuple[float, float]:
    """Mean and its standard error, from means of long batches (neighbours wait alike)."""
    means = [batch.mean() for batch in np.array_split(waits, batches)]
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(batches))


# ---- one server


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_the_mean_wait_of_a_single_server_is_that_of_pollaczek_and_khinchine(load: float) -> None:
    # M/D/1: W = load x service / (2 (1 - load))
    scenario = queue(40_000, load)
    service = service_time(scenario)
    journal = simulate(scenario)
    waits = column(journal, "admitted") - column(journal, "arrival")
    mean, error = mean_with_error(waits)
    assert error < 0.1 * mean
    assert mean == pytest.approx(load * service / (2 * (1 - load)), abs=3 * error)


@pytest.mark.parametrize("load", [0.4, 0.95, 1.3])
def test_every_customer_of_a_single_server_leaves_when_simpy_says(load: float) -> None:
    scenario = queue(3_000, load)
    journal = simulate(scenario)
    arrivals = column(journal, "arrival")
    expected = departures(arrivals, service_time(scenario), 1)
    assert column(journal, "end").tolist() == expected


def test_a_single_server_is_busy_as_much_as_it_is_loaded() -> None:
    scenario = queue(40_000, 0.6)
    journal = simulate(scenario)
    busy = len(column(journal, "end")) * service_time(scenario)
    idle = int(journal.segment_table()["stall"].sum())
    assert busy + idle == column(journal, "end").max()
    assert busy / (busy + idle) == pytest.approx(0.6, rel=0.02)


# ---- several servers


@pytest.mark.parametrize("servers", [2, 3, 7])
def test_every_customer_of_several_servers_leaves_when_simpy_says(servers: int) -> None:
    scenario = queue(2_000, 0.85, servers)
    journal = simulate(scenario)
    expected = departures(column(journal, "arrival"), service_time(scenario), servers)
    assert column(journal, "end").tolist() == expected


def test_more_servers_at_the_same_load_mean_less_waiting() -> None:
    waits = []
    for servers in (1, 2, 4, 8):
        journal = simulate(queue(20_000, 0.8, servers))
        waits.append((column(journal, "admitted") - column(journal, "arrival")).mean())
    assert waits == sorted(waits, reverse=True)
    # Half the wait at two servers is Erlang's and Cosmetatos' rule of thumb at high load.
    assert waits[1] / waits[0] == pytest.approx(0.5, abs=0.1)


# ---- against formulas, over independent seeds

SEEDS = range(12)


def over_seeds(means: list[float]) -> tuple[float, float]:
    """Mean and its standard error, from means of independent runs."""
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(len(means)))


def wait_md(load: float, service: float, servers: int) -> float:
    """Mean wait of Poisson customers for *servers* servers of equal *service* (Crommelin 1932)."""
    offered = load * servers
    total = 0.0
    for turn in range(1, 2_000):
        mean, enough = turn * offered, turn * servers
        more = poisson_law.sf(enough - 1, mean) - servers / offered * poisson_law.sf(enough, mean)
        total += more
    return service * total


def test_the_formula_for_several_servers_is_that_of_one_where_there_is_one() -> None:
    for load in (0.3, 0.8):
        expected = load * 5.0 / (2 * (1 - load))
        assert wait_md(load, 5.0, 1) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("servers", [1, 2, 5])
@pytest.mark.parametrize("load", [0.6, 0.8])
def test_a_shared_queue_of_equal_customers_waits_as_long_as_crommelin_says(
    servers: int, load: float
) -> None:
    waits = []
    for seed in SEEDS:
        scenario = queue(8_000, load, servers, seed)
        journal = simulate(scenario)
        waits.append(mean_wait(journal))
    mean, error = over_seeds(waits)
    assert error < 0.1 * mean
    assert mean == pytest.approx(wait_md(load, service_time(scenario), servers), abs=4 * error)


@pytest.mark.parametrize("load", [0.4, 0.7])
def test_customers_of_all_sizes_wait_as_long_as_pollaczek_and_khinchine_say(load: float) -> None:
    # M/G/1: W = rate E[S^2] / (2 (1 - load)), prompts uniform between 12 and 1,200 tokens
    server = plan("TP1", max_running=1, max_tokens=64)
    alone = simulate(unified(server, closed(4_000, 1, 1200, 1, ratio=0.01)))
    service = (column(alone, "end") - column(alone, "admitted")) / 1e12
    rate = load / service.mean()
    waits, squares, loads = [], [], []
    for seed in SEEDS:
        traffic = poisson(6_000, rate, 1200, 1, ratio=0.01, seed=seed)
        journal = simulate(unified(server, traffic, seed=seed))
        served = (column(journal, "end") - column(journal, "admitted")) / 1e12
        squares.append(float((served**2).mean()))
        loads.append(float(rate * served.mean()))
        waits.append(
            float((column(journal, "admitted") - column(journal, "arrival")).mean() / 1e12)
        )
    mean, error = over_seeds(waits)
    expected = rate * np.mean(squares) / (2 * (1 - np.mean(loads)))
    assert error < 0.1 * mean
    assert mean == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize("router", [Router.SHARED, Router.LEAST_LOADED])
def test_servers_enough_are_busy_as_a_poisson_law_has_it_whatever_the_service(
    router: Router,
) -> None:
    # M/G/inf (and Erlang's loss formula in its limit): who is there is Poisson, by the mean alone
    server = plan("TP1", max_running=1, max_tokens=64)
    pools = ((Role.UNIFIED, 40, server),)
    means, spreads = [], []
    for seed in SEEDS:
        traffic = poisson(4_000, 100.0, 1200, 1, ratio=0.01, seed=seed)
        scene = Scene(pools=pools, traffic=traffic, seed=seed, router=router)
        journal = simulate(scene.scenario())
        begin, end = column(journal, "arrival"), column(journal, "end")
        assert (column(journal, "admitted") == begin).all()
        moments = np.linspace(begin[200], begin[-1], 2_000)
        there = np.searchsorted(begin, moments) - np.searchsorted(np.sort(end), moments)
        stay = (end - begin).mean() / 1e12
        means.append(float(there.mean() / (100.0 * stay)))
        spreads.append(float(there.var() / there.mean()))
    for values in (means, spreads):
        mean, error = over_seeds(values)
        assert error < 0.06
        assert mean == pytest.approx(1.0, abs=4 * error)


# ---- routers


def lindley(arrivals: Integers, service: int) -> Integers:
    """Waits of customers who come at these times to one server (Lindley 1952)."""
    waits = np.zeros(len(arrivals), dtype=np.int64)
    for number, gap in enumerate(np.diff(arrivals).tolist()):
        waits[number + 1] = max(0, waits[number] + service - gap)
    return waits


@pytest.mark.parametrize("servers", [1, 3, 4])
def test_dealt_out_in_turn_each_server_is_a_queue_of_its_own(servers: int) -> None:
    # E_c/D/1: the gaps between the customers of one server are sums of c exponential ones
    scenario = replace(queue(4_000, 0.9, servers), router=Router.ROUND_ROBIN)
    journal = simulate(scenario)
    arrivals, service = column(journal, "arrival"), service_time(scenario)
    waits = column(journal, "admitted") - arrivals
    for server in range(servers):
        mine = slice(server, None, servers)
        assert waits[mine].tolist() == lindley(arrivals[mine], service).tolist()


@pytest.mark.parametrize("servers", [2, 5])
def test_equal_customers_lose_nothing_by_being_dealt_out_in_turn(servers: int) -> None:
    # who comes first leaves first, so one queue serves them in turn, too: E_c/D/1 is M/D/c
    shared = queue(3_000, 0.9, servers)
    waits = [
        (column(journal, "admitted") - column(journal, "arrival")).tolist()
        for router in (Router.SHARED, Router.ROUND_ROBIN)
        for journal in (simulate(replace(shared, router=router)),)
    ]
    assert waits[0] == waits[1]


@pytest.mark.parametrize("osl", [1, 40])
def test_customers_of_all_sizes_wait_least_in_one_queue_and_longest_dealt_out(osl: int) -> None:
    server = plan("TP1", max_running=1, max_tokens=64)
    alone = simulate(unified(server, closed(2_000, 1, 600, osl, ratio=0.01)))
    service = (column(alone, "end") - column(alone, "admitted")).mean() / 1e12
    pools, means = ((Role.UNIFIED, 4, server),), []
    for router in (Router.SHARED, Router.LEAST_LOADED, Router.ROUND_ROBIN):
        waits = []
        for seed in SEEDS:
            traffic = poisson(3_000, 0.85 * 4 / service, 600, osl, ratio=0.01, seed=seed)
            scene = Scene(pools=pools, traffic=traffic, seed=seed, router=router)
            waits.append(mean_wait(simulate(scene.scenario())))
        means.append(over_seeds(waits)[0])
    assert means == sorted(means)
    assert means[2] > 1.2 * means[0]


# ---- two in a row


def test_a_decode_pool_with_room_adds_the_transfer_and_nothing_else() -> None:
    server = plan("TP1", max_running=1, max_tokens=64)
    one = queue(1_000, 0.7)
    room = plan("TP1", max_running=500, max_tokens=500)
    pools = ((Role.PREFILL, 1, server), (Role.DECODE, 1, room))
    split = Scene(pools=pools, traffic=one.traffic, block_tokens=16).scenario()
    alone, both = simulate(one), simulate(split)
    assert column(both, "prefilled").tolist() == column(alone, "end").tolist()
    transfers = column(both, "end") - column(both, "prefilled")
    assert len(set(transfers.tolist())) == 1
    assert transfers[0] > 0


def test_a_decode_pool_of_one_slot_is_a_second_server_in_a_row() -> None:
    # Tandem queue with equal service: the second never lets anyone wait longer than the first.
    server = plan("TP1", max_running=1, max_tokens=64)
    pools = ((Role.PREFILL, 1, server), (Role.DECODE, 1, server))
    scene = Scene(
        pools=pools,
        traffic=poisson(500, 1e6, ISL, 12),
        overrides=(("engine.transfer_latency", "0 s"),),
    )
    journal = simulate(scene.scenario())
    handed, taken = column(journal, "prefilled"), column(journal, "assigned")
    leaves = column(journal, "end")
    # taken over when the cache is there and the one before has left
    assert taken.tolist() == np.maximum(handed, np.concatenate([[0], leaves[:-1]])).tolist()
    assert len(set((leaves - column(journal, "first")).tolist())) == 1


# ---- Little's law


@pytest.mark.parametrize("concurrency", [1, 5, 16])
def test_in_a_closed_loop_littles_law_holds_to_the_picosecond(concurrency: int) -> None:
    # While requests remain, as many are in flight as the loop allows: N T = sum of stays within T.
    here = plan("TP2", max_running=8, max_tokens=256)
    journal = simulate(unified(here, closed(200, concurrency, 300, 60, ratio=0.5), delay="3 ms"))
    begin, end = column(journal, "arrival"), column(journal, "end")
    last = int(begin.max())
    stays = np.minimum(end, last) - begin
    assert int(stays.sum()) == concurrency * last


def test_concurrency_is_throughput_times_latency_in_the_long_run() -> None:
    here = plan("TP2", max_running=8, max_tokens=256)
    journal = simulate(unified(here, closed(4_000, 12, 300, 60, ratio=0.5)))
    begin, end = column(journal, "arrival"), column(journal, "end")
    throughput = len(end) / end.max()
    assert throughput * (end - begin).mean() == pytest.approx(12, rel=0.01)


def test_slots_are_throughput_times_time_in_them() -> None:
    # The same law one floor down: of 12 in flight, eight have a slot.
    here = plan("TP2", max_running=8, max_tokens=256)
    journal = simulate(unified(here, closed(4_000, 12, 300, 60, ratio=0.5)))
    stay = column(journal, "end") - column(journal, "assigned")
    throughput = len(stay) / column(journal, "end").max()
    assert throughput * stay.mean() == pytest.approx(8, rel=0.01)
