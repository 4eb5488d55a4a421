"""Sentences and advice of an explanation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from jalapeno.analysis.explain import Metric, Split
from jalapeno.analysis.explain_waits import Shortage
from jalapeno.analysis.explanation import Explanation, Scope, explain
from jalapeno.cost import PARTS
from jalapeno.metrics import CAUSES, PARTS_AND_WAITS, Report, measure
from jalapeno.metrics.attribution import WAITS
from jalapeno.presentation.explain_advice import (
    ANSWERED_BELOW,
    CAUSE_HELPS,
    PART_HELPS,
    WORTH,
    helps,
)
from jalapeno.presentation.explain_words import contrast, duration, sentence, shares, who
from jalapeno.simulation import Journal
from tests.metrics import journals


@cache
def hand() -> tuple[Journal, Report]:
    journal = journals.two_requests()
    return journal, measure(journal)


def made(causes: dict[str, int], parts: dict[str, int] | None = None) -> Explanation:
    """An explanation of one request with this time by cause, ps."""
    plain = explain(*hand(), Metric.TTFT, Scope(percentile=99.0))
    by_part = parts or {"matrix": sum(causes.values())}
    split = Split(
        requests=1,
        units=1,
        by_cause=dict.fromkeys(CAUSES, 0) | causes,
        by_part=dict.fromkeys(PARTS_AND_WAITS, 0) | by_part,
    )
    return replace(plain, chosen=split, value=4.2e12, waits=())


# ---- sentences


def test_the_sentence_is_what_people_want() -> None:
    found = made({"queue": 61, "own_prefill": 22, "others_prefill": 9, "front_end": 8})
    assert sentence(found) == (
        "P99 TTFT 4.2 s: 61 % queue, 22 % own prefill, 9 % others' prefill, 8 % front end"
    )


def test_what_rounds_to_nothing_is_left_out_and_the_rest_still_adds_up() -> None:
    found = made({"queue": 9996, "own_prefill": 4})
    assert shares(found.chosen, "cause") == "100 % queue"


def test_no_time_is_said() -> None:
    assert shares(made({}).chosen, "cause") == "no time at all"


def test_scopes_have_their_words() -> None:
    journal, report = hand()
    said = [
        sentence(explain(journal, report, Metric.E2E, scope)).partition(":")[0]
        for scope in (Scope(), Scope(band=(50.0, 100.0)), Scope(request=1))
    ]
    assert said == ["mean E2E 22 ms", "mean E2E of P50 to P100 23 ms", "E2E of request 1 21 ms"]
    assert who(explain(journal, report, Metric.E2E, Scope())) == "over 2 requests"


def test_the_difference_is_told_largest_first_without_trifles() -> None:
    usual = made({"queue": 10**9, "own_prefill": 10**10}).chosen
    slow = replace(
        made({"queue": 9 * 10**9, "own_prefill": 9 * 10**9, "front_end": 10**8}), median=usual
    )
    assert contrast(slow) == (
        "7.1 ms slower than the 1 request of P40 to P60: queue +8 ms, own prefill -1 ms"
    )


def test_times_have_units_and_signs() -> None:
    assert [duration(time) for time in (4.2e12, -3.52e11, 0.0)] == ["4.2 s", "-352 ms", "0 s"]


# ---- advice


def test_every_label_has_its_advice() -> None:
    answered = {*CAUSE_HELPS, *ANSWERED_BELOW, *WAITS}
    assert set(CAUSES) <= answered
    assert set(PARTS) <= set(PART_HELPS)


def advice(found: Explanation) -> dict[str, str]:
    journal, report = hand()
    return {each.label: each.advice for each in helps(found, journal.scenario, report)}


@pytest.mark.parametrize(
    ("short", "said"),
    [
        ((7, 2, 1), "for 70 % of it all 8 slots of the rank were taken: more workers"),
        ((1, 8, 1), "for 80 % of it KV blocks were short though a slot was free"),
        ((0, 1, 9), "for 90 % of it a slot was there and the running step had to end"),
    ],
)
def test_a_queue_is_answered_from_what_was_short(short: tuple[int, int, int], said: str) -> None:
    slots, blocks, step = short
    found = replace(
        made({"queue": 10}),
        waits=(Shortage(label="queue", slots=slots, blocks=blocks, step=step),),
    )
    assert said in advice(found)["queue"]


def test_small_labels_get_none_and_large_ones_come_first() -> None:
    found = made(
        {"own_prefill": 100 - WORTH, "others_prefill": WORTH - 1, "front_end": 1},
        {"memory": 40, "matrix": 50, "issue": WORTH},
    )
    assert list(advice(found)) == ["own_prefill", "matrix", "memory", "issue"]


def test_the_front_end_is_named_with_its_delay() -> None:
    assert "engine.first_token_delay is 352 ms" in advice(made({"front_end": 1}))["front_end"]


def test_decode_is_answered_by_what_bound_it() -> None:
    found = made({"own_decode": 100}, {"memory": 100})
    assert list(advice(found)) == ["memory"]
    (only,) = helps(found, hand()[0].scenario, hand()[1])
    assert only.percent == 100
