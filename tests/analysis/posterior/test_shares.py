"""Variance shares and expected gains, against what is known of toy posteriors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from jalapeno.analysis.posterior.shares import (
    SLICES,
    confounded,
    gains,
    rank_correlation,
    slices_of,
    variance_share,
)
from tests.analysis.posterior.toys import linear


@pytest.mark.parametrize("weights", [[1.0, 1.0], [3.0, 1.0, 0.5], [2.0, 0.0, 1.0, 1.0]])
def test_shares_of_a_sum_of_independent_unknowns_are_those_of_its_variance(
    weights: list[float],
) -> None:
    unknowns, answer = linear(weights)
    whole = sum(weight**2 for weight in weights)
    for place, weight in enumerate(weights):
        found = variance_share(unknowns[:, place], answer)
        # slices of a normal hold all but a few per cent of its own variance
        assert found == pytest.approx(weight**2 / whole, abs=0.05)


def test_a_share_agrees_with_fixing_the_unknown_by_brute_force() -> None:
    generator = np.random.default_rng(3)
    first, second = generator.standard_normal((2, 30_000))
    answer = np.exp(0.5 * first) + 0.5 * second**2
    within = []
    for value in generator.standard_normal(300):
        fixed = np.exp(0.5 * value) + 0.5 * generator.standard_normal(2_000) ** 2
        within.append(fixed.var())
    expected = 1.0 - float(np.mean(within)) / float(answer.var())
    assert variance_share(first, answer) == pytest.approx(expected, abs=0.07)


@given(st.integers(0, 10_000))
def test_what_has_nothing_to_do_with_an_answer_has_hardly_a_share(seed: int) -> None:
    unknown, answer = np.random.default_rng(seed).standard_normal((2, 400))
    assert variance_share(unknown, answer) < 0.12


def test_chance_is_taken_off_on_the_mean() -> None:
    found = []
    for seed in range(200):
        unknown, answer = np.random.default_rng(seed).standard_normal((2, 100))
        found.append(variance_share(unknown, answer))
    assert float(np.median(found)) < 0.02
    assert float(np.mean(found)) < 0.04


def test_a_choice_is_sliced_by_itself() -> None:
    choices = np.array([0.0, 1.0, 2.0] * 50)
    assert set(slices_of(choices)) == {0, 1, 2}
    assert variance_share(choices, 5.0 * choices) == pytest.approx(1.0)


@given(st.integers(SLICES[0] + 1, 900))
def test_slices_are_equally_full(count: int) -> None:
    values = np.random.default_rng(count).permutation(count).astype(float)
    full = np.bincount(slices_of(values))
    assert SLICES[0] <= len(full) <= SLICES[1]
    assert full.max() - full.min() <= 1


def test_an_answer_that_never_changes_has_no_shares() -> None:
    assert variance_share(np.arange(50.0), np.ones(50)) == 0.0


@given(st.integers(0, 500))
def test_rank_correlation_is_spearmans(seed: int) -> None:
    generator = np.random.default_rng(seed)
    first = generator.integers(0, 6, 60).astype(float)
    second = first + generator.standard_normal(60)
    assert rank_correlation(first, second) == pytest.approx(spearmanr(first, second)[0])


def test_rank_correlation_of_what_never_changes_is_none() -> None:
    assert rank_correlation(np.ones(5), np.arange(5.0)) == 0.0


def test_pairs_that_go_together_are_found_and_ordered() -> None:
    generator = np.random.default_rng(4)
    first, noise, apart = generator.standard_normal((3, 500))
    values = np.stack([first, -first + 0.3 * noise, first + noise, apart], axis=1)
    found = confounded(["a", "b", "c", "d"], values)
    assert [(pair.first, pair.second) for pair in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found[0].correlation < -0.9


def test_a_measurement_of_the_answer_itself_takes_all_but_its_noise() -> None:
    answer = np.exp(0.2 * np.random.default_rng(5).standard_normal(20_000))
    (gain,) = gains(answer, {"itself": answer}, noise=0.05, seed=0)
    assert gain.variance == pytest.approx(0.2**2 / (0.2**2 + 0.05**2), abs=0.06)
    assert gain.shrunk == pytest.approx(np.sqrt(1.0 - gain.variance))


def test_the_expected_gain_is_that_of_conditioning_a_normal() -> None:
    generator = np.random.default_rng(6)
    known, other = generator.standard_normal((2, 20_000))
    answer = np.exp(0.1 * (0.8 * known + 0.6 * other))
    measured = np.exp(0.1 * known)
    (gain,) = gains(answer, {"known": measured}, noise=0.1, seed=0)
    # correlation 0.8 of the two, halved in square by a noise as large as the signal
    assert gain.variance == pytest.approx(0.64 * 0.5, abs=0.04)


def test_the_best_measurement_comes_first_and_more_noise_is_worth_less() -> None:
    generator = np.random.default_rng(7)
    first, second = generator.standard_normal((2, 5_000))
    answer = np.exp(0.3 * first + 0.1 * second)
    possible = {"second": np.exp(0.3 * second), "first": np.exp(0.3 * first)}
    sharp = gains(answer, possible, noise=0.02, seed=0)
    blunt = gains(answer, possible, noise=0.5, seed=0)
    assert [gain.measurement for gain in sharp] == ["first", "second"]
    assert sharp[0].variance > blunt[0].variance
