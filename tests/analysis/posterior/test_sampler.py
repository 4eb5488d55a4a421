"""Sampling and leaving out, against a posterior from the textbook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp
from scipy.stats import norm

from jalapeno.analysis.posterior.sampler import (
    WALKERS,
    Chain,
    effective,
    log_mixture,
    normalised,
    prior_draws,
    resampled,
    tempered,
    walk,
)
from jalapeno.analysis.posterior.unknowns import PATHS
from tests.analysis.posterior.toys import Floats, normal_mean_left_out

DATA, ERROR = np.array([0.4, 0.9, -0.2, 1.1, 2.4]), 0.7
"""Numbers with a common mean, the first unknown, whose prior is standard normal."""


@dataclass
class ToyOutcomes:
    values: Floats

    def log_likelihoods(self) -> Floats:
        return np.asarray(norm.logpdf(DATA[None, :], self.values[:, :1], ERROR), dtype=np.float64)

    def log_bound(self) -> Floats:
        return np.zeros(len(self.values))


class ToyJudge:
    """Stands for the twin: its first score is the mean of all numbers."""

    def outcomes(self, scores: Floats, pool: Any = None) -> ToyOutcomes:
        return ToyOutcomes(np.atleast_2d(scores))


@pytest.fixture(scope="module")
def chain() -> Chain:
    start = 0.5 * prior_draws(WALKERS, 1)
    judge = cast(Any, ToyJudge())
    return walk(judge, start, steps=700, burn=300, seed=2, tick=lambda *_: None)


def moments(values: Floats, log_weights: Floats) -> tuple[float, float]:
    weights = np.exp(log_weights)
    mean = float(np.sum(weights * values))
    return mean, float(np.sqrt(np.sum(weights * (values - mean) ** 2)))


def test_the_posterior_of_all_numbers_is_the_textbooks(chain: Chain) -> None:
    precision = 1.0 + len(DATA) / ERROR**2
    mean, spread = moments(chain.scores[:, 0], chain.log_weights)
    assert mean == pytest.approx(DATA.sum() / ERROR**2 / precision, abs=0.04)
    assert spread == pytest.approx(precision**-0.5, rel=0.1)


@pytest.mark.parametrize("which", range(len(DATA)))
def test_each_left_out_prediction_is_the_textbooks(chain: Chain, which: int) -> None:
    mean, spread = normal_mean_left_out(DATA, which, ERROR)
    found, posterior = moments(chain.scores[:, 0], chain.log_weights_without(which))
    assert found == pytest.approx(mean, abs=0.06)
    assert np.hypot(posterior, ERROR) == pytest.approx(spread, rel=0.08)


def test_what_the_evidence_does_not_touch_stays_its_prior(chain: Chain) -> None:
    for place in (5, 17, len(PATHS) - 1):
        mean, spread = moments(chain.scores[:, place], chain.log_weights)
        assert mean == pytest.approx(0.0, abs=0.2)
        assert spread == pytest.approx(1.0, abs=0.15)


def test_no_weight_of_the_mixture_carries_a_posterior_alone(chain: Chain) -> None:
    for which in range(len(DATA)):
        without = np.exp(chain.log_weights_without(which))
        # each is at most one over the draws' mean weight: bounded, as the mixture holds every part
        assert without.max() < 0.01
        assert effective(chain.log_weights_without(which)) > 1_000


def test_the_same_seed_walks_the_same_way() -> None:
    start = prior_draws(WALKERS, 3)
    judge = cast(Any, ToyJudge())
    one, other = (
        walk(judge, start, steps=4, burn=2, seed=7, tick=lambda *_: None) for _ in range(2)
    )
    assert np.array_equal(one.scores, other.scores)
    third = walk(judge, start, steps=4, burn=2, seed=8, tick=lambda *_: None)
    assert not np.array_equal(one.scores, third.scores)


def test_progress_is_told_step_by_step() -> None:
    told: list[tuple[str, int, int]] = []
    start = prior_draws(WALKERS, 3)
    walk(
        cast(Any, ToyJudge()), start, steps=3, burn=1, seed=0, tick=lambda *word: told.append(word)
    )
    assert [done for _, done, _ in told] == [1, 2, 3, 4]


def test_the_mixture_is_the_sum_over_what_is_left_out() -> None:
    outcomes = ToyOutcomes(np.array([[0.3], [1.0]]))
    logs, each = log_mixture(cast(Any, outcomes))
    for row, found in zip(each, logs, strict=True):
        parts = [row.sum() - row[which] for which in range(len(DATA))]
        assert found == pytest.approx(logsumexp(parts))


logs = arrays(np.float64, st.integers(2, 30), elements=st.floats(-50.0, 5.0))


@given(logs)
def test_normalised_weights_add_up_to_one(values: np.ndarray) -> None:
    assert np.exp(normalised(values)).sum() == pytest.approx(1.0)


@given(logs)
def test_effective_draws_are_between_one_and_all(values: np.ndarray) -> None:
    assert 1.0 - 1e-9 <= effective(values) <= len(values) + 1e-9


def test_equal_weights_are_all_effective() -> None:
    assert effective(np.full(17, -3.0)) == pytest.approx(17.0)


@given(logs)
def test_tempering_leaves_as_many_effective_draws_as_wanted(values: np.ndarray) -> None:
    wanted = max(1, len(values) // 2)
    found = tempered(values, wanted)
    assert found.sum() == pytest.approx(1.0)
    assert effective(np.log(np.maximum(found, 1e-300))) >= 0.99 * wanted


def test_draws_are_taken_as_often_as_they_weigh() -> None:
    weights = np.array([0.5, 0.25, 0.125, 0.125])
    counts = np.bincount(resampled(np.log(weights), 800, 0), minlength=4)
    assert counts == pytest.approx(800 * weights, abs=1)
