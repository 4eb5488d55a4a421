"""Joules and the four denominators: by hand, by constants, and with their evidence."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Kind, Tariff
from jalapeno.errors import UsageError
from jalapeno.metrics import Denominator, Power, measure
from jalapeno.metrics.power import evidence, power
from jalapeno.metrics.sites import SiteUse
from jalapeno.metrics.survey import Span
from jalapeno.metrics.throughput import throughput
from jalapeno.metrics.totals import Totals
from jalapeno.simulation import MAIN, Journal
from tests.metrics import journals
from tests.metrics.journals import IDLE_WATTS, ms

TARIFF = Tariff(
    name="round numbers", system="jalapeno", tdp=800.0, all_in=1000.0, pue=1.5, price=3.6
)


def denominators(watts: Power) -> tuple[Denominator, ...]:
    return watts.package_tdp, watts.package, watts.all_in, watts.facility


# ---- by hand


def test_joules_of_two_requests() -> None:
    watts = measure(journals.two_requests(), TARIFF).power
    # steps: 1 + 2 + (1 + 1.5 + 2)
    assert watts.step_joules == 7.5
    # one of 23 ms idle, two chips at 100 W
    assert watts.idle_joules == pytest.approx(0.001 * 2 * IDLE_WATTS)
    assert watts.package.watts_per_chip == pytest.approx((7.5 + 0.2) / (0.023 * 2))


def test_each_worker_idles_by_itself() -> None:
    watts = measure(journals.one_moved(), TARIFF).power
    # in 15 ms the prefill chip works 4, the two decode chips 5
    assert watts.idle_joules == pytest.approx((0.011 + 2 * 0.010) * IDLE_WATTS)


def test_efficiency_of_two_requests_under_four_denominators() -> None:
    watts = measure(journals.two_requests(), TARIFF).power
    rate = 39 / 0.023 / 2  # mixed tokens a second and chip
    assert watts.package_tdp.tokens_per_s_per_kw == pytest.approx(rate / 0.8)
    assert watts.all_in.tokens_per_s_per_kw == pytest.approx(rate / 1.0)
    assert watts.facility.tokens_per_s_per_kw == pytest.approx(rate / 1.5)
    assert watts.package.tokens_per_s_per_kw == pytest.approx(39 / 0.0077)
    assert watts.package.joules_per_token == pytest.approx(7.7 / 39)


def test_dollars_of_two_requests() -> None:
    watts = measure(journals.two_requests(), TARIFF).power
    # two chips for 23 ms at 3.6 $/h, which is a thousandth of a dollar a second; 39 tokens
    assert watts.dollars_per_million_tokens == pytest.approx(2 * 0.023 * 1e-3 / 39e-6)


# ---- constants


@given(st.floats(1.0, 1e4), st.floats(1.0, 1e4), st.floats(1.0, 3.0), st.floats(0.01, 100.0))
def test_denominators_relate_as_their_watts(
    tdp: float, all_in: float, pue: float, price: float
) -> None:
    tariff = replace(TARIFF, tdp=tdp, all_in=all_in, pue=pue, price=price)
    hand = journals.two_requests()
    rates = throughput(hand.requests, hand.workers, Span(0, ms(23)))
    use = SiteUse(
        name=MAIN,
        chip=hand.scenario.system.chip,
        chips=2,
        sums=Totals(joules=7.5, running=2 * ms(22)),
        tariff=tariff,
    )
    watts = power(hand.scenario, (use,), rates)
    assert watts.package_tdp.watts_per_chip == tdp
    assert watts.facility.watts_per_chip == pytest.approx(all_in * pue)
    for one in denominators(watts):
        in_all = one.tokens_per_s_per_kw * one.watts_per_chip / 1000.0
        assert in_all == pytest.approx(rates.tokens_per_s_per_chip)
        assert one.tokens_per_s_per_kw * one.joules_per_token == pytest.approx(1000.0)
    hourly = rates.tokens_per_s_per_chip * 3600 / 1e6
    assert watts.dollars_per_million_tokens == pytest.approx(price / hourly)


def test_joules_a_token_are_those_of_inferencex(run: Journal) -> None:
    # aggregate_power.py: the whole energy over all tokens; chart-utils.ts: kW x 1000 / rate
    report = measure(run)
    whole = report.power.step_joules + report.power.idle_joules
    assert report.power.package.joules_per_token == pytest.approx(whole / report.throughput.tokens)
    all_in = catalogue.tariff("jalapeno").all_in
    modelled = all_in / report.throughput.tokens_per_s_per_chip
    assert report.power.all_in.joules_per_token == pytest.approx(modelled)


def test_a_package_draws_between_idle_and_cap(run: Journal) -> None:
    chip = run.scenario.system.chip.power
    assert chip.idle < measure(run).power.package.watts_per_chip <= chip.cap * (1 + 1e-9)


def test_joules_are_those_of_the_steps_one_by_one(run: Journal) -> None:
    joules = 0.0
    for row in run.segment_table().iter_rows(named=True):
        joules += sum(row["joules_first"] + j * row["joules_growth"] for j in range(row["steps"]))
    assert measure(run).power.step_joules == pytest.approx(joules)


# ---- tariffs and evidence


def test_without_a_tariff_the_catalogues_is_taken() -> None:
    hand, tariff = journals.two_requests(), catalogue.tariff("jalapeno")
    assert measure(hand) == measure(hand, tariff)
    assert measure(hand).power.package_tdp.watts_per_chip == tariff.tdp


def test_a_tariff_of_another_chip_is_refused() -> None:
    message = (
        "tariff 'gb200' is for 'gb200', the journal is of 'jalapeno': "
        "name a tariff of that chip, such as 'jalapeno'"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        measure(journals.two_requests(), catalogue.tariff("gb200"))


def test_each_denominator_says_how_well_it_is_known() -> None:
    hand, tariff = journals.two_requests(), catalogue.tariff("jalapeno")
    watts, facts = measure(hand).power, tariff.facts
    assert watts.package_tdp.kind == facts["tdp"].kind
    assert watts.all_in.kind == facts["all_in"].kind
    assert watts.facility.kind == max(facts["all_in"].kind, facts["pue"].kind)
    assert watts.price_kind == facts["price"].kind
    assert watts.package.kind == evidence(hand.scenario)


def test_modelled_watts_are_as_weak_as_the_weakest_fact_of_the_scenario() -> None:
    scenario = journals.two_requests().scenario
    facts = [*scenario.system.facts.values(), *scenario.model.facts.values()]
    facts += scenario.engine.facts.values()
    assert evidence(scenario) == max(fact.kind for fact in facts)


def test_watts_without_a_source_are_assumed() -> None:
    watts = measure(journals.two_requests(), TARIFF).power
    assert watts.package_tdp.kind == watts.price_kind == Kind.ASSUMED
