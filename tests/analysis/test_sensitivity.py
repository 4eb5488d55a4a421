"""How answers depend on facts: laws of scale, known elasticities, ranges, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.sensitivity import (
    Elasticity,
    Sensitivity,
    Side,
    attempt,
    elasticity,
    has_range,
    sensitivity,
    swing,
)
from jalapeno.analysis.sensitivity_answers import Ask, answer_of, closed_form
from jalapeno.analysis.sensitivity_facts import USUAL, Case, case_of, matching, numbers_of
from jalapeno.catalogue import Fact, Kind
from jalapeno.cost import PARTS
from jalapeno.errors import UsageError
from jalapeno.mapping import batch, compile_price
from jalapeno.mapping.batch import columns
from jalapeno.simulation import ClosedLoop
from tests.metrics import journals

FINE = 1e-4


def quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@cache
def case(pools: str = "unified", concurrency: int = 12) -> Case:
    plan = {"unified": journals.unified(tp=2), "split": journals.split(1, 1)}[pools]
    return case_of(journals.scenario(plan, concurrency=concurrency))


@cache
def found(name: str, pools: str = "unified", concurrency: int = 12) -> Sensitivity:
    asked = case(pools, concurrency)
    facts = matching(numbers_of(asked), USUAL)
    return sensitivity(closed_form(answer_of(name)), asked, facts, FINE, quiet)


# ---- Euler's theorem: in other units the answer is the same

TIME = {"s": 1, "B/s": -1, "FLOP/s": -1, "W": -1, "$/h": -1}
ENERGY = {"W": 1, "J/FLOP": 1, "J/B": 1, "J": 1}

LAWS = {
    "mean_ttft_ms": (1, 0),
    "mean_tbt_ms": (1, 0),
    "mean_e2e_ms": (1, 0),
    "tokens_per_s_per_chip": (-1, 0),
    "watts_per_chip_package": (-1, 1),
    "tokens_per_s_per_kw_package": (0, -1),
    "tokens_per_s_per_kw_facility": (0, -1),
    "joules_per_token_package": (0, 1),
    "dollars_per_million_tokens": (0, 0),
}
"""Exponents of time and energy in the unit of each answer."""


@pytest.mark.parametrize("pools", ["unified", "split"])
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("place", [0, 1], ids=["time", "energy"])
def test_elasticities_add_up_to_the_exponent_of_each_unit(
    name: str, pools: str, place: int
) -> None:
    """Twice every rate and half every latency halve a time (Euler, homogeneous functions)."""
    exponents = (TIME, ENERGY)[place]
    total = sum(
        exponents.get(each.fact.unit, 0) * each.value
        for each in found(name, pools).elasticities
        if not each.over_range
    )
    assert total == pytest.approx(LAWS[name][place], abs=2e-3)


def test_dollars_go_with_the_price() -> None:
    by_path = {each.path: each.value for each in found("dollars_per_million_tokens").elasticities}
    assert by_path["tariff.price"] == pytest.approx(1.0, abs=1e-9)


def test_facility_watts_go_with_both_of_its_factors() -> None:
    every = found("tokens_per_s_per_kw_facility").elasticities
    by_path = {each.path: each.value for each in every}
    assert by_path["tariff.pue"] == pytest.approx(-1.0, abs=1e-9)
    assert by_path["tariff.all_in"] == pytest.approx(-1.0, abs=1e-9)


# ---- one step


def lone_step(cap: str) -> tuple[float, float]:
    """(elasticity in bandwidth, share of memory) of a lone sequence's step on swift engines."""
    swift = {"chip.matrix.tile_rows": "1", "chip.matrix.peak_8x4": "1 EFLOP/s"}
    alone = case_of(
        journals.scenario(
            journals.unified(tp=1),
            overrides={**swift, "chip.matrix.peak_8x8": "1 EFLOP/s", "chip.power.cap": cap},
        )
    )
    plan = alone.scenario.pools[0].plan
    caps = alone.scenario.model.caps
    row = np.zeros((1, columns(caps)))
    row[0, [batch.TOKENS, batch.DECODE, batch.SAMPLED]] = 1.0
    row[0, batch.column(0, batch.DECODE_READS)] = 8000.0
    for place, window in enumerate(caps, 1):
        row[0, batch.column(place, batch.DECODE_READS)] = window

    def parts(of: Case) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        scenario = of.scenario
        price = compile_price(scenario.model, plan, scenario.system, scenario.engine)
        return price.price(row)[0][: len(PARTS)]

    fact = numbers_of(alone)["chip.hbm.bandwidth"]
    now = parts(alone)
    slope = elasticity(
        lambda of: float(parts(of).sum()),
        alone,
        ("chip.hbm.bandwidth", fact),
        float(now.sum()),
        FINE,
    )
    assert not isinstance(slope, str)
    return 0.0 if slope is None else slope.value, float(now[PARTS.index("memory")] / now.sum())


