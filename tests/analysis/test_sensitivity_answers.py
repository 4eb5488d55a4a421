"""Answers by the closed form and by simulation."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.analysis import sensitivity_answers as module
from jalapeno.analysis.explain_energy import energy
from jalapeno.analysis.sensitivity_answers import (
    ANSWERS,
    answer_of,
    closed_form,
    not_covered,
    simulation,
    steady_state,
)
from jalapeno.analysis.sensitivity_facts import Case, case_of, changed
from jalapeno.cost import PARTS
from jalapeno.errors import UnknownName
from jalapeno.metrics import measure
from jalapeno.simulation import (
    ClosedLoop,
    Journal,
    Lengths,
    Poisson,
    Pool,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
    simulate,
)
from tests.metrics import journals

COVERED = [name for name, answer in ANSWERS.items() if answer.steady]


def scenario(pools: tuple[Pool, ...]) -> Scenario:
    return journals.scenario(
        pools, requests=400, concurrency=12, lengths=Lengths(isl=1000, osl=200, ratio=0.5)
    )


SCENARIOS = {
    "unified": scenario(journals.unified(tp=2)),
    "split": scenario(journals.split(1, 2)),
}


@pytest.fixture(scope="module")
def played() -> dict[str, Journal]:
    return {name: simulate(each) for name, each in SCENARIOS.items()}


@pytest.mark.parametrize("pools", SCENARIOS)
@pytest.mark.parametrize("name", COVERED)
def test_the_closed_form_is_near_the_simulation(
    name: str, pools: str, played: dict[str, Journal]
) -> None:
    case = case_of(SCENARIOS[pools])
    answer = answer_of(name)
    near = closed_form(answer)(case)
    assert near == pytest.approx(simulation(answer, played[pools])(case), rel=0.15)


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_of_a_run_is_a_number_of_its_report(
    name: str, played: dict[str, Journal]
) -> None:
    value = answer_of(name).report(measure(played["unified"]))
    assert value > 0.0


def test_names_say_units_and_statistics() -> None:
    report = measure(simulate(SCENARIOS["unified"]))
    assert ANSWERS["p99_tbt_ms"].report(report) == report.latency.tpot_ms.p99
    assert ANSWERS["median_ttft_ms"].report(report) == report.latency.ttft_ms.median
    found = ANSWERS["tokens_per_s_per_kw_all_in"].report(report)
    assert found == report.power.all_in.tokens_per_s_per_kw
    found = ANSWERS["joules_per_token_facility"].report(report)
    assert found == report.power.facility.joules_per_token


def test_watts_by_the_closed_form_are_the_tariffs() -> None:
    case = case_of(SCENARIOS["unified"])
    tariff = catalogue.tariff("jalapeno")
    for name, watts in (
        ("package_tdp", tariff.tdp),
        ("all_in", tariff.all_in),
        ("facility", tariff.all_in * tariff.pue),
        ("package", steady_state(case).watts_per_chip),
    ):
        assert closed_form(answer_of(f"watts_per_chip_{name}"))(case) == watts
        rate = closed_form(answer_of(f"tokens_per_s_per_kw_{name}"))(case)
        joules = closed_form(answer_of(f"joules_per_token_{name}"))(case)
        assert rate * joules == pytest.approx(1000.0)


# ---- what it covers


def test_means_of_a_closed_loop_are_covered() -> None:
    for each in SCENARIOS.values():
        assert all(not_covered(case_of(each), answer_of(name)) == "" for name in COVERED)


@pytest.mark.parametrize("name", ["p99_tbt_ms", "median_e2e_ms", "mean_token_gap_ms"])
def test_percentiles_are_not_covered(name: str) -> None:
    said = not_covered(case_of(SCENARIOS["unified"]), answer_of(name))
    assert said == f"the closed form has means and rates, not {name}"


def test_an_open_stream_is_not_covered() -> None:
    plain = SCENARIOS["unified"]
    open_ = replace(plain, traffic=replace(plain.traffic, arrivals=Poisson(rate=1.0)))
    said = not_covered(case_of(open_), answer_of("mean_tbt_ms"))
    assert "these requests arrive by themselves" in said


def test_an_unknown_answer_gets_the_nearest_and_all() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'mean_tbt_ms'(?s:.)*p99_ttft_ms"):
        answer_of("mean_tpt_ms")


# ---- how often it simulates


def test_only_a_changed_scenario_is_simulated(
    monkeypatch: pytest.MonkeyPatch, played: dict[str, Journal]
) -> None:
    asked: list[Scenario] = []

    def counted(of: Scenario) -> Journal:
        asked.append(of)
        return played["unified"]

    monkeypatch.setattr(module, "simulate", counted)
    case: Case = case_of(played["unified"].scenario)
    ask = simulation(answer_of("tokens_per_s_per_kw_facility"), played["unified"])
    plain = ask(case)
    assert ask(changed(case, {"tariff.pue": 2.2})) == pytest.approx(plain / 2.0)
    assert asked == []
    ask(changed(case, {"engine.overlap": 0.5}))
    assert len(asked) == 1


def two_sites() -> Scenario:
    """A pool at home and one on another system, behind one queue."""
    trees = resolve(
        "jalapeno-rack", "gpt-oss-120b", "jalapeno-engine", others={"west": ("gb300-nvl72", None)}
    )
    (home,) = journals.unified(tp=2)
    traffic = Traffic(
        lengths=Lengths(isl=1000, osl=200, ratio=0.5),
        arrivals=ClosedLoop(concurrency=12),
        requests=60,
    )
    return scenario_of(trees, (home, replace(home, site="west")), traffic)


def test_pools_on_several_systems_are_not_covered() -> None:
    for name in COVERED:
        assert "on several" in not_covered(case_of(two_sites()), answer_of(name))


def test_the_static_joules_of_pools_on_two_systems_are_those_of_their_own_chips() -> None:
    journal = simulate(two_sites())
    found = energy(journal, measure(journal).power)
    expected = 0.0
    for pool in journal.scenario.pools:
        worker = journal.scenario.pools.index(pool)
        segments = journal.segment_table().filter(pl.col("worker") == worker)
        steps = segments["steps"].to_numpy()
        first = sum(segments[f"{part}_first"].to_numpy() for part in PARTS)
        growth = sum(segments[f"{part}_growth"].to_numpy() for part in PARTS)
        seconds = float((steps * first + steps * (steps - 1) // 2 * growth).sum()) / 1e12
        watts = journal.scenario.site(pool).system.chip.power.static
        expected += 2 * watts * seconds
    assert sum(found.static_by_part.values()) == pytest.approx(expected)
    assert found.dynamic > 0.0
