"""Denominators with their ranges, and limits at percentiles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jalapeno import catalogue
from jalapeno.analysis.objectives import (
    PERCENTILES,
    UNITS,
    Limit,
    Per,
    bounds,
    percentile,
    rate,
    speed_limit,
)
from jalapeno.catalogue import Kind
from jalapeno.errors import UsageError
from tests.analysis.fronts import made

TARIFF = catalogue.tariff("gb200")


def of(per: Per, tokens: float = 1000.0, watts: float = 500.0) -> float:
    return rate(per, tokens, watts, TARIFF, Kind.FITTED).value


def test_every_denominator_has_a_unit() -> None:
    assert set(UNITS) == set(Per)
    assert all(unit.startswith(("token/s/", "Mtoken/$")) for unit in UNITS.values())


def test_each_denominator_is_what_it_says() -> None:
    assert of(Per.CHIP) == 1000.0
    assert of(Per.TDP) == pytest.approx(1000.0 / 1.2)
    assert of(Per.PACKAGE) == pytest.approx(2000.0)
    assert of(Per.ALL_IN) == pytest.approx(1000.0 / 1.87)
    assert of(Per.FACILITY) == pytest.approx(1000.0 / (1.87 * 1.1))
    assert of(Per.DOLLAR) == pytest.approx(3600.0 * 1000.0 / 2.26 / 1e6)


def test_they_are_the_report_s_own_numbers() -> None:
    found = made()
    for point in found.points:
        power = point.report.power
        pairs = {
            Per.CHIP: point.report.throughput.tokens_per_s_per_chip,
            Per.TDP: power.package_tdp.tokens_per_s_per_kw,
            Per.PACKAGE: power.package.tokens_per_s_per_kw,
            Per.ALL_IN: power.all_in.tokens_per_s_per_kw,
            Per.FACILITY: power.facility.tokens_per_s_per_kw,
            Per.DOLLAR: 1.0 / power.dollars_per_million_tokens,
        }
        for per, value in pairs.items():
            assert found.bench.rate(per, point).value == pytest.approx(value)


def test_ranges_are_those_of_the_tariff() -> None:
    price = rate(Per.DOLLAR, 1e6, 1.0, TARIFF, Kind.FITTED)
    assert (price.low, price.high) == pytest.approx((3600 / 2.75, 3600 / 1.86))
    facility = rate(Per.FACILITY, 1e3, 1.0, TARIFF, Kind.FITTED)
    assert facility.low == pytest.approx(1e3 / (2.1 * 1.2))
    assert facility.high == pytest.approx(1e3 / (1.87 * 1.05))
    assert not facility.certain


@pytest.mark.parametrize("name", catalogue.names("tariffs"))
@pytest.mark.parametrize("per", Per)
def test_a_range_holds_its_value(name: str, per: Per) -> None:
    found = rate(per, 1000.0, 500.0, catalogue.tariff(name), Kind.FITTED)
    assert found.low <= found.value <= found.high


def test_what_nobody_doubts_has_no_range() -> None:
    for per in (Per.CHIP, Per.TDP, Per.PACKAGE):
        assert rate(per, 1000.0, 500.0, TARIFF, Kind.FITTED).certain
    assert bounds(None, 3.0) == (3.0, 3.0)


def test_evidence_is_the_weakest_of_what_is_divided_by() -> None:
    assert rate(Per.PACKAGE, 1.0, 1.0, TARIFF, Kind.ASSUMED).kind is Kind.ASSUMED
    assert rate(Per.FACILITY, 1.0, 1.0, TARIFF, Kind.FITTED).kind is TARIFF.facts["pue"].kind
    by_hand = replace(TARIFF, facts={})
    assert rate(Per.TDP, 1.0, 1.0, by_hand, Kind.FITTED).kind is Kind.ASSUMED


def test_a_chip_that_draws_nothing_has_no_bound() -> None:
    assert of(Per.PACKAGE, watts=0.0) == float("inf")


# ---- limits


@pytest.mark.parametrize("at", PERCENTILES)
def test_a_limit_looks_at_its_own_percentile(at: str) -> None:
    point = made().points[0]
    latency = point.report.latency
    for what, found in (
        ("ttft", latency.ttft_ms),
        ("tbt", latency.tpot_ms),
        ("e2e", latency.e2e_ms),
    ):
        value = getattr(found, PERCENTILES[at])
        assert Limit(what=what, at=at, ms=1.0).value(point.report) == value
        assert Limit(what=what, at=at, ms=value).holds(point.report)
        assert not Limit(what=what, at=at, ms=0.999 * value).holds(point.report)


def test_a_speed_is_a_limit_on_the_mean_time_between_tokens() -> None:
    limit = speed_limit(60.0)
    assert limit.ms == pytest.approx(1000.0 / 60.0)
    assert limit.label == "at least 60 token/s/user"
    for point in made().points:
        assert speed_limit(point.speed * 0.999).holds(point.report)
        assert not speed_limit(point.speed * 1.001).holds(point.report)


def test_limits_are_said_in_words() -> None:
    assert Limit(what="ttft", at="p99", ms=2000.0).label == "P99 TTFT at most 2,000 ms"
    assert Limit(what="e2e", at="mean", ms=12.5).label == "mean E2E at most 12.5 ms"


@pytest.mark.parametrize("ms", [0.0, -1.0, float("inf"), float("nan")])
def test_a_limit_is_positive(ms: float) -> None:
    with pytest.raises(UsageError, match="must be positive"):
        Limit(what="tbt", at="mean", ms=ms)
    with pytest.raises(UsageError, match="must be positive"):
        speed_limit(ms)


def test_percentiles_are_listed() -> None:
    with pytest.raises(UsageError, match=r"there are mean, p50, p90, p95, p99, p99\.9"):
        percentile("p98")
