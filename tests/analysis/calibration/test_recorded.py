"""Fits on record: found by what they were fitted to, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.calibration.constants import CONSTANTS, factors
from jalapeno.analysis.calibration.recorded import PROBE, digest, read_fits, write_fits
from jalapeno.errors import BadFact


def row(name: str, ttft_ms: float = 100.0, tpot_ms: float = 10.0) -> dict[str, Any]:
    return {
        "id": name,
        "system": "h200-hgx",
        "model": "gpt-oss-120b",
        "measured_ttft_ms": ttft_ms,
        "measured_tpot_ms": tpot_ms,
    }


ROWS = [row("a"), row("b", 120.0, 11.0)]


def test_the_order_of_rows_does_not_matter() -> None:
    assert digest("vllm", ROWS, CONSTANTS) == digest("vllm", ROWS[::-1], CONSTANTS)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[:1],
        [*ROWS, row("c")],
        [ROWS[0], row("b", 120.0, 11.5)],
        [ROWS[0], row("b", 121.0, 11.0)],
    ],
)
def test_other_rows_or_other_measurements_are_another_fit(rows: list[dict[str, Any]]) -> None:
    assert digest("vllm", rows, CONSTANTS) != digest("vllm", ROWS, CONSTANTS)


def test_another_engine_or_other_unknowns_are_another_fit() -> None:
    own = digest("vllm", ROWS, CONSTANTS)
    assert digest("sglang", ROWS, CONSTANTS) != own
    assert digest("vllm", ROWS, (*CONSTANTS, *factors(ROWS))) != own
    assert digest("vllm", ROWS, CONSTANTS[1:]) != own


@given(
    st.dictionaries(
        st.text("0123456789abcdef", min_size=16, max_size=16),
        st.dictionaries(
            st.sampled_from([constant.path for constant in CONSTANTS]),
            st.floats(1e-7, 2.0),
            min_size=1,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_recorded_reads_back(values: dict[str, dict[str, float]]) -> None:
    made = {key: {**found, PROBE: 5.0} for key, found in values.items()}
    text = write_fits({key: ("vllm", 12, found) for key, found in made.items()})
    read = read_fits(text.encode())
    assert read.keys() == made.keys()
    for key, found in made.items():
        assert read[key] == pytest.approx(found, rel=1e-5)


def test_a_fit_that_says_nothing_of_any_point_is_refused() -> None:
    text = write_fits({"0" * 16: ("vllm", 12, {"host_step": 1e-4})})
    with pytest.raises(BadFact, match=f"has no {PROBE}"):
        read_fits(text.encode())


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n"])
def test_what_is_no_record_is_refused(content: bytes) -> None:
    with pytest.raises(BadFact, match="not a record of fits"):
        read_fits(content, "fits.csv")
