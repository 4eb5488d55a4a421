"""Lengths that are not InferenceX's: log-normal, or those of a trace."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import ks_2samp

from jalapeno.errors import BadScenario
from jalapeno.simulation import LogNormal, TraceLengths, Traffic
from jalapeno.simulation.arrivals import ClosedLoop
from jalapeno.simulation.lognormal import CV_TOLERANCE, MEAN_TOLERANCE, WIDEST, Law, law
from tests.simulation.traces import trace

CHAT = LogNormal(
    prompt_mean=1155.0,
    prompt_cv=0.96,
    output_mean=211.0,
    output_cv=0.77,
    prompt_max=14050,
    output_max=1000,
)
"""As the Azure trace of conversations has it."""


# ---- the law


@pytest.mark.parametrize(
    ("mean", "cv", "most"),
    [(1155.0, 0.96, 14050), (4000.0, 1.5, 32768), (211.0, 0.77, 1000), (7.0, 0.5, 30)],
)
def test_what_is_drawn_is_what_rejection_draws(mean: float, cv: float, most: int) -> None:
    """The slow and obvious way: draw, round, throw away what is too long or nothing."""
    found = law(mean, cv, most, "prompts")
    drawn = found.tokens(np.random.default_rng(1).random(20_000))
    raw = np.rint(np.random.default_rng(2).lognormal(found.mu, found.sigma, 400_000))
    kept = raw[(raw >= 1) & (raw <= most)][:20_000]
    assert len(kept) == 20_000
    assert ks_2samp(drawn, kept).pvalue > 0.001


@settings(max_examples=60, deadline=None)
@given(st.floats(5.0, 20_000.0), st.floats(0.05, 1.5), st.floats(1.3, 40.0))
def test_mean_and_spread_are_as_stated_or_refused(mean: float, cv: float, room: float) -> None:
    most = math.ceil(mean * room)
    try:
        found = law(mean, cv, most, "prompts")
    except BadScenario:
        return  # what is refused, and how, is tested below
    shares = (np.arange(200_000) + 0.5) / 200_000  # every length as often as it comes
    drawn = found.tokens(shares)
    assert drawn.mean() == pytest.approx(mean, rel=2 * MEAN_TOLERANCE)
    assert drawn.std() / drawn.mean() == pytest.approx(cv, rel=2 * CV_TOLERANCE)
    assert 1 <= drawn.min() <= drawn.max() <= most


@given(st.floats(0.0, 9.0), st.floats(0.05, WIDEST), st.integers(2, 100_000))
def test_moments_are_the_integrals_of_the_law(mu: float, sigma: float, most: int) -> None:
    found = Law(mu, sigma, most)
    low, high = found.ends
    if low > 5.0 or high < -5.0:
        return  # the integral below has no digits there
    low, high = max(low, -12.0), min(high, 12.0 + 2 * sigma)

    def integral(power: int) -> float:
        return float(
            quad(
                lambda z: math.exp(power * (mu + sigma * z) - z * z / 2.0),
                low,
                high,
                limit=400,
                points=[p for p in (0.0, power * sigma) if low < p < high] or None,
            )[0]
        )

    for power in (1, 2):
        assert found.moment(power) == pytest.approx(integral(power) / integral(0), rel=1e-6)


def test_moments_of_whole_tokens_are_sums_over_all_of_them() -> None:
    found = law(7.0, 0.5, 30, "prompts")
    shares = (np.arange(1_000_000) + 0.5) / 1_000_000
    drawn = found.tokens(shares)
    mean, cv = found.rounded()
    assert mean == pytest.approx(drawn.mean(), rel=1e-5)
    assert cv == pytest.approx(drawn.std() / drawn.mean(), rel=1e-4)


def test_shares_go_up_with_the_lengths_below_which_they_lie() -> None:
    for found in (Law(3.0, 0.7, 100), Law(-9.0, 2.0, 50), Law(30.0, 4.0, 1000)):
        drawn = found.tokens(np.linspace(0.0, 1.0, 1001)[:-1])
        assert (np.diff(drawn) >= 0).all()
        assert drawn.min() >= 1
        assert drawn.max() <= found.most


@pytest.mark.parametrize(
    ("mean", "cv", "most", "said"),
    [
        (4000.0, 1.5, 8192, "raise the maximum or lower the cv"),
        (8192.0, 0.1, 8192, "too close to the maximum of 8,192 tokens: raise it"),
        (1.5, 0.3, 4, "whole tokens are too coarse for a mean of 1.5 and cv 0.3"),
        (0.5, 0.3, 4, "must be at least 1 token"),
        (50.0, 0.3, 40, "at most the maximum of 40"),
        (50.0, 0.0, 400, "at least 1e-06"),
        (2.0, 1e-300, 14050, "at least 1e-06"),
        (2.0, 1e-6, 14050, "whole tokens are too coarse"),
        (50.0, math.nan, 400, "at least 1e-06"),
        (math.inf, 1.0, 400, "at most the maximum"),
        (50.0, 1.0, 0, "the maximum must be 1 to 4,194,304 tokens, got 0"),
        (50.0, 1.0, 10**9, "the maximum must be 1 to 4,194,304 tokens"),
    ],
)
def test_a_law_that_cannot_be_is_refused(mean: float, cv: float, most: int, said: str) -> None:
    with pytest.raises(BadScenario, match=rf"^prompts: .*{re.escape(said)}"):
        law(mean, cv, most, "prompts")


# ---- log-normal lengths


def test_means_and_spreads_of_a_long_list_are_those_stated() -> None:
    for drawn, mean, cv, most in zip(
        CHAT.draw(200_000), (1155.0, 211.0), (0.96, 0.77), (14050, 1000), strict=True
    ):
        error = mean * cv / math.sqrt(200_000)
        assert drawn.mean() == pytest.approx(mean, abs=MEAN_TOLERANCE * mean + 5 * error)
        assert drawn.std() / drawn.mean() == pytest.approx(cv, rel=0.03)
        assert 1 <= drawn.min() <= drawn.max() <= most
        assert drawn.dtype == np.int64


def test_expected_means_are_those_of_what_is_drawn() -> None:
    prompts, outputs = CHAT.means
    assert prompts == pytest.approx(1155.0, rel=MEAN_TOLERANCE)
    assert outputs == pytest.approx(211.0, rel=MEAN_TOLERANCE)


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 2**64 - 1))
def test_a_longer_list_begins_with_the_shorter_one(count: int, more: int, seed: int) -> None:
    lengths = LogNormal(
        prompt_mean=300.0,
        prompt_cv=1.0,
        output_mean=50.0,
        output_cv=0.5,
        prompt_max=4000,
        output_max=400,
        seed=seed,
    )
    for short, long in zip(lengths.draw(count), lengths.draw(count + more), strict=True):
        assert long[:count].tolist() == short.tolist()


def test_prompts_and_answers_do_not_know_of_each_other() -> None:
    prompts, outputs = CHAT.draw(50_000)
    assert abs(np.corrcoef(prompts, outputs)[0, 1]) < 5 / math.sqrt(50_000)


def test_seeds_draw_different_lists() -> None:
    lists = {
        tuple(
            LogNormal(
                prompt_mean=300.0,
                prompt_cv=1.0,
                output_mean=50.0,
                output_cv=0.5,
                prompt_max=4000,
                output_max=400,
                seed=seed,
            )
            .draw(10)[0]
            .tolist()
        )
        for seed in range(20)
    }
    assert len(lists) == 20


def test_the_side_that_is_wrong_is_named() -> None:
    with pytest.raises(BadScenario, match=r"^lengths: answers: no log-normal"):
        LogNormal(
            prompt_mean=1155.0,
            prompt_cv=0.96,
            output_mean=900.0,
            output_cv=1.5,
            prompt_max=14050,
            output_max=1000,
        )


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_no_stream_takes_is_refused(seed: int) -> None:
    with pytest.raises(BadScenario, match=rf"^lengths: seed must be in \[0, 2\^64\), got {seed}$"):
        TraceLengths(trace=trace(), seed=seed)


# ---- of a trace


@given(st.integers(1, 30))
def test_request_i_is_row_i_and_the_trace_begins_again(count: int) -> None:
    prompts, outputs = TraceLengths(trace=trace()).draw(count)
    assert prompts.tolist() == [(10, 20, 30, 40)[i % 4] for i in range(count)]
    assert outputs.tolist() == [(1, 2, 3, 4)[i % 4] for i in range(count)]


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 2**64 - 1))
def test_rows_drawn_at_random_keep_an_answer_with_its_prompt(
    count: int, more: int, seed: int
) -> None:
    lengths = TraceLengths(trace=trace(), seed=seed)
    prompts, outputs = lengths.draw(count + more)
    assert (prompts == 10 * outputs).all()
    assert lengths.draw(count)[0].tolist() == prompts[:count].tolist()


def test_rows_drawn_at_random_come_equally_often() -> None:
    prompts, _ = TraceLengths(trace=trace(), seed=5).draw(40_000)
    _, counts = np.unique(prompts, return_counts=True)
    assert len(counts) == 4
    assert abs(counts - 10_000).max() < 5 * math.sqrt(40_000 * 0.25 * 0.75)


def test_means_are_of_the_whole_trace() -> None:
    assert TraceLengths(trace=trace()).means == TraceLengths(trace=trace(), seed=1).means
    assert TraceLengths(trace=trace()).means == (25.0, 2.5)


def test_traffic_knows_when_a_trace_is_used_more_than_once() -> None:
    def traffic(requests: int, seed: int | None = None) -> Traffic:
        lengths = TraceLengths(trace=trace(), seed=seed)
        return Traffic(lengths=lengths, arrivals=ClosedLoop(concurrency=1), requests=requests)

    assert not traffic(4).repeats
    assert traffic(5).repeats
    assert not traffic(5, seed=0).repeats
    chat = Traffic(lengths=CHAT, arrivals=ClosedLoop(concurrency=1), requests=9)
    assert not chat.repeats


def test_another_seed_is_for_what_is_drawn_only() -> None:
    in_order = Traffic(
        lengths=TraceLengths(trace=trace()), arrivals=ClosedLoop(concurrency=1), requests=2
    )
    assert in_order.reseeded(7) == in_order
    chat = Traffic(lengths=CHAT, arrivals=ClosedLoop(concurrency=1), requests=9)
    assert chat.reseeded(7).lengths.draw(5)[0].tolist() != CHAT.draw(5)[0].tolist()


def test_labels_say_what_is_drawn() -> None:
    assert CHAT.label == (
        "log-normal, 1,155 in (cv 0.96, at most 14,050) and 211 out (cv 0.77, at most 1,000)"
    )
    assert TraceLengths(trace=trace()).label == "those of by hand, in order"
    assert TraceLengths(trace=trace(), seed=1).label == "those of by hand, drawn at random"
