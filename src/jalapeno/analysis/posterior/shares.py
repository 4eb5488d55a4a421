"""Which unknown an answer's uncertainty comes from, and what a measurement would take off it.

First-order variance shares from given draws: the share of an answer's variance that goes once an
unknown is known, ``Var(E[y | x]) / Var(y)``, from the means of the answer in slices of the unknown
(correlation ratio), less what slices of as many draws show by chance.  Shares of unknowns that
the evidence ties together overlap and may add up to more than one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jalapeno.analysis.posterior.unknowns import Floats

SLICES = (8, 40)
"""Of an unknown, with equally many draws in each: fewest and most; between, with the root of the
number of draws, so that both slices and draws in a slice become more."""


def slices_of(values: Floats) -> npt.NDArray[np.int64]:
    """The slice of each value: its rank among equal shares; values that are few, such as choices,
    each by itself."""
    most = int(np.clip(0.65 * math.sqrt(len(values)), *SLICES))
    kinds, places = np.unique(values, return_inverse=True)
    if len(kinds) <= most:
        return places.astype(np.int64)
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return (ranks * most // len(values)).astype(np.int64)


def variance_share(unknown: Floats, answer: Floats) -> float:
    """Share of the variance of *answer* that knowing *unknown* takes away, between 0 and 1.

    The correlation ratio over slices, adjusted for chance as epsilon squared is (Kelley, 1935).
    """
    slices = slices_of(unknown)
    total = float(np.sum((answer - answer.mean()) ** 2))
    count = int(slices.max()) + 1
    if total <= 0.0 or count < 2 or len(answer) <= count:
        return 0.0
    inside = 0.0
    for which in range(count):
        members = answer[slices == which]
        inside += float(np.sum((members - members.mean()) ** 2)) if len(members) else 0.0
    left = inside / (len(answer) - count)
    found = 1.0 - left * (len(answer) - 1) / total
    return min(max(found, 0.0), 1.0)


def rank_correlation(first: Floats, second: Floats) -> float:
    """Spearman's: the correlation of the ranks; 0 where one of them never changes."""
    ranks = [_ranks(values) for values in (first, second)]
    if any(np.ptp(rank) == 0.0 for rank in ranks):
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Floats) -> Floats:
    """Ranks, the same for equal values: their mean."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    found: Floats = (ends - 0.5 * (counts + 1.0))[places]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounded:
    """Two unknowns that the evidence holds together: it tells one function of them, not both."""

    first: str
    second: str
    correlation: float
    """Rank correlation over the posterior."""


def confounded(names: Sequence[str], values: Floats, least: float = 0.3) -> tuple[Confounded, ...]:
    """Pairs of unknowns with a rank correlation of at least *least*, the strongest first."""
    found = [
        Confounded(
            first=names[i],
            second=names[j],
            correlation=rank_correlation(values[:, i], values[:, j]),
        )
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    strong = [pair for pair in found if abs(pair.correlation) >= least]
    return tuple(sorted(strong, key=lambda pair: -abs(pair.correlation)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What measuring something would take off the interval of an answer."""

    measurement: str
    variance: float
    """Expected share of the answer's variance (of its logarithm) that goes."""

    @property
    def shrunk(self) -> float:
        """The interval's width afterwards, as a share of what it is: of a normal one."""
        return math.sqrt(max(0.0, 1.0 - self.variance))


def gains(
    answer: Floats, measurements: Mapping[str, Floats], noise: float, seed: int
) -> tuple[Gain, ...]:
    """The expected gain of each of *measurements* (draws of what would be measured, positive), the
    largest first.

    A measurement is taken to be off by a factor of spread *noise*, and the answer to be regressed
    on it over the draws: ``Var(E[answer | measured]) / Var(answer)``, both in logarithms.
    """
    generator = np.random.default_rng(seed)
    found = []
    for name, draws in measurements.items():
        seen = np.log(draws) + noise * generator.standard_normal(len(draws))
        found.append(Gain(measurement=name, variance=variance_share(seen, np.log(answer))))
    return tuple(sorted(found, key=lambda gain: -gain.variance))
