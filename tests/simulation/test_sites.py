"""Sites: systems and engines of their own for the pools of one scenario."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from jalapeno.errors import BadScenario, UnknownName
from jalapeno.simulation import (
    Pool,
    Preemption,
    Role,
    Router,
    Scenario,
    Site,
    dump_scenario,
    resolve,
    scenario_of,
)
from jalapeno.simulation.scenario_file import from_json
from tests.simulation.scenes import closed, facts, plan, unified

FACTS = facts("jalapeno-rack", "gpt-oss-120b")
TRAFFIC = closed(3, 2, 20, 5)


def small() -> Scenario:
    return unified(plan("TP2"), TRAFFIC, replicas=3)


def two_sites() -> Scenario:
    trees = resolve(
        "jalapeno-rack",
        "gpt-oss-120b",
        "jalapeno-engine",
        {"engine.host_step": "1 us", "others.west.engine.host_step": "7 us"},
        others={"west": ("gb300-nvl72", None)},
    )
    here = Pool(role=Role.PREFILL, plan=plan("TP1"), replicas=1)
    there = Pool(role=Role.DECODE, plan=plan("TP2", system="gb300-nvl72"), replicas=2, site="west")
    return scenario_of(trees, (here, there), TRAFFIC, router=Router.LEAST_LOADED)


def test_a_pool_stands_on_its_site() -> None:
    scenario = two_sites()
    here, there = (scenario.site(pool) for pool in scenario.pools)
    assert here == Site(system=scenario.system, engine=scenario.engine)
    assert (here.system.name, there.system.name) == ("jalapeno-rack", "gb300-nvl72")
    assert there.engine.name == there.system.engine == "tensorrt-llm"
    assert scenario.label == "P 1xTP1 + D 2xTP2@west"


def test_facts_of_each_site_may_be_overridden() -> None:
    scenario = two_sites()
    assert [scenario.site(pool).engine.host_step for pool in scenario.pools] == [1e-6, 7e-6]
    names = ("jalapeno-rack", "gpt-oss-120b", "jalapeno-engine")
    others = {"west": ("gb300-nvl72", None)}
    trees = resolve(*names, {"others.west.chip.hbm.bandwidth": "1 TB/s"}, others)
    west = scenario_of(trees, scenario.pools, TRAFFIC).others["west"]
    assert west.system.chip.hbm.bandwidth == 1e12
    with pytest.raises(UnknownName, match=r"^no site 'wets'; did you mean 'west'\?\nknown: west$"):
        resolve(*names, {"others.wets.engine.host_step": "1 us"}, others)
    with pytest.raises(UnknownName, match=r"begin with one of chip, system, engine"):
        resolve(*names, {"others.west.model.layers": "3"}, others)
    with pytest.raises(UnknownName, match=r"^no site 'west'\nknown: none$"):
        resolve(*names, {"others.west.engine.host_step": "1 us"})


def test_a_site_that_is_not_there_names_the_nearest() -> None:
    pool = Pool(role=Role.UNIFIED, plan=plan("TP1"), replicas=1, site="wets")
    message = r"^no site 'wets'; did you mean 'west'\?\nknown: main, west$"
    with pytest.raises(UnknownName, match=message):
        scenario_of(two_sites().trees, (pool,), TRAFFIC)


def test_the_main_site_has_its_name_alone() -> None:
    trees = {**FACTS, "others": {"main": FACTS}}
    with pytest.raises(BadScenario, match=r"^a site beside 'main' needs a name of its own"):
        scenario_of(trees, small().pools, TRAFFIC)


def test_sites_router_and_preemption_survive_the_file() -> None:
    scenario = two_sites()
    prefill, decode = scenario.pools
    pools = (prefill, replace(decode, preemption=Preemption.SWAP))
    scenario = replace(scenario, pools=pools)
    assert from_json(json.loads(dump_scenario(scenario))) == scenario
