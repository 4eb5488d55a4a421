"""Residuals of measured points, and how they answer to each unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from jalapeno import catalogue
from jalapeno.analysis.calibration.constants import Constant, chip_of, concerns, engine_with
from jalapeno.analysis.evidence.answers import Answer, answers
from jalapeno.catalogue import Engine

Floats = npt.NDArray[np.float64]

TTFT_WEIGHT = 0.3
"""Weight of TTFT beside TPOT: it repeats four times worse (2 % against 0.5 %, medians)."""

STEP = 0.03
"""Relative step of the differences that the derivatives are made of: times jump by about a percent
where a request just makes a step or just misses it, which smaller steps would take for a slope."""

PEAK = 0.95
"""Most of a chip's peak that constants and factors may promise together."""

RATES = ("matrix_efficiency", "prefill_attention_efficiency", "decode_attention_efficiency")
"""What a factor of ``maturity`` multiplies."""

MULTIPLIED = {"maturity": RATES, "issue_scale": ("issue_phase",)}
"""Constants that a factor of each table multiplies."""

PENALTY = 10.0
"""Residual for each unit of logarithm beyond :data:`PEAK`."""

Rows = Sequence[Mapping[str, Any]]
OnDone = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Problem:
    """The points of one engine entry, and what is unknown about it."""

    engine: Engine
    rows: Rows
    constants: tuple[Constant, ...]

    @property
    def start(self) -> Floats:
        """Logarithms of the starts."""
        return np.log([constant.start for constant in self.constants])

    @property
    def begin(self) -> Floats:
        """Logarithms of what the engine entry says, where it is within bounds; else the starts.

        A fit begins there; priors stay where they are.
        """
        found = []
        for constant in self.constants:
            table = getattr(self.engine, constant.table) if constant.table else {}
            own = (
                table.get(constant.key, 1.0)
                if constant.table
                else getattr(self.engine, constant.path)
            )
            within = constant.low <= own <= constant.high
            found.append(own if within else constant.start)
        return np.log(found)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Logarithms of the bounds."""
        return (
            np.log([constant.low for constant in self.constants]),
            np.log([constant.high for constant in self.constants]),
        )

    def engine_at(self, x: Floats) -> Engine:
        """The engine at logarithms *x*."""
        return engine_with(self.engine, self.constants, np.exp(x).tolist())

    def residuals(self, x: Floats, on_done: OnDone = lambda count: None) -> Floats:
        """(rows, 2): logarithms of played over measured TPOT and, weighted, TTFT; NaN where the
        plan does not fit."""
        engine = self.engine_at(x)
        said = answers(self.rows, lambda name, system, model: engine, on_done)
        found = np.full((len(self.rows), 2), np.nan)
        for place, (row, item) in enumerate(zip(self.rows, said, strict=True)):
            if isinstance(item, Answer):
                found[place] = (
                    math.log(item.tpot_ms / row["measured_tpot_ms"]),
                    TTFT_WEIGHT * math.log(item.ttft_ms / row["measured_ttft_ms"]),
                )
        return found

    def derivatives(
        self, x: Floats, at: Floats, on_done: OnDone = lambda count: None
    ) -> npt.NDArray[np.float64]:
        """(rows, 2, unknowns) by differences around *x*, where residuals are *at*.

        A factor multiplies what it stands beside, so its derivative is the sum of theirs (in
        logarithms) on the rows that it concerns, and nothing is played for it; but where one of
        them is not unknown, it is tried as they are.
        """
        columns = {constant.path: n for n, constant in enumerate(self.constants)}
        found = np.zeros((len(self.rows), 2, len(self.constants)))
        places = [(chip_of(row), str(row["model"])) for row in self.rows]
        order = sorted(columns.values(), key=lambda column: self.constants[column].table != "")
        for done, column in enumerate(order, start=1):
            constant = self.constants[column]
            beside = MULTIPLIED.get(constant.table, ())
            which = [n for n, place in enumerate(places) if concerns(constant, *place)]
            if beside and set(beside) <= set(columns):
                each = [columns[path] for path in beside]
                found[which, :, column] = found[which][:, :, each].sum(axis=2)
            elif which:
                found[which, :, column] = self._differences(x, at, column)[which]
            on_done(done)
        return found

    def _differences(self, x: Floats, at: Floats, column: int) -> Floats:
        """(rows, 2): the derivatives by one unknown, played a step away."""
        moved = x.copy()
        step = -STEP if x[column] + STEP > self.bounds[1][column] else STEP
        moved[column] += step
        found: Floats = (self.residuals(moved) - at) / step
        return found

    def prior(self, x: Floats) -> Floats:
        """Residuals of the priors, one an unknown: distance from the start in spreads, and what
        efficiencies promise beyond the peak, for each pair of chip and model."""
        spread = np.array([constant.spread for constant in self.constants])
        peaks = self._peaks()
        beyond = np.maximum(0.0, peaks @ x - math.log(PEAK))
        return np.concatenate([SCALE * (x - self.start) / spread, PENALTY * SCALE * beyond])

    def prior_slopes(self, x: Floats) -> Floats:
        """(priors, unknowns): derivatives of :meth:`prior`."""
        spread = np.array([constant.spread for constant in self.constants])
        peaks = self._peaks()
        active = (peaks @ x > math.log(PEAK))[:, None]
        return np.concatenate([np.diag(SCALE / spread), PENALTY * SCALE * active * peaks])

    def _peaks(self) -> Floats:
        """(pairs of chip and model times unknown efficiencies, unknowns): which logarithms add up
        to what is promised of the peak."""
        place = {constant.path: n for n, constant in enumerate(self.constants)}
        pairs = sorted({(chip_of(row), str(row["model"])) for row in self.rows})
        lines = [*product(pairs, (path for path in RATES if path in place))]
        found = np.zeros((len(lines), len(self.constants)))
        for line, ((chip, model), path) in enumerate(lines):
            paths = (path, *(f"maturity.{key}" for key in (chip, model, f"{chip}/{model}")))
            found[line, [place[each] for each in paths if each in place]] = 1.0
        return found


SCALE = 0.1
"""Errors beyond 10 % count linearly (soft L1), and a prior's spread counts as such an error."""


def problem(name: str, rows: Rows, constants: tuple[Constant, ...]) -> Problem:
    """The problem of the catalogue's engine entry *name*."""
    return Problem(catalogue.engine(name), rows, constants)
