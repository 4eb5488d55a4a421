"""What is found, against arithmetic done by hand and against laws."""

from __future__ import annotations

import math

import pytest

from jalapeno import catalogue
from jalapeno.analysis.claims import Audit, Finding, Metric, Verdict, audit
from jalapeno.analysis.claims.audit import at_speed
from jalapeno.analysis.claims.denominators import Denominator, divisor
from jalapeno.analysis.claims.measured import Baseline, Point, around
from jalapeno.catalogue import Kind


@pytest.fixture(scope="module")
def found() -> Audit:
    return audit()


def one(
    found: Audit, claim: str, baseline: str, metric: Metric, per: Denominator | None
) -> Finding:
    (finding,) = (
        f
        for f in found.findings
        if (f.claim, f.baseline, f.metric, f.per) == (claim, baseline, metric, per)
    )
    return finding


OWN = {
    "gpt-oss-120b": "gb200-nvl72 fp4",
    "deepseek-r1": "gb300-nvl72 fp4",
    "kimi-k2.5": "gb300-nvl72 fp4",
}

BY_HAND = {  # published TPS/kW x 0.7 kW over a row, and the tariffs of August 2026
    Denominator.TDP: (1.90, 1.67, 1.53),
    Denominator.CHIP: (1.11, 0.83, 0.77),
    Denominator.DRAW: (2.42, 2.12, 1.95),
    Denominator.ALL_IN: (1.84, 1.57, 1.45),
    Denominator.DOLLAR: (1.61, 1.49, 1.37),
}


@pytest.mark.parametrize("per", BY_HAND)
@pytest.mark.parametrize("place", range(3))
def test_ratios_at_the_peak_are_those_worked_out_by_hand(
    found: Audit, per: Denominator, place: int
) -> None:
    claim = list(OWN)[place]
    ratio = one(found, claim, OWN[claim], Metric.PEAK, per).ratio
    assert ratio.value == pytest.approx(BY_HAND[per][place], abs=0.006)


def test_one_hall_for_both_changes_nothing_but_doubt(found: Audit) -> None:
    all_in = one(found, "deepseek-r1", OWN["deepseek-r1"], Metric.PEAK, Denominator.ALL_IN).ratio
    hall = one(found, "deepseek-r1", OWN["deepseek-r1"], Metric.PEAK, Denominator.FACILITY).ratio
    assert hall.value == pytest.approx(all_in.value)
    assert hall.low < all_in.low < all_in.high < hall.high


@pytest.mark.parametrize(
    ("claim", "baseline", "per", "verdict"),
    [
        ("gpt-oss-120b", "gb200-nvl72 fp4", Denominator.TDP, Verdict.SUPPORTED),
        ("deepseek-r1", "gb300-nvl72 fp4", Denominator.CHIP, Verdict.NOT_SUPPORTED),
        ("kimi-k2.5", "gb300-nvl72 fp4", Denominator.CHIP, Verdict.NOT_SUPPORTED),
        ("deepseek-r1", "gb300-nvl72 fp4 + MTP", Denominator.CHIP, Verdict.NOT_SUPPORTED),
        ("gpt-oss-120b", "b200-hgx fp4", Denominator.CHIP, Verdict.UNDECIDED),
        ("kimi-k2.5", "gb300-nvl72 fp4", Denominator.DRAW, Verdict.UNDECIDED),
    ],
)
def test_peaks_support_the_watts_and_not_the_chips(
    found: Audit, claim: str, baseline: str, per: Denominator, verdict: Verdict
) -> None:
    assert one(found, claim, baseline, Metric.PEAK, per).verdict is verdict


def test_mtp_takes_most_of_a_hundredfold_lead_at_the_same_speed(found: Audit) -> None:
    plain, mtp = (
        one(found, "deepseek-r1", name, Metric.SAME_SPEED, Denominator.TDP).ratio.value
        for name in ("gb300-nvl72 fp4", "gb300-nvl72 fp4 + MTP")
    )
    assert plain == pytest.approx(104.0, abs=0.5)  # as published
    assert 2.5 < mtp < 3.2


def test_the_published_ratio_against_mtp_comes_back(found: Audit) -> None:
    name = "gb300-nvl72 fp4 + MTP"
    ratio = one(found, "deepseek-r1-mtp", name, Metric.SAME_SPEED, Denominator.TDP).ratio
    assert ratio.low < 8.6 < ratio.high


@pytest.mark.parametrize(
    ("claim", "e2e", "tbt"),
    [
        ("gpt-oss-120b", 1.80 / 1.03, 1.87 / 0.69),
        ("deepseek-r1", 5.99 / 1.65, 5.90 / 1.43),
        ("kimi-k2.5", 5.31 / 1.56, 5.48 / 1.44),
    ],
)
def test_latency_ratios_are_those_of_the_published_times(
    found: Audit, claim: str, e2e: float, tbt: float
) -> None:
    for metric, ratio in ((Metric.E2E, e2e), (Metric.TBT, tbt)):
        assert one(found, claim, OWN[claim], metric, None).ratio.value == pytest.approx(
            ratio, rel=2e-3
        )


