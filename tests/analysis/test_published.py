"""Jalapeño's published points: what is searched, what is short-listed, what is played out."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from jalapeno import catalogue
from jalapeno.analysis.published import (
    ENGINE,
    FIXED_CHIPS,
    MARGINS,
    REQUESTS_PER_SLOT,
    SPACE,
    Hunt,
    facts_for,
    frontier,
    hunt,
    mean_lengths,
    scenario_of_candidate,
    short_list,
)
from jalapeno.analysis.reproduction import OBJECTIVES
from jalapeno.catalogue import Kind, chip_of, engine_of, system_of
from jalapeno.errors import DoesNotFit, UnknownName
from jalapeno.mapping import check_plan
from jalapeno.mapping.search import Candidate, Space
from jalapeno.simulation import ClosedLoop, Lengths, Role, start
from tests.analysis.worlds import MODELS, hunted

pytestmark = pytest.mark.xdist_group("reproduction")
"""In one process, so that the reproduction is made once."""

CLAIM = catalogue.claim("gpt-oss-120b")
SMALL = Space(chips=(1, 8), budgets=(64, 1024, 8192), concurrency=(1, 16, 256))
LONE = ("min_e2e", "min_tbt")

every_model = pytest.mark.parametrize("model", MODELS)
every_objective = pytest.mark.parametrize("objective", OBJECTIVES)


def rate(item: Candidate) -> float:
    return item.steady.tokens_per_s_per_chip


def candidates(of: Hunt) -> list[Candidate]:
    return [item for _, item in of.found]


def allowed(model: str, objective: str) -> list[Candidate]:
    """What the short list of *objective* may choose from, before refinement."""
    chips = FIXED_CHIPS.get((model, objective))
    return [item for item in candidates(hunted(model)) if chips in (None, item.plan.chips)]


# ---- the facts


@every_model
def test_the_published_runs_are_on_the_first_silicon(model: str) -> None:
    chip = system_of(facts_for(catalogue.claim(model))["system"]).chip
    assert chip.stepping == "A0"
    assert chip.speed < chip_of(catalogue.tree("chips", "jalapeno")).speed


def test_facts_may_be_replaced() -> None:
    trees = facts_for(CLAIM, {"chip.hbm.bandwidth": "20 TB/s", "engine.overlap": "0.5"})
    assert system_of(trees["system"]).chip.hbm.bandwidth == 20e12
    fact = engine_of(trees["engine"]).facts["overlap"]
    assert (fact.value, fact.kind, fact.overridden) == (0.5, Kind.ASSUMED, True)


def test_what_is_asked_for_goes_before_what_was_measured() -> None:
    trees = facts_for(CLAIM, {"chip.stepping": "B0"})
    assert system_of(trees["system"]).chip.stepping == "B0"


def test_a_fact_that_does_not_exist_is_not_replaced() -> None:
    with pytest.raises(UnknownName, match="bandwidth"):
        facts_for(CLAIM, {"chip.hbm.bandwith": "20 TB/s"})


def test_jalapeno_runs_its_own_engine() -> None:
    assert engine_of(facts_for(CLAIM)["engine"]) == catalogue.engine(ENGINE)


# ---- the lengths


def test_mean_lengths_are_those_of_a_uniform_draw() -> None:
    assert mean_lengths() == (7372.5, 921.5)


def test_mean_lengths_are_what_long_lists_come_to() -> None:
    count = 200_000
    drawn = Lengths(isl=8192, osl=1024, ratio=0.8).draw(count)
    for tokens, mean in zip(drawn, mean_lengths(), strict=True):
        error = float(np.std(tokens)) / math.sqrt(count)
        assert float(np.mean(tokens)) == pytest.approx(mean, abs=4 * error)


# ---- the search


@every_model
def test_a_hunt_knows_what_it_is_for(model: str) -> None:
    found = hunted(model)
    assert found.claim == catalogue.claim(model)
    assert found.lengths == mean_lengths()
    assert len(found.found) > 1000


@every_model
def test_every_plan_found_divides_the_model_and_fits_the_rack(model: str) -> None:
    found = hunted(model)
    system, entry = system_of(found.trees["system"]), catalogue.model(model)
    for plan in {item.plan for item in candidates(found)}:
        check_plan(plan, entry, system)
        assert plan.chips in SPACE.chips
        assert plan.chips <= system.chips


@every_model
def test_every_plan_found_has_slots_and_cache_for_its_load(model: str) -> None:
    for price, item in hunted(model).found:
        assert item.plan.dp * item.plan.max_running >= item.concurrency
        tokens = int(sum(mean_lengths())) + 1
        assert item.plan.max_running * price.room.blocks_for(tokens) <= price.room.blocks


def test_a_hunt_stays_in_its_space() -> None:
    found = candidates(hunt(CLAIM, facts_for(CLAIM), SMALL))
    assert {item.plan.chips for item in found} == {1, 8}
    assert {item.concurrency for item in found} <= set(SMALL.concurrency)
    assert {item.plan.max_tokens for item in found} <= set(SMALL.budgets)


# ---- the short lists


@every_model
@every_objective
def test_a_short_list_is_short_and_not_empty(model: str, objective: str) -> None:
    listed = short_list(hunted(model), objective)
    assert 1 <= len(listed) <= len(MARGINS)
    assert len(set(listed)) == len(listed)


@every_model
@every_objective
def test_what_is_listed_fits_the_rack_and_can_be_started(model: str, objective: str) -> None:
    found = hunted(model)
    for item in short_list(found, objective):
        start(scenario_of_candidate(found.trees, item))


@every_model
def test_the_peak_is_not_beaten_by_anything_found(model: str) -> None:
    (peak,) = short_list(hunted(model), "peak")
    assert rate(peak) >= max(map(rate, candidates(hunted(model))))


@every_model
@pytest.mark.parametrize("objective", LONE)
def test_the_quickest_plans_serve_one_request_at_a_time(model: str, objective: str) -> None:
    (quickest,) = short_list(hunted(model), objective)
    assert quickest.concurrency == 1


@every_model
@pytest.mark.parametrize("objective", LONE)
def test_no_lone_request_is_served_quicker(model: str, objective: str) -> None:
    (quickest,) = short_list(hunted(model), objective)
    lone = [item.steady for item in allowed(model, objective) if item.concurrency == 1]
    if objective == "min_e2e":
        assert quickest.steady.e2e == min(steady.e2e for steady in lone)
    else:
        assert quickest.steady.tpot == min(steady.tpot for steady in lone)


@every_model
def test_among_equal_times_a_token_the_shorter_request_is_listed(model: str) -> None:
    # The budget of a step does not touch a lone decode; the prompt it does.
    (quickest,) = short_list(hunted(model), "min_tbt")
    equals = [
        item.steady.e2e
        for item in allowed(model, "min_tbt")
        if item.concurrency == 1 and item.steady.tpot == quickest.steady.tpot
    ]
    assert quickest.steady.e2e == min(equals)


@every_model
def test_what_is_listed_for_the_references_tbt_is_within_its_margins(model: str) -> None:
    limit = catalogue.claim(model).reference_min_tbt
    listed = short_list(hunted(model), "at_reference_tbt")
    assert all(item.steady.tpot <= limit * MARGINS[0] for item in listed)
    assert listed[-1].steady.tpot <= limit * MARGINS[-1]


@every_model
def test_nothing_found_within_the_references_tbt_has_more_throughput(model: str) -> None:
    limit = catalogue.claim(model).reference_min_tbt
    first = short_list(hunted(model), "at_reference_tbt")[0]
    within = [item for item in candidates(hunted(model)) if item.steady.tpot <= limit]
    assert rate(first) >= max(map(rate, within))


def test_margins_tighten_from_the_limit_itself() -> None:
    assert MARGINS[0] == 1.0
    assert all(tighter < wider for wider, tighter in pairwise(MARGINS))


@pytest.mark.parametrize(("model", "objective"), FIXED_CHIPS)
def test_chips_that_were_published_are_kept(model: str, objective: str) -> None:
    chips = FIXED_CHIPS[model, objective]
    assert {item.plan.chips for item in short_list(hunted(model), objective)} == {chips}


def test_r1_reached_its_speed_on_eight_chips() -> None:
    assert FIXED_CHIPS == {("deepseek-r1", "min_tbt"): 8}


def test_chips_are_fixed_for_one_objective_only() -> None:
    (quickest,) = short_list(hunted("deepseek-r1"), "min_e2e")
    assert quickest.plan.chips != 8


def test_a_limit_that_nothing_meets_is_named() -> None:
    claim = replace(CLAIM, reference_min_tbt=1e-9)
    impossible = replace(hunted(CLAIM.model), claim=claim)
    with pytest.raises(DoesNotFit, match="no plan of the search meets the limit"):
        short_list(impossible, "at_reference_tbt")


def test_an_unknown_objective_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no objective 'fastest'; there are peak, min_e2e"):
        short_list(hunted(CLAIM.model), "fastest")


# ---- the scenario


@every_objective
def test_a_candidate_is_played_as_one_replica_under_the_published_load(objective: str) -> None:
    found = hunted(CLAIM.model)
    item = short_list(found, objective)[0]
    made = scenario_of_candidate(found.trees, item)
    (pool,) = made.pools
    assert (pool.role, pool.replicas, pool.plan) == (Role.UNIFIED, 1, item.plan)
    assert made.traffic.arrivals == ClosedLoop(concurrency=item.concurrency)
    assert made.traffic.requests == REQUESTS_PER_SLOT * item.concurrency
    assert made.traffic.lengths == Lengths(isl=8192, osl=1024, ratio=0.8, template_tokens=0)


def test_a_candidate_is_played_with_the_facts_it_was_found_with() -> None:
    found = hunted(CLAIM.model)
    made = scenario_of_candidate(found.trees, candidates(found)[0])
    assert made.trees == found.trees
    assert made.system.chip.stepping == "A0"
    assert made.model == catalogue.model(CLAIM.model)


# ---- the frontier


@every_model
def test_along_the_frontier_slower_users_mean_more_throughput(model: str) -> None:
    front = frontier(hunted(model), 9)
    for faster, slower in pairwise(front):
        assert faster.steady.tpot < slower.steady.tpot
        assert rate(faster) < rate(slower)


@every_model
def test_nothing_found_beats_a_point_of_the_frontier(model: str) -> None:
    found = candidates(hunted(model))
    for point in frontier(hunted(model), 9):
        faster = [item for item in found if item.steady.tpot <= point.steady.tpot]
        assert max(map(rate, faster)) == rate(point)


@every_model
def test_the_frontier_goes_from_the_fastest_to_the_most(model: str) -> None:
    found = candidates(hunted(model))
    front = frontier(hunted(model), 9)
    assert front[0].steady.tpot == min(item.steady.tpot for item in found)
    assert rate(front[-1]) == max(map(rate, found))


@pytest.mark.parametrize("points", [2, 5, 9, 40])
def test_a_frontier_has_about_the_points_asked_for(points: int) -> None:
    front = frontier(hunted(CLAIM.model), points)
    assert 2 <= len(front) <= points
    assert len(set(front)) == len(front)


def test_points_of_the_frontier_are_spread_evenly_over_decades() -> None:
    front = frontier(hunted(CLAIM.model), 9)
    whole = math.log(front[-1].steady.tpot / front[0].steady.tpot)
    steps = [math.log(b.steady.tpot / a.steady.tpot) for a, b in pairwise(front)]
    assert max(steps) < 2.0 * whole / len(steps)


def test_a_space_without_one_request_alone_is_refused() -> None:
    some = hunted("deepseek-r1")
    many = replace(some, found=[item for item in some.found if item[1].concurrency > 1])
    for objective in ("min_e2e", "min_tbt"):
        with pytest.raises(DoesNotFit, match=f"serves one request alone, as {objective} asks: let"):
            short_list(many, objective)


def test_a_frontier_needs_two_points_and_a_candidate() -> None:
    some = hunted("deepseek-r1")
    with pytest.raises(DoesNotFit, match="a frontier of 1 points over"):
        frontier(some, 1)
    with pytest.raises(DoesNotFit, match="over 0 candidates"):
        frontier(replace(some, found=[]), 5)
