"""Work side by side: compiled loops let go of the interpreter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

MOST = 8
"""Threads, whatever the machine has: each holds a simulation in memory."""

Given = TypeVar("Given")
Made = TypeVar("Made")


def at_once(work: Callable[[Given], Made], given: Iterable[Given]) -> list[Made]:
    """*work* on everything *given*, in its order, on all cores."""
    with ThreadPoolExecutor(max(1, min(MOST, os.cpu_count() or 1))) as threads:
        return list(threads.map(work, given))
