"""simulate(scenario) -> Journal: build the state, loop, hand over the tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jalapeno.cost import PARTS
from jalapeno.errors import BadScenario
from jalapeno.mapping import OUTPUTS, check_request, compile_price, memo_for, stack
from jalapeno.mapping.batch import columns as batch_columns
from jalapeno.simulation import columns as c
from jalapeno.simulation.arrivals import ClosedLoop, Gamma, Poisson, TraceTimes
from jalapeno.simulation.clock import on_clock
from jalapeno.simulation.journal import Journal, KeptSegments, Segments, StoredSegments
from jalapeno.simulation.pools import Preemption, Role
from jalapeno.simulation.run import Run
from jalapeno.simulation.scenario import Scenario
from jalapeno.simulation.state import (
    BUFFER_PAUSES,
    BUFFER_SEGMENTS,
    MOST_ANSWERS,
    Floats,
    Integers,
    Seats,
    State,
    empty_ledger,
    request_table,
)
from jalapeno.simulation.tables import ROUTERS, Prices, paths, tables_of, tournament


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
    clock[c.C_ROUTER] = ROUTERS[scenario.router]
    front = scenario.site(scenario.pools[0]).engine
    clock[c.C_DELAY] = on_clock(front.first_token_delay * c.PICOSECONDS, "a first token")
    _send(scenario, requests, clock)
    segments: Segments = KeptSegments() if folder is None else StoredSegments(folder)
    return Run(scenario, _state(scenario, prices, requests, clock), prices, segments)


def _requests(scenario: Scenario, prices: Prices) -> Integers:
    """The requests, which fit into every pool of the stages they pass."""
    traffic = scenario.traffic
    prompts, outputs = traffic.lengths.draw(traffic.requests)
    longest = {True: int(prompts.max()), False: int((prompts + outputs).max())}
    for pool, price in reversed(list(zip(scenario.pools, prices, strict=True))):
        ahead = 0 if pool.role is Role.PREFILL else pool.plan.draft_tokens
        check_request(price.room, scenario.model, longest[pool.role is Role.PREFILL], ahead)
    answers = int(outputs.sum())
    if answers > MOST_ANSWERS:
        raise BadScenario(
            f"the answers have {answers:,} tokens together, and a run at most {MOST_ANSWERS:,}: "
            "send fewer or shorter ones"
        )
    return request_table(prompts, outputs, outputs, traffic.lengths.cached(traffic.requests))


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


def _state(scenario: Scenario, prices: Prices, requests: Integers, clock: Integers) -> State:
    tables = tables_of(scenario, prices)
    ranks, workers = len(tables.ranks), len(tables.workers)
    caps = np.array(scenario.model.caps, dtype=np.int64)
    slots = min(max(pool.plan.max_running for pool in scenario.pools), len(requests))
    widest = max(pool.plan.ranks for pool in scenario.pools)
    sums, outputs = batch_columns(scenario.model.caps), len(OUTPUTS)
    preempts = any(pool.preemption is not Preemption.NONE for pool in scenario.pools)
    longest = max(price.room.block_tokens for price in prices)
    phases = (ranks, longest) if preempts else (1, 1)
    pauses = (BUFFER_PAUSES + widest * slots if preempts else 1, len(c.PAUSE_TABLE))

    def scratch(*shape: int) -> Floats:
        return np.zeros(shape)

    seats = Seats(
        requests=requests,
        ranks=tables.ranks,
        workers=tables.workers,
        pools=tables.pools,
        stages=tables.stages,
        clock=clock,
        finish=np.zeros((ranks, slots), dtype=np.int64),
        caps=caps,
        capped=np.zeros((ranks, len(caps), 3), dtype=np.int64),
        short=np.zeros((ranks, len(caps), slots), dtype=np.int64),
        ledger=empty_ledger(workers),
        tree=tournament(workers),
        phases=np.zeros(phases, dtype=np.int64),
        copies=np.zeros((len(requests) if scenario.split or preempts else 1, 2), dtype=np.int64),
        pauses=np.zeros(pauses, dtype=np.int64),
        transfer=paths(scenario, prices),
    )
    return State(
        seats=seats,
        segments=np.zeros((BUFFER_SEGMENTS, len(c.SEGMENT_INTEGERS)), dtype=np.int64),
        energies=scratch(BUFFER_SEGMENTS, len(c.SEGMENT_FLOATS)),
        rows=scratch(widest, sums),
        growth=scratch(widest, sums),
        alone=scratch(widest, sums),
        values=scratch(4, outputs),
        running=scratch(workers, 2 * outputs),
        parts=np.zeros((workers, 2 * len(PARTS)), dtype=np.int64),
        prices=stack(prices),
        memo=memo_for(prices, slots),
    )


assert len(PARTS) == c.S_GROWTHS - c.S_PARTS
