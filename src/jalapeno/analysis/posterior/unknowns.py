"""What is not known of Jalapeño, and what may be believed of it before the evidence.

An unknown takes its range from the fact it stands for.  Where the fact's value was fitted to the
published numbers, or chosen with that fit, only the range counts and the prior is flat; elsewhere
it is a triangle with its peak at the value.  Ranges that span a factor of :data:`WIDE` are taken in
logarithms.  A draw is a vector of independent standard normal scores, so that the prior of all
unknowns together is the same round cloud whatever their ranges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from jalapeno import catalogue
from jalapeno.analysis.published import ENGINE
from jalapeno.catalogue import Fact, Kind, parse_toml
from jalapeno.errors import unknown_name
from jalapeno.units import parse

Floats = npt.NDArray[np.float64]

SYSTEM = "jalapeno-rack"
WIDE = 4.0
"""High end over low end from which on a range is taken in logarithms."""

FAR = 1.5
"""Scores of a start, at the most: values at the end of a range have none."""

LOAD, REST = "engine.issue_layer_load", "engine.issue_layer_rest"
MLA, GQA = "precision.mla", "precision.gqa"
ALONE, LOADED, REGRET = "discrepancy.alone", "discrepancy.loaded", "regret"

WITHOUT_VALUE = frozenset(("engine.overlap", "chip.matrix.tile_rows", "chip.matrix.tile_columns"))
"""Facts whose value was chosen with the fit to the published numbers, though their kind is weaker
than fitted."""

PATHS = (
    "engine.matrix_efficiency",
    "engine.prefill_attention_efficiency",
    "engine.decode_attention_efficiency",
    "engine.memory_efficiency",
    "engine.kv_efficiency",
    "chip.vector.peak",
    "engine.link_efficiency",
    REST,
    LOAD,
    "engine.all_reduce_latency",
    "engine.all_to_all_latency",
    "engine.overlap",
    "engine.imbalance",
    "engine.first_token_delay",
    "engine.maturity.gpt-oss-120b",
    "engine.maturity.kimi-k2.5",
    "engine.maturity.deepseek-r1",
    "chip.steppings.A0",
    "chip.power.static",
    "chip.energy.per_flop_8x8",
    "chip.energy.per_hbm_byte",
    "chip.matrix.peak_16x16",
    "chip.matrix.tile_rows",
    "chip.matrix.tile_columns",
    MLA,
    GQA,
    ALONE,
    LOADED,
    REGRET,
)
"""Every unknown.  Not among them: the efficiency of SIMD work, which only its product with the peak
shows; energies of narrower formats, which are halves of the 8x8 one; facts without a range."""

HYPER = (ALONE, LOADED, REGRET)
"""Unknowns of the evidence, not of the chip."""


class Shape(StrEnum):
    """How an unknown lies in its range."""

    UNIFORM = "uniform"
    TRIANGULAR = "triangular"
    LOG_UNIFORM = "log-uniform"
    LOG_TRIANGULAR = "log-triangular"
    LOG_NORMAL = "log-normal"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """One unknown and its prior, in SI."""

    path: str
    """As ``--set`` takes it where it is a fact of chip or engine."""
    unit: str
    shape: Shape
    low: float = 0.0
    peak: float = 0.0
    """Of a triangle; the median of a log-normal one."""
    high: float = 0.0
    """Of a log-normal one: the factor of one standard deviation."""
    choices: tuple[str, ...] = ()
    kind: Kind
    source: str

    def values(self, scores: Floats) -> Floats:
        """The unknown at standard normal *scores*; of a choice, its place among the choices."""
        places = np.clip(ndtr(scores), 1e-12, 1.0 - 1e-12)
        match self.shape:
            case Shape.UNIFORM:
                return self.low + places * (self.high - self.low)
            case Shape.TRIANGULAR:
                return triangle(places, self.low, self.peak, self.high)
            case Shape.LOG_UNIFORM:
                low, high = math.log(self.low), math.log(self.high)
                return np.exp(low + places * (high - low))
            case Shape.LOG_TRIANGULAR:
                ends = (math.log(end) for end in (self.low, self.peak, self.high))
                return np.exp(triangle(places, *ends))
            case Shape.LOG_NORMAL:
                return self.peak * self.high**scores
            case Shape.CHOICE:
                return np.minimum(np.floor(places * len(self.choices)), len(self.choices) - 1.0)

    def score(self, value: float) -> float:
        """The score at which the unknown has *value* (of a choice: its place, in the middle of it),
        no further out than :data:`FAR`."""
        if self.shape is Shape.LOG_NORMAL:
            return math.log(value / self.peak) / math.log(self.high)
        if self.choices:
            return float(ndtri((value + 0.5) / len(self.choices)))
        low, high = -FAR, FAR
        for _ in range(60):
            middle = 0.5 * (low + high)
            if self.values(np.array([middle]))[0] < value:
                low = middle
            else:
                high = middle
        return low


def triangle(places: Floats, low: float, peak: float, high: float) -> Floats:
    """Quantiles at *places* of a triangle from *low* over *peak* to *high*."""
    width = high - low
    below = places * width < peak - low
    rising = low + np.sqrt(places * width * (peak - low))
    falling = high - np.sqrt((1.0 - places) * width * (high - peak))
    return np.where(below, rising, falling)


@cache
def unknowns() -> tuple[Unknown, ...]:
    """Every unknown, in the order of :data:`PATHS`."""
    priors = _priors()
    return tuple(_unknown(path, priors) for path in PATHS)


def place_of(path: str) -> int:
    """Where the unknown *path* stands in a draw; :class:`UnknownName` lists the nearest and all."""
    if path not in PATHS:
        raise unknown_name("unknown", path, PATHS)
    return PATHS.index(path)


def values_of(scores: Floats) -> Floats:
    """Values of all unknowns at *scores*, (draws, unknowns); choices as places.

    A loaded layer costs no less than one at rest: what is drawn is its place between the layer at
    rest and the high end.
    """
    scores = np.atleast_2d(scores)
    each = unknowns()
    found = np.stack([one.values(scores[:, place]) for place, one in enumerate(each)], axis=1)
    load, rest = place_of(LOAD), place_of(REST)
    share = found[:, load] / each[load].high
    found[:, load] = found[:, rest] + share * (each[load].high - found[:, rest])
    return found


def scores_of(values: Mapping[str, float]) -> Floats:
    """Scores at which the unknowns are near *values*; those not named at the middle of their prior.

    The inverse of :func:`values_of` but for what lies far out.
    """
    found = np.zeros(len(PATHS))
    for path, value in values.items():
        place = place_of(path)
        unknown = unknowns()[place]
        if path == LOAD:
            rest = values[REST]
            value = (value - rest) / (unknown.high - rest) * unknown.high
        found[place] = unknown.score(value)
    return found


def named(values: Floats | Sequence[float]) -> dict[str, float]:
    """One row of :func:`values_of` by path."""
    return dict(zip(PATHS, map(float, values), strict=True))


def chosen(unknown: Unknown, value: float) -> str:
    """The word of a choice."""
    return unknown.choices[int(value)]


def ttft_scale() -> float:
    """Scale of the error of the twin's TTFT, of which no published number says anything."""
    return float(_priors()["discrepancy_of_ttft"]["median"])


