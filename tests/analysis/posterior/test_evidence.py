"""The evidence: what was published, and nothing else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.analysis.posterior.evidence import (
    half_a_digit,
    published_numbers,
)
from jalapeno.catalogue import Kind
from jalapeno.mapping import Plan, Precision

NUMBERS = published_numbers()


def plan(tp: int, ep: int = 1, dp: int = 1) -> Plan:
    of = catalogue.model("gpt-oss-120b")
    chip = catalogue.chip("jalapeno")
    precision = Precision.as_served(catalogue.engine("jalapeno-engine"), of, chip)
    return Plan(tp=tp, ep=ep, dp=dp, max_running=1, max_tokens=64, precision=precision)


def test_the_evidence_is_twelve_published_numbers() -> None:
    evidence = [number for number in NUMBERS if not number.derived]
    assert len(evidence) == 12
    assert len({number.name for number in NUMBERS}) == len(NUMBERS)
    for number in evidence:
        assert "OpenAI" in number.source


def test_what_is_derived_is_no_evidence() -> None:
    (derived,) = [number for number in NUMBERS if number.derived]
    claim = catalogue.claim("deepseek-r1-mtp")
    assert claim.facts["tps_per_kw_at_reference_tbt"].kind is Kind.DERIVED
    assert derived.value == claim.tps_per_kw_at_reference_tbt
    assert derived.limit == claim.reference_min_tbt


@pytest.mark.parametrize(
    ("text", "share"),
    [("1.65 s", 0.005 / 1.65), ("0.69 ms", 0.005 / 0.69), ("85448 token/s/kW", 0.5 / 85448)],
)
def test_rounding_is_half_of_the_last_digit(text: str, share: float) -> None:
    assert half_a_digit(text) == pytest.approx(share)


@given(st.integers(1, 10**6), st.integers(0, 5))
def test_a_number_rounds_to_what_was_written(digits: int, decimals: int) -> None:
    text = f"{digits / 10**decimals:.{decimals}f}"
    value = float(text)
    within = value * half_a_digit(text)
    assert f"{value + 0.9 * within:.{decimals}f}" == text
    assert f"{value - 0.9 * within:.{decimals}f}" == text


def test_only_numbers_at_a_reference_have_a_limit() -> None:
    for number in NUMBERS:
        assert (number.limit < math.inf) == (number.objective == "at_reference_tbt")
        assert number.is_latency == (number.objective in ("min_e2e", "min_tbt"))


def test_what_was_published_of_plans_holds() -> None:
    by_name = {number.name: number for number in NUMBERS}
    assert by_name["deepseek-r1/min_tbt"].allows(plan(8))
    assert not by_name["deepseek-r1/min_tbt"].allows(plan(16))
    assert by_name["gpt-oss-120b/peak"].allows(plan(1, 8, 8))
    assert not by_name["gpt-oss-120b/peak"].allows(plan(1))
    assert by_name["kimi-k2.5/peak"].allows(plan(1))
