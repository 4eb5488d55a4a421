"""How likely the evidence is under a draw.

The twin is taken to be off by a factor: the logarithm of published over twin is Student-t with
:data:`DEGREES` degrees of freedom and an unknown scale, one for a request alone and one under load,
with the rounding of what was written added in quadrature.  At a limit on TBT an error in TBT moves
the load that keeps the limit, so the scale there grows with the elasticity of throughput in TBT.
Which of the listed plans was measured is not known: each counts ``exp(-regret / r)``, its regret
being how much worse than the best of the list it is and r an unknown, and the likelihood is summed
over the plans.  The bound on power is a step of the same scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, log_ndtr, logsumexp

from jalapeno.analysis.posterior.evidence import WATTS as WATTS_BOUND
from jalapeno.analysis.posterior.evidence import Published
from jalapeno.analysis.posterior.options import NOWHERE, WATTS, Listed, Options, table
from jalapeno.analysis.posterior.unknowns import (
    ALONE,
    LOADED,
    REGRET,
    Floats,
    named,
    place_of,
    values_of,
)
from jalapeno.analysis.posterior.worlds import World, world_of
from jalapeno.catalogue import Engine, System

DEGREES = 5.0
"""Of the Student-t: one number in a dozen may be far off without moving all the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ramp:
    """What playing a number out makes of its steady state, as factors."""

    value: float = 1.0
    tbt: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Everything that the likelihood of a draw takes."""

    numbers: tuple[Published, ...]
    listed: Mapping[str, Listed]
    """By model."""
    ramps: Mapping[str, Ramp]
    """By name of the number."""
    system: System
    engine: Engine
    seen: dict[bytes, Floats] = field(default_factory=dict)
    """What was made of draws that were asked about before, by their scores."""

    def options(self, number: Published) -> Options:
        """The short list of *number*."""
        return self.listed[number.model].of_number(number)

    @property
    def slices(self) -> list[slice]:
        """Where each number's options stand among all options."""
        ends = np.cumsum([0, *(len(self.options(number).each) for number in self.numbers)])
        return [slice(int(low), int(high)) for low, high in pairwise(ends)]

    def world(self, values: Floats) -> World:
        """The world of one row of values."""
        return world_of(named(values), self.system, self.engine)

    def outcomes(self, scores: Floats, threads: ThreadPoolExecutor | None = None) -> Outcomes:
        """What the twin says under each row of *scores*."""
        rows = np.ascontiguousarray(np.atleast_2d(scores))
        values = values_of(rows)
        new = [place for place, row in enumerate(rows) if row.tobytes() not in self.seen]
        worlds = [self.world(values[place]) for place in new]
        made = threads.map(self._outcome, worlds) if threads else map(self._outcome, worlds)
        for place, outcome in zip(new, made, strict=True):
            self.seen[rows[place].tobytes()] = outcome
        flat = np.array([self.seen[row.tobytes()] for row in rows])
        return Outcomes(self, values, flat)

    def _outcome(self, world: World) -> Floats:
        """Logs of all options; elasticities, and watts a chip of the best option, by number."""
        tdp = self.system.chip.power.tdp
        found = {
            name: table(listed.of, world, listed.tries) for name, listed in self.listed.items()
        }
        logs, steep, watts = [], [], []
        for number in self.numbers:
            options, ramp = self.options(number), self.ramps[number.name]
            rows = found[number.model]
            values, slope = options.read(rows, tdp, ramp.tbt)
            logs.append(values + np.log(ramp.value))
            steep.append(slope)
            best = int(np.argmin(values) if number.is_latency else np.argmax(values))
            drawn = [rows.rows[one][WATTS] for one in options.each[best] if one in rows.rows]
            watts.append(max((x for x in drawn if x == x), default=0.0))
        return np.concatenate([*logs, steep, watts])


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What the twin says of every number under each of some draws."""

    judge: Judge
    values: Floats
    """(draws, unknowns)"""
    flat: Floats

    @property
    def logs(self) -> Floats:
        """(draws, options): log of what each option of each number says, ramps included."""
        return self.flat[:, : self.judge.slices[-1].stop]

    @property
    def elasticities(self) -> Floats:
        """(draws, numbers)."""
        size = self.judge.slices[-1].stop
        return self.flat[:, size : size + self.count]

    @property
    def watts(self) -> Floats:
        """(draws, numbers): modelled package draw of each number's best option."""
        return self.flat[:, self.judge.slices[-1].stop + self.count :]

    def scale_of(self, which: int) -> Floats:
        """(draws,): scale of the log of published over twin for one number."""
        number = self.judge.numbers[which]
        own = self.values[:, place_of(ALONE if number.is_latency else LOADED)]
        slope = self.elasticities[:, which]
        found: Floats = np.sqrt(own**2 * (1.0 + slope**2) + number.rounding**2 / 3.0)
        return found

    def weights_of(self, which: int) -> Floats:
        """(draws, options): log of how likely it is that the vendor quoted each option."""
        logs = self.logs[:, self.judge.slices[which]]
        merit = -logs if self.judge.numbers[which].is_latency else logs
        regret = merit.max(axis=1, keepdims=True) - merit
        return log_shares(regret, self.values[:, place_of(REGRET)])

    def by_option(self, which: int) -> Floats:
        """(draws, options): log of the weight of each option times the likelihood of the number."""
        logs, scale = self.logs[:, self.judge.slices[which]], self.scale_of(which)[:, None]
        away = (np.log(self.judge.numbers[which].value) - logs) / scale
        found: Floats = self.weights_of(which) + log_student(away) - np.log(scale)
        return found

    def log_likelihoods(self) -> Floats:
        """(draws, numbers)."""
        columns = [logsumexp(self.by_option(which), axis=1) for which in range(self.count)]
        return np.stack(columns, axis=1)

    @property
    def count(self) -> int:
        """Numbers."""
        return len(self.judge.numbers)

    def log_bound(self) -> Floats:
        """(draws,): log of how likely it is that no loaded run drew more than the bound."""
        scale = self.values[:, place_of(LOADED)][:, None]
        loaded = [at for at, number in enumerate(self.judge.numbers) if not number.is_latency]
        over = np.log(np.maximum(self.watts[:, loaded], 1.0) / WATTS_BOUND)
        found: Floats = log_ndtr(-over / scale).sum(axis=1)
        return found

    def predictive(self, which: int, generator: np.random.Generator) -> Floats:
        """One draw each of what would be published of a number: plan, twin and error."""
        weights = np.exp(self.weights_of(which))
        option = picked(weights, generator)
        rows = np.arange(len(weights))
        error = generator.standard_t(DEGREES, len(rows)) * self.scale_of(which)
        logs = self.logs[:, self.judge.slices[which]][rows, option]
        found: Floats = np.exp(np.clip(logs + error, -NOWHERE, NOWHERE))
        return found