def test_bandwidth_takes_the_share_of_a_step_that_waits_for_memory() -> None:
    slope, share = lone_step("5 kW")
    assert share > 0.1
    assert slope == pytest.approx(-share, rel=1e-3)


def test_under_the_power_cap_faster_memory_is_no_faster_step() -> None:
    """The joules of a byte set the pace, so what memory saves the cap takes."""
    slope, share = lone_step("400 W")
    assert share > 0.1
    assert slope == 0.0


# ---- functions that are known


def known(facts: Mapping[str, Fact], function: Callable[[dict[str, float]], float]) -> Ask:
    """An answer that is a plain function of the numbers of a case."""
    return lambda of: function(
        {path: float(fact.value) for path, fact in numbers_of(of).items() if path in facts}
    )


@given(st.floats(-3.0, 3.0), st.sampled_from([1e-4, 0.01, 0.3]))
def test_a_power_has_its_exponent_as_elasticity(power: float, step: float) -> None:
    asked = case()
    facts = matching(numbers_of(asked), ["chip.hbm.bandwidth"])
    ask = known(facts, lambda at: at["chip.hbm.bandwidth"] ** power)
    result = sensitivity(ask, asked, facts, step, quiet)
    if power == 0.0:
        assert result.without_effect == ("chip.hbm.bandwidth",)
    else:
        slopes = [each.value for each in result.elasticities]
        assert slopes == [pytest.approx(power, abs=1e-9)] or abs(power) < 1e-12


def test_a_share_of_one_is_moved_down_only() -> None:
    asked = case()
    at_bound = case_of(
        journals.scenario(journals.unified(tp=2), overrides={"engine.vector_efficiency": "1"})
    )
    fact = numbers_of(at_bound)["engine.vector_efficiency"]
    ask = known({"engine.vector_efficiency": fact}, lambda at: at["engine.vector_efficiency"] ** 2)
    slope = elasticity(ask, at_bound, ("engine.vector_efficiency", fact), 1.0, 0.01)
    assert isinstance(slope, Elasticity)
    assert slope.side is Side.BELOW
    assert slope.value == pytest.approx(2.0)
    both = numbers_of(asked)["engine.vector_efficiency"]
    slope = elasticity(ask, asked, ("engine.vector_efficiency", both), 0.25, 0.01)
    assert isinstance(slope, Elasticity)
    assert slope.side is Side.BOTH


def test_a_layer_at_rest_may_only_be_moved_below_one_under_load() -> None:
    asked = case_of(
        journals.scenario(journals.unified(tp=2), overrides={"engine.issue_layer_load": "15.4 us"})
    )
    fact = numbers_of(asked)["engine.issue_layer_rest"]
    ask = known({"engine.issue_layer_rest": fact}, lambda at: at["engine.issue_layer_rest"])
    slope = elasticity(ask, asked, ("engine.issue_layer_rest", fact), float(fact.value), 0.01)
    assert isinstance(slope, Elasticity)
    assert slope.side is Side.BELOW


def test_a_count_is_moved_by_one() -> None:
    asked = case()
    fact = numbers_of(asked)["chip.matrix.tile_rows"]
    tried: list[int] = []

    def ask(of: Case) -> float:
        tried.append(of.scenario.system.chip.matrix.tile_rows)
        return float(tried[-1] * tried[-1])

    slope = elasticity(ask, asked, ("chip.matrix.tile_rows", fact), 1024.0, 0.01)
    assert isinstance(slope, Elasticity)
    assert tried == [33, 31]
    assert slope.value == pytest.approx(2.0)


def test_a_fact_that_is_zero_is_moved_along_its_range() -> None:
    asked = case()
    fact = numbers_of(asked)["engine.host_step"]
    assert (fact.value, fact.high) == (0.0, 50e-6)
    ask = known({"engine.host_step": fact}, lambda at: 1e-3 + 4.0 * at["engine.host_step"])
    slope = elasticity(ask, asked, ("engine.host_step", fact), 1e-3, 0.01)
    assert isinstance(slope, Elasticity)
    assert (slope.over_range, slope.side) == (True, Side.ABOVE)
    assert slope.value == pytest.approx(4.0 * 50e-6 / 1e-3)


