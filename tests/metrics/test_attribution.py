"""Every picosecond has one cause and one part, and they add up."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.cost import PARTS
from jalapeno.errors import UsageError
from jalapeno.metrics import CAUSES, PARTS_AND_WAITS, attribute, band, measure
from jalapeno.metrics.attribution import Metric, Until, causes, parts
from jalapeno.simulation import Journal
from tests.metrics import journals
from tests.metrics.journals import ms

A, B = 0, 1


def in_ms(row: Mapping[str, int]) -> dict[str, float]:
    """What is not zero, ms."""
    return {name: value / 1e9 for name, value in row.items() if value}


# ---- by hand


def test_a_pays_for_bs_prompt_while_it_decodes() -> None:
    table = causes(journals.two_requests().requests)
    # steps with A in them: 6 (2 without B's prompt), 3, 4, 5
    assert in_ms(table.row(A, named=True)) == {
        "front_end": 1.0,
        "own_prefill": 4.0,
        "own_decode": 14.0,
        "interference": 4.0,
    }


def test_b_waits_and_pays_for_as_token_while_it_prefills() -> None:
    table = causes(journals.two_requests().requests)
    assert in_ms(table.row(B, named=True)) == {
        "front_end": 1.0,
        "queue": 2.0,
        "own_prefill": 4.0,
        "others_decode": 2.0,
        "own_decode": 12.0,
    }


def test_parts_are_what_bound_the_steps_a_request_sat_through() -> None:
    table = parts(journals.two_requests().requests)
    assert in_ms(table.row(A, named=True)) == {
        "matrix": 4.0 + 5.0,
        "memory": 12.0,
        "issue": 1.0,
        "front_end": 1.0,
    }
    assert in_ms(table.row(B, named=True)) == {
        "matrix": 5.0,
        "memory": 12.0,
        "issue": 1.0,
        "front_end": 1.0,
        "queue": 2.0,
    }


def test_until_the_first_token_only_what_came_before_it_counts() -> None:
    requests = journals.two_requests().requests
    assert in_ms(parts(requests, "first").row(B, named=True)) == {
        "matrix": 5.0,
        "issue": 1.0,
        "front_end": 1.0,
        "queue": 2.0,
    }
    assert "interference" not in causes(requests, "first").columns


def test_a_hand_over_is_transfer_and_the_rest_of_it_waiting_for_a_slot() -> None:
    # prefilled at 5, assigned at 7, moved by 8, in a step from 10
    (row,) = causes(journals.one_moved().requests).iter_rows(named=True)
    assert (row["transfer"], row["slot_wait"]) == (ms(1), ms(4))


def test_one_pool_has_neither_transfer_nor_slot_wait(unified_run: Journal) -> None:
    table = causes(unified_run.requests)
    assert table["transfer"].sum() == table["slot_wait"].sum() == 0


def test_the_mean_is_over_requests_in_milliseconds() -> None:
    mean = attribute(journals.two_requests().requests)
    assert mean.requests == 2
    assert mean.e2e_by_cause_ms["own_decode"] == (14 + 12) / 2
    assert mean.e2e_by_cause_ms["queue"] == 1.0
    assert mean.e2e_by_part_ms["matrix"] == (9 + 5) / 2
    assert mean.ttft_by_part_ms["matrix"] == (4 + 5) / 2


def test_labels_come_in_the_order_in_which_a_request_meets_them() -> None:
    mean = attribute(journals.two_requests().requests)
    assert tuple(mean.e2e_by_cause_ms) == CAUSES
    assert tuple(mean.e2e_by_part_ms) == tuple(mean.ttft_by_part_ms) == PARTS_AND_WAITS
    assert tuple(mean.ttft_by_cause_ms) == CAUSES[: len(mean.ttft_by_cause_ms)]


def test_who_gives_way_waits_and_is_prefilled_again() -> None:
    # as B of the two, but out from 11 to 14 after its first token, and prefilled again until 17
    row = journals.request(
        prompt=20,
        output=4,
        arrival=ms(2),
        ready=ms(3),
        admitted=ms(5),
        prefilled=ms(11),
        first=ms(11),
        end=ms(23),
        others_decode=ms(2),
        preemptions=2,
        resumed=1,
        recomputed=21,
        preempted=ms(4),
        preempted_first=ms(1),
        recompute=ms(3),
        own_prefill=ms(3),
        own_decode=ms(6),
        prefill_matrix=ms(5),
        decode_memory=ms(6),
        decode_matrix=ms(3),
    )
    table = journals.request_table([row])
    assert_adds_up(table)
    whole = in_ms(causes(table).row(0, named=True))
    first = in_ms(causes(table, "first").row(0, named=True))
    assert (whole["preempted"], first["preempted"]) == (4.0, 1.0)
    assert whole["recompute"] == 3.0
    assert "recompute" not in first
    by_part = in_ms(parts(table).row(0, named=True))
    assert by_part["matrix"] == 5.0 + 3.0
    assert by_part["preempted"] == 4.0
    mean = attribute(table)
    assert mean.ttft_by_cause_ms["preempted"] == 1.0
    assert mean.e2e_by_cause_ms["preempted"] == 4.0


# ---- laws

spans = st.integers(0, 10**12)


@st.composite
def requests(draw: st.DrawFn) -> Mapping[str, Any]:
    """A request whose phases are cut into labels at random."""
    arrival, front_end, queue = draw(spans), draw(spans), draw(spans)
    prefill = {name: draw(spans) for name in ("own_prefill", "others_prefill", "others_decode")}
    decode = {name: draw(spans) for name in ("own_decode", "interference")}
    admitted = arrival + front_end + queue
    prefilled = admitted + sum(prefill.values())
    split = draw(st.booleans())
    wait, moving, boundary = (draw(spans) if split else 0 for _ in range(3))
    first = prefilled + wait + moving + boundary
    cut: dict[str, int] = {}
    for phase, whole in (("prefill", sum(prefill.values())), ("decode", sum(decode.values()))):
        marks = sorted(draw(st.integers(0, whole)) for _ in PARTS[1:])
        edges = [0, *marks, whole]
        cut |= {f"{phase}_{part}": edges[i + 1] - edges[i] for i, part in enumerate(PARTS)}
    return journals.request(
        prompt=1,
        output=2,
        arrival=arrival,
        ready=arrival + front_end,
        admitted=admitted,
        prefilled=prefilled,
        assigned=prefilled + wait if split else admitted,
        moved=prefilled + wait + moving if split else -1,
        first=first,
        end=first + sum(decode.values()),
        **prefill,
        **decode,
        **cut,
    )


def assert_adds_up(table: Any) -> None:
    until: Until
    for until in ("first", "end"):
        whole = (table[until] - table["arrival"]).to_list()
        for labels in (causes(table, until), parts(table, until)):
            assert [sum(row) for row in labels.iter_rows()] == whole


@given(st.lists(requests(), min_size=1, max_size=5))
def test_labels_add_up_to_the_picosecond(rows: list[Mapping[str, Any]]) -> None:
    assert_adds_up(journals.request_table(rows))


@given(st.lists(requests(), min_size=1, max_size=5))
def test_means_add_up_to_the_mean(rows: list[Mapping[str, Any]]) -> None:
    table = journals.request_table(rows)
    mean = attribute(table)
    for until, *both in (
        ("end", mean.e2e_by_cause_ms, mean.e2e_by_part_ms),
        ("first", mean.ttft_by_cause_ms, mean.ttft_by_part_ms),
    ):
        whole = float(np.mean((table[until] - table["arrival"]).to_numpy())) / 1e9
        for labels in both:
            assert sum(labels.values()) == pytest.approx(whole, rel=1e-9, abs=1e-9)


def test_labels_of_a_run_add_up_to_the_picosecond(run: Journal) -> None:
    assert_adds_up(run.requests)


def test_no_label_of_a_run_is_negative(run: Journal) -> None:
    for labels in (causes(run.requests), parts(run.requests)):
        assert min(labels.min().row(0)) >= 0


def test_means_of_a_run_add_up_to_its_latency(run: Journal) -> None:
    report = measure(run)
    for whole, labels in (
        (report.latency.e2e_ms.mean, report.attribution.e2e_by_cause_ms),
        (report.latency.e2e_ms.mean, report.attribution.e2e_by_part_ms),
        (report.latency.ttft_ms.mean, report.attribution.ttft_by_cause_ms),
        (report.latency.ttft_ms.mean, report.attribution.ttft_by_part_ms),
    ):
        assert sum(labels.values()) == pytest.approx(whole, rel=1e-12)


def test_mixing_prefill_and_decode_interferes_and_splitting_does_not(
    unified_run: Journal, split_run: Journal
) -> None:
    mixed, apart = measure(unified_run).attribution, measure(split_run).attribution
    assert mixed.e2e_by_cause_ms["interference"] > 0.0
    assert apart.e2e_by_cause_ms["interference"] == 0.0
    assert apart.e2e_by_cause_ms["transfer"] > 0.0
    assert apart.e2e_by_cause_ms["slot_wait"] > 0.0


def test_only_ranks_wait_for_each_other(unified_run: Journal, ranks_run: Journal) -> None:
    alone, together = measure(unified_run).attribution, measure(ranks_run).attribution
    assert alone.e2e_by_part_ms["imbalance"] == 0.0
    assert together.e2e_by_part_ms["imbalance"] > 0.0


# ---- bands

METRICS: tuple[Metric, ...] = ("ttft", "tpot", "e2e")


def value(row: Mapping[str, Any], metric: Metric) -> float:
    begin, end = {
        "ttft": ("arrival", "first"),
        "tpot": ("first", "end"),
        "e2e": ("arrival", "end"),
    }[metric]
    whole: float = row[end] - row[begin]
    return whole / (row["output"] - 1) if metric == "tpot" else whole


@pytest.mark.parametrize("metric", METRICS)
def test_the_whole_band_is_everyone(run: Journal, metric: Metric) -> None:
    assert len(band(run.requests, metric, 0, 100)) == len(run.requests)


@pytest.mark.parametrize("metric", METRICS)
def test_a_tail_is_the_slowest(run: Journal, metric: Metric) -> None:
    tail = band(run.requests, metric, 90, 100)
    # of 40 requests p90 stands between the 36th and the 37th: four are slower
    assert len(tail) == 4
    slowest = sorted(value(row, metric) for row in run.requests.iter_rows(named=True))[-4:]
    assert sorted(value(row, metric) for row in tail.iter_rows(named=True)) == slowest


def test_a_band_of_a_point_is_who_stands_there() -> None:
    requests = journals.two_requests().requests
    assert band(requests, "e2e", 100, 100)["end"].to_list() == [ms(23)]
    assert band(requests, "ttft", 0, 0)["prompt"].to_list() == [10]


def test_the_tail_says_why_it_is_slow(run: Journal) -> None:
    tail = attribute(band(run.requests, "e2e", 90, 100))
    assert sum(tail.e2e_by_cause_ms.values()) >= measure(run).latency.e2e_ms.mean


def test_one_token_answers_are_in_no_band_of_the_pace() -> None:
    row = journals.request(prompt=1, output=1, arrival=0, admitted=0, prefilled=1, first=1, end=1)
    table = journals.request_table([row])
    assert len(band(table, "e2e", 0, 100)) == 1
    assert len(band(table, "tpot", 0, 100)) == 0


def test_nobody_has_no_attribution() -> None:
    nobody = attribute(journals.two_requests().requests.clear())
    assert nobody.requests == 0
    assert all(math.isnan(number) for number in nobody.e2e_by_cause_ms.values())
    assert len(band(journals.two_requests().requests.clear(), "e2e", 0, 100)) == 0


@pytest.mark.parametrize(("low", "high"), [(-1.0, 50.0), (60.0, 50.0), (50.0, 101.0)])
def test_a_band_that_is_none_is_refused(low: float, high: float) -> None:
    message = f"a band needs 0 <= low <= high <= 100, got {low:g} to {high:g}"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        band(journals.two_requests().requests, "ttft", low, high)
