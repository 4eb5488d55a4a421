"""The constants of an engine, fitted to measured rows that are simulated with their request lists.

This is how the fitted facts of ``tensorrt-llm`` came about: one value for all rows of all systems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from jalapeno import catalogue
from jalapeno.analysis.references import scenario_for
from jalapeno.catalogue import Engine, Row
from jalapeno.metrics import measure
from jalapeno.simulation import simulate

Floats = npt.NDArray[np.float64]

FREE: dict[str, tuple[float, float]] = {
    "matrix_efficiency": (0.2, 0.95),
    "experts_share": (0.3, 1.6),
    "prefill_attention_efficiency": (0.15, 0.95),
    "decode_attention_efficiency": (0.1, 0.9),
    "memory_efficiency": (0.5, 0.95),
    "kv_efficiency": (0.3, 0.95),
    "issue_phase": (0.5e-6, 5e-6),
    "issue_layer_rest": (0.0, 60e-6),
    "host_step": (0.0, 2e-3),
    "host_sequence": (0.0, 20e-6),
    "first_token_delay": (1e-3, 0.1),
}
"""What is fitted, between which bounds (SI).  A loaded layer costs what one at rest does."""

TTFT_WEIGHT = 0.3
"""Weight of TTFT beside throughput and TPOT, and only up to :data:`TTFT_CONCURRENCY`: in a queue it
is the small difference of large numbers."""

TTFT_CONCURRENCY = 8
LOSS_SCALE = 0.1
"""Errors beyond 10 % count linearly (soft L1), so that no single row bends the rest."""

OnProgress = Callable[[int, float], None]
"""Called with the number of evaluations and the cost so far."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Fitted constants and what they leave over."""

    values: dict[str, float]
    """By name, SI."""
    cost: float
    residuals: Floats
    """(rows, 3): logarithm of simulated over measured throughput per GPU, mean TPOT and, weighted,
    mean TTFT."""


def engine_with(engine: Engine, values: dict[str, float]) -> Engine:
    """*engine* with these constants."""
    changes = dict(values)
    if "issue_layer_rest" in changes:
        changes["issue_layer_load"] = changes["issue_layer_rest"]
    return replace(engine, **changes)  # type: ignore[arg-type]  # all are floats by name


def residuals(rows: Sequence[Row], engine: Engine) -> Floats:
    """What *engine* leaves over on every row: see :class:`Fitted`."""

    def one(row: Row) -> tuple[float, float, float]:
        report = measure(simulate(replace(scenario_for(row), engine=engine)))
        ttft = row.measured.get("mean_ttft_ms")
        late = 0.0
        if ttft is not None and row.concurrency <= TTFT_CONCURRENCY:
            late = TTFT_WEIGHT * math.log(report.latency.ttft_ms.mean / ttft)
        rate = report.throughput.tokens_per_s_per_chip / row.measured["tput_per_gpu"]
        tpot = report.latency.tpot_ms.mean / row.measured["mean_tpot_ms"]
        return math.log(rate), math.log(tpot), late

    with ThreadPoolExecutor(2) as pool:
        return np.array(list(pool.map(one, rows)))


def fit_references(
    rows: Sequence[Row],
    names: Sequence[str] = tuple(FREE),
    most: int = 14,
    on_progress: OnProgress = lambda count, cost: None,
) -> Fitted:
    """Fit the constants *names* to *rows*, from the catalogue's values, in *most* iterations.

    Robust least squares (scipy, soft L1) of the logarithms; bounds as in :data:`FREE`.
    """
    start = catalogue.engine(rows[0].engine)
    low = np.array([FREE[name][0] for name in names])
    high = np.array([FREE[name][1] for name in names])
    begin = (np.array([getattr(start, name) for name in names]) - low) / (high - low)
    asked = 0

    def values(unit: Floats) -> dict[str, float]:
        return dict(zip(names, (low + unit * (high - low)).tolist(), strict=True))

    def left(unit: Floats) -> Floats:
        nonlocal asked
        found = residuals(rows, engine_with(start, values(unit))).ravel()
        asked += 1
        on_progress(asked, float(np.square(found).sum()))
        return found

    solved = least_squares(
        left,
        np.clip(begin, 0.02, 0.98),
        bounds=(0.0, 1.0),
        loss="soft_l1",
        f_scale=LOSS_SCALE,
        diff_step=[0.02] * len(names),
        max_nfev=most,
    )
    return Fitted(values(solved.x), float(solved.cost), left(solved.x).reshape(-1, 3))
