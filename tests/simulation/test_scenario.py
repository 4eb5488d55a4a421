"""Scenarios: what a run depends on, as a value and as a file."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from jalapeno.errors import BadFact, BadPlan, BadScenario, UnknownName
from jalapeno.mapping import Plan
from jalapeno.simulation import (
    ClosedLoop,
    Poisson,
    Pool,
    Preemption,
    Role,
    Router,
    Scenario,
    dump_scenario,
    read_scenario,
    resolve,
    scenario_of,
)
from jalapeno.simulation.scenario import to_json
from jalapeno.simulation.scenario_file import from_json
from tests.simulation.scenes import Scene, closed, facts, plan, poisson, scenes, unified

FACTS = facts("jalapeno-rack", "gpt-oss-120b")
TRAFFIC = closed(3, 2, 20, 5)


def small() -> Scenario:
    return unified(plan("TP2"), TRAFFIC, replicas=3)


def data() -> dict[str, Any]:
    content = json.loads(dump_scenario(small()))
    assert isinstance(content, dict)
    return content


def changed(path: str, value: object) -> dict[str, Any]:
    """A scenario file with another value at *path*."""
    content = data()
    place: Any = content
    *above, last = path.split("/")
    for key in above:
        place = place[int(key) if key.isdigit() else key]
    place[last] = value
    return content


def without(path: str) -> dict[str, Any]:
    """A scenario file that lacks the entry at *path*."""
    content = data()
    place: Any = content
    *above, last = path.split("/")
    for key in above:
        place = place[int(key) if key.isdigit() else key]
    del place[last]
    return content


# ---- facts


def test_facts_of_a_scenario_may_be_overridden_by_path() -> None:
    trees = resolve(
        "jalapeno-rack",
        "gpt-oss-120b",
        "jalapeno-engine",
        {
            "chip.hbm.bandwidth": "20 TB/s",
            "system.chips": "64",
            "model.moe.top_k": "8",
            "engine.host_step": "5 us",
        },
    )
    scenario = scenario_of(trees, small().pools, TRAFFIC)
    assert scenario.system.chip.hbm.bandwidth == 20e12
    assert scenario.system.chips == 64
    assert scenario.model.moe.top_k == 8
    assert scenario.engine.host_step == 5e-6
    assert scenario.system.facts["chip.hbm.bandwidth"].overridden


def test_an_override_leaves_the_catalogue_as_it_was() -> None:
    names = ("jalapeno-rack", "gpt-oss-120b", "jalapeno-engine")
    resolve(*names, {"engine.host_step": "5 us"})
    assert scenario_of(resolve(*names), small().pools, TRAFFIC).engine.host_step == 0.0


@pytest.mark.parametrize("path", ["tariff.price", "hbm.bandwidth", "engine", "chip", "", "."])
def test_an_override_begins_with_what_it_is_of(path: str) -> None:
    message = (
        rf"^--set {path}: begin with one of chip, system, model, engine, "
        r"as in chip\.hbm\.bandwidth$"
    )
    if path == "chip":
        message = r"^no fact 'chip'"
    with pytest.raises(UnknownName, match=message):
        resolve("jalapeno-rack", "gpt-oss-120b", "jalapeno-engine", {path: "1"})


def test_an_override_of_nothing_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'chip\.hbm\.bandwidth'\?"):
        resolve("jalapeno-rack", "gpt-oss-120b", "jalapeno-engine", {"chip.hbm.bandwith": "1"})


def test_an_override_in_a_wrong_unit_is_refused_when_the_scenario_is_built() -> None:
    names = ("jalapeno-rack", "gpt-oss-120b", "jalapeno-engine")
    trees = resolve(*names, {"chip.hbm.bandwidth": "20 TB"})
    with pytest.raises(BadFact, match=r"chip\.hbm\.bandwidth"):
        scenario_of(trees, small().pools, TRAFFIC)


# ---- pools


def test_a_pool_needs_a_worker() -> None:
    with pytest.raises(BadPlan, match=r"^a pool needs at least one replica, got 0$"):
        Pool(role=Role.UNIFIED, plan=plan("TP2"), replicas=0)


def test_a_layout_has_a_short_name() -> None:
    assert small().label == "3xTP2"
    pools = ((Role.PREFILL, 1, plan("TP1")), (Role.DECODE, 5, plan("TEP4")))
    assert Scene(pools=pools, traffic=TRAFFIC).scenario().label == "P 1xTP1 + D 5xTEP4"


def test_chips_of_a_pool_are_those_of_all_its_workers() -> None:
    assert Pool(role=Role.DECODE, plan=plan("DEP4"), replicas=3).chips == 12


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ((), "none"),
        ((Role.PREFILL,), "prefill"),
        ((Role.DECODE,), "decode"),
        ((Role.DECODE, Role.PREFILL), "decode, prefill"),
        ((Role.UNIFIED, Role.DECODE), "unified, decode"),
        ((Role.PREFILL, Role.PREFILL), "prefill, prefill"),
        ((Role.PREFILL, Role.DECODE, Role.PREFILL), "prefill, decode, prefill"),
    ],
)
def test_pools_are_unified_or_prefill_and_then_decode(roles: tuple[Role, ...], told: str) -> None:
    message = (
        r"^pools must be one or more unified, or one or more prefill and then one or more decode; "
        rf"got {told}$"
    )
    with pytest.raises(BadPlan, match=message):
        Scene(pools=tuple((role, 1, plan("TP1")) for role in roles), traffic=TRAFFIC).scenario()


def test_a_stage_may_have_several_pools() -> None:
    pools: tuple[tuple[Role, int, Plan], ...] = (
        (Role.PREFILL, 1, plan("TP1")),
        (Role.PREFILL, 2, plan("TP2")),
        (Role.DECODE, 1, plan("TEP4")),
        (Role.DECODE, 3, plan("DEP4")),
    )
    several = Scene(pools=pools, traffic=TRAFFIC).scenario()
    assert several.label == "P 1xTP1 + P 2xTP2 + D 1xTEP4 + D 3xDEP4"
    assert several.split
    pools = ((Role.UNIFIED, 1, plan("TP1")), (Role.UNIFIED, 2, plan("TP2")))
    assert not Scene(pools=pools, traffic=TRAFFIC).scenario().split


def test_more_chips_than_a_system_has_are_more_systems() -> None:
    assert unified(plan("TP2"), TRAFFIC, replicas=65).pools[0].chips == 130 > 128


def test_a_prefill_pool_never_preempts() -> None:
    message = r"^a prefill pool with preemption 'swap': prompts do not grow.*in the decode pool$"
    with pytest.raises(BadPlan, match=message):
        Pool(role=Role.PREFILL, plan=plan("TP1"), replicas=1, preemption=Preemption.SWAP)


# ---- older files


def test_what_a_file_leaves_out_is_one_site_one_queue_and_no_preemption() -> None:
    content = data()
    for entry in ("others", "router"):
        del content[entry]
    for entry in ("site", "preemption"):
        del content["pools"][0][entry]
    assert from_json(content) == small()


def test_the_first_format_is_still_read() -> None:
    content = json.loads((Path(__file__).parent / "format-1.json").read_text("utf-8"))
    assert content["format"] == 1
    scenario = from_json(content)
    assert scenario.label == "P 1xTP1 + D 2xTP2"
    assert scenario.system.engine == scenario.engine.name == "jalapeno-engine"
    assert scenario.router is Router.SHARED
    assert {pool.preemption for pool in scenario.pools} == {Preemption.NONE}
    assert from_json(json.loads(dump_scenario(scenario))).digest == scenario.digest
    content["system"]["chip"]["name"] = "chili"
    message = r"^old: format 1 lacks facts .*no chip 'chili'.*: write the scenario again$"
    with pytest.raises(BadScenario, match=re.compile(message, re.DOTALL)):
        from_json(content, "old")


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_no_stream_takes_is_refused(seed: int) -> None:
    with pytest.raises(BadScenario, match=rf"^seed must be in \[0, 2\^64\), got {seed}$"):
        replace(small(), seed=seed)


# ---- the file


@settings(max_examples=50)
@given(scenes())
def test_a_scenario_survives_its_file(scene: Scene) -> None:
    scenario = scene.scenario()
    assert from_json(json.loads(dump_scenario(scenario))) == scenario


def test_a_scenario_file_is_read_back(tmp_path: Path) -> None:
    for number, traffic in enumerate((TRAFFIC, poisson(4, 2.5, 30, 3, ratio=0.5, seed=7))):
        path = tmp_path / f"{number}.json"
        scenario = unified(plan("DEP2"), traffic, seed=3)
        path.write_text(dump_scenario(scenario), "utf-8")
        assert read_scenario(path) == scenario


def test_writing_a_scenario_twice_gives_the_same_text() -> None:
    text = dump_scenario(small())
    assert dump_scenario(from_json(json.loads(text))) == text
    assert text.endswith("}\n")


def test_a_file_holds_the_facts_themselves_and_not_only_their_names() -> None:
    content = changed("engine/host_step", {"value": "7 us", "kind": "assumed", "source": "me"})
    assert from_json(content).engine.host_step == 7e-6


def test_equal_scenarios_have_equal_digests_and_others_have_others() -> None:
    scenario = small()
    assert len(scenario.digest) == 16
    assert scenario.digest == small().digest == from_json(data()).digest
    others = [
        replace(scenario, seed=1),
        replace(scenario, traffic=replace(TRAFFIC, requests=4)),
        replace(scenario, traffic=replace(TRAFFIC, arrivals=ClosedLoop(concurrency=3))),
        replace(scenario, traffic=replace(TRAFFIC, arrivals=Poisson(rate=2.0))),
        unified(plan("TP2"), TRAFFIC, replicas=2),
        unified(plan("TP2", max_running=5), TRAFFIC, replicas=3),
        unified(plan("TP2"), TRAFFIC, replicas=3, delay="1 ms"),
    ]
    assert len({each.digest for each in (scenario, *others)}) == 1 + len(others)


def test_the_order_of_keys_in_a_file_does_not_matter() -> None:
    content = data()
    turned = dict(reversed(content.items()))
    assert from_json(turned) == from_json(content)


# ---- files that are none


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "absent.json"
    with pytest.raises(BadScenario, match=r"absent\.json: cannot be read: No such file"):
        read_scenario(path)


def test_a_folder_is_not_a_scenario(tmp_path: Path) -> None:
    with pytest.raises(BadScenario, match=r": cannot be read: Is a directory$"):
        read_scenario(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"seed = 1", b"\xff\xfe\x00"])
def test_what_is_not_json_is_said_not_to_be(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(BadScenario, match=r"broken\.json: not JSON: "):
        read_scenario(path)


@pytest.mark.parametrize("content", [[], {}, 3, None, "format", {"seed": 1}])
def test_other_json_is_not_a_scenario(content: object) -> None:
    with pytest.raises(BadScenario, match=r"^here: not a scenario: it has no 'format'$"):
        from_json(content, "here")


@pytest.mark.parametrize("version", [4, 99, 0, "1", 1.0, True, None])
def test_another_format_is_refused_with_the_mend(version: object) -> None:
    message = (
        rf"^here: format {version!r}; this version reads formats 1 to 3: "
        r"upgrade jalapeno, or write the scenario again$"
    )
    with pytest.raises(BadScenario, match=message):
        from_json(changed("format", version), "here")


def test_the_path_of_a_file_is_in_the_message(tmp_path: Path) -> None:
    path = tmp_path / "newer.json"
    path.write_text(json.dumps(changed("format", 4)))
    with pytest.raises(BadScenario, match=r"newer\.json: format 4;"):
        read_scenario(path)


@pytest.mark.parametrize(
    "path",
    [
        "system",
        "model",
        "engine",
        "pools",
        "pools/0/role",
        "pools/0/plan",
        "pools/0/plan/max_running",
        "pools/0/plan/precision",
        "pools/0/plan/precision/kv",
        "pools/0/replicas",
        "traffic",
        "traffic/lengths",
        "traffic/lengths/isl",
        "traffic/arrivals",
        "traffic/arrivals/kind",
        "traffic/arrivals/concurrency",
        "traffic/requests",
        "seed",
    ],
)
def test_what_is_missing_is_named(path: str) -> None:
    last = path.rsplit("/", maxsplit=1)[-1]
    message = rf"^scenario: missing, unknown or mistyped entry: .*'{last}'"
    with pytest.raises(BadScenario, match=message):
        from_json(without(path))


@pytest.mark.parametrize(
    "path",
    ["pools/0/plan/qp", "pools/0/colour", "pools/0/plan/precision/wifi", "traffic/lengths/mean"],
)
def test_what_is_unknown_is_named(path: str) -> None:
    last = path.rsplit("/", maxsplit=1)[-1]
    with pytest.raises(BadScenario, match=rf"unknown or mistyped entry: .*'{last}'"):
        from_json(changed(path, 1))


def test_arrivals_of_an_unknown_kind_name_those_there_are() -> None:
    message = r"^scenario: arrivals of kind 'bursts'; there are closed_loop, poisson, gamma, trace$"
    with pytest.raises(BadScenario, match=message):
        from_json(changed("traffic/arrivals/kind", "bursts"))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("pools", 3),
        ("pools/0/role", "both"),
        ("pools/0/role", ["unified"]),
        ("pools/0/site", 3),
        ("pools/0/preemption", "swop"),
        ("router", "shard"),
        ("router", None),
        ("others", 3),
        ("others", {"west": {}}),
        ("others", {"west": 3}),
        ("pools/0/replicas", "2"),
        ("pools/0/replicas", 1.5),
        ("pools/0/replicas", True),
        ("pools/0/plan", []),
        ("pools/0/plan/max_tokens", "64"),
        ("pools/0/plan/max_tokens", 64.0),
        ("pools/0/plan/precision", "fp8"),
        ("pools/0/plan/precision/kv", ["fp8"]),
        ("traffic", None),
        ("traffic/requests", "3"),
        ("traffic/requests", 2.5),
        ("traffic/requests", float("nan")),
        ("traffic/lengths", 3),
        ("traffic/lengths/isl", 20.5),
        ("traffic/lengths/seed", "a"),
        ("traffic/lengths/ratio", "0.8"),
        ("traffic/arrivals", 3),
        ("traffic/arrivals/concurrency", 2.5),
        ("traffic/arrivals/kind", ["closed_loop"]),
        ("seed", "x"),
        ("seed", 1.5),
        ("seed", None),
        ("system", 3),
        ("model", []),
        ("engine", "jalapeno-engine"),
    ],
)
def test_what_is_mistyped_is_refused(path: str, value: object) -> None:
    with pytest.raises(BadScenario, match=r"^scenario: missing, unknown or mistyped entry: "):
        from_json(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value", "error", "message"),
    [
        ("traffic/requests", 0, BadScenario, r"^requests must be at least 1, got 0$"),
        ("traffic/arrivals/concurrency", 0, BadScenario, r"^concurrency must be at least 1, got 0"),
        ("traffic/lengths/ratio", 2.0, BadScenario, r"^lengths: ratio must be in \(0, 1\], got 2"),
        ("pools/0/replicas", 0, BadPlan, r"^a pool needs at least one replica, got 0$"),
        ("pools/0/plan/tp", 0, BadPlan, r"^plan\.tp must be at least 1, got 0$"),
        ("pools/0/plan/max_running", -1, BadPlan, r"^plan\.max_running must be at least 1, got -1"),
        ("pools/0/plan/ep", 3, BadPlan, r"^plan\.ep=3 does not divide the 2 chips"),
        ("pools/0/plan/dp", 2, BadPlan, r"plan\.ep must be 4, not 1$"),
        (
            "pools/0/plan/precision/kv",
            "fp3",
            BadPlan,
            r"^precision\.kv: no format 'fp3'; there are",
        ),
        ("pools/0/site", "west", UnknownName, r"^no site 'west'\nknown: main$"),
        ("system/chips", {"value": -1, "kind": "assumed", "source": "x"}, BadFact, r"chips"),
        ("model/layers", 36.5, BadFact, r"layers"),
    ],
)
def test_what_is_wrong_in_itself_says_so_itself(
    path: str, value: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        from_json(changed(path, value))


def test_reading_does_not_change_what_was_read() -> None:
    content = data()
    before = copy.deepcopy(content)
    from_json(content)
    assert content == before


def test_plain_data_of_a_scenario_is_what_its_file_holds() -> None:
    scenario = small()
    assert json.loads(dump_scenario(scenario)) == json.loads(json.dumps(to_json(scenario)))
    assert to_json(scenario)["system"] == dict(scenario.trees["system"])
    assert FACTS["model"] == to_json(scenario)["model"]
