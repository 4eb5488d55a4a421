"""Fits of the small points, made once."""

from __future__ import annotations

from typing import Any

import pytest

from jalapeno.analysis.calibration.fit import Fit, fit
from tests.analysis.calibration.small import problem, rows

ROUNDS = 12
"""Enough to settle without noise."""

Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def clean() -> Rows:
    """Measured without noise."""
    return rows()


@pytest.fixture(scope="session")
def exact(clean: Rows) -> Fit:
    """The fit of the points without noise."""
    return fit(problem(clean), rounds_most=ROUNDS)


@pytest.fixture(scope="session")
def noisy() -> list[Fit]:
    """Fits of the points with two percent of noise, four times anew."""
    return [fit(problem(rows(noise=0.02, seed=seed)), rounds_most=ROUNDS) for seed in range(4)]


@pytest.fixture(scope="session")
def altered() -> Fit:
    """The fit of the points of which the last is measured half again as slow."""
    return fit(problem(rows({12: 1.5})), rounds_most=ROUNDS)
