"""Sizing: laws, and the answer in simulations that it was not found with."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from jalapeno.analysis.demand import Demand
from jalapeno.analysis.size import Least, Sizing, size
from jalapeno.analysis.trial import bench
from jalapeno.errors import DoesNotFit, OutOfReach
from tests.analysis.sizings import CHIPS, sized, slo, small

SLACK = 1.06
"""Rates are found within a few percent, so chips are too, and one replica beside."""


def no_more(fewer: Sizing, more: Sizing) -> bool:
    """Whether *fewer* takes no more chips than *more*, as far as rates are known."""
    return fewer.bill.chips <= SLACK * more.bill.chips + fewer.fleet.prospect.plan.chips


# ---- the answer holds


@pytest.mark.parametrize("rate", [20.0, 300.0, 3000.0])
def test_the_fleet_holds_its_limits_under_arrivals_it_has_never_seen(rate: float) -> None:
    found = sized(rate)
    fleet = found.fleet
    where = bench(found.subject, found.demand, found.slo, fleet.prospect)
    for seed in (11, 12):
        again = where.trial(
            fleet.prospect, fleet.simulated, rate * fleet.simulated / fleet.replicas, seed
        )
        # a P95 of some hundred requests above it is known to a few percent
        assert again.strain <= 1.06
        assert not again.saturated


def test_a_fleet_without_one_of_its_few_replicas_breaks_a_limit() -> None:
    found = sized(300.0, tbt=5.0)
    fleet = found.fleet
    where = bench(found.subject, found.demand, found.slo, fleet.prospect)
    assert fleet.replicas > 1
    assert not where.trial(fleet.prospect, fleet.replicas - 1, 300.0).passed


def test_the_verifying_run_had_other_arrivals_than_the_search() -> None:
    fleet = sized().fleet
    assert fleet.scenario.seed == 1
    assert fleet.verified.passed
    assert fleet.report.digest == fleet.scenario.digest


def test_a_small_fleet_is_simulated_whole_and_a_large_one_scaled_down() -> None:
    small_fleet, large = sized(300.0).fleet, sized(3000.0).fleet
    assert small_fleet.simulated == small_fleet.replicas
    assert large.simulated < large.replicas
    assert large.verified.per_replica == pytest.approx(3000.0 / large.replicas)


def test_the_same_question_has_the_same_answer() -> None:
    found = sized()
    again = size(small(), found.demand, found.slo, chips=CHIPS)
    assert (again.bill, again.fleet.verified) == (found.bill, found.fleet.verified)
    assert again.curve == found.curve


# ---- laws


def test_a_tighter_limit_never_takes_fewer_chips() -> None:
    found = [sized(tbt=tbt) for tbt in (20.0, 8.0, 5.0, 4.0)]
    assert all(no_more(a, b) for a, b in pairwise(found))
    assert found[0].bill.chips < found[-1].bill.chips


def test_more_demand_never_takes_fewer_chips() -> None:
    found = [sized(rate) for rate in (20.0, 100.0, 300.0, 3000.0)]
    assert all(no_more(a, b) for a, b in pairwise(found))
    assert found[0].bill.chips < found[-1].bill.chips


def test_large_demands_take_chips_in_proportion() -> None:
    one, two = sized(3000.0), sized(6000.0)
    assert two.bill.chips == pytest.approx(2 * one.bill.chips, rel=SLACK - 1.0)


@pytest.mark.parametrize(
    "overrides", [{"chip__hbm__bandwidth": "30 TB/s"}, {"engine__issue_layer_rest": "1 us"}]
)
def test_a_faster_chip_never_takes_more_chips(overrides: dict[str, str]) -> None:
    slow = sized(3000.0)
    fast = size(small(**overrides), slow.demand, slow.slo, chips=CHIPS)
    assert no_more(fast, slow)


def test_bursts_never_take_fewer_chips() -> None:
    assert no_more(sized(3000.0), sized(3000.0, burst=4.0))


def test_spares_are_chips_on_top_that_serve_nothing() -> None:
    found = sized(spare=2)
    fleet, plan = found.fleet, found.fleet.prospect.plan
    assert found.bill.chips == (fleet.replicas + 2) * plan.chips
    assert fleet.verified.replicas == fleet.replicas
    assert found.bill.chips >= sized().bill.chips


# ---- where it ends


@pytest.mark.parametrize("rate", [20.0, 300.0, 3000.0])
def test_demand_is_below_where_a_limit_breaks_and_that_below_saturation(rate: float) -> None:
    found = sized(rate)
    assert rate <= found.fleet.breaks_per_s <= found.saturates_per_s
    assert found.headroom >= 0.0


def test_beyond_saturation_the_curve_is_marked() -> None:
    found = sized()
    lost = [found.fleet.scaled(trial) for trial in found.curve if trial.saturated]
    kept = [found.fleet.scaled(trial) for trial in found.curve if not trial.saturated]
    assert lost
    assert max(kept) <= 1.05 * found.saturates_per_s
    assert min(lost) >= 0.95 * found.saturates_per_s


def test_the_curve_goes_from_little_demand_beyond_the_limits() -> None:
    found = sized()
    rates = [found.fleet.scaled(trial) for trial in found.curve]
    assert rates == sorted(rates)
    assert rates[0] < 0.3 * found.demand.rate
    assert rates[-1] > found.fleet.breaks_per_s


def test_the_binding_limit_is_the_one_that_breaks_first() -> None:
    assert sized().binding == "P95 TBT"
    queueing = size(small(), Demand(rate=300.0), slo(ttft=430, tbt=40), chips=CHIPS)
    assert queueing.binding == "P95 TTFT"


def test_where_limits_are_wide_throughput_binds() -> None:
    wide = size(small(), Demand(rate=20.0), slo(ttft=1e5, tbt=1e4), chips=(1,))
    assert wide.binding == "throughput"
    assert max(wide.strains.values()) < 1.0


def test_strains_are_sorted_and_of_the_verifying_run() -> None:
    found = sized()
    assert list(found.strains.values()) == sorted(found.strains.values(), reverse=True)
    assert max(found.strains.values()) == pytest.approx(found.fleet.verified.strain)


@pytest.mark.parametrize("least", Least)
def test_on_one_system_all_denominators_are_in_proportion_to_chips(least: Least) -> None:
    one, two = sized(300.0), sized(3000.0)
    assert two.cost(least) / one.cost(least) == pytest.approx(two.bill.chips / one.bill.chips)


def test_the_bill_is_of_the_demand_and_not_of_what_the_fleet_could_do() -> None:
    found = sized()
    prompt, output = small().mean_lengths
    hour = found.bill.dollars_per_hour.value
    mixed = 300.0 * (prompt + output) * 3600.0 / 1e6
    assert found.bill.dollars_per_million_tokens.value == pytest.approx(hour / mixed)
    assert 0.0 < found.bill.package_kw < found.bill.package_tdp_kw.value * 1.2


# ---- refusals


def test_a_limit_that_one_request_alone_breaks_is_out_of_reach() -> None:
    with pytest.raises(OutOfReach) as refusal:
        size(small(), Demand(rate=1.0), slo(99.0, ttft=5), chips=CHIPS)
    said = str(refusal.value)
    assert said.startswith("P99 TTFT of 5 ms is out of reach: one request alone needs ")
    assert "tokens a step" in said
    assert "--chips-per-replica" in said


def test_what_is_said_to_be_reached_can_be_reached() -> None:
    with pytest.raises(OutOfReach) as refusal:
        size(small(), Demand(rate=1.0), slo(ttft=5), chips=CHIPS)
    needed = float(str(refusal.value).split("alone needs ")[1].split(" ms")[0])
    assert needed > 5.0
    found = size(small(), Demand(rate=0.01), slo(ttft=1.02 * needed), chips=CHIPS)
    assert found.fleet.verified.passed


def test_every_limit_out_of_reach_is_named() -> None:
    with pytest.raises(OutOfReach) as refusal:
        size(small(), Demand(rate=1.0), slo(ttft=5, tbt=0.01), chips=CHIPS)
    assert "P95 TTFT of 5 ms is out of reach" in str(refusal.value)
    assert "P95 TBT of 0.01 ms is out of reach" in str(refusal.value)


def test_a_model_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(DoesNotFit):
        size(small("b200-hgx"), Demand(rate=1.0), slo(ttft=500), chips=(512,))


def test_progress_is_told_from_first_to_last() -> None:
    told: list[tuple[str, int, int]] = []
    size(
        small(),
        Demand(rate=20.0),
        slo(ttft=1000),
        chips=(1,),
        on_progress=lambda *what: told.append(what),
    )
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["closed form", "plans", "fleets"]
    assert all(0 <= done <= total for _, done, total in told)
    assert math.isclose(told[-1][1], told[-1][2])
