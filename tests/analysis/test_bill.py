"""The bill: racks, megawatts and dollars."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.analysis.bill import Bill, Range, bill, product, said_of, whole
from jalapeno.catalogue import Kind
from jalapeno.mapping import Plan
from tests.analysis.sizings import small


def plan(chips: int = 8) -> Plan:
    return Plan(tp=chips, max_running=1, max_tokens=1, precision=small().precision)


def made(replicas: int = 10, chip: str = "jalapeno", chips: int = 8) -> Bill:
    system = catalogue.system({"jalapeno": "jalapeno-rack", "gb200": "gb200-nvl72"}[chip])
    return bill(
        system,
        catalogue.tariff(chip),
        plan(chips),
        replicas,
        tokens_per_s=(2000.0, 500.0),
        package_watts=40_000.0,
    )


def test_chips_are_those_of_all_replicas() -> None:
    assert made().chips == 80


def test_power_is_a_chip_s_by_the_tariff() -> None:
    found, tariff = made(), catalogue.tariff("jalapeno")
    assert found.package_tdp_kw.value == pytest.approx(80 * tariff.tdp / 1e3)
    assert found.all_in_kw.value == pytest.approx(80 * tariff.all_in / 1e3)
    assert found.facility_kw.value == pytest.approx(found.all_in_kw.value * tariff.pue)
    assert found.package_kw == 40.0


def test_the_ranges_are_those_that_the_sources_say() -> None:
    found = made(10, "gb200")
    assert found.dollars_per_hour.low == pytest.approx(80 * 1.86)  # hyperscaler
    assert found.dollars_per_hour.value == pytest.approx(80 * 2.26)
    assert found.dollars_per_hour.high == pytest.approx(80 * 2.75)  # April 2026
    assert found.all_in_kw.high == pytest.approx(80 * 2.1)
    # PUE 1.05 to the Uptime Institute's 1.56
    assert found.facility_kw.low == pytest.approx(80 * 1.87 * 1.05)
    assert found.facility_kw.high == pytest.approx(80 * 2.1 * 1.56)


def test_a_price_that_nobody_disputes_has_no_range() -> None:
    price = made().dollars_per_hour
    assert price.low == price.value == price.high
    assert price.kind is Kind.PUBLISHED


def test_evidence_is_as_weak_as_the_weakest() -> None:
    assert made().facility_kw.kind is Kind.ESTIMATED
    assert made().all_in_kw.kind is Kind.PUBLISHED


def test_a_tariff_made_by_hand_is_assumed_and_has_no_range() -> None:
    by_hand = replace(catalogue.tariff("jalapeno"), facts={})
    assert said_of(by_hand.facts, "price", 1.5) == Range(1.5, 1.5, 1.5, Kind.ASSUMED)


def test_a_million_tokens_cost_an_hour_s_dollars_over_an_hour_s_tokens() -> None:
    found = made()
    hour = found.dollars_per_hour.value
    assert found.dollars_per_million_tokens.value == pytest.approx(hour / (2000 * 3600 / 1e6))
    assert found.dollars_per_million_output_tokens.value == pytest.approx(hour / (500 * 3600 / 1e6))


@given(st.tuples(*[st.floats(1.0, 2.0)] * 3), st.tuples(*[st.floats(1.0, 2.0)] * 3))
def test_a_product_of_ranges_holds_every_product(
    one: tuple[float, float, float], other: tuple[float, float, float]
) -> None:
    def ordered(ends: tuple[float, float, float]) -> Range:
        low, value, high = sorted(ends)
        return Range(value, low, high, Kind.MEASURED)

    found = product(ordered(one), ordered(other))
    assert all(found.low <= a * b <= found.high for a in one for b in other)


# ---- racks


def test_replicas_are_not_cut_at_the_end_of_a_rack() -> None:
    # a rack of 72 holds four replicas of 16, not four and a half
    assert whole(9, plan(16), 72) == 3
    assert made(9, "gb200", 16).racks == 3


def test_a_replica_that_is_larger_than_a_rack_spans_several() -> None:
    assert whole(3, plan(64), 32) == 6
    assert whole(1, plan(64), 48) == 2


@given(
    st.integers(1, 500), st.sampled_from([1, 2, 4, 8, 16, 32, 64]), st.sampled_from([8, 72, 128])
)
def test_racks_hold_all_chips_and_none_is_empty(replicas: int, chips: int, rack: int) -> None:
    racks = whole(replicas, plan(chips), rack)
    assert racks * rack >= replicas * chips
    if chips <= rack:
        each = rack // chips
        assert (racks - 1) * each < replicas <= racks * each
