"""What clients see: by hand, by law, and as InferenceX's client computes it."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.metrics import Distribution, Latency, measure
from jalapeno.metrics.distribution import UNDEFINED
from jalapeno.metrics.latency import latency, tpot_ms
from jalapeno.simulation import Journal, Lengths, simulate
from tests.metrics import journals
from tests.metrics.journals import ms

STAGES = ("ttft_front_end_ms", "ttft_queue_ms", "ttft_service_ms", "ttft_handover_ms")


def stages(seen: Latency) -> list[Distribution]:
    return [getattr(seen, stage) for stage in STAGES]


# ---- by hand


def test_two_requests_wait_for_their_first_token() -> None:
    seen = measure(journals.two_requests()).latency
    # A: 0 to 5; B: 2 to 11
    assert (seen.ttft_ms.min, seen.ttft_ms.max, seen.ttft_ms.mean) == (5.0, 9.0, 7.0)
    # each is a millisecond on its way; B waits from 3 to 5 for the step's end
    assert seen.ttft_front_end_ms.mean == 1.0
    assert (seen.ttft_queue_ms.min, seen.ttft_queue_ms.max) == (0.0, 2.0)
    # A's prompt takes 1 to 5, B's 5 to 11
    assert (seen.ttft_service_ms.min, seen.ttft_service_ms.max) == (4.0, 6.0)
    assert seen.ttft_handover_ms.max == 0.0


def test_two_requests_have_their_tokens_at_their_own_pace() -> None:
    seen = measure(journals.two_requests()).latency
    # A: (23 - 5) / 4 = 4.5; B: (23 - 11) / 3 = 4
    assert (seen.tpot_ms.min, seen.tpot_ms.max) == (4.0, 4.5)
    # E2E: 23 and 21
    assert (seen.e2e_ms.min, seen.e2e_ms.mean, seen.e2e_ms.max) == (21.0, 22.0, 23.0)


def test_tokens_a_second_are_the_reciprocal_of_the_mean_not_the_mean_of_reciprocals() -> None:
    seen = measure(journals.two_requests()).latency
    assert seen.mean_tokens_per_s_per_user == pytest.approx(1000 / 4.25)
    assert seen.mean_tokens_per_s_per_user != pytest.approx((1000 / 4.5 + 1000 / 4.0) / 2)
    assert seen.median_tokens_per_s_per_user == pytest.approx(1000 / 4.25)


def test_a_request_that_moves_waits_for_slot_transfer_and_step() -> None:
    seen = measure(journals.one_moved()).latency
    # prefilled at 5, first token at 10
    assert seen.ttft_handover_ms.mean == 5.0
    assert seen.ttft_ms.mean == 10.0
    # (15 - 10) / 2
    assert seen.tpot_ms.mean == 2.5


# ---- laws

durations = st.integers(0, 10**13)


@given(st.lists(st.tuples(*[durations] * 6, st.integers(1, 2000)), min_size=1, max_size=20))
def test_the_stages_of_the_first_token_add_up_to_it(rows: list[tuple[int, ...]]) -> None:
    table = []
    for arrival, front_end, queue, service, handover, decode, output in rows:
        ready = arrival + front_end
        prefilled = ready + queue + service
        first = prefilled + handover
        table.append(
            journals.request(
                prompt=1,
                output=output,
                arrival=arrival,
                ready=ready,
                admitted=ready + queue,
                prefilled=prefilled,
                first=first,
                end=first + decode,
            )
        )
    seen = latency(journals.request_table(table), UNDEFINED)
    whole = sum(stage.mean for stage in stages(seen))
    assert whole == pytest.approx(seen.ttft_ms.mean, rel=1e-9, abs=1e-9)
    assert seen.ttft_ms.max <= seen.e2e_ms.max


@given(st.integers(2, 2000), st.integers(1, 10**9))
def test_even_tokens_come_at_their_gap(output: int, gap: int) -> None:
    row = journals.request(
        prompt=1,
        output=output,
        arrival=0,
        admitted=0,
        prefilled=5,
        first=5,
        end=5 + gap * (output - 1),
    )
    assert tpot_ms(journals.request_table([row])).mean == pytest.approx(gap / 1e9, rel=1e-12)


def test_one_token_has_no_time_per_output_token() -> None:
    short, long = (
        journals.request(
            prompt=1, output=output, arrival=0, admitted=0, prefilled=1, first=1, end=end
        )
        for output, end in ((1, 1), (3, 1 + ms(8)))
    )
    assert math.isnan(tpot_ms(journals.request_table([short])).mean)
    # only the long one counts: 8 ms for two tokens
    assert tpot_ms(journals.request_table([short, long])).mean == 4.0


def test_a_run_of_one_token_answers_has_no_pace_but_a_first_token() -> None:
    one = journals.scenario(journals.unified(), lengths=Lengths(isl=500, osl=1), requests=5)
    seen = measure(simulate(one)).latency
    assert math.isnan(seen.tpot_ms.mean)
    assert math.isnan(seen.mean_tokens_per_s_per_user)
    assert math.isnan(seen.token_gap_ms.p99)
    assert seen.ttft_ms == seen.e2e_ms


# ---- runs


def test_only_split_pools_hand_over(unified_run: Journal, split_run: Journal) -> None:
    assert measure(unified_run).latency.ttft_handover_ms.max == 0.0
    assert measure(split_run).latency.ttft_handover_ms.min > 0.0


def test_the_front_end_takes_what_the_engine_says(run: Journal) -> None:
    delay = run.scenario.engine.first_token_delay * 1e3
    seen = measure(run).latency.ttft_front_end_ms
    assert (seen.min, seen.max) == pytest.approx((delay, delay))


def client_metrics(requests: pl.DataFrame) -> dict[str, float]:
    """InferenceX's calculate_metrics (benchmark_serving.py), request by request, in seconds."""
    ttfts, tpots, e2els = [], [], []
    for row in requests.iter_rows(named=True):
        ttft = (row["first"] - row["arrival"]) / 1e12
        whole = (row["end"] - row["arrival"]) / 1e12
        if row["output"] > 1:
            tpots.append((whole - ttft) / (row["output"] - 1))
        ttfts.append(ttft)
        e2els.append(whole)
    metrics: dict[str, float] = {}
    for name, values in (("ttft", ttfts), ("tpot", tpots), ("e2el", e2els)):
        metrics[f"mean_{name}_ms"] = float(np.mean(values)) * 1000
        metrics[f"median_{name}_ms"] = float(np.median(values)) * 1000
        for percent, word in ((90, "p90"), (99, "p99"), (99.9, "p99.9")):
            metrics[f"{word}_{name}_ms"] = float(np.percentile(values, percent)) * 1000
    return metrics


def test_percentiles_are_those_of_inferencex(run: Journal) -> None:
    theirs, ours = client_metrics(run.requests), measure(run).latency
    for name, seen in (("ttft", ours.ttft_ms), ("tpot", ours.tpot_ms), ("e2el", ours.e2e_ms)):
        wanted = [theirs[f"{word}_{name}_ms"] for word in ("mean", "median", "p90", "p99", "p99.9")]
        assert [seen.mean, seen.median, seen.p90, seen.p99, seen.p999] == pytest.approx(wanted)


def test_interactivity_is_that_of_inferencex(run: Journal) -> None:
    # process_result.py: every tpot key in seconds, and 1000 / tpot_ms as intvty
    theirs, ours = client_metrics(run.requests), measure(run).latency
    assert ours.mean_tokens_per_s_per_user == pytest.approx(1000 / theirs["mean_tpot_ms"])
    assert ours.median_tokens_per_s_per_user == pytest.approx(1000 / theirs["median_tpot_ms"])
