"""Steps that give several tokens: the schedule, lone requests, what changes and what does not."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.catalogue import model_of
from jalapeno.cost import PARTS
from jalapeno.errors import DoesNotFit
from jalapeno.mapping import Load, acceptance_length, estimate
from jalapeno.mapping.batch import Item, batch_row
from jalapeno.mapping.plan import GRAIN
from jalapeno.metrics import measure, require
from jalapeno.simulation import Journal, Preemption, Role, simulate, start
from jalapeno.simulation import columns as c
from jalapeno.simulation.scenario import to_json
from jalapeno.simulation.scenario_file import dump_scenario, from_json, parse_scenario
from jalapeno.simulation.speculation import rest_after, steps_for, steps_within, tokens_of
from tests.simulation.scenes import DRAFT, Scene, closed, plan, scenes, unified

YIELDS = st.integers(GRAIN, 9 * GRAIN)
RESTS = st.integers(0, GRAIN - 1)
STEPS = st.integers(0, 3000)


def scene_of(drafted: int, accepted: float, *, osl: int = 200, requests: int = 1) -> Scene:
    here = plan("TEP4", "deepseek-r1", "gb300-nvl72", max_running=4, max_tokens=2048)
    return Scene(
        model="deepseek-r1",
        system="gb300-nvl72",
        pools=((Role.UNIFIED, 1, here),),
        traffic=closed(requests, 4, 3000, osl),
        drafted=drafted,
        accepted=accepted,
        block_tokens=64,
    )


def steps_of(journal: Journal) -> int:
    """Steps in which anything decodes."""
    table = journal.segment_table()
    return int(table["steps"].to_numpy()[table["decoding"].to_numpy() > 0].sum())


def tpot(journal: Journal) -> float:
    return measure(journal).latency.tpot_ms.mean


# ---- the schedule


@given(YIELDS, RESTS, STEPS)
def test_tokens_are_the_whole_part_of_what_steps_give(each: int, rest: int, steps: int) -> None:
    exact = Fraction(rest, GRAIN) + steps * Fraction(each, GRAIN)
    assert tokens_of(each, rest, steps) == math.floor(exact)
    assert Fraction(rest_after(each, rest, steps), GRAIN) == exact - math.floor(exact)


@given(YIELDS, RESTS, STEPS, STEPS)
def test_where_a_run_of_steps_is_cut_makes_no_difference(
    each: int, rest: int, some: int, more: int
) -> None:
    between = rest_after(each, rest, some)
    together = tokens_of(each, rest, some) + tokens_of(each, between, more)
    assert tokens_of(each, rest, some + more) == together
    assert rest_after(each, rest, some + more) == rest_after(each, between, more)


@given(YIELDS, RESTS, st.integers(1, 20_000))
def test_as_many_steps_as_tokens_need_and_no_more(each: int, rest: int, tokens: int) -> None:
    steps = steps_for(each, rest, tokens)
    assert steps >= 1
    assert tokens_of(each, rest, steps) >= tokens > tokens_of(each, rest, steps - 1)


@given(YIELDS, RESTS, st.integers(0, 20_000))
def test_as_many_steps_as_stay_within_some_tokens(each: int, rest: int, tokens: int) -> None:
    steps = steps_within(each, rest, tokens)
    assert tokens_of(each, rest, steps) <= tokens < tokens_of(each, rest, steps + 1)


@given(STEPS)
def test_without_speculation_a_step_is_a_token(steps: int) -> None:
    assert tokens_of(GRAIN, 0, steps) == steps_for(GRAIN, 0, steps) == steps
    assert steps_within(GRAIN, 0, steps) == steps
    assert rest_after(GRAIN, 0, steps) == 0


# ---- a request alone


@settings(max_examples=25)
@given(st.integers(1, 5), st.floats(0.0, 1.0), st.integers(2, 300))
def test_a_lone_answer_takes_the_fewest_steps_that_give_its_tokens(
    drafted: int, share: float, osl: int
) -> None:
    accepted = 1.0 + drafted * share
    journal = simulate(scene_of(drafted, accepted, osl=osl).scenario())
    exact = Fraction(round(accepted * GRAIN), GRAIN)
    assert steps_of(journal) == math.ceil((osl - 1) / exact)
    table = journal.segment_table()
    assert int(table["tokens"].sum()) == osl - 1


def test_its_steps_cost_what_verifying_costs_at_the_mean_context() -> None:
    run = start(scene_of(3, 2.5, osl=101).scenario())
    run.advance()
    (request,) = run.journal().requests.to_dicts()
    (price,) = run.prices
    steps = [
        price.price(batch_row([Item(3000 + 2.5 * step, 4, False, True)], ()).reshape(1, -1))[0]
        for step in range(40)
    ]
    whole = sum(values[: len(PARTS)].sum() for values in steps)
    assert request["end"] - request["first"] == pytest.approx(1e12 * whole, rel=1e-6)


@pytest.mark.parametrize("accepted", [1.0, 1.6, 2.82, 4.0])
def test_an_idle_replica_meets_the_closed_form(accepted: float) -> None:
    scenario = scene_of(3, accepted, osl=601).scenario()
    run = start(scenario)
    run.advance()
    load = Load(concurrency=1, prompt=3000.0, output=601.0)
    steady = estimate(run.prices, (1,), load)
    report = measure(run.journal())
    # the last step is paid in full
    assert report.latency.tpot_ms.mean == pytest.approx(1e3 * steady.tpot, rel=5e-3)
    assert report.latency.e2e_ms.mean == pytest.approx(1e3 * steady.e2e, rel=5e-3)


# ---- what changes


def test_more_accepted_tokens_make_an_answer_faster_by_as_much() -> None:
    slow, fast = (simulate(scene_of(3, accepted, osl=601).scenario()) for accepted in (1.5, 3.0))
    assert tpot(slow) / tpot(fast) == pytest.approx(2.0, rel=0.01)


def test_drafts_that_are_never_accepted_only_cost() -> None:
    plain = simulate(scene_of(0, 0.0).scenario())
    idle = simulate(scene_of(3, 1.0).scenario())
    assert steps_of(idle) == steps_of(plain) == 199
    assert 1.1 < tpot(idle) / tpot(plain) < 2.0


def test_a_busy_system_gains_less_than_an_idle_one() -> None:
    def gain(concurrency: int) -> float:
        here = plan("DEP4", "deepseek-r1", "gb300-nvl72", max_running=128, max_tokens=2048)
        both = []
        for drafted, accepted in ((0, 0.0), (3, 2.5)):
            scene = Scene(
                model="deepseek-r1",
                system="gb300-nvl72",
                pools=((Role.UNIFIED, 1, here),),
                traffic=closed(concurrency, concurrency, 1000, 200),
                drafted=drafted,
                accepted=accepted,
            )
            both.append(tpot(simulate(scene.scenario())))
        return both[0] / both[1]

    idle, busy = gain(4), gain(500)
    assert 1.0 < busy < idle < 2.5


def test_gaps_are_between_steps_and_fewer_than_tokens() -> None:
    journal = simulate(scene_of(3, 2.5, osl=101).scenario())
    report = measure(journal)
    assert steps_of(journal) == 40
    assert report.latency.token_gap_ms.mean == pytest.approx(2.5 * report.latency.tpot_ms.mean)


def test_every_sequence_of_a_rank_gets_as_many_tokens_a_step() -> None:
    # eight alike that begin together end together, in as many steps as one alone
    here = plan("TEP4", "deepseek-r1", "gb300-nvl72", max_running=8, max_tokens=8 * 300)
    traffic = closed(8, 8, 300, 100)
    scene = Scene(
        model="deepseek-r1",
        system="gb300-nvl72",
        pools=((Role.UNIFIED, 1, here),),
        traffic=traffic,
        drafted=2,
        accepted=1.7,
    )
    requests = simulate(scene.scenario()).requests
    assert requests["end"].n_unique() == 1


@settings(max_examples=30)
@given(scenes(), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_the_mean_over_many_steps_is_the_acceptance_length(
    scene: Scene, rates: list[float]
) -> None:
    accepted = acceptance_length(rates)
    scene = replace(scene, drafted=len(rates), accepted=accepted, blocks=None)
    journal = simulate(scene.scenario())
    require(measure(journal).checks)
    table = journal.segment_table()
    sequences, tokens = (
        int((table["steps"] * table["decoding"]).sum()),
        int(table["tokens"].sum()),
    )
    answers = len(journal.requests)
    # last steps give what is still needed; a stretch is a token off at most
    lost = answers * (len(rates) + 1)
    assert accepted * sequences - lost <= tokens <= accepted * sequences + answers


# ---- what does not


@settings(max_examples=20)
@given(scenes())
def test_a_draft_layer_that_is_not_used_changes_nothing(scene: Scene) -> None:
    one, other = start(scene.scenario()), start(scene.scenario())
    tree = dict(other.scenario.trees["model"]) | {"draft": DRAFT}
    assert model_of(tree).draft is not None
    with_draft = replace(other.scenario, model=model_of(tree))
    journals = [simulate(one.scenario), simulate(with_draft)]
    assert journals[0].requests.equals(journals[1].requests)
    assert journals[0].segment_table().equals(journals[1].segment_table())


def test_the_time_to_first_token_of_an_idle_replica_is_nearly_the_same() -> None:
    plain, drafting = (
        measure(simulate(scene_of(drafted, accepted).scenario())).latency.ttft_ms.mean
        for drafted, accepted in ((0, 0.0), (3, 2.5))
    )
    assert 1.0 < drafting / plain < 1.05


# ---- blocks


def test_a_request_reserves_blocks_for_what_is_drafted_beyond_it() -> None:
    run = start(scene_of(5, 3.0, osl=8).scenario())
    run.advance()
    assert int(run.state.seats.requests[0, c.BLOCKS]) == -(-(3000 + 8 + 5) // 64)


def test_a_request_that_would_fit_without_drafts_is_refused_with_the_mend() -> None:
    tight = replace(scene_of(0, 0.0, osl=8), blocks=47, block_tokens=64)
    assert simulate(tight.scenario()).requests["status"].to_list() == ["done"]
    with pytest.raises(DoesNotFit, match=r"KV blocks; a rank has 47"):
        start(replace(tight, drafted=5, accepted=2.0).scenario())


@pytest.mark.parametrize("preemption", [Preemption.RECOMPUTE, Preemption.SWAP])
def test_the_last_of_a_full_cache_ends_though_its_last_step_reaches_beyond(
    preemption: Preemption,
) -> None:
    here = plan("TP1", max_running=3, max_tokens=64)
    scene = Scene(
        pools=((Role.UNIFIED, 1, here),),
        traffic=closed(6, 3, 20, 44),
        drafted=4,
        accepted=5.0,
        block_tokens=4,
        blocks=17,
        preemption=preemption,
        overrides=(("model.attention.window_layers", "0"),),
    )
    journal = simulate(scene.scenario())
    require(measure(journal).checks)
    assert journal.requests["preemptions"].sum() > 0


# ---- the files


def test_runs_of_a_plan_and_of_its_file_are_the_same() -> None:
    scenario = scene_of(3, 2.82, requests=5).scenario()
    again = parse_scenario(dump_scenario(scenario).encode(), "here", Path())
    assert again.digest == scenario.digest
    assert simulate(again).requests.equals(simulate(scenario).requests)


def test_a_plan_of_an_older_file_drafts_nothing() -> None:
    content = json.loads(json.dumps(to_json(unified(plan("TP1"), closed(3, 2, 40, 5)))))
    content["format"] = 2
    for pool in content["pools"]:
        for name in ("draft_tokens", "acceptance_length"):
            del pool["plan"][name]
    older = from_json(content)
    assert [pool.plan.queries for pool in older.pools] == [1]
    assert np.all(simulate(older).requests["output"].to_numpy() == 5)
