"""One reproduction of everything, shared by all tests that look at it."""

from __future__ import annotations

import pytest

from tests.analysis.worlds import Whole, play


@pytest.fixture(scope="session")
def whole() -> Whole:
    """The real thing: half a minute, once."""
    return play()
