"""Units: text becomes SI and back, and nothing else is let in."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.errors import BadFact
from jalapeno.units import UNITS, parse, render

PREFIXED = [unit for unit in UNITS if unit not in ("", "$/h", "token/s", "token/s/kW")]
sizes = st.floats(min_value=1e-17, max_value=1e20, allow_nan=False, allow_infinity=False)


@given(value=sizes, unit=st.sampled_from(UNITS))
def test_what_was_rendered_reads_back_to_the_digits_shown(value: float, unit: str) -> None:
    assert parse(render(value, unit), unit) == pytest.approx(value, rel=5.1e-4)


@given(value=sizes, unit=st.sampled_from(UNITS), digits=st.integers(2, 15))
def test_more_digits_read_back_closer(value: float, unit: str, digits: int) -> None:
    tolerance = 5.1 * 10.0**-digits
    assert parse(render(value, unit, digits), unit) == pytest.approx(value, rel=tolerance)


@given(value=sizes, unit=st.sampled_from(UNITS))
def test_rendering_what_was_read_back_changes_nothing(value: float, unit: str) -> None:
    text = render(value, unit)
    assert render(parse(text, unit), unit) == text


@given(value=st.floats(min_value=1e-15, max_value=9e20), unit=st.sampled_from(PREFIXED))
def test_a_prefix_leaves_a_number_between_one_and_a_thousand(value: float, unit: str) -> None:
    number = float(render(value, unit).split()[0])
    assert 1.0 <= number < 1000.0


@given(st.integers(0, 10**14))
def test_counts_are_exact(count: int) -> None:
    assert int(parse(render(count, ""), "")) == count


@given(value=sizes)
def test_a_number_without_prefix_is_read_as_python_reads_it(value: float) -> None:
    assert parse(f"{value!r} W", "W") == value


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("15.4 TB/s", "B/s", 15.4e12),
        ("15.4TB/s", "B/s", 15.4e12),
        ("  15.4  TB/s ", "B/s", 15.4e12),
        ("216 GiB", "B", 216 * 2**30),
        ("231.9 GB", "B", 231.9e9),
        ("1 PiB", "B", 2.0**50),
        ("0.12 pJ/FLOP", "J/FLOP", 0.12e-12),
        ("31.2 pJ/B", "J/B", 31.2e-12),
        ("3.9 pJ/bit", "J/B", 31.2e-12),
        ("13.4 PFLOP/s", "FLOP/s", 13.4e15),
        ("1.7EFLOP/s", "FLOP/s", 1.7e18),
        ("4 us", "s", 4e-6),
        ("4 µs", "s", 4e-6),  # the micro sign
        ("4 \u03bcs", "s", 4e-6),  # the Greek letter
        ("0.8 ms", "s", 0.8e-3),
        ("2 s", "s", 2.0),
        ("1.125 kW", "W", 1125.0),
        ("1.56 $/h", "$/h", 1.56),
        ("$1.56/h", "$/h", 1.56),
        ("$ 1.56 / h", "$/h", 1.56),
        ("85448 token/s/kW", "token/s/kW", 85448.0),
        ("85.448 ktoken/s/kW", "token/s/kW", 85448.0),
        ("0.8", "", 0.8),
        ("+0.8", "", 0.8),
        (".8", "", 0.8),
        ("64", "", 64.0),
        ("1.03e12", "", 1.03e12),
        ("0 W", "W", 0.0),
    ],
)
def test_text_becomes_si(text: str, unit: str, value: float) -> None:
    assert parse(text, unit) == value


def test_a_negative_zero_is_no_time_at_all() -> None:
    assert math.copysign(1.0, parse("-0 s", "s")) == 1.0


def test_mega_and_milli_are_not_the_same() -> None:
    assert parse("1 MW", "W") == 1e9 * parse("1 mW", "W")


def test_gib_and_gb_are_not_the_same() -> None:
    assert parse("1 GiB/s", "B/s") / parse("1 GB/s", "B/s") == pytest.approx(1.073741824)


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        (
            "15.4 GB",
            "B/s",
            "expected a quantity in B/s, such as '15.4 TB/s', got '15.4 GB': 'GB' is not B/s",
        ),
        (
            "15.4",
            "B/s",
            "expected a quantity in B/s, such as '15.4 TB/s', got '15.4': it has no unit",
        ),
        (
            "64 chips",
            "",
            "expected a plain number, such as '0.8', got '64 chips': 'chips' is not part of it",
        ),
        (
            "85,448",
            "",
            "expected a plain number, such as '0.8', got '85,448': ',448' is not part of it",
        ),
        (
            "fast",
            "FLOP/s",
            "expected a quantity in FLOP/s, such as '13.4 PFLOP/s', got 'fast': "
            "it does not begin with a number",
        ),
        (
            "",
            "W",
            "expected a quantity in W, such as '550 W', got '': it does not begin with a number",
        ),
        ("nan W", "W", "expected a quantity in W, such as '550 W', got 'nan W': it is not finite"),
        ("inf W", "W", "expected a quantity in W, such as '550 W', got 'inf W': it is not finite"),
        (
            "1e999 W",
            "W",
            "expected a quantity in W, such as '550 W', got '1e999 W': it is not finite",
        ),
        (
            "1e300 EB/s",
            "B/s",
            "expected a quantity in B/s, such as '15.4 TB/s', got '1e300 EB/s': it is not finite",
        ),
        ("-1 us", "s", "expected a quantity in s, such as '4 us', got '-1 us': it is negative"),
        ("4 Kis", "s", "expected a quantity in s, such as '4 us', got '4 Kis': 'Kis' is not s"),
        (
            "1.56 k$/h",
            "$/h",
            "expected a quantity in $/h, such as '1.56 $/h', got '1.56 k$/h': 'k$/h' is not $/h",
        ),
        (
            "4.8 Tb/s",
            "B/s",
            "expected a quantity in B/s, such as '15.4 TB/s', got '4.8 Tb/s': 'Tb/s' is not B/s",
        ),
    ],
)
def test_what_is_no_quantity_of_the_unit_is_refused_with_an_example(
    text: str, unit: str, message: str
) -> None:
    with pytest.raises(BadFact, match=f"^{re.escape(message)}$"):
        parse(text, unit)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (15.4e12, "B/s", "15.4 TB/s"),
        (999.96e3, "B", "1 MB"),
        (999.94e3, "B", "999.9 kB"),
        (0.0, "s", "0 s"),
        (4e-6, "s", "4 us"),
        (0.12e-12, "J/FLOP", "120 fJ/FLOP"),
        (31.2e-12, "J/B", "31.2 pJ/B"),
        (1.56, "$/h", "1.56 $/h"),
        (85448.0, "token/s/kW", "85448 token/s/kW"),
        (64, "", "64"),
        (0.83512, "", "0.8351"),
        (9999.5, "", "10000"),
        (116_829_156_672, "", "116829156672"),
    ],
)
def test_si_becomes_short_text(value: float, unit: str, text: str) -> None:
    assert render(value, unit) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_what_could_not_be_read_is_not_written(value: float) -> None:
    with pytest.raises(
        BadFact, match=r"^cannot write .* as a quantity in W: it is negative or not"
    ):
        render(value, "W")


@pytest.mark.parametrize("unit", ["lightyear", "b/s", "kW"])
def test_a_unit_that_we_do_not_have_is_a_mistake_of_ours(unit: str) -> None:
    with pytest.raises(ValueError, match=f"no unit '{unit}'; there are"):
        parse("1", unit)
    with pytest.raises(ValueError, match=f"no unit '{unit}'; there are"):
        render(1.0, unit)
