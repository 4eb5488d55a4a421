"""What is said of a run that could not keep up."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jalapeno.metrics import Saturation, measure
from jalapeno.presentation.report_tables import latency_table
from jalapeno.presentation.saturation import saturation_words
from tests.metrics import journals

CALM = Saturation(
    saturated=False,
    settled=True,
    offered_per_s=5.0,
    sustained_per_s=math.nan,
    backlog_at_end=3,
)
LOST = replace(CALM, saturated=True, sustained_per_s=4.125, backlog_at_end=1234)
SHORT = replace(CALM, settled=False)


@pytest.mark.parametrize("found", [None, CALM])
def test_nothing_is_said_where_all_is_well(found: Saturation | None) -> None:
    assert saturation_words(found) == ""


def test_saturation_says_what_is_offered_and_what_is_sustained() -> None:
    said = saturation_words(LOST)
    assert said.startswith(
        "SATURATED: 5.000 requests/s were offered, it sustains at most 4.125 requests/s."
    )
    assert "1,234 requests in the system" in said


def test_a_run_that_is_too_short_says_so_and_not_that_it_saturated() -> None:
    said = saturation_words(SHORT)
    assert said.startswith("TOO SHORT TO TELL")
    assert "SATURATED" not in said


@pytest.mark.parametrize("found", [LOST, SHORT])
def test_the_report_says_it_under_the_latencies(found: Saturation) -> None:
    report = replace(measure(journals.two_requests()), saturation=found)
    assert latency_table(report).note.startswith(saturation_words(found))


def test_json_says_it_too() -> None:
    data = replace(measure(journals.two_requests()), saturation=LOST).as_dict()
    assert data["saturation"] == {
        "saturated": True,
        "settled": True,
        "offered_per_s": 5.0,
        "sustained_per_s": 4.125,
        "backlog_at_end": 1234,
    }
    calm = replace(measure(journals.two_requests()), saturation=CALM).as_dict()
    assert calm["saturation"]["sustained_per_s"] is None
