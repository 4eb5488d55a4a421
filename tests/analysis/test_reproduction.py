"""The shapes of a reproduction: residuals, advantages and the units they are quoted in."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.analysis.reproduction import OBJECTIVES, UNITS, Comparison, Number, Outcome
from tests.presentation import samples

LATENCIES = ("min_e2e", "min_tbt")
RATES = ("peak", "at_reference_tbt")
positive = st.floats(1e-3, 1e6)
off_by = st.floats(-0.9, 10.0)


def outcome(per_kw: float = 5000.0, e2e_s: float = 2.5, tbt_ms: float = 1.25) -> Outcome:
    of = samples.scenario()
    return Outcome("a run", of, samples.report(of, per_kw=per_kw, e2e_s=e2e_s, tbt_ms=tbt_ms))


RUN = outcome()


def number(published: float, twin: float, objective: str = "peak") -> Number:
    return Number(objective=objective, published=published, twin=twin, outcome=RUN)


def comparison(ours: tuple[float, float], theirs: tuple[float, float]) -> Comparison:
    """(published, twin) of Jalapeño and of its reference, the same for all objectives."""
    return Comparison(
        claim=catalogue.claim("gpt-oss-120b"),
        jalapeno=tuple(number(*ours, objective) for objective in OBJECTIVES),
        reference=tuple(number(*theirs, objective) for objective in OBJECTIVES),
    )


# ---- residuals


@given(positive)
def test_a_twin_that_says_what_was_published_has_no_residual(value: float) -> None:
    assert number(value, value).residual == 0.0


@given(positive, off_by)
def test_a_residual_is_relative_to_what_was_published(value: float, off: float) -> None:
    assert number(value, value * (1.0 + off)).residual == pytest.approx(off, abs=1e-12)


@given(positive, positive, positive)
def test_a_residual_has_no_unit(published: float, twin: float, scale: float) -> None:
    plain, scaled = number(published, twin), number(published * scale, twin * scale)
    assert scaled.residual == pytest.approx(plain.residual, rel=1e-9, abs=1e-12)


def test_a_twin_that_is_too_large_has_a_positive_residual() -> None:
    assert number(100.0, 120.0).residual == pytest.approx(0.2)
    assert number(100.0, 80.0).residual == pytest.approx(-0.2)


# ---- advantages


@pytest.mark.parametrize("objective", RATES)
def test_an_advantage_in_throughput_is_ours_over_theirs(objective: str) -> None:
    made = comparison(ours=(200.0, 210.0), theirs=(100.0, 70.0))
    assert made.ratios(objective) == pytest.approx((2.0, 3.0))


@pytest.mark.parametrize("objective", LATENCIES)
def test_an_advantage_in_latency_is_theirs_over_ours(objective: str) -> None:
    made = comparison(ours=(1.0, 2.0), theirs=(4.0, 6.0))
    assert made.ratios(objective) == pytest.approx((4.0, 3.0))


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(value=positive, twin=positive)
def test_equals_have_no_advantage(objective: str, value: float, twin: float) -> None:
    assert comparison((value, twin), (value, twin)).ratios(objective) == (1.0, 1.0)


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(ours=positive, theirs=positive)
def test_to_change_sides_inverts_an_advantage(objective: str, ours: float, theirs: float) -> None:
    there, _ = comparison((ours, ours), (theirs, theirs)).ratios(objective)
    back, _ = comparison((theirs, theirs), (ours, ours)).ratios(objective)
    assert there * back == pytest.approx(1.0)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_advantage_is_that_of_its_own_objective(objective: str) -> None:
    plain = comparison((1.0, 1.0), (1.0, 1.0))
    place = OBJECTIVES.index(objective)
    ours = list(plain.jalapeno)
    ours[place] = replace(ours[place], published=2.0, twin=2.0)
    changed = replace(plain, jalapeno=tuple(ours))
    assert changed.ratios(objective) != (1.0, 1.0)
    assert all(changed.ratios(name) == (1.0, 1.0) for name in OBJECTIVES if name != objective)


def test_the_advantage_of_an_unknown_objective_is_refused() -> None:
    with pytest.raises(ValueError, match="tuple"):
        comparison((1.0, 1.0), (1.0, 1.0)).ratios("fastest")


@pytest.mark.parametrize("name", ["deepseek-r1", "gpt-oss-120b", "kimi-k2.5"])
def test_published_advantages_are_more_than_one(name: str) -> None:
    made = next(one for one in samples.reproduction().comparisons if one.claim.name == name)
    assert all(made.ratios(objective)[0] > 1.0 for objective in OBJECTIVES)


# ---- what a run is quoted for


@pytest.mark.parametrize("objective", RATES)
def test_throughput_is_quoted_in_tokens_per_second_and_kilowatt(objective: str) -> None:
    assert UNITS[objective] == "token/s/kW"
    assert outcome(per_kw=4321.0).value(objective) == pytest.approx(4321.0)


def test_an_end_to_end_time_is_quoted_in_seconds() -> None:
    run = outcome(e2e_s=1.75)
    assert UNITS["min_e2e"] == "s"
    assert run.value("min_e2e") == pytest.approx(1.75)
    assert run.report.latency.e2e_ms.mean == pytest.approx(1750.0)


def test_a_time_between_tokens_is_quoted_in_milliseconds() -> None:
    assert UNITS["min_tbt"] == "ms"
    assert outcome(tbt_ms=1.43).value("min_tbt") == pytest.approx(1.43)


def test_means_are_quoted_and_not_medians() -> None:
    run = outcome()
    assert run.value("min_e2e") != run.report.latency.e2e_ms.median / 1e3
    assert run.value("min_tbt") != run.report.latency.tpot_ms.median


def test_throughput_is_quoted_over_the_tdp_of_the_packages() -> None:
    power = RUN.report.power.package_tdp
    assert RUN.tps_per_kw == power.tokens_per_s_per_kw
    assert power.watts_per_chip == catalogue.chip("jalapeno").power.tdp


def test_speed_a_user_is_a_thousand_over_the_mean_time_a_token() -> None:
    assert outcome(tbt_ms=1.25).tokens_per_s_per_user == pytest.approx(800.0)


def test_each_objective_has_a_unit() -> None:
    assert tuple(UNITS) == OBJECTIVES
    assert len(OBJECTIVES) == 4


def test_what_was_found_is_not_changed_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        number(1.0, 1.0).twin = 2.0  # type: ignore[misc]
