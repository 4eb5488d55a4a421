"""The same case with some facts changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.sensitivity_facts import (
    USUAL,
    Case,
    case_of,
    changed,
    is_whole,
    matching,
    numbers_of,
    written,
)
from jalapeno.catalogue import Fact, Kind
from jalapeno.errors import BadFact, UnknownName
from jalapeno.presentation.overrides import overridden, scenario_facts
from jalapeno.units import UNITS, parse
from tests.metrics import journals


def case() -> Case:
    return case_of(journals.scenario(journals.unified(tp=2)))


CASE = case()


def test_paths_are_those_of_set_and_of_the_tariff() -> None:
    facts = numbers_of(CASE)
    said = {
        path
        for path, fact in scenario_facts(CASE.scenario).items()
        if not isinstance(fact.value, str | bool)
    }
    assert said <= set(facts)
    assert {path.partition(".")[0] for path in set(facts) - said} == {"tariff"}


def test_nothing_changed_is_the_same_objects() -> None:
    again = changed(CASE, {})
    assert again.scenario is CASE.scenario
    assert again.tariff is CASE.tariff


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("chip.hbm.bandwidth", 20e12),
        ("system.fabric.local.latency", 0.5e-6),
        ("engine.overlap", 0.25),
        ("model.context", 200_000.0),
    ],
)
def test_a_change_is_what_set_does(path: str, value: float) -> None:
    fact = numbers_of(CASE)[path]
    mine = changed(CASE, {path: value}).scenario
    theirs = overridden(CASE.scenario, {path: written(value, fact)})
    assert mine == theirs
    assert mine.digest == theirs.digest
    assert scenario_facts(mine)[path].value == value


def test_a_tariff_changes_without_the_scenario() -> None:
    again = changed(CASE, {"tariff.pue": 1.3})
    assert again.scenario is CASE.scenario
    assert (again.tariff.pue, CASE.tariff.pue) == (1.3, 1.1)


def test_several_at_once_are_all_changed() -> None:
    values = {"chip.hbm.bandwidth": 1e13, "engine.overlap": 0.1, "tariff.price": 2.0}
    again = numbers_of(changed(CASE, values))
    assert {path: again[path].value for path in values} == values


def test_changes_add_to_changes() -> None:
    once = changed(CASE, {"engine.overlap": 0.1, "tariff.price": 2.0})
    twice = numbers_of(changed(once, {"engine.imbalance": 1.5, "tariff.pue": 1.2}))
    assert [twice[f"engine.{n}"].value for n in ("overlap", "imbalance")] == [0.1, 1.5]
    assert [twice[f"tariff.{n}"].value for n in ("price", "pue")] == [2.0, 1.2]


def test_the_loader_still_has_its_say() -> None:
    with pytest.raises(BadFact, match="is a share, at most 1"):
        changed(CASE, {"engine.overlap": 1.01})


@given(st.sampled_from(UNITS), st.floats(1e-15, 1e15))
def test_a_value_is_the_same_when_it_is_read_back(unit: str, value: float) -> None:
    fact = Fact(1.0, "1", unit, Kind.ASSUMED, "a test")
    assert parse(written(value, fact), unit) == pytest.approx(value, rel=1e-15)


def test_counts_stay_whole() -> None:
    facts = numbers_of(CASE)
    assert is_whole(facts["chip.cores"])
    assert not is_whole(facts["chip.hbm.bandwidth"])
    assert written(63.0, facts["chip.cores"]) == "63"


# ---- which facts


def test_usually_everything_but_the_model_is_varied() -> None:
    chosen = matching(numbers_of(CASE), USUAL)
    assert {path.partition(".")[0] for path in chosen} == {"chip", "system", "engine", "tariff"}


def test_patterns_choose() -> None:
    chosen = matching(numbers_of(CASE), ["chip.hbm.*", "model.layers"])
    assert set(chosen) == {"chip.hbm.capacity", "chip.hbm.bandwidth", "model.layers"}


def test_a_pattern_that_matches_nothing_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'chip.hbm.bandwidth'"):
        matching(numbers_of(CASE), ["chip.hbm.bandwith"])