def test_a_zero_without_a_range_is_not_tried() -> None:
    fact = Fact(0.0, "0 s", "s", Kind.ASSUMED, "a test")
    said = elasticity(lambda of: 1.0, case(), ("engine.host_step", fact), 1.0, 0.01)
    assert said == "it is zero and has no range, so that no step is known"


def test_what_the_loader_refuses_on_both_sides_is_said() -> None:
    def never(of: Case) -> float:
        raise UsageError("no such machine")

    fact = numbers_of(case())["chip.hbm.bandwidth"]
    said = elasticity(never, case(), ("chip.hbm.bandwidth", fact), 1.0, 0.01)
    assert said == "no such machine"


def test_no_effect_is_exactly_none() -> None:
    result = found("mean_tbt_ms")
    assert {"tariff.price", "chip.steppings.A0", "chip.power.idle"} <= set(result.without_effect)
    assert all(each.value != 0.0 for each in result.elasticities)
    everything = matching(numbers_of(case()), USUAL)
    tried = {each.path for each in result.elasticities} | set(result.without_effect)
    assert tried | set(result.not_tried) == set(everything)


@pytest.mark.parametrize("answer", [math.nan, 0.0, -1.0, math.inf])
def test_an_answer_that_is_no_positive_number_is_refused(answer: float) -> None:
    with pytest.raises(UsageError, match="it has no sensitivity"):
        sensitivity(lambda of: answer, case(), {}, 0.01, quiet)


@pytest.mark.parametrize("step", [0.0, -0.1, 0.6, math.nan])
def test_a_step_that_is_none_is_refused(step: float) -> None:
    with pytest.raises(UsageError, match="a relative step is more than 0"):
        sensitivity(lambda of: 1.0, case(), {}, step, quiet)


def test_a_changed_answer_that_is_none_is_said() -> None:
    assert attempt(lambda of: math.nan, case(), {}) == "the answer would be nan"


def test_progress_ends_where_it_says() -> None:
    told: list[tuple[str, int, int]] = []
    facts = matching(numbers_of(case()), ["chip.hbm.*"])
    sensitivity(lambda of: 1.0, case(), facts, 0.01, lambda *each: told.append(each))
    assert told == [("facts", 0, 2), ("facts", 1, 2), ("facts", 2, 2)]


# ---- the tornado


def test_the_widest_swing_is_on_top_and_ends_are_the_catalogues() -> None:
    result = found("mean_tbt_ms")
    widths = [each.width for each in result.swings]
    assert widths == sorted(widths, reverse=True)
    ask = closed_form(answer_of("mean_tbt_ms"))
    for each in result.swings[:5]:
        for end, answer in ((each.fact.low, each.low), (each.fact.high, each.high)):
            if isinstance(answer, float) and end != each.fact.value:
                assert end is not None
                assert answer == attempt(ask, case(), {each.path: end})


def test_facts_without_a_range_are_listed_and_not_given_one() -> None:
    result = found("mean_tbt_ms")
    facts = numbers_of(case())
    assert "chip.hbm.bandwidth" in result.without_range
    assert all(not has_range(facts[path]) for path in result.without_range)
    swung = {each.path for each in result.swings} | set(result.still)
    assert swung.isdisjoint(result.without_range)
    assert swung | set(result.without_range) == set(matching(facts, USUAL))


def test_an_end_that_contradicts_another_fact_is_said() -> None:
    (each,) = [s for s in found("mean_tbt_ms").swings if s.path == "engine.issue_layer_load"]
    assert isinstance(each.low, str)
    assert "must be at least issue_layer_rest" in each.low
    assert isinstance(each.high, float)
    assert each.width == pytest.approx(each.high - each.base)


def test_an_end_that_is_the_value_is_the_base() -> None:
    fact = numbers_of(case())["chip.power.cap"]
    assert fact.low == fact.value
    each = swing(lambda of: 2.0, case(), "chip.power.cap", fact, 1.0)
    assert (each.low, each.high, each.width) == (1.0, 2.0, 1.0)


def test_with_one_end_only_the_other_is_not_invented() -> None:
    fact = replace(numbers_of(case())["chip.power.static"], low=None)
    each = swing(lambda of: 3.0, case(), "chip.power.static", fact, 1.0)
    assert (each.low, each.high, each.width) == (None, 3.0, 2.0)


def test_a_lone_request_never_waits_so_the_loop_does_not_matter() -> None:
    assert isinstance(case().scenario.traffic.arrivals, ClosedLoop)
    assert "engine.transfer_latency" in found("mean_tbt_ms", "unified", 1).without_effect
