"""Tables of an explanation."""

from __future__ import annotations

from functools import cache

import pytest

from jalapeno.analysis.explain import Metric
from jalapeno.analysis.explain_waits import Shortage
from jalapeno.analysis.explanation import Explanation, Scope, explain
from jalapeno.metrics import measure
from jalapeno.metrics.attribution import WAITS
from jalapeno.presentation.explain_advice import Help
from jalapeno.presentation.explain_json import explain_json, split_json
from jalapeno.presentation.explain_tables import (
    EVENTS,
    VIEWS,
    energy_table,
    explain_tables,
    help_table,
    life_tables,
    view_table,
    waits_table,
)
from jalapeno.presentation.report_tables import label_word
from jalapeno.simulation.columns import REQUEST_TIMES
from tests.metrics import journals
from tests.metrics.journals import ms


@cache
def found(
    metric: Metric = Metric.E2E, request: int | None = None, split: bool = False
) -> Explanation:
    journal = journals.one_moved() if split else journals.two_requests()
    return explain(journal, measure(journal), metric, Scope(request=request))


def column(of: Explanation, by: str, place: int) -> dict[str, str]:
    (view,) = [each for each in VIEWS if each == by]
    return {row[0]: row[place] for row in view_table(of, view).rows}


# ---- the two views


def test_a_row_is_a_label_that_took_time_and_the_last_is_their_sum() -> None:
    assert list(column(found(), "cause", 1)) == [
        "front end",
        "queue",
        "own prefill",
        "others' decode",
        "decode",
        "interference by prefill",
        "sum",
    ]


def test_means_are_in_milliseconds_a_request() -> None:
    here = column(found(), "cause", 2)
    assert here["front end"] == "1.000"
    assert here["own prefill"] == "4.000"
    assert here["decode"] == "13.00"
    assert here["sum"] == "22.00"


def test_percentages_have_a_tenth_and_add_up() -> None:
    shares = column(found(), "cause", 1)
    assert shares["decode"] == "59.1"
    *parts, whole = (float(text) for text in shares.values())
    assert sum(parts) == pytest.approx(whole) == 100.0


def test_differences_have_signs() -> None:
    one = found(request=0)
    gaps = column(one, "cause", 5)
    # request 0 is a millisecond slower than the mean of the two about the median
    assert gaps["sum"].startswith(("+", "-"))
    assert float(gaps["sum"]) == pytest.approx(
        float(one.chosen.mean(one.chosen.total) - one.median.mean(one.median.total)) / 1e9
    )


def test_the_second_view_has_parts_and_waits() -> None:
    assert set(column(found(), "part", 1)) == {
        "matrix",
        "memory",
        "issue/host",
        "front end",
        "queue",
        "sum",
    }


def test_tbt_is_by_the_token_and_says_so() -> None:
    table = view_table(found(Metric.TBT), "cause")
    assert "here, ms a token" in table.headers
    assert "Means are over tokens; a report's mean TBT is over requests." in table.note
    assert "tokens" not in view_table(found(), "cause").note


def test_the_note_says_how_many_requests() -> None:
    assert view_table(found(request=1), "cause").note.startswith("Here: 1 request; median: the ")


# ---- waits


def test_what_was_short_is_shared_out_by_wait() -> None:
    waits = (
        Shortage(label="queue", slots=ms(6), blocks=ms(3), step=ms(1)),
        Shortage(label="slot_wait", slots=0, blocks=0, step=0),
    )
    assert waits_table(waits).rows == (
        ("queue", "10 ms", "60.0", "30.0", "10.0"),
        ("wait for a slot", "0 s", "–", "–", "–"),
    )


def test_waits_are_named_as_in_the_views() -> None:
    assert {label_word(label) for label in WAITS} >= {"queue", "wait for a slot"}


def test_where_nobody_waited_there_is_no_table_of_waits() -> None:
    assert all("short" not in table.title for table in explain_tables(found(Metric.TBT), ()))
    assert any("short" in table.title for table in explain_tables(found(), ()))


# ---- help


def test_help_says_what_it_saves_at_most() -> None:
    table = help_table([Help("others_prefill", 31, "more workers")])
    assert table.rows == (("others' prefill", "31", "more workers"),)
    assert "nothing was simulated again" in table.note


# ---- one request


def test_every_time_of_a_request_has_words() -> None:
    assert set(EVENTS) == set(REQUEST_TIMES)


def test_the_times_of_a_request_and_the_gaps_between_them() -> None:
    of = found(request=0, split=True).life
    assert of is not None
    times, stays = life_tables(of)
    assert times.title == "request 0: 8 tokens in, 3 tokens out"
    assert [row[1:] for row in times.rows] == [
        ("0", "+0 s"),
        ("1.00000", "+1 ms"),
        ("1.00000", "+0 s"),
        ("5.00000", "+4 ms"),
        ("7.00000", "+2 ms"),
        ("8.00000", "+1 ms"),
        ("10.0000", "+2 ms"),
        ("15.0000", "+5 ms"),
    ]
    assert stays.rows == (
        ("prefill", "0 (TP1)", "4 ms", "1", "0", "8"),
        ("decode", "1 (TP2)", "5 ms", "2", "1.00", "0"),
    )
    assert stays.note == "Beside no other request."


def test_companions_are_named_with_the_time_together() -> None:
    of = found(request=0).life
    assert of is not None
    assert life_tables(of)[1].note == "Beside 1 other request, longest with 1 (18 ms)."


# ---- joules


def test_joules_are_by_dynamic_static_and_idle_and_add_up() -> None:
    of = found().energy
    assert of is not None
    table = energy_table(of)
    assert [row[0] for row in table.rows] == [
        "dynamic: engines, memory and links",
        "static, time bound by matrix",
        "static, time bound by memory",
        "static, time bound by issue/host",
        "idle: no step ran",
        "sum",
    ]
    assert table.rows[-1][2] == "100"
    assert "not split by engine" in table.note


# ---- JSON


def test_json_has_every_label_in_picoseconds() -> None:
    data = split_json(found().chosen)
    assert data["total_ps"] == ms(44)
    assert data["by_cause"]["own_decode"] == {
        "ps": ms(26),
        "mean_ms": 13.0,
        "percent": 59,
    }


def test_json_says_the_same_sentences() -> None:
    journal = journals.two_requests()
    data = explain_json(found(), measure(journal), ())
    assert data["sentence"].startswith("mean E2E 22 ms: 59 % decode, ")
    assert data["value_ms"] == 22.0
    assert data["median"]["percentiles"] == [40.0, 60.0]
    assert [each["percentiles"] for each in data["bands"]][-1] == [99.0, 100.0]