@cache
def _priors() -> Mapping[str, Any]:
    path = files("jalapeno.catalogue") / "data" / "posterior" / "priors.toml"
    return parse_toml(path.read_text("utf-8"), "posterior/priors")


def _unknown(path: str, priors: Mapping[str, Any]) -> Unknown:
    told: Mapping[str, Any] = priors.get(path, {})
    if path in (ALONE, LOADED):
        told = priors["discrepancy"]
        return Unknown(
            path=path,
            unit="",
            shape=Shape.LOG_NORMAL,
            peak=told["median"],
            high=told["factor"],
            kind=Kind[told["kind"].upper()],
            source=told["source"],
        )
    if "choices" in told:
        return Unknown(
            path=path,
            unit="",
            shape=Shape.CHOICE,
            choices=tuple(told["choices"]),
            kind=Kind[told["kind"].upper()],
            source=told["source"],
        )
    fact = _fact(path)
    unit = fact.unit if fact else ""
    kind = Kind[told["kind"].upper()] if told else fact.kind if fact else Kind.ASSUMED
    low, high = (_end(told, fact, end, unit) for end in ("low", "high"))
    value = fact.value if fact else None
    peaked = (
        isinstance(value, float)
        and fact is not None
        and fact.kind is not Kind.FITTED
        and path not in WITHOUT_VALUE
    )
    in_logs = low > 0.0 and high >= WIDE * low
    return Unknown(
        path=path,
        unit=unit,
        shape=_shape(peaked, in_logs),
        low=low,
        peak=float(value) if peaked and isinstance(value, float) else 0.0,
        high=high,
        kind=kind,
        source=told.get("source") or (fact.source if fact else ""),
    )


def _shape(peaked: bool, in_logs: bool) -> Shape:
    if peaked:
        return Shape.LOG_TRIANGULAR if in_logs else Shape.TRIANGULAR
    return Shape.LOG_UNIFORM if in_logs else Shape.UNIFORM


def _fact(path: str) -> Fact | None:
    """The fact at *path*; None where it is no fact of the chip or the engine."""
    root, _, rest = path.partition(".")
    if root == "chip":
        return catalogue.system(SYSTEM).facts[path]
    return catalogue.engine(ENGINE).facts[rest] if root == "engine" else None


def _end(told: Mapping[str, Any], fact: Fact | None, end: str, unit: str) -> float:
    if end in told:
        said = told[end]
        return parse(said, unit) if isinstance(said, str) else float(said)
    found = getattr(fact, end) if fact else None
    if found is None:
        raise ValueError(f"{fact} has no {end} end: an unknown needs both")
    return float(found)
