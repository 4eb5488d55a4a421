"""Runs that the tests of this folder look at, made once."""

from __future__ import annotations

import pytest

from jalapeno.simulation import Journal, simulate
from tests.metrics import journals


@pytest.fixture(scope="session")
def unified_run() -> Journal:
    """Two workers that prefill in small chunks, so that decoding suffers interference."""
    return simulate(journals.scenario(journals.unified(tp=2, replicas=2, tokens=300)))


@pytest.fixture(scope="session")
def split_run() -> Journal:
    """Two prefill and two decode workers with fewer slots than requests."""
    return simulate(journals.scenario(journals.split(2, 2)))


@pytest.fixture(scope="session")
def ranks_run() -> Journal:
    """One worker of four attention ranks that wait for each other."""
    return simulate(journals.scenario(journals.unified(tp=1, dp=4)))


@pytest.fixture(scope="session", params=["unified", "split", "ranks"])
def run(
    request: pytest.FixtureRequest, unified_run: Journal, split_run: Journal, ranks_run: Journal
) -> Journal:
    """Each of the three."""
    return {"unified": unified_run, "split": split_run, "ranks": ranks_run}[request.param]
