"""Small runs in which something is short, and what a run's own state says of it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from jalapeno.mapping import room
from jalapeno.simulation import Journal, Pool, Scenario, simulate
from jalapeno.simulation import columns as c
from jalapeno.simulation.simulate import start
from tests.metrics import journals


def squeezed(pools: tuple[Pool, ...], requests: int) -> Scenario:
    """A scenario whose last pool has KV blocks for so many requests a rank: blocks are vast."""
    plain = journals.scenario(pools)
    prompts, outputs = plain.traffic.lengths.draw(plain.traffic.requests)
    longest = int((prompts + outputs).max())
    for size in range(20, 60):
        scenario = journals.scenario(
            pools, overrides={"engine.block_tokens": str(int(2.0 ** (size / 2.0)))}
        )
        spaces = [
            room(scenario.model, pool.plan, scenario.system, scenario.engine)
            for pool in scenario.pools
        ]
        if spaces[-1].blocks // spaces[-1].blocks_for(longest) <= requests:
            return scenario
    raise AssertionError("no block is large enough")


SCENARIOS = {
    "slots": lambda: journals.scenario(journals.unified(tp=2, replicas=2)),
    "blocks": lambda: squeezed(journals.unified(tp=2, replicas=2), 3),
    "ranks": lambda: journals.scenario(journals.unified(tp=1, dp=4), concurrency=60, requests=90),
    "split": lambda: journals.scenario(journals.split(2, 2)),
    "split, blocks": lambda: squeezed(journals.split(1, 2), 3),
}


@cache
def run(name: str) -> Journal:
    return simulate(SCENARIOS[name]())


def replayed(journal: Journal) -> dict[str, dict[str, int]]:
    """Waits by what was short, as the state of the run itself says between any two events, ps."""
    table = journal.requests
    segments = journal.segment_table()
    times = {0, *segments["start"].to_list()}
    for name in c.REQUEST_TIMES:
        times |= set(table[name].to_list())
    going = start(journal.scenario)
    found = {label: dict.fromkeys(("slots", "blocks", "step"), 0) for label in ("queue", "slot")}
    ranks, decode_ranks = (table[name].to_list() for name in ("rank", "decode_rank"))
    slots = [
        pool.plan.max_running
        for pool in journal.scenario.pools
        for _ in range(pool.replicas * pool.plan.ranks)
    ]
    split = len(journal.scenario.pools) > 1
    ordered = sorted(time for time in times if time >= 0)
    for now, then in pairwise(ordered):
        going.advance(now)
        state = going.state.seats
        for number, row in enumerate(state.requests):
            status = row[c.STATUS]
            waits = ("queue", ranks[number]) if status == c.QUEUED else None
            if split and status == c.PREFILLING and row[c.PREFILLED] >= 0:
                waits = ("slot", decode_ranks[number])
            if waits is not None:
                taken = state.ranks[waits[1], c.R_RUNNING] >= slots[waits[1]]
                found[waits[0]]["slots" if taken else "blocks"] += then - now
            elif status == c.TAKEN:
                found["queue"]["step"] += then - now
            elif split and status == c.MOVING and row[c.MOVED] >= 0 and row[c.FIRST] < 0:
                found["slot"]["step"] += then - now
    return found