def log_shares(regret: Floats, tolerance: Floats) -> Floats:
    """Logs of shares ``exp(-regret / tolerance)`` of each row, which add up to one."""
    found = -regret / tolerance[:, None]
    shares: Floats = found - logsumexp(found, axis=1, keepdims=True)
    return shares


def log_student(away: Floats) -> Floats:
    """Log density of the standard Student-t with :data:`DEGREES` degrees of freedom."""
    half = 0.5 * (DEGREES + 1.0)
    front = gammaln(half) - gammaln(0.5 * DEGREES) - 0.5 * np.log(DEGREES * np.pi)
    found: Floats = front - half * np.log1p(away**2 / DEGREES)
    return found


def picked(weights: Floats, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """For each row of *weights*, a column with their probability."""
    below = np.cumsum(weights, axis=1)
    places = generator.random(len(weights)) * below[:, -1]
    columns = np.sum(below < places[:, None], axis=1)
    found: npt.NDArray[np.int64] = np.minimum(columns, weights.shape[1] - 1).astype(np.int64)
    return found


def judge_of(
    numbers: Sequence[Published],
    listed: Mapping[str, Listed],
    system: System,
    engine: Engine,
    ramps: Mapping[str, Ramp] | None = None,
) -> Judge:
    """A judge of *numbers*; without *ramps* a run is as good as its steady state."""
    plain = {number.name: Ramp() for number in numbers}
    return Judge(
        numbers=tuple(numbers),
        listed=listed,
        ramps={**plain, **(ramps or {})},
        system=system,
        engine=engine,
    )