def test_every_finding_holds_together(found: Audit) -> None:
    assert len(found.findings) > 500
    for f in found.findings:
        ours, theirs, ratio = f.jalapeno, f.reference, f.ratio
        quotient = theirs.value / ours.value if f.metric.is_time else ours.value / theirs.value
        assert ratio.value == pytest.approx(quotient)
        assert 0.0 < ratio.low <= ratio.value <= ratio.high < math.inf
        assert (f.per is None) == f.metric.is_time
        assert len(f.sources) in (2, 3)
        assert all(f.sources)
        assert ratio.kind >= max(ours.kind, theirs.kind)
        assert f.verdict is not Verdict.NOT_SUPPORTED or not f.least
        assert f.sentence.endswith(".")


def test_a_verdict_under_one_denominator_is_not_one_under_another(found: Audit) -> None:
    verdicts = {
        f.verdict
        for f in found.findings
        if (f.claim, f.baseline, f.metric) == ("deepseek-r1", "gb300-nvl72 fp4", Metric.PEAK)
    }
    assert {Verdict.SUPPORTED, Verdict.NOT_SUPPORTED} <= verdicts


def test_what_nobody_measured_is_named(found: Audit) -> None:
    assert any("b300-hgx" in text for text in found.missing)
    assert any("gb300-nvl72" in text and "gpt-oss-120b" in text for text in found.missing)


def test_half_the_cost_is_more_than_the_numbers_bear_out(found: Audit) -> None:
    (cost,) = (said for said in found.said if "half the cost" in said.sentence)
    assert cost.verdict is Verdict.NOT_SUPPORTED
    assert max(f.ratio.value for f in cost.findings) == pytest.approx(1.61, abs=0.01)


def test_every_sentence_is_judged_by_findings(found: Audit) -> None:
    for said in found.said:
        assert len(said.findings) == (1 if "MTP" in said.sentence else 3)
        assert len({f.model for f in said.findings}) == len(said.findings)


# ---- the same speed


def row(speed: float, rate: float) -> Point:
    return Point(
        engine="test",
        concurrency=1,
        throughput=around(rate, 0.01, Kind.MEASURED),
        speed=speed,
        tbt=around(1.0 / speed, 0.01, Kind.MEASURED),
        e2e=None,
        source=f"row at {speed:g}",
    )


ROWS = Baseline(
    model="test",
    system="gb200-nvl72",
    precision="fp4",
    mtp=False,
    points=(row(20.0, 1000.0), row(50.0, 600.0), row(100.0, 100.0), row(40.0, 300.0)),
)
OURS = around(500.0, 0.0, Kind.PUBLISHED)


@pytest.mark.parametrize("speed", [20.0, 50.0, 99.99])
def test_at_the_speed_of_a_row_it_is_that_row(speed: float) -> None:
    compared = at_speed(ROWS, around(1.0 / speed, 0.0, Kind.PUBLISHED), OURS, "ours")
    wanted = {20.0: 1000.0, 50.0: 600.0, 99.99: 100.0}[speed]
    assert compared.theirs.value == pytest.approx(wanted, rel=1e-2)
    assert compared.theirs.low == pytest.approx(0.99 * compared.theirs.value)
    assert not compared.least


def test_between_rows_it_lies_between_them_and_cites_both() -> None:
    compared = at_speed(ROWS, around(1.0 / 70.0, 0.0, Kind.PUBLISHED), OURS, "ours")
    assert 100.0 < compared.theirs.value < 600.0
    assert compared.sources == ("ours", "row at 50", "row at 100")


def test_beyond_the_fastest_row_that_row_is_a_bound() -> None:
    compared = at_speed(ROWS, around(1.0 / 120.0, 0.01, Kind.PUBLISHED), OURS, "ours")
    assert compared.least
    assert compared.theirs.value == 100.0


def test_a_speed_beyond_by_no_more_than_rounding_is_that_of_the_row() -> None:
    compared = at_speed(ROWS, around(1.0 / 100.5, 0.01, Kind.PUBLISHED), OURS, "ours")
    assert not compared.least
    assert compared.theirs.value == 100.0


# ---- denominators


@pytest.mark.parametrize("name", ["jalapeno-rack", "gb200-nvl72", "b300-hgx", "mi355x-oam"])
@pytest.mark.parametrize("per", Denominator)
def test_a_divisor_lies_within_its_range(name: str, per: Denominator) -> None:
    for busy in (True, False):
        found = divisor(catalogue.system(name), per, busy=busy)
        assert 0.0 < found.low <= found.value <= found.high


def test_nobody_draws_more_than_tdp_and_jalapeno_no_more_than_published() -> None:
    own = divisor(catalogue.system("jalapeno-rack"), Denominator.DRAW, busy=True)
    assert (own.low, own.value, own.high) == (0.245, 0.55, 0.55)
    other = divisor(catalogue.system("gb200-nvl72"), Denominator.DRAW, busy=True)
    assert other.high == 1.2
    assert other.low == pytest.approx(0.497 * 1.2)
