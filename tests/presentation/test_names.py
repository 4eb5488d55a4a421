"""Words for systems, models, numbers and runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jalapeno import catalogue
from jalapeno.analysis.reproduction import OBJECTIVES, Outcome
from jalapeno.metrics import Check
from jalapeno.presentation import names
from jalapeno.simulation import Poisson
from tests.presentation.samples import attribution, report, scenario, small


@pytest.fixture(scope="module")
def run() -> Outcome:
    return small().comparisons[0].jalapeno[0].outcome


def test_every_published_number_has_words_and_a_unit() -> None:
    for objective in OBJECTIVES:
        assert names.OBJECTIVES[objective]
        assert names.SHORT[objective]
        assert names.unit_of(objective) in ("token/s/kW", "s", "ms")


def test_every_system_and_model_has_a_title() -> None:
    assert names.system_title("jalapeno-rack") == "Jalapeño rack"
    for system in catalogue.names("systems"):
        assert names.system_title(system)
    for model in catalogue.names("models"):
        assert names.model_title(model)


@pytest.mark.parametrize(
    ("count", "word"), [(0, "no"), (1, "one"), (9, "nine"), (12, "twelve"), (1300, "1,300")]
)
def test_small_numbers_are_spelt(count: int, word: str) -> None:
    assert names.spelt(count) == word


def test_the_load_of_a_closed_loop_is_what_is_in_flight(run: Outcome) -> None:
    assert names.load(run.scenario) == "4"


def test_the_load_of_an_open_stream_is_its_rate(run: Outcome) -> None:
    traffic = replace(run.scenario.traffic, arrivals=Poisson(rate=2.5))
    assert names.load(replace(run.scenario, traffic=traffic)) == "2.5/s"


def test_the_budget_is_of_each_pool(run: Outcome) -> None:
    assert names.budget(run.scenario) == "4,096"
    assert names.budget(small().rows[0].outcome.scenario) == "8,448 + 1"


def test_where_the_time_goes_begins_with_the_largest_part(run: Outcome) -> None:
    assert names.where_time_goes(run.report).startswith(
        "memory 31.0 %, matrix 22.0 %, issue/host 17"
    )


def test_small_parts_are_not_worth_a_word() -> None:
    parts = dict.fromkeys(small().rows[0].outcome.report.attribution.e2e_by_part_ms, 0.0)
    shares = parts | {"memory": 0.96, "front_end": 0.04}
    made = report(scenario(), per_kw=1.0, e2e_s=1.0, tbt_ms=1.0)
    made = replace(made, attribution=attribution(1000.0, 10.0, shares))
    assert names.where_time_goes(made) == "memory 96.0 %"


def test_laws_are_counted_and_broken_ones_named(run: Outcome) -> None:
    assert names.laws_held(run) == "10 of 10 laws"
    checks = (*run.report.checks[1:], Check("joules", False, "minus one"))
    broken = replace(run, report=replace(run.report, checks=checks))
    assert names.laws_held(broken) == "9 of 10 laws; BROKEN: joules"
