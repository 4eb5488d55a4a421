"""What is too much for a run: said before it is tried, or when the clock ends."""

from __future__ import annotations

import pytest

from jalapeno.errors import BadPlan, BadScenario
from jalapeno.simulation import (
    ClosedLoop,
    Lengths,
    Pool,
    Preemption,
    Role,
    Scenario,
    Traffic,
    set_fact,
    simulate,
    start,
)
from jalapeno.simulation.pools import MOST_REPLICAS
from jalapeno.simulation.scenario import scenario_of
from jalapeno.simulation.state import MOST_ANSWERS
from jalapeno.simulation.trace_table import MOST_TOKENS
from jalapeno.simulation.traffic import MOST_REQUESTS
from tests.simulation.scenes import Scene, closed, plan, unified


def slow(path: str, text: str, preemption: Preemption = Preemption.NONE) -> Scenario:
    """Split pools, or a unified one that preempts, with a fact replaced."""
    pools = [
        Pool(role=Role.PREFILL, plan=plan("TP1"), replicas=1),
        Pool(role=Role.DECODE, plan=plan("TP2"), replicas=1),
    ]
    if preemption is not Preemption.NONE:
        pools = [Pool(role=Role.UNIFIED, plan=plan("TP1"), replicas=1, preemption=preemption)]
    made = Scene(pools=((Role.UNIFIED, 1, plan("TP1")),), traffic=closed(4, 2, 99, 9)).scenario()
    trees = dict(made.trees)
    set_fact(trees, path, text)
    return scenario_of(trees, tuple(pools), made.traffic)


# ---- counts


def test_a_run_has_only_so_many_requests() -> None:
    lengths, loop = Lengths(isl=8, osl=8), ClosedLoop(concurrency=1)
    assert Traffic(lengths=lengths, arrivals=loop, requests=MOST_REQUESTS).requests == 10_000_000
    with pytest.raises(BadScenario, match=r"at most 10,000,000, got 10,000,001: a run keeps"):
        Traffic(lengths=lengths, arrivals=loop, requests=MOST_REQUESTS + 1)


@pytest.mark.parametrize("which", ["isl", "osl"])
def test_lengths_are_no_longer_than_those_of_a_trace(which: str) -> None:
    nominal = {"isl": 8, "osl": 8, which: MOST_TOKENS}
    assert max(int(drawn.max()) for drawn in Lengths(**nominal).draw(9)) <= MOST_TOKENS
    with pytest.raises(BadScenario, match=rf"{which}=1000000001 .*must be at most 1,000,000,000"):
        Lengths(**{**nominal, which: MOST_TOKENS + 1})


def test_a_pool_has_only_so_many_replicas() -> None:
    assert Pool(role=Role.UNIFIED, plan=plan("TP1"), replicas=MOST_REPLICAS).chips == 100_000
    with pytest.raises(BadPlan, match=r"at most 100,000 replicas, got 100,001"):
        Pool(role=Role.UNIFIED, plan=plan("TP1"), replicas=MOST_REPLICAS + 1)


def test_answers_are_no_longer_together_than_steps_are_counted() -> None:
    scenario = unified(plan("TP1"), closed(200_000, 1, 10, 100_000, ratio=1.0))
    assert MOST_ANSWERS < 200_000 * 100_000
    with pytest.raises(
        BadScenario, match=r"have 20,000,000,000 tokens together, and a run at most"
    ):
        start(scenario)


# ---- times


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("chip.hbm.bandwidth", "1 B/s"),
        ("chip.hbm.bandwidth", "1e-30 B/s"),
        ("chip.energy.per_hbm_byte", "1e30 J/B"),
        ("engine.host_step", "1e7 s"),
        ("engine.host_sequence", "1e30 s"),
    ],
)
def test_a_step_beyond_the_clock_ends_the_run(path: str, text: str) -> None:
    with pytest.raises(
        BadScenario, match=r"^the clock ends after 53 days, with 0 of 4 requests done: send fewer"
    ):
        simulate(slow(path, text))


def test_requests_that_are_done_in_time_are_counted() -> None:
    scenario = slow("engine.host_step", "2 s")
    assert simulate(scenario).requests["status"].to_list() == ["done"] * 4
    with pytest.raises(BadScenario, match=r"with 2 of 4 requests done"):
        simulate(slow("engine.host_step", "230000 s"))


@pytest.mark.parametrize(
    ("path", "text", "preemption", "said"),
    [
        ("engine.first_token_delay", "1e9 s", Preemption.NONE, "^a first token would take"),
        ("engine.transfer_latency", "1e9 s", Preemption.NONE, "^a KV transfer would take"),
        ("system.fabric.local.bandwidth", "1 B/s", Preemption.NONE, "^a KV transfer of 131,072"),
        ("chip.host.bandwidth", "1 B/s", Preemption.SWAP, "^a swap of 131,072 tokens would"),
    ],
)
def test_a_copy_beyond_the_clock_is_refused(
    path: str, text: str, preemption: Preemption, said: str
) -> None:
    with pytest.raises(BadScenario, match=said):
        start(slow(path, text, preemption))


def test_a_host_that_nobody_copies_to_may_be_slow() -> None:
    scenario = slow("chip.host.bandwidth", "1e-30 B/s")
    assert simulate(scenario).requests["status"].to_list() == ["done"] * 4


def test_transfers_that_queue_beyond_the_clock_end_the_run() -> None:
    # each takes 17 days at its port: the fourth would come after the clock's end
    with pytest.raises(BadScenario, match=r"the clock ends after 53 days, with \d of 4"):
        simulate(slow("engine.transfer_latency", "4e6 s"))
