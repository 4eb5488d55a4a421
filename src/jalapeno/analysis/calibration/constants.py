"""What is fitted: constants of an engine, and factors for the chips and models it was seen on.

All of it lives in logarithms.  A constant has bounds and no prior; a factor has a prior of one with
a spread, so that data move it only as far as they must, and a chip or model that nobody measured
has the factor one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jalapeno import catalogue
from jalapeno.catalogue import Engine


@dataclass(frozen=True, slots=True)
class Constant:
    """One unknown: where it stands in an engine entry, its start and its bounds (SI)."""

    path: str
    """A field of the engine, or ``maturity.KEY`` and ``issue_scale.KEY``."""
    start: float
    low: float
    high: float
    spread: float = math.inf
    """Standard deviation of the prior's logarithm around the start; infinite: none."""

    @property
    def table(self) -> str:
        """The table that a factor belongs to; empty for a constant."""
        return self.path.partition(".")[0] if "." in self.path else ""

    @property
    def key(self) -> str:
        """Model, chip or ``chip/model`` of a factor."""
        return self.path.partition(".")[2]


CONSTANTS = (
    Constant("matrix_efficiency", 0.5, 0.1, 0.95),
    Constant("experts_share", 0.7, 0.1, 2.0),
    Constant("prefill_attention_efficiency", 0.4, 0.05, 0.95),
    Constant("decode_attention_efficiency", 0.35, 0.05, 0.95),
    Constant("memory_efficiency", 0.85, 0.4, 0.98),
    Constant("kv_efficiency", 0.7, 0.2, 0.98),
    Constant("link_efficiency", 0.5, 0.1, 0.95),
    Constant("all_reduce_latency", 6e-6, 1e-6, 40e-6),
    Constant("issue_phase", 5e-6, 0.5e-6, 20e-6),
    Constant("host_step", 200e-6, 10e-6, 5e-3),
    Constant("host_sequence", 8e-6, 0.2e-6, 60e-6),
    Constant("first_token_delay", 40e-3, 1e-3, 0.4),
)
"""Twelve constants of an engine, one value for all chips and models.  Starts are round numbers that
were chosen after first fits to these very points had been seen: what a twin says that nothing was
fitted to is therefore no blind prediction.  An issue cost of layers is not among them: it cannot be
told from that of phases."""

FACTORS = (("maturity", 0.3), ("issue_scale", 0.3))
"""Tables of factors and the spread of their priors: what kernels of one generation differ by."""

PAIR_SPREAD = 0.2
"""The same for a model on a chip, beside the factors of both."""

MOST = 4.0
"""A factor lies between ``1 / MOST`` and ``MOST``."""

LAYER = ("issue_layer_rest", "issue_layer_load")


def factors(rows: Iterable[Mapping[str, Any]]) -> list[Constant]:
    """Factors of the chips and models in *rows*, and of each pair of them."""
    pairs = {(chip_of(row), str(row["model"])) for row in rows}
    chips, models = {chip for chip, _ in pairs}, {model for _, model in pairs}
    found = []
    for table, spread in FACTORS:
        keys = [(key, spread) for key in (*sorted(chips), *sorted(models))]
        keys += [(f"{chip}/{model}", PAIR_SPREAD) for chip, model in sorted(pairs)]
        found += [Constant(f"{table}.{key}", 1.0, 1 / MOST, MOST, wide) for key, wide in keys]
    return found


def chip_of(row: Mapping[str, Any]) -> str:
    """Name of the chip of a row's system."""
    return catalogue.system(row["system"]).chip.name


def concerns(constant: Constant, chip: str, model: str) -> bool:
    """Whether *constant* can change what happens with *model* on *chip*."""
    return constant.table == "" or constant.key in (chip, model, f"{chip}/{model}")


def engine_with(engine: Engine, constants: Sequence[Constant], values: Sequence[float]) -> Engine:
    """*engine* with these *values* (SI) and no factor but those given."""
    changes: dict[str, Any] = {table: {} for table, _ in FACTORS} | dict.fromkeys(LAYER, 0.0)
    for constant, value in zip(constants, values, strict=True):
        if constant.table:
            changes[constant.table][constant.key] = float(value)
        else:
            changes[constant.path] = float(value)
    return replace(engine, **changes)
