"""Runs that the tests of this folder look at, made once."""

from __future__ import annotations

import pytest

from jalapeno.simulation import Journal, Preemption, simulate
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


@pytest.fixture(scope="session")
def tight_run() -> Journal:
    """A worker with so little memory that sequences give way and are prefilled again."""
    return simulate(journals.tight())


@pytest.fixture(scope="session")
def swapped_run() -> Journal:
    """The same, but what gives way waits in the host's memory."""
    return simulate(journals.tight(Preemption.SWAP))


@pytest.fixture(scope="session", params=["unified", "split", "ranks", "tight", "swapped"])
def run(request: pytest.FixtureRequest) -> Journal:
    """Each of the five."""
    made: Journal = request.getfixturevalue(f"{request.param}_run")
    return made
