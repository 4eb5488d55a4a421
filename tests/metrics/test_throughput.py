"""Rates: by hand, and normalised as InferenceX normalises unified and split rows."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

from jalapeno.metrics import measure
from jalapeno.metrics.survey import Span, span
from jalapeno.metrics.throughput import offered_rate, throughput
from jalapeno.simulation import ClosedLoop, Journal, Poisson
from tests.metrics import journals
from tests.metrics.journals import ms

# ---- by hand


def test_two_requests_on_two_chips() -> None:
    rates = measure(journals.two_requests()).throughput
    # 10 + 20 tokens in, 5 + 4 out, in 23 ms, on 2 chips
    assert rates.duration_s == 0.023
    assert (rates.prompt_tokens, rates.output_tokens, rates.tokens) == (30, 9, 39)
    assert rates.requests_per_s == pytest.approx(2 / 0.023)
    assert rates.tokens_per_s == pytest.approx(39 / 0.023)
    assert rates.tokens_per_s_per_chip == pytest.approx(39 / 0.023 / 2)


def test_chips_of_one_pool_prefill_and_decode() -> None:
    rates = measure(journals.two_requests()).throughput
    assert (rates.chips, rates.prefill_chips, rates.decode_chips) == (2, 2, 2)
    assert rates.input_tokens_per_s_per_prefill_chip == pytest.approx(30 / 0.023 / 2)
    assert rates.output_tokens_per_s_per_decode_chip == pytest.approx(9 / 0.023 / 2)


def test_chips_of_split_pools_count_for_what_they_do() -> None:
    rates = measure(journals.one_moved()).throughput
    # one chip prefills 8 tokens, two decode 3, in 15 ms
    assert (rates.chips, rates.prefill_chips, rates.decode_chips) == (3, 1, 2)
    assert rates.tokens_per_s_per_chip == pytest.approx(11 / 0.015 / 3)
    assert rates.input_tokens_per_s_per_prefill_chip == pytest.approx(8 / 0.015)
    assert rates.output_tokens_per_s_per_decode_chip == pytest.approx(3 / 0.015 / 2)


# ---- the span


def test_the_span_begins_with_the_first_send_not_with_time() -> None:
    rows = [
        journals.request(
            prompt=1, output=1, arrival=start, admitted=start, prefilled=end, first=end, end=end
        )
        for start, end in ((ms(5), ms(9)), (ms(3), ms(8)))
    ]
    window = span(journals.request_table(rows), last_end=0)
    assert (window.start, window.end) == (ms(3), ms(9))
    assert window.seconds == 0.006


def test_a_request_not_yet_sent_does_not_begin_the_span() -> None:
    sent, unsent = (
        journals.request(prompt=1, output=1, arrival=t, admitted=t, prefilled=t, first=t, end=t)
        for t in (ms(5), -1)
    )
    assert span(journals.request_table([sent, unsent]), last_end=ms(7)) == Span(ms(5), ms(7))


def test_steps_after_the_last_answer_belong_to_the_span() -> None:
    requests = journals.two_requests().requests
    assert span(requests, last_end=ms(30)).seconds == 0.030


def test_a_run_in_which_nothing_happened_has_no_span_and_no_rates() -> None:
    nothing = journals.request_table([]).clear()
    assert math.isnan(Span(0, 0).seconds)
    rates = throughput(nothing, journals.two_requests().workers, Span(0, -1))
    assert math.isnan(rates.duration_s)
    assert math.isnan(rates.tokens_per_s_per_chip)
    assert rates.tokens == 0


# ---- runs


def process_result(journal: Journal) -> dict[str, float]:
    """InferenceX's process_result.py over benchmark_serving.py's totals."""
    requests, pools = journal.requests, journal.scenario.pools
    ends, arrivals = requests["end"].to_list(), requests["arrival"].to_list()
    duration = (max(ends) - min(arrivals)) / 1e12
    output = sum(requests["output"].to_list()) / duration
    total = (sum(requests["prompt"].to_list()) + sum(requests["output"].to_list())) / duration
    chips = [pool.replicas * pool.plan.tp * pool.plan.dp for pool in pools]
    if len(chips) == 1:
        (all_chips,) = chips
        prefill = decode = all_chips
    else:
        prefill, decode = chips
        all_chips = prefill + decode
    return {
        "request_throughput": len(ends) / duration,
        "tput_per_gpu": total / all_chips,
        "output_tput_per_gpu": output / decode,
        "input_tput_per_gpu": (total - output) / prefill,
    }


def test_rates_are_those_of_inferencex(run: Journal) -> None:
    theirs, ours = process_result(run), measure(run).throughput
    assert ours.requests_per_s == pytest.approx(theirs["request_throughput"])
    assert ours.tokens_per_s_per_chip == pytest.approx(theirs["tput_per_gpu"])
    assert ours.output_tokens_per_s_per_decode_chip == pytest.approx(theirs["output_tput_per_gpu"])
    assert ours.input_tokens_per_s_per_prefill_chip == pytest.approx(theirs["input_tput_per_gpu"])


def test_system_rates_come_back_from_the_rates_of_the_pools(run: Journal) -> None:
    ours = measure(run).throughput
    output = ours.output_tokens_per_s_per_decode_chip * ours.decode_chips
    prompt = ours.input_tokens_per_s_per_prefill_chip * ours.prefill_chips
    assert output + prompt == pytest.approx(ours.tokens_per_s)


def test_no_more_requests_are_in_flight_than_the_loop_holds(run: Journal) -> None:
    # Little: in flight = rate x time in the system
    report, arrivals = measure(run), run.scenario.traffic.arrivals
    assert isinstance(arrivals, ClosedLoop)
    in_flight = report.throughput.requests_per_s * report.latency.e2e_ms.mean / 1e3
    assert 0.5 * arrivals.concurrency < in_flight <= arrivals.concurrency * (1 + 1e-9)


# ---- what was offered


def arriving(*times_ms: float) -> pl.DataFrame:
    return journals.request_table(
        journals.request(
            prompt=1, output=1, arrival=at, admitted=at, prefilled=at, first=at, end=at
        )
        for at in (ms(time) if time >= 0 else -1 for time in times_ms)
    )


def test_an_open_loop_offers_its_gaps_over_the_time_from_first_to_last() -> None:
    assert offered_rate(arriving(100, 300, 200)) == pytest.approx(10.0)
    assert offered_rate(arriving(5, -1, 15)) == pytest.approx(100.0)  # one not yet sent


@pytest.mark.parametrize("times", [(), (3,), (3, 3), (-1, 3)])
def test_without_a_gap_nothing_is_known_of_the_rate(times: tuple[float, ...]) -> None:
    assert math.isnan(offered_rate(arriving(*times)))


def test_a_closed_loop_offers_nothing_of_its_own(run: Journal) -> None:
    report = measure(run)
    assert math.isnan(report.throughput.offered_requests_per_s)
    assert report.load == "closed loop, 12 in flight"


def test_an_open_loop_that_is_not_kept_up_with_shows() -> None:
    hand = journals.two_requests()
    traffic = replace(hand.scenario.traffic, arrivals=Poisson(rate=1000.0))
    report = measure(replace(hand, scenario=replace(hand.scenario, traffic=traffic)))
    assert report.load == "open loop, 1000 requests/s at random (Poisson)"
    # sent at 0 and 2 ms, both done after 23
    assert report.throughput.offered_requests_per_s == pytest.approx(1 / 0.002)
    assert report.throughput.requests_per_s == pytest.approx(2 / 0.023)
