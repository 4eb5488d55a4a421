"""Traces for tests: made by hand, and the measured ones where they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from jalapeno.simulation import Trace

SHARED = Path(__file__).parents[3] / "shared" / "data"


def measured(place: str) -> Path:
    """A measured trace; the test is skipped where it is not there."""
    path = SHARED / place
    if not path.exists():
        pytest.skip(f"{path} is not there: measured traces are not part of the repository")
    return path


def trace(
    times_s: Sequence[float] = (0.0, 0.5, 0.5, 2.0),
    prompts: Sequence[int] = (10, 20, 30, 40),
    outputs: Sequence[int] = (1, 2, 3, 4),
    name: str = "by hand",
    cached: Sequence[int] | None = None,
) -> Trace:
    """A trace that no file holds."""
    hits = np.array(cached or [0] * len(prompts), dtype=np.int64)
    content = repr((tuple(times_s), tuple(prompts), tuple(outputs), tuple(hits))).encode()
    return Trace(
        name=name,
        sha256=hashlib.sha256(content).hexdigest(),
        times=np.rint(np.array(times_s) * 1e12).astype(np.int64),
        prompts=np.array(prompts, dtype=np.int64),
        outputs=np.array(outputs, dtype=np.int64),
        cached=hits,
    )
