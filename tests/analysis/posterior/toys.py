"""Toy posteriors whose answers are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

Floats = npt.NDArray[np.float64]


def linear(weights: list[float], draws: int = 20_000, seed: int = 0) -> tuple[Floats, Floats]:
    """(draws, unknowns) independent standard normals, and their weighted sum."""
    unknowns = np.random.default_rng(seed).standard_normal((draws, len(weights)))
    return unknowns, unknowns @ np.array(weights)


def weighted_quantile_slowly(draws: Floats, weights: Floats, place: float) -> float:
    """The quantile by repeating every draw as often as its whole-numbered weight says."""
    return float(np.quantile(np.repeat(draws, weights.astype(int)), place, method="hazen"))


def normal_mean_left_out(data: Floats, which: int, error: float) -> tuple[float, float]:
    """(mean, spread) of the prediction of one of *data*, each a common mean plus an error of known
    spread, from the others; the mean's prior is standard normal.  By the textbook."""
    others = np.delete(data, which)
    precision = 1.0 + len(others) / error**2
    mean = float(others.sum() / error**2 / precision)
    return mean, float(np.sqrt(1.0 / precision + error**2))


def normal_interval(mean: float, spread: float) -> tuple[float, float]:
    """Central 90 % interval."""
    return float(norm.ppf(0.05, mean, spread)), float(norm.ppf(0.95, mean, spread))
