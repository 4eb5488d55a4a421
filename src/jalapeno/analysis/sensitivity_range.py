"""The combined range: all uncertain facts drawn at once, and what the answer then is.

A seeded Latin hypercube: each fact takes every one of as many equal slices of its distribution as
there are samples exactly once, in an order of its own, so that few samples cover much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from jalapeno.analysis.sensitivity import Tick, attempt
from jalapeno.analysis.sensitivity_answers import Ask
from jalapeno.analysis.sensitivity_facts import Case, is_whole
from jalapeno.catalogue import Fact
from jalapeno.errors import UsageError
from jalapeno.metrics.distribution import Floats

PERCENTILES = (5.0, 25.0, 50.0, 75.0, 95.0)
"""Of the answer, that are told."""


class Shape(StrEnum):
    """How a fact lies in its range, which the catalogue does not say."""

    TRIANGULAR = "triangular"
    """From low to high with the peak at the value."""
    UNIFORM = "uniform"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """The answer with all facts drawn independently from their ranges."""

    shape: Shape
    seed: int
    facts: tuple[str, ...]
    """That were drawn: those with both ends."""
    answers: tuple[float, ...]
    """Ascending."""
    refused: int
    """Draws without an answer: what was drawn contradicts itself, or does not fit."""
    why: str
    """What the first of them says."""

    @property
    def percentiles(self) -> dict[float, float]:
        """The answer by percentile."""
        found = np.percentile(self.answers, PERCENTILES)
        return dict(zip(PERCENTILES, map(float, found), strict=True))


def combined(
    ask: Ask,
    case: Case,
    facts: Mapping[str, Fact],
    *,
    samples: int,
    seed: int,
    shape: Shape,
    tick: Tick,
) -> Combined:
    """Draw *samples* times all *facts* that have both ends, and *ask* each time.

    Raises :class:`UsageError` where no fact has both, or no draw has an answer.
    """
    if samples < 2:
        raise UsageError(f"--samples: a range takes at least 2 samples, got {samples}")
    drawn = {path: fact for path, fact in facts.items() if is_uncertain(fact)}
    if not drawn:
        raise UsageError("none of these facts has both a low and a high end: nothing can be drawn")
    places = latin_hypercube(samples, len(drawn), seed)
    answers: list[float] = []
    reasons: list[str] = []
    for number, row in enumerate(places):
        tick("samples of the range", number, samples)
        values = {
            path: quantile(fact, place, shape)
            for (path, fact), place in zip(drawn.items(), row.tolist(), strict=True)
        }
        found = attempt(ask, case, values)
        if isinstance(found, str):
            reasons.append(found)
        else:
            answers.append(found)
    tick("samples of the range", samples, samples)
    if not answers:
        raise UsageError(f"no draw has an answer; the first says: {reasons[0]}")
    return Combined(
        shape=shape,
        seed=seed,
        facts=tuple(drawn),
        answers=tuple(sorted(answers)),
        refused=len(reasons),
        why=reasons[0] if reasons else "",
    )


def is_uncertain(fact: Fact) -> bool:
    """Whether *fact* has a range with two different ends."""
    return fact.low is not None and fact.high is not None and fact.low < fact.high


def latin_hypercube(samples: int, dimensions: int, seed: int) -> Floats:
    """(samples, dimensions) numbers in [0, 1): one in each of *samples* slices of every column."""
    generator = np.random.Generator(np.random.Philox(key=seed))
    slices = np.argsort(generator.random((samples, dimensions)), axis=0)
    places: Floats = (slices + generator.random((samples, dimensions))) / samples
    return places


def quantile(fact: Fact, place: float, shape: Shape) -> float:
    """The value of *fact* below which lies the share *place* of its distribution.

    Triangular: ``F = (x - a)^2 / ((b - a)(c - a))`` up to the peak c, and its mirror above.
    """
    assert fact.low is not None
    assert fact.high is not None
    low, high, peak = fact.low, fact.high, float(fact.value)
    width = high - low
    if shape is Shape.UNIFORM:
        found = low + place * width
    elif place * width < peak - low:
        found = low + math.sqrt(place * width * (peak - low))
    else:
        found = high - math.sqrt((1.0 - place) * width * (high - peak))
    found = min(max(found, low), high)  # not a rounding beyond the ends
    return float(round(found)) if is_whole(fact) else found
