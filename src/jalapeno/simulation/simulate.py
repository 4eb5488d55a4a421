"""simulate(scenario) -> Journal: build the state, loop, hand over the tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jalapeno.cost import PARTS
from jalapeno.mapping import OUTPUTS, StepPrice, check_request, compile_price, memo_for, stack
from jalapeno.mapping.batch import columns as batch_columns
from jalapeno.simulation import columns as c
from jalapeno.simulation.arrivals import ClosedLoop, Gamma, Poisson, TraceTimes
from jalapeno.simulation.journal import Journal, KeptSegments, Segments, StoredSegments
from jalapeno.simulation.pools import Pool, Role
from jalapeno.simulation.run import Run
from jalapeno.simulation.scenario import Scenario
from jalapeno.simulation.state import (
    BUFFER_SEGMENTS,
    Floats,
    Integers,
    State,
    empty_ledger,
    request_table,
    tree_size,
)

ROLES = {Role.UNIFIED: c.UNIFIED, Role.PREFILL: c.PREFILL_ROLE, Role.DECODE: c.DECODE_ROLE}


def simulate(scenario: Scenario, folder: Path | None = None) -> Journal:
    """Run *scenario* to the end.  With a *folder*, segments stream to Parquet files there."""
    run = start(scenario, folder)
    run.advance()
    return run.journal()


def start(scenario: Scenario, folder: Path | None = None) -> Run:
    """A run of *scenario* at time zero; raises where a plan or a request does not fit."""
    prices = tuple(
        compile_price(scenario.model, pool.plan, site.system, site.engine)
        for pool in scenario.pools
        for site in (scenario.site(pool),)
    )
    requests = _requests(scenario, prices)
    clock = np.zeros(len(c.CLOCK), dtype=np.int64)
    clock[c.C_REQUESTS] = len(requests)
    clock[c.C_DELAY] = round(scenario.engine.first_token_delay * c.PICOSECONDS)
    _send(scenario, requests, clock)
    segments: Segments = KeptSegments() if folder is None else StoredSegments(folder)
    return Run(scenario, _state(scenario, prices, requests, clock), prices, segments)


def _requests(scenario: Scenario, prices: tuple[StepPrice, ...]) -> Integers:
    traffic, model = scenario.traffic, scenario.model
    prompts, outputs = traffic.lengths.draw(traffic.requests)
    table = request_table(prompts, outputs, outputs)
    whole = prompts + outputs
    check_request(prices[-1].room, model, int(whole.max()))
    if len(prices) == 1:
        table[:, c.BLOCKS] = _blocks(prices[0], whole)
    else:
        check_request(prices[0].room, model, int(prompts.max()))
        table[:, c.BLOCKS] = _blocks(prices[0], prompts)
        table[:, c.DECODE_BLOCKS] = _blocks(prices[1], whole)
    return table


def _blocks(price: StepPrice, tokens: Integers) -> Integers:
    fixed = price.room.blocks_for(0)
    return -(-tokens // price.room.block_tokens) + fixed


def _send(scenario: Scenario, requests: Integers, clock: Integers) -> None:
    """Send the requests that nobody waits for: the first of a loop, or all of an open stream."""
    match scenario.traffic.arrivals:
        case ClosedLoop(concurrency=concurrency):
            sent = min(concurrency, len(requests))
            clock[c.C_CLOSED] = 1
            requests[:sent, c.ARRIVAL] = 0
        case Poisson() | Gamma() | TraceTimes() as stream:
            sent = len(requests)
            requests[:, c.ARRIVAL] = stream.times(sent, scenario.seed)
    clock[c.C_SENT] = sent
    requests[:sent, c.READY] = requests[:sent, c.ARRIVAL] + clock[c.C_DELAY]
    requests[:sent, c.STATUS] = c.SENT


def _pool_tables(
    pools: tuple[Pool, ...], prices: tuple[StepPrice, ...]
) -> tuple[Integers, Integers, Integers]:
    """Tables of pools, workers and ranks at time zero."""
    pool_rows: list[list[int]] = []
    worker_rows: list[list[int]] = []
    rank_rows: list[list[int]] = []
    for number, (pool, price) in enumerate(zip(pools, prices, strict=True)):
        row = [c.NOBODY] * len(c.POOL_TABLE)
        row[c.P_ROLE], row[c.P_PRICE] = ROLES[pool.role], number
        row[c.P_FIRST_RANK], row[c.P_RANKS] = len(rank_rows), pool.replicas * pool.plan.ranks
        row[c.P_RANKS_WORKER] = pool.plan.ranks
        row[c.P_MAX_RUNNING], row[c.P_MAX_TOKENS] = pool.plan.max_running, pool.plan.max_tokens
        pool_rows.append(row)
        for _ in range(pool.replicas):
            worker = [0] * len(c.WORKER_TABLE)
            worker[c.W_POOL], worker[c.W_FIRST_RANK] = number, len(rank_rows)
            worker[c.W_TIME] = c.NEVER
            for _ in range(pool.plan.ranks):
                rank = [0] * len(c.RANK_TABLE)
                rank[c.R_WORKER], rank[c.R_FREE] = len(worker_rows), price.room.blocks
                for column in range(c.R_PREFILL_HEAD, len(c.RANK_TABLE)):
                    rank[column] = c.NOBODY
                rank_rows.append(rank)
            worker_rows.append(worker)
    return (
        np.array(pool_rows, dtype=np.int64),
        np.array(worker_rows, dtype=np.int64),
        np.array(rank_rows, dtype=np.int64),
    )


def _tournament(workers: int) -> Integers:
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


def _state(
    scenario: Scenario, prices: tuple[StepPrice, ...], requests: Integers, clock: Integers
) -> State:
    pools, workers, ranks = _pool_tables(scenario.pools, prices)
    caps = np.array(scenario.model.caps, dtype=np.int64)
    slots = max(pool.plan.max_running for pool in scenario.pools)
    slots = min(slots, len(requests))
    widest = max(pool.plan.ranks for pool in scenario.pools)
    sums = batch_columns(scenario.model.caps)
    outputs = len(OUTPUTS)

    def scratch(*shape: int) -> Floats:
        return np.zeros(shape)

    return State(
        requests=requests,
        ranks=ranks,
        workers=workers,
        pools=pools,
        clock=clock,
        finish=np.zeros((len(ranks), slots), dtype=np.int64),
        caps=caps,
        capped=np.zeros((len(ranks), len(caps), 3), dtype=np.int64),
        short=np.zeros((len(ranks), len(caps), slots), dtype=np.int64),
        ledger=empty_ledger(len(workers)),
        tree=_tournament(len(workers)),
        transfers=np.zeros((len(requests) if len(prices) > 1 else 1, 2), dtype=np.int64),
        transfer=_transfer(scenario, prices),
        segments=np.zeros((BUFFER_SEGMENTS, len(c.SEGMENT_INTEGERS)), dtype=np.int64),
        energies=scratch(BUFFER_SEGMENTS, len(c.SEGMENT_FLOATS)),
        rows=scratch(widest, sums),
        growth=scratch(widest, sums),
        alone=scratch(widest, sums),
        values=scratch(4, outputs),
        running=scratch(len(workers), 2 * outputs),
        parts=np.zeros((len(workers), 2 * len(PARTS)), dtype=np.int64),
        capacity=np.array([price.room.blocks for price in prices], dtype=np.int64),
        prices=stack(prices),
        memo=memo_for(prices, slots),
    )


def _transfer(scenario: Scenario, prices: tuple[StepPrice, ...]) -> Integers:
    """(ps to set up, femtoseconds a prompt token) of a KV transfer between workers.

    Every chip of the receiving rank pulls its share over the nearest level that joins the two
    pools; a latent that is whole on every chip is pulled whole by each.
    """
    engine = scenario.engine
    level = scenario.system.level(sum(pool.chips for pool in scenario.pools))
    rate = level.bandwidth * engine.transfer_efficiency
    seconds = prices[-1].room.token_bytes / rate
    setup = engine.transfer_latency + level.latency
    return np.array([round(setup * 1e12), round(seconds * 1e15)], dtype=np.int64)


assert len(PARTS) == c.S_GROWTHS - c.S_PARTS
