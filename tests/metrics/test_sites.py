"""Chips of several sites: each draws, idles and costs as its own kind does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Alternative, Fact, Kind, Tariff
from jalapeno.errors import UnknownName, UsageError
from jalapeno.metrics import measure
from jalapeno.metrics.power import evidence, price_range
from jalapeno.metrics.sites import tariffs_for
from jalapeno.metrics.survey import survey
from jalapeno.simulation import Journal, Site
from tests.metrics import journals
from tests.metrics.journals import IDLE_WATTS

OURS = Tariff(name="ours", system="jalapeno", tdp=800.0, all_in=1000.0, pue=1.5, price=3.6)
THEIRS = Tariff(name="theirs", system="gb300", tdp=1400.0, all_in=2000.0, pue=1.2, price=7.2)
TARIFFS = {"jalapeno": OURS, "gb300": THEIRS}
SECONDS = 0.015
"""Of the run made by hand: one Jalapeño chip prefills, two of GB300 decode."""


def mixed() -> Journal:
    """The moved request, decoded at another site."""
    hand = journals.one_moved()
    west = Site(system=catalogue.system("gb300-nvl72"), engine=catalogue.engine("tensorrt-llm"))
    prefill, decode = hand.scenario.pools
    scenario = replace(
        hand.scenario, others={"west": west}, pools=(prefill, replace(decode, site="west"))
    )
    return replace(hand, scenario=scenario)


def priced(tariff: Tariff, low: float | None = None, *others: float) -> Tariff:
    fact = Fact(
        tariff.price,
        f"{tariff.price} $/h",
        "$/h",
        Kind.PUBLISHED,
        "somebody",
        low=low,
        alternatives=tuple(Alternative(value, "another") for value in others),
    )
    return replace(tariff, facts={"price": fact})


# ---- by hand


def test_each_site_idles_at_its_own_watts() -> None:
    ours, theirs = measure(mixed(), tariffs=TARIFFS).power.sites
    idle = catalogue.chip("gb300").power.idle
    assert (ours.site, ours.chip, ours.chips) == ("main", "jalapeno", 1)
    assert (theirs.site, theirs.chip, theirs.chips) == ("west", "gb300", 2)
    # in 15 ms the prefill chip works 4, the decode chips 5
    assert ours.idle_joules == pytest.approx(0.011 * IDLE_WATTS)
    assert theirs.idle_joules == pytest.approx(2 * 0.010 * idle)
    assert (ours.step_joules, theirs.step_joules) == (1.0, 2.5)
    assert theirs.package_watts_per_chip == pytest.approx((2.5 + 0.020 * idle) / (2 * SECONDS))


def test_the_whole_is_the_sum_of_the_sites() -> None:
    watts = measure(mixed(), tariffs=TARIFFS).power
    assert watts.step_joules == sum(site.step_joules for site in watts.sites)
    assert watts.idle_joules == sum(site.idle_joules for site in watts.sites)
    assert watts.package_tdp.watts_per_chip == pytest.approx((800 + 2 * 1400) / 3)
    assert watts.all_in.watts_per_chip == pytest.approx((1000 + 2 * 2000) / 3)
    assert watts.facility.watts_per_chip == pytest.approx((1500 + 2 * 2400) / 3)
    drawn = (watts.step_joules + watts.idle_joules) / (3 * SECONDS)
    assert watts.package.watts_per_chip == pytest.approx(drawn)


def test_dollars_are_those_of_every_chip_s_own_price() -> None:
    watts = measure(mixed(), tariffs=TARIFFS).power
    # 3.6 $/h is a thousandth of a dollar a second
    dollars = SECONDS * (1 * 1e-3 + 2 * 2e-3)
    assert watts.dollars_per_million_tokens == pytest.approx(dollars / 11e-6)
    assert watts.dollars_per_million_output_tokens == pytest.approx(dollars / 3e-6)
    assert [site.dollars_per_hour for site in watts.sites] == pytest.approx([3.6, 14.4])


def test_joules_a_million_tokens_are_watts_by_seconds_by_tokens() -> None:
    watts = measure(mixed(), tariffs=TARIFFS).power
    joules = 3 * SECONDS * watts.all_in.watts_per_chip
    assert watts.all_in.joules_per_million_tokens == pytest.approx(joules / 11e-6)
    assert watts.all_in.joules_per_million_output_tokens == pytest.approx(joules / 3e-6)
    assert watts.package.joules_per_million_tokens == pytest.approx(
        (watts.step_joules + watts.idle_joules) / 11e-6
    )


def test_the_power_law_holds_every_chip_to_its_own_cap() -> None:
    one, other = survey(journals.one_moved()), survey(mixed())
    # the decode pool's hottest step: 1 J in 2 ms or 1.5 J in 3 ms on two chips, 250 W each
    assert one.pools[1].most_power == pytest.approx(250.0 / journals.CAP_WATTS, rel=1e-6)
    cap = catalogue.chip("gb300").power.cap
    assert other.pools[1].most_power == pytest.approx(250.0 / cap, rel=1e-6)
    assert other.pools[0] == one.pools[0]


# ---- one site


def test_one_site_s_numbers_are_what_they_were_to_the_last_digit(run: Journal) -> None:
    watts, rates = measure(run, OURS).power, measure(run, OURS).throughput
    sums, chip = survey(run).together, run.scenario.system.chip
    chip_seconds = rates.chips * rates.duration_s
    idle = chip.power.idle * (chip_seconds - sums.running / 1e12)
    assert (watts.step_joules, watts.idle_joules) == (sums.joules, idle)
    assert watts.package.watts_per_chip == (sums.joules + idle) / chip_seconds
    assert watts.package_tdp.watts_per_chip == 800.0
    assert watts.facility.watts_per_chip == 1000.0 * 1.5
    hours = rates.chips * rates.duration_s / 3600.0
    assert watts.dollars_per_million_tokens == hours * 3.6 / (rates.tokens / 1e6)
    (only,) = watts.sites
    assert only.package_watts_per_chip == watts.package.watts_per_chip


def test_pools_at_one_site_are_counted_together() -> None:
    (only,) = measure(journals.one_moved(), OURS).power.sites
    assert (only.site, only.chips) == ("main", 3)


def test_a_site_of_the_same_chips_changes_no_number_of_the_whole() -> None:
    hand = journals.one_moved()
    twin = Site(system=hand.scenario.system, engine=hand.scenario.engine)
    prefill, decode = hand.scenario.pools
    scenario = replace(
        hand.scenario, others={"twin": twin}, pools=(prefill, replace(decode, site="twin"))
    )
    ours, theirs = measure(hand).power, measure(replace(hand, scenario=scenario)).power
    assert len(theirs.sites) == 2
    for name in ("package_tdp", "all_in", "facility"):
        assert getattr(theirs, name) == getattr(ours, name)
    assert theirs.idle_joules == pytest.approx(ours.idle_joules)
    assert theirs.dollars_per_million_tokens == pytest.approx(ours.dollars_per_million_tokens)


# ---- tariffs


def test_tariffs_that_are_not_given_are_the_catalogue_s() -> None:
    found = tariffs_for(mixed().scenario, None, {"gb300": THEIRS})
    assert found == {"jalapeno": catalogue.tariff("jalapeno"), "gb300": THEIRS}
    assert tariffs_for(mixed().scenario, None, None)["gb300"] == catalogue.tariff("gb300")


def test_one_tariff_for_two_chips_is_refused() -> None:
    message = (
        r"^tariff 'ours' is for one chip, the journal is of jalapeno, gb300: name tariffs by chip$"
    )
    with pytest.raises(UsageError, match=message):
        measure(mixed(), OURS)
    with pytest.raises(UsageError, match=r"^a tariff and tariffs by chip: give one or the other$"):
        measure(mixed(), OURS, TARIFFS)


def test_a_tariff_under_another_chip_s_name_is_refused() -> None:
    message = r"^tariff 'ours' is for 'jalapeno', the journal is of 'gb300': name a tariff of that"
    with pytest.raises(UsageError, match=message):
        measure(mixed(), tariffs={"gb300": OURS})


def test_a_chip_without_a_tariff_is_asked_for_one() -> None:
    run = mixed()
    west = run.scenario.others["west"]
    chip = replace(west.system.chip, name="habanero")
    system = replace(west.system, chip=chip)
    scenario = replace(run.scenario, others={"west": replace(west, system=system)})
    with pytest.raises(UnknownName, match="habanero"):
        measure(replace(run, scenario=scenario))


def test_evidence_is_as_weak_as_the_weakest_of_all_sites_and_tariffs() -> None:
    watts = measure(mixed(), tariffs={"jalapeno": priced(OURS), "gb300": THEIRS}).power
    assert watts.price_kind == Kind.ASSUMED  # theirs, made by hand
    scenario = mixed().scenario
    sites = [scenario.site(pool) for pool in scenario.pools]
    kinds = [fact.kind for site in sites for fact in site.system.facts.values()]
    kinds += [fact.kind for site in sites for fact in site.engine.facts.values()]
    kinds += [fact.kind for fact in scenario.model.facts.values()]
    assert evidence(scenario) == max(kinds)


# ---- from how much to how much


def test_a_price_ranges_over_what_anybody_says() -> None:
    assert price_range(priced(OURS, 3.0, 2.5, 4.0)) == (2.5, 4.0)
    assert price_range(priced(OURS, None, 4.0)) == (3.6, 4.0)
    assert price_range(priced(OURS, 3.0)) == (3.0, 3.6)
    for nobody in (priced(OURS), OURS):
        assert all(math.isnan(end) for end in price_range(nobody))


def test_dollars_range_as_the_price_does() -> None:
    hand = journals.two_requests()
    watts = measure(hand, priced(OURS, 1.8, 7.2)).power
    for tokens in ("tokens", "output_tokens"):
        middle = getattr(watts, f"dollars_per_million_{tokens}")
        low, high = (
            getattr(watts, f"{end}_dollars_per_million_{tokens}") for end in ("low", "high")
        )
        assert (low, high) == pytest.approx((middle / 2, middle * 2))


def test_a_range_that_one_chip_lacks_is_unknown_for_all() -> None:
    tariffs = {"jalapeno": OURS, "gb300": priced(THEIRS, 1.0)}
    assert math.isnan(measure(mixed(), tariffs=tariffs).power.low_dollars_per_million_tokens)
    tariffs = {"jalapeno": priced(OURS, 1.0), "gb300": priced(THEIRS, 1.0)}
    low = SECONDS / 3600 * (1.0 + 2 * 1.0)
    found = measure(mixed(), tariffs=tariffs).power.low_dollars_per_million_tokens
    assert found == pytest.approx(low / 11e-6)
