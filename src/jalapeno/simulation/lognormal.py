"""A log-normal in whole tokens, cut off at both ends, with a stated mean and spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri_exp

from jalapeno.errors import BadScenario

Floats = npt.NDArray[np.float64]

WIDEST = 4.0
"""Largest sigma that is tried: beyond it the law below a maximum is a power law in all but name."""
FURTHEST = 60
"""Tries to find mu between two bounds; each is a few sigma^2 wider."""
LONGEST = 1 << 22
"""Largest maximum, tokens: the moments are summed over every length."""
LEAST_CV = 1e-6
"""Below it the lengths of any mean are equal to a few tokens, and the moments lose their digits."""
MEAN_TOLERANCE, CV_TOLERANCE = 0.005, 0.05
"""How far whole tokens may be from the stated mean and coefficient of variation, relative."""


@dataclass(frozen=True, slots=True)
class Law:
    """``round(exp(mu + sigma z))``, z normal, given that it lies between 1 and *most* tokens."""

    mu: float
    sigma: float
    most: int

    @property
    def ends(self) -> tuple[float, float]:
        """Where z lies: what rounds to 1 from below, and to *most* from above."""
        low, high = math.log(0.5), math.log(self.most + 0.5)
        return (low - self.mu) / self.sigma, (high - self.mu) / self.sigma

    def moment(self, power: int) -> float:
        """``E[y^k]``, not rounded: ``e^(k mu + (k sigma)^2 / 2) dPhi(z - k sigma) / dPhi(z)``."""
        low, high = self.ends
        shift = power * self.sigma
        grown = power * self.mu + shift * shift / 2.0
        return math.exp(grown + _between(low - shift, high - shift) - _between(low, high))

    @property
    def cv(self) -> float:
        """Standard deviation over mean, before rounding."""
        mean = self.moment(1)
        return math.sqrt(max(0.0, self.moment(2) / mean - mean)) / math.sqrt(mean)

    def tokens(self, shares: Floats) -> npt.NDArray[np.int64]:
        """The lengths below which these *shares* of all lie (in [0, 1))."""
        low, high = self.ends
        turned = low > 0.0  # the upper tail has no digits left, the lower has
        if turned:
            low, high, shares = -high, -low, 1.0 - shares
        with np.errstate(divide="ignore"):
            below = np.logaddexp(log_ndtr(low), np.log(shares) + _between(low, high))
        z = np.clip(ndtri_exp(np.minimum(below, 0.0)), low, high)
        found = np.rint(np.exp(self.mu + self.sigma * (-z if turned else z)))
        return np.clip(found, 1, self.most).astype(np.int64)

    def rounded(self) -> tuple[float, float]:
        """Mean and coefficient of variation of the whole tokens, summed over all of them."""
        lengths = np.arange(1, self.most + 1, dtype=np.float64)
        edges = (np.log(np.arange(self.most + 1) + 0.5) - self.mu) / self.sigma
        turned = edges[0] > 0.0
        below = np.exp(log_ndtr(-edges if turned else edges) - _between(*self.ends))
        shares = np.abs(np.diff(below))
        mean = float(np.dot(shares, lengths))
        return mean, math.sqrt(float(np.dot(shares, (lengths - mean) ** 2))) / mean


def _between(low: float, high: float) -> float:
    """``log(Phi(high) - Phi(low))``, with all digits in either tail."""
    if low > 0.0:
        low, high = -high, -low
    most, least = float(log_ndtr(high)), float(log_ndtr(low))
    return most + math.log1p(-math.exp(least - most)) if least < most else -math.inf


@cache
def law(mean: float, cv: float, most: int, what: str) -> Law:
    """The law of this *mean* and *cv* below *most* tokens; *what* (``"prompts"``) begins messages.

    Both are of what is drawn: mu and sigma are solved for, the cut at *most* allowed for.  Raises
    :class:`BadScenario` where there is no such law, or where whole tokens are too coarse for it.
    """
    if not 1 <= most <= LONGEST:
        raise BadScenario(f"{what}: the maximum must be 1 to {LONGEST:,} tokens, got {most:,}")
    if not (1.0 <= mean <= most and LEAST_CV <= cv < math.inf):
        raise BadScenario(
            f"{what}: mean {mean:,g} and cv {cv:g} must be at least 1 token, at most the maximum "
            f"of {most:,}, and at least {LEAST_CV:g}"
        )
    widest = _of_mean(mean, WIDEST, most)
    if widest is None:
        raise BadScenario(
            f"{what}: a mean of {mean:,g} is too close to the maximum of {most:,} tokens: raise it"
        )
    if not cv < widest.cv:
        raise BadScenario(
            f"{what}: no log-normal with a mean of {mean:,g} and at most {most:,} tokens has "
            f"cv {cv:g}; below {widest.cv:.2f} there are some: raise the maximum or lower the cv"
        )

    def off(sigma: float) -> float:
        near = _of_mean(mean, sigma, most)
        return near.cv - cv if near else -cv

    sigma = brentq(off, min(cv, 1.0) / 10.0, WIDEST, xtol=1e-10)
    found = _of_mean(mean, float(sigma), most) or widest
    real_mean, real_cv = found.rounded()
    if abs(real_mean / mean - 1.0) > MEAN_TOLERANCE or abs(real_cv / cv - 1.0) > CV_TOLERANCE:
        raise BadScenario(
            f"{what}: whole tokens are too coarse for a mean of {mean:,g} and cv {cv:g}: it would "
            f"be {real_mean:,.4g} and {real_cv:.3g}; choose a longer mean, or another cv"
        )
    return found


def _of_mean(mean: float, sigma: float, most: int) -> Law | None:
    """The law of this *sigma* whose mean, before rounding, is *mean*; None where mu runs away."""

    def off(mu: float) -> float:
        return math.log(Law(mu, sigma, most).moment(1) / mean)

    reach = 3.0 * sigma * sigma + 1.0
    low, high = math.log(mean), math.log(mean)
    for _ in range(FURTHEST):
        low -= reach
        high += reach
        if off(low) <= 0.0 <= off(high):
            break
    else:
        return None
    return Law(float(brentq(off, low, high, xtol=1e-12)), sigma, most)
