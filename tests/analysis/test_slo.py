"""Limits at percentiles."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.slo import Limit, Metric, Slo, latencies, render_seconds
from jalapeno.errors import UsageError
from tests.analysis.sizings import slo

SECOND = 10**12


def requests(count: int = 101, output: int = 11) -> pl.DataFrame:
    """Request *n* comes at *n* seconds, waits *n* ms and takes a second for the rest."""
    came = np.arange(count, dtype=np.int64) * SECOND
    first = came + np.arange(count) * (SECOND // 1000)
    return pl.DataFrame(
        {"arrival": came, "first": first, "end": first + SECOND, "output": [output] * count}
    )


def test_the_first_fifth_and_the_last_tenth_of_the_time_are_not_judged() -> None:
    found = latencies(requests())
    assert found[Metric.TTFT].tolist() == pytest.approx([n / 1000 for n in range(20, 91)])


def test_tbt_is_the_mean_over_the_tokens_after_the_first() -> None:
    assert set(latencies(requests(output=11))[Metric.TBT].round(9)) == {0.1}


def test_answers_of_one_token_have_no_tbt() -> None:
    assert not len(latencies(requests(output=1))[Metric.TBT])
    ((high, middle),) = slo(tbt=5).reached(requests(output=1))
    assert math.isnan(high)
    assert math.isnan(middle)


def test_e2e_is_ttft_and_the_tokens_after_it() -> None:
    found = latencies(requests())
    assert found[Metric.E2E] == pytest.approx(found[Metric.TTFT] + 1.0)


@given(st.floats(1.0, 99.0))
def test_what_is_reached_is_the_percentile_of_the_requests_judged(percentile: float) -> None:
    ((high, middle),) = slo(percentile, ttft=1).reached(requests())
    assert high == pytest.approx(0.020 + 0.070 * percentile / 100.0)
    assert middle == pytest.approx(0.055)


def test_a_strain_is_what_was_reached_over_the_limit() -> None:
    assert slo(ttft=500, tbt=10).strains((0.25, 0.02)) == pytest.approx((0.5, 2.0))


def test_the_highest_percentile_counts() -> None:
    limits = (
        Limit(metric=Metric.TTFT, seconds=1.0, percentile=50.0),
        Limit(metric=Metric.TBT, seconds=1.0, percentile=99.9),
    )
    assert Slo(limits=limits).percentile == 99.9


def test_limits_are_said_in_words() -> None:
    assert slo(99.0, ttft=2000, tbt=16.7).label == "P99 TTFT ≤ 2000 ms, P99 TBT ≤ 16.7 ms"
    assert slo(99.9, e2e=20_000).label == "P99.9 E2E ≤ 20 s"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0167, "16.7 ms"), (9.5, "9500 ms"), (12.5, "12.5 s")]
)
def test_times_are_milliseconds_until_ten_seconds(seconds: float, words: str) -> None:
    assert render_seconds(seconds) == words


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.inf, math.nan])
def test_a_limit_is_positive_and_finite(seconds: float) -> None:
    with pytest.raises(UsageError, match="TTFT limit must be positive"):
        Limit(metric=Metric.TTFT, seconds=seconds)


@pytest.mark.parametrize("percentile", [0.0, 100.0, -5.0, math.nan])
def test_a_percentile_lies_between_none_and_all(percentile: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 100"):
        Limit(metric=Metric.TTFT, seconds=1.0, percentile=percentile)


def test_there_is_a_limit() -> None:
    with pytest.raises(UsageError, match="give a limit at least"):
        Slo(limits=())


def test_a_metric_has_one_limit() -> None:
    one = Limit(metric=Metric.TBT, seconds=1.0)
    with pytest.raises(UsageError, match="one limit a metric; got TBT, TBT"):
        Slo(limits=(one, one))
