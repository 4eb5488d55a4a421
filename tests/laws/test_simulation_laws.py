"""Laws of a run, whatever the scenario: nothing gets lost, nothing runs backwards, all adds up."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jalapeno.cost import PARTS
from jalapeno.mapping import OUTPUTS
from jalapeno.mapping.batch import Item, batch_row
from jalapeno.metrics import measure, require
from jalapeno.metrics.attribution import Until, causes, parts
from jalapeno.simulation import (
    ClosedLoop,
    Journal,
    Lengths,
    Preemption,
    Run,
    simulate,
    start,
)
from jalapeno.simulation import columns as c
from tests.laws.runs import (
    Integers,
    advance_by,
    all_scenes,
    column,
    cuts,
    few,
    length,
    most_at_once,
    pool_of_rank,
)
from tests.simulation.reference import Reference, rows_of
from tests.simulation.scenes import Scene, blocks_needed, scenes


def written(journal: Journal) -> list[bytes]:
    """The tables of *journal* as they would lie in a file."""
    tables = (journal.requests, journal.segment_table(), journal.workers, journal.pauses)
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


def decisions(run: Run, before: int) -> set[tuple[int, str, int]]:
    """(request, what, when or where) of all that was decided *before* a time."""
    made = set()
    for number, request in enumerate(run.state.seats.requests.tolist()):
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


# ---- nothing gets lost


@few
@given(all_scenes)
def test_every_request_that_enters_leaves(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    assert requests.height == scene.traffic.requests
    assert set(requests["status"]) == {"done"}


@few
@given(all_scenes)
def test_the_tokens_of_all_segments_are_the_tokens_asked_for(scene: Scene) -> None:
    journal = simulate(scene.scenario())
    requests, segments = journal.requests, journal.segment_table()
    steps = column(segments, "steps")
    outputs, prompts = column(requests, "output"), column(requests, "prompt")
    again, once_more = column(requests, "resumed").sum(), column(requests, "recomputed").sum()
    firsts = len(outputs) + again
    assert column(segments, "tokens").sum() + firsts == outputs.sum()
    most = max(pool.plan.queries for pool in journal.scenario.pools)
    each = steps * column(segments, "decoding")
    assert (
        (each <= column(segments, "tokens")) & (column(segments, "tokens") <= most * each)
    ).all()
    assert (steps * column(segments, "prefill")).sum() == prompts.sum() + once_more
    assert (column(segments, "sampled") - column(segments, "decoding")).sum() == firsts


# ---- nothing runs backwards


@few
@given(all_scenes)
def test_a_request_arrives_waits_computes_and_leaves_in_this_order(scene: Scene) -> None:
    scenario = scene.scenario()
    requests = simulate(scenario).requests
    order = ["arrival", "ready", "assigned", "admitted", "prefilled", "first", "end"]
    if scenario.split:
        order = ["arrival", "ready", "admitted", "prefilled", "assigned", "moved", "first", "end"]
    times = np.array([column(requests, name) for name in order])
    assert (np.diff(times, axis=0) >= 0).all()
    assert times.min() >= 0


@few
@given(all_scenes)
def test_a_worker_does_one_thing_at_a_time_and_its_pauses_are_told(scene: Scene) -> None:
    for _, segments in simulate(scene.scenario()).segment_table().group_by("worker"):
        begin = column(segments, "start")
        end = begin + seconds(segments)
        assert (column(segments, "steps") >= 1).all()
        before = np.concatenate([[0], end[:-1]])
        assert (begin >= before).all()
        assert column(segments, "stall").tolist() == (begin - before).tolist()


@few
@given(all_scenes, cuts)
def test_nothing_happens_after_the_time_a_run_was_advanced_to(
    scene: Scene, fractions: list[float]
) -> None:
    scenario = scene.scenario()
    run, whole = start(scenario), length(scenario)
    for time in sorted(int(fraction * whole) for fraction in fractions):
        run.advance(time)
        seats = run.state.seats
        assert seats.clock[c.C_NOW] <= time
        happened = seats.requests[:, c.ADMITTED : c.END + 1]
        assert happened.max() <= time
        ready = column(run.journal().requests, "ready")
        arrived = ready[: seats.clock[c.C_ARRIVED]]
        assert (arrived <= time).all()
        assert (ready[seats.clock[c.C_ARRIVED] : seats.clock[c.C_SENT]] > time).all()


# ---- the same again


@few
@given(all_scenes)
def test_the_same_scenario_gives_the_same_journal_byte_for_byte(scene: Scene) -> None:
    assert written(simulate(scene.scenario())) == written(simulate(scene.scenario()))


@few
@given(all_scenes, cuts)
def test_where_a_run_is_cut_makes_no_difference(scene: Scene, fractions: list[float]) -> None:
    scenario = scene.scenario()
    whole = written(simulate(scenario))
    run = start(scenario)
    for _ in advance_by(run, fractions, length(scenario)):
        pass
    assert written(run.journal()) == whole


@few
@given(all_scenes, st.integers(1, 5))
def test_how_often_segments_are_handed_over_makes_no_difference(scene: Scene, room: int) -> None:
    run = start(scene.scenario())
    state = run.state
    run.state = state._replace(segments=state.segments[:room], energies=state.energies[:room])
    assert run.advance()
    assert written(run.journal()) == written(simulate(scene.scenario()))


@few
@given(all_scenes, st.randoms(use_true_random=False))
def test_nobody_knows_how_long_an_answer_will_be(scene: Scene, random: Random) -> None:
    # Until somebody finishes, all decisions are the same with the lengths of all answers permuted.
    if scene.preemption is not Preemption.NONE and scene.blocks:  # any of them must fit alone
        lengths = scene.traffic.lengths
        assert isinstance(lengths, Lengths)
        whole = lengths.isl + lengths.osl + scene.drafted
        longest = blocks_needed(whole, scene.block_tokens)
        scene = replace(scene, blocks=max(scene.blocks, longest))
    one, other = start(scene.scenario()), start(scene.scenario())
    outputs = other.state.seats.requests[:, c.OUTPUT].tolist()
    random.shuffle(outputs)
    other.state.seats.requests[:, c.OUTPUT] = outputs
    for run in (one, other):
        assert run.advance()
    finish = min(run.state.seats.requests[:, c.END].min() for run in (one, other))
    assert finish >= 0
    assert decisions(one, finish) == decisions(other, finish)


# ---- all adds up


@few
@given(all_scenes)
def test_the_time_of_a_request_is_fully_explained_twice(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    for until in UNTIL:
        latency = column(requests, until) - column(requests, "arrival")
        for labels in (causes(requests, until), parts(requests, until)):
            assert labels.sum_horizontal().to_list() == latency.tolist()


UNTIL: tuple[Until, ...] = ("first", "end")


@few
@given(all_scenes)
def test_no_share_of_a_latency_is_negative(scene: Scene) -> None:
    requests = simulate(scene.scenario()).requests
    for labels in (causes(requests), parts(requests), requests.select(c.REQUEST_LOSSES)):
        assert all(column(labels, name).min() >= 0 for name in labels.columns)


@few
@given(all_scenes)
def test_a_run_keeps_every_law_of_the_audit(scene: Scene) -> None:
    require(measure(simulate(scene.scenario())).checks)


@few
@given(scenes())
def test_who_is_alone_pays_nothing_for_others(scene: Scene) -> None:
    requests = simulate(alone(scene).scenario()).requests
    assert not column(requests, "others_prefill").any()
    assert not column(requests, "others_decode").any()
    assert not column(requests, "interference").any()
    assert not column(requests, "preemptions").any()


@few
@given(all_scenes)
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
@given(all_scenes)
def test_a_step_never_takes_more_tokens_than_its_budget(scene: Scene) -> None:
    journal = simulate(scene.scenario())
    table = journal.segment_table().join(journal.workers, on="worker", how="left")
    brought = np.array([pool.plan.queries for pool in journal.scenario.pools])
    tokens = column(table, "decoding") * brought[column(table, "pool")] + column(table, "prefill")
    budgets = [each.plan.ranks * each.plan.max_tokens for each in scene.scenario().pools]
    assert (tokens <= np.array(budgets)[column(table, "pool")]).all()
    assert (tokens >= 1).all()


@few
@given(all_scenes)
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
    pools = pool_of_rank(scenario)
    here = there = pools[request["rank"]]

    def costs(which: int, item: Item) -> float:
        price = run.prices[which]
        rows = np.zeros((price.plan.ranks, len(batch_row([], caps))))
        rows[0] = batch_row([item], caps)
        return float(price.price(rows)[0][: len(PARTS)].sum())

    budget = scenario.pools[here].plan.max_tokens
    chunks = [(done, min(budget, prompt - done)) for done in range(0, prompt, budget)]
    ttft = scenario.site(scenario.pools[0]).engine.first_token_delay + sum(
        costs(here, Item(done, new, True, done + new == prompt)) for done, new in chunks
    )
    if scenario.split:
        there = pools[request["decode_rank"]]
        slow = Reference(scenario)
        setup, each = slow.path(slow.pools[here], slow.pools[there])
        ttft += (setup + prompt * each / 1000) / 1e12
    assert request["first"] - request["arrival"] == pytest.approx(1e12 * ttft, rel=1e-6)
    decode = [costs(there, Item(prompt + j, 1, False, True)) for j in range(output - 1)]
    tpot = (request["end"] - request["first"]) / max(1, output - 1)
    assert tpot == pytest.approx(1e12 * sum(decode) / max(1, output - 1), rel=1e-6)
