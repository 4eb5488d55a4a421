"""The tables of a run at time zero: stages, pools, workers, ranks, and the paths between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jalapeno.errors import BadScenario
from jalapeno.mapping import StepPrice
from jalapeno.simulation import columns as c
from jalapeno.simulation.clock import on_clock
from jalapeno.simulation.pools import Pool, Preemption, Role, Router
from jalapeno.simulation.scenario import Scenario, Site
from jalapeno.simulation.state import Integers, tree_size

ROLES = {Role.UNIFIED: c.UNIFIED, Role.PREFILL: c.PREFILL_ROLE, Role.DECODE: c.DECODE_ROLE}
PREEMPTIONS = {
    Preemption.NONE: c.NO_PREEMPTION,
    Preemption.RECOMPUTE: c.RECOMPUTES,
    Preemption.SWAP: c.SWAPS,
}
ROUTERS = {
    Router.SHARED: c.SHARED,
    Router.ROUND_ROBIN: c.ROUND_ROBIN,
    Router.LEAST_LOADED: c.LEAST_LOADED,
}
FEMTO = 1e15

Rows = list[list[int]]
Prices = tuple[StepPrice, ...]


class Tables(NamedTuple):
    """Stages, pools, workers and ranks that have done nothing yet."""

    stages: Integers
    pools: Integers
    workers: Integers
    ranks: Integers


def tables_of(scenario: Scenario, prices: Prices) -> Tables:
    """The tables of *scenario*, whose pools have these *prices*."""
    pools: Rows = []
    workers: Rows = []
    ranks: Rows = []
    starts: list[int] = []
    for number, (pool, price) in enumerate(zip(scenario.pools, prices, strict=True)):
        starts.append(len(workers))
        row = pool_row(pool, price, scenario.site(pool), scenario.model.context)
        row[c.P_PRICE], row[c.P_FIRST_RANK] = number, len(ranks)
        pools.append(row)
        for _ in range(pool.replicas):
            worker = [0] * len(c.WORKER_TABLE)
            worker[c.W_POOL], worker[c.W_FIRST_RANK] = number, len(ranks)
            worker[c.W_TIME] = c.NEVER
            worker[c.W_QUEUE_HEAD] = worker[c.W_QUEUE_TAIL] = c.NOBODY
            for _ in range(pool.plan.ranks):
                ranks.append(rank_row(len(workers), price, scenario.site(pool)))
            workers.append(worker)
    starts.append(len(workers))
    stages = stage_rows(scenario.pools, starts)
    return Tables(*(np.array(rows, dtype=np.int64) for rows in (stages, pools, workers, ranks)))


def pool_row(pool: Pool, price: StepPrice, site: Site, longest: int) -> list[int]:
    """A row of the table of pools; which pool it is, and its first rank, are left open.

    *longest*: tokens of the longest request that there can be.
    """
    row = [0] * len(c.POOL_TABLE)
    space, host = price.room, site.system.chip.host
    row[c.P_ROLE], row[c.P_PREEMPTION] = ROLES[pool.role], PREEMPTIONS[pool.preemption]
    row[c.P_STAGE] = c.ANSWER if pool.role is Role.DECODE else c.ENTRY
    row[c.P_RANKS] = pool.replicas * pool.plan.ranks
    row[c.P_RANKS_WORKER] = pool.plan.ranks
    row[c.P_MAX_RUNNING], row[c.P_MAX_TOKENS] = pool.plan.max_running, pool.plan.max_tokens
    row[c.P_BLOCKS], row[c.P_BLOCK_TOKENS] = space.blocks, space.block_tokens
    row[c.P_FIXED_BLOCKS] = space.blocks_for(0)
    row[c.P_QUERIES], row[c.P_YIELDED] = pool.plan.queries, pool.plan.yielded
    fixed, each = space.fixed_bytes / host.bandwidth, space.token_bytes / host.bandwidth
    if pool.preemption is Preemption.SWAP:
        on_clock(fixed * c.PICOSECONDS, "a swap")
        per_token(each, longest, "a swap")
    row[c.P_SWAP_SEQUENCE] = round(min(fixed * c.PICOSECONDS, c.LAST))
    row[c.P_SWAP_TOKEN] = round(min(each * FEMTO, c.LAST))
    row[c.P_KEEPS] = int(pool.prefix_caching)
    return row


def per_token(seconds: float, longest: int, what: str) -> int:
    """*seconds* a token in femtoseconds; *what* takes them begins messages.

    Raises :class:`BadScenario` where *longest* tokens take more of them than an integer holds.
    """
    if not seconds * longest * FEMTO < c.NEVER:
        raise BadScenario(
            f"{what} of {longest:,} tokens would take {seconds * longest:,.3g} s, and must be "
            f"below {c.NEVER / FEMTO:,.0f} s: look for a bandwidth that is too low"
        )
    return round(seconds * FEMTO)


def rank_row(worker: int, price: StepPrice, site: Site) -> list[int]:
    """A row of the table of ranks.

    The ranks' chips have a share of the host's memory each, and a copy fills those of all chips of
    a rank alike: room is told in the time that it takes one chip to fill its share.
    """
    row = [0] * len(c.RANK_TABLE)
    row[c.R_WORKER], row[c.R_FREE] = worker, price.room.blocks
    host = site.system.chip.host
    # what takes longer to fill than the clock runs is never full
    row[c.R_HOST_ROOM] = round(min(host.capacity / host.bandwidth * c.PICOSECONDS, c.LAST))
    for column in range(c.R_PREFILL_HEAD, len(c.RANK_TABLE)):
        row[column] = c.NOBODY
    return row


def stage_rows(pools: tuple[Pool, ...], starts: list[int]) -> Rows:
    """The table of stages; *starts*: the first worker of each pool, and how many there are."""
    rows = []
    entry = sum(pool.role is not Role.DECODE for pool in pools)
    for first, last in ((0, entry), (entry, len(pools))):
        row = [0] * len(c.STAGE_TABLE)
        row[c.G_FIRST_POOL], row[c.G_POOLS] = first, last - first
        row[c.G_FIRST_WORKER] = starts[first]
        row[c.G_WORKERS] = starts[last] - starts[first]
        row[c.G_QUEUE_HEAD] = row[c.G_QUEUE_TAIL] = c.NOBODY
        rows.append(row)
    return rows


def paths(scenario: Scenario, prices: Prices) -> Integers:
    """(ps to set up, femtoseconds a prompt token) of KV transfers, by pool and pool.

    Every chip of the receiving rank pulls its share, at the rate of the slower end; a latent that
    is whole on every chip is pulled whole by each.  Pools of one site are joined by the nearest
    level that holds all pools of that site, those of two by the last level of each.
    """
    table = np.zeros((len(prices), len(prices), 2), dtype=np.int64)
    for source, sender in enumerate(scenario.pools):
        for target, taker in enumerate(scenario.pools):
            if (sender.role, taker.role) != (Role.PREFILL, Role.DECODE):
                continue
            ends = [_end(scenario, pool, sender.site == taker.site) for pool in (sender, taker)]
            setup, rate = max(setup for setup, _ in ends), min(rate for _, rate in ends)
            seconds = prices[target].room.token_bytes / rate
            table[source, target] = (
                on_clock(setup * c.PICOSECONDS, "a KV transfer"),
                per_token(seconds, scenario.model.context, "a KV transfer"),
            )
    return table


def _end(scenario: Scenario, pool: Pool, together: bool) -> tuple[float, float]:
    """(seconds to set up, B/s) at the end of a transfer that is *pool*'s."""
    site = scenario.site(pool)
    chips = sum(each.chips for each in scenario.pools if each.site == pool.site)
    levels = list(site.system.fabric.values())
    level = site.system.level(chips) if together else levels[-1]
    engine = site.engine
    return engine.transfer_latency + level.latency, level.bandwidth * engine.transfer_efficiency


def tournament(workers: int) -> Integers:
    """The tree of :func:`heap.replay` over *workers* workers that are all idle."""
    leaves = tree_size(workers)
    tree = np.full(2 * leaves, -1, dtype=np.int64)
    tree[leaves : leaves + workers] = np.arange(workers)
    for node in range(leaves - 1, 0, -1):
        tree[node] = (
            max(tree[2 * node : 2 * node + 2].min(), -1)
            if tree[2 * node + 1] >= 0
            else tree[2 * node]
        )
    return tree
