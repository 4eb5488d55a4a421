"""Fits of the small points, made once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.analysis.calibration.fit import Fit, fit
from jalapeno.analysis.calibration.residuals import Problem
from tests.analysis.calibration.small import CONSTANTS, TRUTH, problem, rows

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
    """Fits of the points with two percent of noise, four times anew; issue_phase is known, for
    beside host_step so few points hardly tell it."""
    engine = replace(catalogue.engine("vllm"), issue_phase=TRUTH[1])
    unknown = (CONSTANTS[0], *CONSTANTS[2:])
    return [
        fit(Problem(engine, rows(noise=0.02, seed=seed), unknown), rounds_most=ROUNDS)
        for seed in range(4)
    ]


@pytest.fixture(scope="session")
def altered() -> Fit:
    """The fit of the points of which the last is measured half again as slow."""
    return fit(problem(rows({12: 1.5})), rounds_most=ROUNDS)
