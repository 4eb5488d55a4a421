"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.presentation.digits import (
    UNDEFINED,
    as_published,
    counted,
    deviation,
    number,
    percent,
    times,
)

positive = st.floats(min_value=1e-9, max_value=1e12)
undefined = pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])


def read(text: str) -> float:
    return float(text.replace(",", ""))


# ---- laws


@given(value=positive, digits=st.integers(2, 6))
def test_a_number_reads_back_to_its_digits(value: float, digits: int) -> None:
    assert read(number(value, digits)) == pytest.approx(value, rel=0.5001 * 10 ** (1 - digits))


@given(value=positive, digits=st.integers(2, 6))
def test_a_number_has_no_fewer_digits_than_asked(value: float, digits: int) -> None:
    shown = number(value, digits).partition("e")[0].replace(",", "").replace(".", "")
    assert len(shown.lstrip("0")) >= digits


@given(value=positive)
def test_a_negative_number_is_the_positive_one_with_a_sign(value: float) -> None:
    assert number(-value) == f"-{number(value)}"


@given(value=st.floats(min_value=0.01, max_value=99999).map(lambda x: float(f"{x:.5g}")))
def test_what_was_published_is_shown_to_the_digit(value: float) -> None:
    assert read(as_published(value)) == value


@given(share=st.floats(min_value=-0.999, max_value=10))
def test_a_deviation_always_has_its_sign(share: float) -> None:
    assert deviation(share)[0] in "+-"
    assert read(deviation(share)) == pytest.approx(100 * share, abs=0.0501)


# ---- examples


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (85448.3, "85,448"),
        (1234567.0, "1,234,567"),
        (999.6, "1,000"),
        (9.996, "10.0"),
        (0.69, "0.690"),
        (5.9, "5.90"),
        (0.000123, "0.000123"),
        (0.00000123, "1.23e-06"),
    ],
)
def test_numbers_look_as_in_a_paper(value: float, shown: str) -> None:
    assert number(value) == shown


def test_more_digits_on_demand() -> None:
    assert number(107.03, 4) == "107.0"
    assert number(1.8682, 4) == "1.868"


@pytest.mark.parametrize(
    ("value", "shown"), [(85448.0, "85,448"), (0.69, "0.69"), (0.00069 * 1e3, "0.69"), (5.9, "5.9")]
)
def test_published_numbers_get_no_digits_that_nobody_published(value: float, shown: str) -> None:
    assert as_published(value) == shown


@undefined
def test_the_undefined_is_a_dash_everywhere(value: float) -> None:
    shown = {f(value) for f in (number, as_published, deviation, percent, times)}
    assert shown == {UNDEFINED}


def test_shares_and_ratios() -> None:
    assert percent(0.4312) == "43.1"
    assert times(1.9006) == "1.90×"
    assert times(103.88) == "104×"
    assert deviation(0.0) == "+0.0"


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (1840, "1,840 runs")]
)
def test_one_is_not_plural(count: int, shown: str) -> None:
    assert counted(count, "run") == shown
