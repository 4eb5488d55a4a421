"""A few points that are played in a moment, measured by the twin itself with known constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jalapeno.analysis.calibration.constants import Constant, engine_with
from jalapeno.analysis.calibration.residuals import TTFT_WEIGHT, Problem
from jalapeno.analysis.calibration.twin import unfitted
from jalapeno.analysis.evidence.answers import Answer, answers
from jalapeno.catalogue import Engine
from tests.analysis.validation.points import row

Row = Mapping[str, Any]

CONSTANTS = (
    Constant("memory_efficiency", 0.85, 0.4, 0.98),
    Constant("host_step", 200e-6, 10e-6, 5e-3),
    Constant("first_token_delay", 40e-3, 1e-3, 0.4),
    Constant("issue_scale.h200", 1.0, 0.25, 4.0, 0.3),
    Constant("issue_scale.b200", 1.0, 0.25, 4.0, 0.3),
)
"""Three constants, a factor of a chip that is measured and one of a chip that is not."""

TRUTH = (0.7, 500e-6, 80e-3, 1.0, 1.0)

PLACES = (
    *(("h100-hgx", "gpt-oss-120b", "fp4", tp, flight) for tp in (2, 8) for flight in (4, 16)),
    *(("h200-hgx", "gpt-oss-120b", "fp4", tp, flight) for tp in (1, 4) for flight in (4, 16)),
    *(("h100-hgx", "llama-3.3-70b", "fp8", tp, flight) for tp in (4, 8) for flight in (4, 16)),
    ("h200-hgx", "llama-3.3-70b", "fp8", 2, 8),
)


def rows(
    changes: Mapping[int, float] | None = None, noise: float = 0.0, seed: int = 0
) -> list[dict[str, Any]]:
    """Thirteen rows of vLLM, measured with :data:`TRUTH`; the rows that *changes* names are off by
    a factor, and all TPOTs by *noise* (a standard deviation), TTFTs by as much more as they weigh
    less."""
    bare = [
        row(
            number,
            system=system,
            model=model,
            precision=precision,
            tp=tp,
            concurrency=flight,
            curve=f"{system} {model} {tp}",
        )
        for number, (system, model, precision, tp, flight) in enumerate(PLACES)
    ]
    said = answers(bare, lambda name, system, model: truly())
    off = np.exp(np.random.default_rng(seed).normal(scale=noise, size=(len(bare), 2)))
    for number, (one, item) in enumerate(zip(bare, said, strict=True)):
        assert isinstance(item, Answer)
        factor = (changes or {}).get(number, 1.0)
        one["measured_ttft_ms"] = item.ttft_ms * factor * float(off[number, 0]) ** (1 / TTFT_WEIGHT)
        one["measured_tpot_ms"] = item.tpot_ms * factor * float(off[number, 1])
    return bare


def truly() -> Engine:
    """The engine that the rows are measured with."""
    return engine_with(unfitted("vllm"), CONSTANTS, TRUTH)


def problem(of: Sequence[Row]) -> Problem:
    """What is unknown of the engine behind them."""
    return Problem(unfitted("vllm"), of, CONSTANTS)
