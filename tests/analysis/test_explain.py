"""Where the time of some requests went: exact sums, whole percentages, the right requests."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.explain import (
    FEWEST,
    Metric,
    apportion,
    around,
    percentile_of,
    split,
    values,
)
from jalapeno.errors import UsageError
from jalapeno.metrics import CAUSES, PARTS_AND_WAITS, attribute, measure
from tests.analysis.runs import SCENARIOS, run
from tests.metrics import journals
from tests.metrics.journals import ms

amounts = st.dictionaries(st.text(max_size=3), st.integers(0, 10**18), min_size=1, max_size=12)


# ---- percentages


@given(amounts, st.sampled_from([100, 1000]))
def test_shares_add_up_to_the_whole_and_are_less_than_one_off(
    given_: dict[str, int], whole: int
) -> None:
    shares = apportion(given_, whole)
    total = sum(given_.values())
    assert list(shares) == list(given_)
    assert sum(shares.values()) == (whole if total else 0)
    for label, share in shares.items():
        assert abs(share * total - whole * given_[label]) < max(total, 1)


def test_nothing_has_no_shares() -> None:
    assert apportion({"a": 0, "b": 0}) == {"a": 0, "b": 0}


def test_the_largest_remainder_gets_the_last_percent() -> None:
    assert apportion({"a": 1, "b": 1, "c": 1}) == {"a": 34, "b": 33, "c": 33}
    assert apportion({"a": 10, "b": 993}) == {"a": 1, "b": 99}


# ---- sums


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("metric", Metric)
def test_both_views_add_up_to_the_latency_as_whole_numbers(name: str, metric: Metric) -> None:
    done = run(name).requests
    found = split(done, metric)
    ends = {
        Metric.TTFT: ("arrival", "first"),
        Metric.TBT: ("first", "end"),
        Metric.E2E: ("arrival", "end"),
    }[metric]
    whole = sum(end - begin for begin, end in done.select(ends).rows())
    assert sum(found.by_cause.values()) == sum(found.by_part.values()) == found.total == whole
    assert tuple(found.by_cause) == CAUSES
    assert tuple(found.by_part) == PARTS_AND_WAITS
    assert all(isinstance(time, int) for time in found.by_cause.values())


@pytest.mark.parametrize("name", SCENARIOS)
def test_means_are_those_of_the_report(name: str) -> None:
    journal = run(name)
    report = measure(journal).attribution
    found = split(journal.requests, Metric.E2E)
    for label, mean in report.e2e_by_cause_ms.items():
        assert float(found.mean(found.by_cause[label])) / 1e9 == pytest.approx(mean, rel=1e-12)
    first = split(journal.requests, Metric.TTFT)
    for label, mean in attribute(journal.requests).ttft_by_part_ms.items():
        assert float(first.mean(first.by_part[label])) / 1e9 == pytest.approx(mean, rel=1e-12)


def test_the_parts_of_a_band_are_the_parts_of_its_requests() -> None:
    done = run("split").requests
    whole = split(done, Metric.E2E)
    halves = [split(half, Metric.E2E) for half in (done[:11], done[11:])]
    assert whole.total == sum(half.total for half in halves)
    for label in CAUSES:
        assert whole.by_cause[label] == sum(half.by_cause[label] for half in halves)


def test_tbt_is_what_lies_between_first_and_last_token() -> None:
    found = split(journals.two_requests().requests, Metric.TBT)
    assert found.units == 4 + 3
    assert {k: v for k, v in found.by_cause.items() if v} == {
        "own_decode": ms(14 + 12),
        "interference": ms(4),
    }
    assert found.mean(found.total) * 7 == ms(30)


def test_answers_of_one_token_have_no_tbt() -> None:
    one = journals.two_requests().requests.with_columns(
        pl.when(pl.col("prompt") == 10).then(1).otherwise(pl.col("output")).alias("output")
    )
    found = split(one, Metric.TBT)
    assert (found.requests, found.units) == (1, 3)


def test_no_requests_have_no_time() -> None:
    found = split(journals.two_requests().requests[:0], Metric.E2E)
    assert found.total == 0
    assert found.mean(found.total) == 0


# ---- which requests


def latency(row: dict[str, int], metric: Metric) -> float:
    match metric:
        case Metric.TTFT:
            return float(row["first"] - row["arrival"])
        case Metric.TBT:
            return (row["end"] - row["first"]) / (row["output"] - 1)
        case Metric.E2E:
            return float(row["end"] - row["arrival"])


@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("percentile", [0.0, 3.0, 25.0, 50.0, 90.0, 99.0, 100.0])
@pytest.mark.parametrize("name", ["ranks", "split"])
def test_the_requests_around_a_percentile_are_those_found_by_looking_at_each(
    metric: Metric, percentile: float, name: str
) -> None:
    done = run(name).requests
    found = around(done, metric, percentile)
    every = [latency(row, metric) for row in done.iter_rows(named=True)]
    reach = min(2.5, percentile / 2, (100 - percentile) / 2)
    low, high = np.percentile(every, [percentile - reach, percentile + reach])
    inside = [place for place, each in enumerate(every) if low <= each <= high]
    if len(inside) < FEWEST:
        middle = float(np.percentile(every, percentile))
        nearest = sorted(range(len(every)), key=lambda place: (abs(every[place] - middle), place))
        inside = sorted(nearest[:FEWEST])
    assert found.rows() == done[inside].rows()


def test_a_small_run_is_taken_whole() -> None:
    done = journals.two_requests().requests
    assert len(around(done, Metric.TTFT, 99.0)) == 2


def test_the_percentile_is_the_reports() -> None:
    journal = run("slots")
    latency = measure(journal).latency
    for metric, of in (
        (Metric.TTFT, latency.ttft_ms),
        (Metric.TBT, latency.tpot_ms),
        (Metric.E2E, latency.e2e_ms),
    ):
        found = percentile_of(journal.requests, metric, 99.0)
        assert found / 1e9 == pytest.approx(of.p99, rel=1e-12)


@pytest.mark.parametrize("percentile", [-1.0, 100.5, math.inf])
def test_a_percentile_that_is_none_is_refused(percentile: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 100"):
        percentile_of(run("slots").requests, Metric.E2E, percentile)


def test_where_no_answer_has_a_second_token_there_is_no_tbt() -> None:
    single = run("slots").requests.with_columns(pl.lit(1, pl.Int64).alias("output"))
    assert np.isnan(values(single, Metric.TBT)).all()
    with pytest.raises(UsageError, match="no request that is done has a TBT"):
        percentile_of(single, Metric.TBT, 50.0)
