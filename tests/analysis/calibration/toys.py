"""Linear problems, whose least squares anybody can solve."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jalapeno import catalogue
from jalapeno.analysis.calibration.constants import Constant
from jalapeno.analysis.calibration.residuals import Floats, Problem

HOST = Constant("host_step", 1e-4, 1e-9, 10.0)
PHASE = Constant("issue_phase", 1e-4, 1e-9, 10.0)
MEMORY = Constant("memory_efficiency", 0.5, 1e-5, 0.99)
FACTOR = Constant("issue_scale.h100", 1.0, 0.01, 100.0, 0.3)


@dataclass(frozen=True)
class Toy(Problem):
    """Residuals ``slopes (x - truth) + noise``: (rows, 2, unknowns) and (rows, 2)."""

    slopes: Floats
    truth: Floats
    noise: Floats

    def residuals(self, x: Floats, on_done: Callable[[int], None] = lambda count: None) -> Floats:
        on_done(len(self.rows))
        found: Floats = self.slopes @ (x - self.truth) + self.noise
        return found

    def derivatives(
        self, x: Floats, at: Floats, on_done: Callable[[int], None] = lambda count: None
    ) -> Floats:
        on_done(len(self.constants))
        return self.slopes


def toy(
    slopes: Floats, noise: Floats, constants: Sequence[Constant], truth: Sequence[float] = ()
) -> Toy:
    """A problem of these *constants* whose solution without noise is *truth* (or the starts)."""
    row: dict[str, Any] = {"system": "h100-hgx", "model": "gpt-oss-120b"}
    values = [math.log(each) for each in truth] or [math.log(one.start) for one in constants]
    return Toy(
        engine=catalogue.engine("vllm"),
        rows=[row] * len(slopes),
        constants=tuple(constants),
        slopes=slopes,
        truth=np.array(values),
        noise=noise,
    )


def drawn(rows: int, unknowns: int, seed: int) -> Floats:
    """Slopes of no special kind."""
    return np.random.default_rng(seed).normal(size=(rows, 2, unknowns))


def whiff(rows: int, size: float, seed: int) -> Floats:
    """Noise of standard deviation *size*."""
    return np.random.default_rng(seed).normal(scale=size, size=(rows, 2))
