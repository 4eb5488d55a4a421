"""Drawing from the posterior.

One ensemble of walkers (emcee; Foreman-Mackey et al., arXiv 1202.3665) samples the *mixture* of the
posteriors that leave one number out, ``prior x likelihood x sum_i 1 / p(y_i)`` (Silva and Zanella,
arXiv 2209.09190).  Importance weights then give the posterior of all numbers, and each that leaves
one out; they are bounded, so no single draw can carry a whole posterior.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from jalapeno.analysis.posterior.likelihood import Judge, Outcomes
from jalapeno.analysis.posterior.unknowns import PATHS, Floats
from jalapeno.analysis.threads import MOST
from jalapeno.errors import UsageError

Tick = Callable[[str, int, int], None]
STAGE = "walking through the posterior"

WALKERS = 2 * (len(PATHS) + 1)
"""More than twice the unknowns, as the ensemble's moves need."""

REFRESHED = 3
"""Unknowns that a refreshing move draws anew from the prior at most."""

CORES = 2


@dataclass(frozen=True, slots=True)
class Chain:
    """What was drawn from the mixture."""

    scores: Floats
    """(draws, unknowns)"""
    outcomes: Outcomes
    likelihoods: Floats
    """(draws, numbers), logs"""
    acceptance: float
    autocorrelation: float
    """Steps of a walker after which it has forgotten where it was; the mean over unknowns."""
    stuck: int
    """Walkers that never moved."""

    @property
    def log_weights(self) -> Floats:
        """(draws,): of the posterior of all numbers, adding up to one."""
        return normalised(-logsumexp(-self.likelihoods, axis=1))

    def log_weights_without(self, which: int) -> Floats:
        """(draws,): of the posterior without one number, adding up to one."""
        mixture = logsumexp(-self.likelihoods, axis=1)
        return normalised(-self.likelihoods[:, which] - mixture)


def normalised(logs: Floats) -> Floats:
    """Logs of weights that add up to one."""
    found: Floats = logs - logsumexp(logs)
    return found


def effective(log_weights: Floats) -> float:
    """Kish's effective number of draws, ``(sum w)^2 / sum w^2``."""
    return float(np.exp(2.0 * logsumexp(log_weights) - logsumexp(2.0 * log_weights)))


def log_mixture(outcomes: Outcomes) -> tuple[Floats, Floats]:
    """(log of the mixture's likelihood, log-likelihoods of the numbers) of each draw."""
    each = outcomes.log_likelihoods()
    return each.sum(axis=1) + outcomes.log_bound() + logsumexp(-each, axis=1), each


def threads() -> ThreadPoolExecutor:
    """Threads for outcomes, most of whose time is compiled."""
    return ThreadPoolExecutor(min(MOST, CORES))


def prior_draws(count: int, seed: int) -> Floats:
    """Scores of *count* draws from the prior."""
    return np.random.default_rng(seed).standard_normal((count, len(PATHS)))


def tempered(logs: Floats, wanted: int) -> Floats:
    """Weights ``exp(beta x logs)`` with the largest beta up to 1 that leaves *wanted* effective
    draws, by bisection."""
    low, high = 0.0, 1.0
    if effective(logs) >= wanted:
        return np.exp(normalised(logs))
    for _ in range(60):
        middle = 0.5 * (low + high)
        if effective(middle * logs) >= wanted:
            low = middle
        else:
            high = middle
    return np.exp(normalised(low * logs))


def _refresh(coords: Floats, random: np.random.RandomState) -> tuple[Floats, Floats]:
    """Draw a few unknowns of each walker anew from the prior; the factor undoes the prior's own."""
    new = coords.copy()
    factors = np.zeros(len(coords))
    for row in range(len(coords)):
        count = random.randint(1, REFRESHED + 1)
        places = random.choice(coords.shape[1], count, replace=False)
        fresh = random.standard_normal(count)
        factors[row] = 0.5 * (np.sum(fresh**2) - np.sum(coords[row, places] ** 2))
        new[row, places] = fresh
    return new, factors


def walk(
    judge: Judge, start: Floats, *, steps: int, burn: int, seed: int, tick: Tick, stage: str = STAGE
) -> Chain:
    """Walk an ensemble from *start*, (walkers, unknowns), *burn* and then *steps* steps.

    Raises :class:`UsageError` where emcee is not installed.
    """
    emcee = sampler()
    with threads() as pool:

        def target(scores: Floats) -> Floats:
            logs, _ = log_mixture(judge.outcomes(scores, pool))
            found: Floats = logs - 0.5 * np.sum(scores**2, axis=1)
            return np.nan_to_num(found, nan=-np.inf)

        moves = [
            (emcee.moves.DEMove(), 0.45),
            (emcee.moves.DEMove(gamma0=1.0), 0.05),
            (emcee.moves.DESnookerMove(), 0.1),
            (emcee.moves.MHMove(_refresh), 0.4),
        ]
        ensemble = emcee.EnsembleSampler(
            len(start), start.shape[1], target, moves=moves, vectorize=True
        )
        first = emcee.State(start, random_state=np.random.RandomState(seed).get_state())
        going = ensemble.sample(first, iterations=burn + steps)
        for done, _ in enumerate(going, start=1):
            tick(stage, done, burn + steps)
        scores = ensemble.get_chain(discard=burn, flat=True)
        outcomes = judge.outcomes(scores, pool)
    return Chain(
        scores=scores,
        outcomes=outcomes,
        likelihoods=outcomes.log_likelihoods(),
        acceptance=float(np.mean(ensemble.acceptance_fraction)),
        autocorrelation=_memory(emcee, ensemble.get_chain(discard=burn)),
        stuck=int(np.sum(np.ptp(ensemble.get_chain(discard=burn)[:, :, 0], axis=0) == 0.0)),
    )


def _memory(emcee: Any, chain: Floats) -> float:
    """Mean integrated autocorrelation time over unknowns, of the walkers that moved at all."""
    moving = chain[:, np.ptp(chain[:, :, 0], axis=0) > 0.0]
    if len(moving) < 2 or moving.shape[1] == 0:
        return float(len(chain))
    with np.errstate(invalid="ignore", divide="ignore"):  # an unknown that never moved
        times: Floats = emcee.autocorr.integrated_time(moving, tol=0, quiet=True)
    return float(np.nanmean(times))


def sampler() -> Any:
    """The module that samples; :class:`UsageError` says how to install it where it is not."""
    try:
        import emcee
    except ImportError as error:
        raise UsageError(
            "the sampler is an extra: pip install 'jalapeno-twin[posterior]'; bands and the "
            "shipped draws need none"
        ) from error
    return emcee


def resampled(log_weights: Floats, count: int, seed: int) -> npt.NDArray[np.int64]:
    """Places of *count* draws, taken systematically in proportion to their weights."""
    start = np.random.default_rng(seed).random()
    below = np.cumsum(np.exp(log_weights))
    places = (start + np.arange(count)) / count * below[-1]
    found = np.searchsorted(below, places)
    places_of: npt.NDArray[np.int64] = np.minimum(found, len(below) - 1).astype(np.int64)
    return places_of
