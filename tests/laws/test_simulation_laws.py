"""Laws of a run, whatever the scenario: nothing gets lost, nothing runs backwards, all adds up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jalapeno.cost import PARTS
from jalapeno.mapping import OUTPUTS
from jalapeno.mapping.batch import Item, batch_row
from jalapeno.simulation import ClosedLoop, Journal, Run, Scenario, simulate, start
from jalapeno.simulation import columns as c
from tests.simulation.reference import Reference, rows_of
from tests.simulation.scenes import Scene, scenes

Integers = npt.NDArray[np.int64]
few = settings(max_examples=40)
cuts = st.lists(st.floats(0.0, 1.0), max_size=8)


def column(table: pl.DataFrame, name: str) -> Integers:
    return table[name].to_numpy().astype(np.int64)


def written(journal: Journal) -> list[bytes]:
    """The tables of *journal* as they would lie in a file."""
    tables = (journal.requests, journal.segment_table(), journal.workers)
    return [table.rechunk().write_ipc(None).getvalue() for table in tables]


def seconds(segments: pl.DataFrame) -> Integers:
    """How long each segment lasted: ``n f + g n (n - 1) / 2`` summed over parts."""
    steps = column(segments, "steps")
    pairs = steps * (steps - 1) // 2
    lasted = np.zeros(len(steps), dtype=np.int64)
    for part in PARTS:
        lasted += steps * column(segments, f"{part}_first")
        lasted += pairs * column(segments, f"{part}_growth")
    return lasted


def most_at_once(begin: Integers, end: Integers, size: Integers) -> int:
    """The largest sum of *size* over intervals ``[begin, end)`` that overlap."""
    moments = sorted(
        [(time, 1, much) for time, much in zip(begin.tolist(), size.tolist(), strict=True)]
        + [(time, 0, -much) for time, much in zip(end.tolist(), size.tolist(), strict=True)]
    )
    return int(max(np.cumsum([much for _, _, much in moments])))


def stays(journal: Journal) -> Iterator[tuple[int, str, str, str, pl.DataFrame]]:
    """(pool, slot from, slot until, blocks until, requests) of every rank that had any."""
    requests = journal.requests
    if len(journal.scenario.pools) == 1:
        for _, mine in requests.group_by("rank"):
            yield 0, "assigned", "end", "end", mine
        return
    for _, mine in requests.group_by("rank"):
        # when a prefill rank was given the request is not kept; it had it at the latest when
        # its prompt began
        yield 0, "admitted", "prefilled", "moved", mine
    for _, mine in requests.group_by("decode_rank"):
        yield 1, "assigned", "end", "end", mine


def advance_by(run: Run, fractions: Sequence[float], whole: int) -> Iterator[Run]:
    """Stop *run* at these fractions of its *whole* length, then let it go to the end."""
    for time in sorted(int(fraction * whole) for fraction in fractions):
        run.advance(time)
        yield run
    assert run.advance()
    yield run


def decisions(run: Run, before: int) -> set[tuple[int, str, int]]:
    """(request, what, when or where) of all that was decided *before* a time."""
    made = set()
    for number, request in enumerate(run.state.requests.tolist()):
        for name in c.REQUEST_TIMES:
            if 0 <= (time := request[c.REQUEST.index(name)]) < before:
                made.add((number, name, time))
        if 0 <= request[c.ADMITTED] < before:
            made.add((number, "rank", request[c.RANK]))
        if 0 <= request[c.MOVED] < before:
            made.add((number, "decode rank", request[c.DECODE_RANK]))
    return made


def alone(scene: Scene) -> Scene:
    """The same with a single request."""
    return replace(scene, traffic=replace(scene.traffic, requests=1))


def length(scenario: Scenario) -> int:
    return int(column(simulate(scenario).requests, "end").max())


# ---- nothing gets lost


@few
@given(scenes())
def test_every_request_that_enters_leaves(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    assert requests.height == scene.traffic.requests
    assert set(requests["status"]) == {"done"}


@few
@given(scenes())
def test_all_blocks_and_slots_are_free_at_the_end(scene: Scene) -> None:
    run = start(scene.scenario())
    assert run.advance()
    state = run.state
    assert not state.ranks[:, [c.R_RUNNING, c.R_DECODING, c.R_READS, c.R_HEAP]].any()
    assert not state.capped.any()
    assert state.ranks[:, c.R_FREE].tolist() == [
        price.room.blocks
        for pool, price in zip(scene.scenario().pools, run.prices, strict=True)
        for _ in range(pool.replicas * pool.plan.dp)
    ]
    assert set(state.pools[:, c.P_QUEUE_HEAD]) == {c.NOBODY}


@few
@given(scenes(), cuts)
def test_blocks_taken_and_blocks_free_are_all_blocks_at_any_time(
    scene: Scene, fractions: list[float]
) -> None:
    scenario = scene.scenario()
    for run in advance_by(start(scenario), fractions, length(scenario)):
        state = run.state
        taken, running = np.zeros((2, len(state.ranks)), dtype=np.int64)
        for request in state.requests:
            status, split = request[c.STATUS], len(run.prices) == 2
            in_prefill = status in (c.TAKEN, c.PREFILLING)
            in_decode = status == c.DECODING
            if split:
                # the cache stays where the prompt was computed until it has moved
                if in_prefill or (status == c.MOVING and request[c.MOVED] == c.NOBODY):
                    taken[request[c.RANK]] += request[c.BLOCKS]
                if in_decode or status == c.MOVING:
                    taken[request[c.DECODE_RANK]] += request[c.DECODE_BLOCKS]
                    running[request[c.DECODE_RANK]] += 1
                if in_prefill and request[c.PREFILLED] == c.NOBODY:
                    running[request[c.RANK]] += 1
            elif in_prefill or in_decode:
                taken[request[c.RANK]] += request[c.BLOCKS]
                running[request[c.RANK]] += 1
        pool = state.workers[state.ranks[:, c.R_WORKER], c.W_POOL]
        assert (taken + state.ranks[:, c.R_FREE]).tolist() == state.capacity[pool].tolist()
        assert state.ranks[:, c.R_FREE].min() >= 0
        assert state.ranks[:, c.R_RUNNING].tolist() == running.tolist()


@few
@given(scenes())
def test_no_rank_runs_more_than_its_slots_or_its_blocks(scene: Scene) -> None:
    journal = simulate(scene.scenario())
    prices = start(scene.scenario()).prices
    for pool, begin, leaves, frees, mine in stays(journal):
        first = column(mine, begin)
        ones = np.ones(len(first), dtype=np.int64)
        slots = journal.scenario.pools[pool].plan.max_running
        assert most_at_once(first, column(mine, leaves), ones) <= slots
        blocks = column(mine, "decode_blocks" if pool else "blocks")
        assert most_at_once(first, column(mine, frees), blocks) <= prices[pool].room.blocks


@few
@given(scenes())
def test_the_tokens_of_all_segments_are_the_tokens_asked_for(scene: Scene) -> None:
    journal = simulate(scene.scenario())
    requests, segments = journal.requests, journal.segment_table()
    steps = column(segments, "steps")
    outputs, prompts = column(requests, "output"), column(requests, "prompt")
    assert (steps * column(segments, "decoding")).sum() + len(outputs) == outputs.sum()
    assert (steps * column(segments, "prefill")).sum() == prompts.sum()
    assert (column(segments, "sampled") - column(segments, "decoding")).sum() == len(prompts)


# ---- nothing runs backwards


@few
@given(scenes())
def test_a_request_arrives_waits_computes_and_leaves_in_this_order(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    order = ["arrival", "ready", "assigned", "admitted", "prefilled", "first", "end"]
    if len(scene.pools) == 2:
        order = ["arrival", "ready", "admitted", "prefilled", "assigned", "moved", "first", "end"]
    times = np.array([column(requests, name) for name in order])
    assert (np.diff(times, axis=0) >= 0).all()
    assert times.min() >= 0


@few
@given(scenes())
def test_a_worker_does_one_thing_at_a_time_and_its_pauses_are_told(scene: Scene) -> None:
    for _, segments in simulate(scene.scenario()).segment_table().group_by("worker"):
        begin = column(segments, "start")
        end = begin + seconds(segments)
        assert (column(segments, "steps") >= 1).all()
        before = np.concatenate([[0], end[:-1]])
        assert (begin >= before).all()
        assert column(segments, "stall").tolist() == (begin - before).tolist()


@few
@given(scenes(), cuts)
def test_nothing_happens_after_the_time_a_run_was_advanced_to(
    scene: Scene, fractions: list[float]
) -> None:
    scenario = scene.scenario()
    run, whole = start(scenario), length(scenario)
    for time in sorted(int(fraction * whole) for fraction in fractions):
        run.advance(time)
        assert run.state.clock[c.C_NOW] <= time
        happened = run.state.requests[:, c.ADMITTED : c.END + 1]
        assert happened.max() <= time
        ready = column(run.journal().requests, "ready")
        arrived = ready[: run.state.clock[c.C_ARRIVED]]
        assert (arrived <= time).all()
        assert (ready[run.state.clock[c.C_ARRIVED] : run.state.clock[c.C_SENT]] > time).all()


@few
@given(scenes())
def test_nobody_overtakes_in_the_queue(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    if len(scene.pools) == 2:
        requests = requests.sort("prefilled", maintain_order=True)
        handed, given_ = column(requests, "prefilled"), column(requests, "assigned")
        for early in range(len(handed)):
            assert (given_[early] <= given_[handed > handed[early]]).all()
    else:
        assert (np.diff(column(requests, "assigned")) >= 0).all()


@few
@given(scenes(), cuts)
def test_nobody_waits_while_a_rank_could_take_him(scene: Scene, fractions: list[float]) -> None:
    scenario = scene.scenario()
    for run in advance_by(start(scenario), fractions, length(scenario)):
        state = run.state
        for pool in state.pools:
            head = pool[c.P_QUEUE_HEAD]
            if head == c.NOBODY:
                continue
            decode = pool[c.P_ROLE] == c.DECODE_ROLE
            needed = state.requests[head, c.DECODE_BLOCKS if decode else c.BLOCKS]
            mine = state.ranks[pool[c.P_FIRST_RANK] : pool[c.P_FIRST_RANK] + pool[c.P_RANKS]]
            able = (mine[:, c.R_RUNNING] < pool[c.P_MAX_RUNNING]) & (mine[:, c.R_FREE] >= needed)
            assert not able.any()


# ---- the same again


@few
@given(scenes())
def test_the_same_scenario_gives_the_same_journal_byte_for_byte(scene: Scene) -> None:
    assert written(simulate(scene.scenario())) == written(simulate(scene.scenario()))


@few
@given(scenes(), cuts)
def test_where_a_run_is_cut_makes_no_difference(scene: Scene, fractions: list[float]) -> None:
    scenario = scene.scenario()
    whole = written(simulate(scenario))
    run = start(scenario)
    for _ in advance_by(run, fractions, length(scenario)):
        pass
    assert written(run.journal()) == whole


@few
@given(scenes(), st.integers(1, 5))
def test_how_often_segments_are_handed_over_makes_no_difference(scene: Scene, room: int) -> None:
    run = start(scene.scenario())
    state = run.state
    run.state = state._replace(segments=state.segments[:room], energies=state.energies[:room])
    assert run.advance()
    assert written(run.journal()) == written(simulate(scene.scenario()))


@few
@given(scenes(), st.randoms(use_true_random=False))
def test_nobody_knows_how_long_an_answer_will_be(scene: Scene, random: Random) -> None:
    # Until somebody finishes, all decisions are the same with the lengths of all answers permuted.
    one, other = start(scene.scenario()), start(scene.scenario())
    outputs = other.state.requests[:, c.OUTPUT].tolist()
    random.shuffle(outputs)
    other.state.requests[:, c.OUTPUT] = outputs
    for run in (one, other):
        assert run.advance()
    finish = min(run.state.requests[:, c.END].min() for run in (one, other))
    assert decisions(one, finish) == decisions(other, finish)


# ---- all adds up


@few
@given(scenes())
def test_the_time_of_a_request_is_fully_explained_twice(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    latency = column(requests, "end") - column(requests, "arrival")
    waited = column(requests, "admitted") - column(requests, "arrival")
    moved = column(requests, "first") - column(requests, "prefilled")
    whose = sum(column(requests, name) for name in c.REQUEST_LABELS)
    bound = sum(
        column(requests, f"{phase}_{part}") for phase in ("prefill", "decode") for part in PARTS
    )
    assert (waited + moved + whose).tolist() == latency.tolist()
    assert (waited + moved + bound).tolist() == latency.tolist()


@few
@given(scenes())
def test_no_share_of_a_latency_is_negative(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    names = [*c.REQUEST_LABELS, *(f"{x}_{part}" for x in ("prefill", "decode") for part in PARTS)]
    assert all(column(requests, name).min() >= 0 for name in names)


@few
@given(scenes())
def test_who_is_alone_pays_nothing_for_others(scene: Scene) -> None:
    requests = simulate(alone(scene).scenario()).requests
    assert not column(requests, "others_prefill").any()
    assert not column(requests, "others_decode").any()
    assert not column(requests, "interference").any()


@few
@given(scenes())
def test_the_joules_of_segments_are_those_of_all_steps(scene: Scene) -> None:
    slow = Reference(scene.scenario()).run()
    segments = simulate(slow.scenario).segment_table()
    steps = column(segments, "steps")
    closed = steps * segments["joules_first"].to_numpy()
    closed = closed + steps * (steps - 1) / 2 * segments["joules_growth"].to_numpy()
    explicit = 0.0
    for worker, segment in slow.stretches:
        for batch in segment.batches:
            values, _, _ = worker.pool.price.price(rows_of(batch, slow.scenario.model.caps))
            explicit += values[OUTPUTS.index("joules")]
    assert closed.sum() == pytest.approx(explicit, rel=1e-9)


@few
@given(scenes())
def test_a_step_never_takes_more_tokens_than_its_budget(scene: Scene) -> None:
    journal = simulate(scene.scenario())
    table = journal.segment_table().join(journal.workers, on="worker", how="left")
    tokens = column(table, "decoding") + column(table, "prefill")
    budgets = [each.plan.dp * each.plan.max_tokens for each in scene.scenario().pools]
    assert (tokens <= np.array(budgets)[column(table, "pool")]).all()
    assert (tokens >= 1).all()


@few
@given(scenes())
def test_a_closed_loop_has_as_many_in_flight_as_it_may_and_no_more(scene: Scene) -> None:
    arrivals = scene.traffic.arrivals
    assume(isinstance(arrivals, ClosedLoop))
    assert isinstance(arrivals, ClosedLoop)
    requests = simulate(scene.scenario()).requests
    begin, end = column(requests, "arrival"), column(requests, "end")
    many = min(arrivals.concurrency, len(begin))
    assert most_at_once(begin, end, np.ones(len(begin), dtype=np.int64)) == many
    # whoever leaves is followed at once
    assert sorted(begin)[many:] == sorted(end)[: len(end) - many]


# ---- an idle replica meets the closed form


@few
@given(scenes())
def test_a_lone_request_takes_what_the_price_of_its_steps_says(scene: Scene) -> None:
    scenario = alone(scene).scenario()
    run = start(scenario)
    run.advance()
    (request,) = run.journal().requests.to_dicts()
    prompt, output, caps = request["prompt"], request["output"], scenario.model.caps

    def costs(which: int, item: Item) -> float:
        price = run.prices[which]
        rows = np.zeros((price.plan.dp, len(batch_row([], caps))))
        rows[0] = batch_row([item], caps)
        return float(price.price(rows)[0][: len(PARTS)].sum())

    budget = scenario.pools[0].plan.max_tokens
    chunks = [(done, min(budget, prompt - done)) for done in range(0, prompt, budget)]
    ttft = scenario.engine.first_token_delay + sum(
        costs(0, Item(done, new, True, done + new == prompt)) for done, new in chunks
    )
    if len(scenario.pools) == 2:
        level = scenario.system.level(sum(pool.chips for pool in scenario.pools))
        rate = level.bandwidth * scenario.engine.transfer_efficiency
        ttft += scenario.engine.transfer_latency + level.latency
        ttft += prompt * run.prices[1].room.token_bytes / rate
    assert request["first"] - request["arrival"] == pytest.approx(1e12 * ttft, rel=1e-6)
    decode = [costs(-1, Item(prompt + j, 1, False, True)) for j in range(output - 1)]
    tpot = (request["end"] - request["first"]) / max(1, output - 1)
    assert tpot == pytest.approx(1e12 * sum(decode) / max(1, output - 1), rel=1e-6)
