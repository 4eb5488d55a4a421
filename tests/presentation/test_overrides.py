"""Any fact of a scenario may be replaced, and the scenario says so."""

from __future__ import annotations

import json

import pytest

from jalapeno.catalogue import Kind
from jalapeno.errors import BadFact, UnknownName, UsageError
from jalapeno.presentation.overrides import overridden, overrides_of, scenario_facts
from jalapeno.simulation import dump_scenario, scenario_of
from jalapeno.simulation.scenario_file import from_json
from tests.presentation.samples import scenario


def test_nothing_replaced_is_the_same_scenario() -> None:
    plain = scenario()
    assert overridden(plain, {}) is plain
    assert overrides_of(plain) == {}


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("chip.hbm.bandwidth", "20 TB/s", 20e12),
        ("system.fabric.local.latency", "0.5 us", 0.5e-6),
        ("model.layers", "40", 40),
        ("engine.overlap", "0.25", 0.25),
    ],
)
def test_facts_of_every_root_can_be_replaced(path: str, text: str, value: float) -> None:
    changed = overridden(scenario(), {path: text})
    (found,) = overrides_of(changed).items()
    assert found[0] == path
    assert found[1].value == pytest.approx(value)
    assert found[1].kind is Kind.ASSUMED


def test_a_chip_may_be_reached_through_its_system() -> None:
    through = overridden(scenario(), {"system.chip.hbm.bandwidth": "20 TB/s"})
    assert list(overrides_of(through)) == ["chip.hbm.bandwidth"]


def test_the_original_stays_as_it_was() -> None:
    plain = scenario()
    before = plain.digest
    overridden(plain, {"chip.hbm.bandwidth": "20 TB/s"})
    assert plain.digest == before
    assert plain.system.chip.hbm.bandwidth == 15.4e12


def test_a_replaced_fact_makes_another_scenario_and_is_kept_in_its_file() -> None:
    plain = scenario()
    changed = overridden(plain, {"chip.hbm.bandwidth": "20 TB/s"})
    assert changed.digest != plain.digest
    again = from_json(json.loads(dump_scenario(changed)))
    assert again.digest == changed.digest
    assert list(overrides_of(again)) == ["chip.hbm.bandwidth"]


def test_overrides_add_to_those_that_are_there() -> None:
    changed = overridden(scenario(overrides={"chip.stepping": "A0"}), {"engine.overlap": "0.25"})
    assert set(overrides_of(changed)) == {"chip.stepping", "engine.overlap"}


def test_every_fact_has_the_path_that_set_takes() -> None:
    plain = scenario()
    facts = scenario_facts(plain)
    roots = {path.partition(".")[0] for path in facts}
    assert roots == {"chip", "system", "model", "engine"}
    assert facts["chip.hbm.bandwidth"].value == 15.4e12
    numbers = [path for path, fact in facts.items() if not isinstance(fact.value, str | bool)]
    for path in numbers[::7]:
        assert list(overrides_of(overridden(plain, {path: facts[path].text}))) == [path]


def test_facts_of_another_site_have_its_name_before_them() -> None:
    trees = {**scenario().trees, "others": {"west": scenario().trees}}
    plain = scenario_of(trees, scenario().pools, scenario().traffic)
    paths = {"others.west.chip.hbm.bandwidth": "20 TB/s", "others.west.engine.overlap": "0.25"}
    changed = overridden(plain, paths)
    assert set(overrides_of(changed)) == set(paths)
    assert changed.others["west"].system.chip.hbm.bandwidth == 20e12
    assert changed.system == plain.system
    assert overrides_of(plain) == {}
    with pytest.raises(UsageError, match="without effect here"):
        overridden(plain, {"others.west.engine.formats.gpt-oss-120b/kv": "bf16"})


@pytest.mark.parametrize("path", ["hbm.bandwidth", "plan.tp", "chip", "", "seed"])
def test_a_path_without_a_root_gets_the_roots(path: str) -> None:
    with pytest.raises((UnknownName, UsageError)) as caught:
        overridden(scenario(), {path: "1"})
    assert "chip" in str(caught.value)


def test_a_misspelt_path_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'chip.hbm.bandwidth'"):
        overridden(scenario(), {"chip.hbm.bandwith": "20 TB/s"})


def test_a_wrong_unit_gets_an_example() -> None:
    with pytest.raises(BadFact, match=r"hbm.bandwidth: expected a quantity in B/s, such as '15.4"):
        overridden(scenario(), {"chip.hbm.bandwidth": "20 W"})


@pytest.mark.parametrize(
    "path", ["engine.formats.gpt-oss-120b/kv", "engine.formats.deepseek-r1/experts"]
)
def test_what_would_change_nothing_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="without effect here, for the scenario's plans are made"):
        overridden(scenario(), {path: "bf16"})
